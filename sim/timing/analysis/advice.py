"""What would help code most: changes to it, each tried in the model, with the cycles that it saves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

from isa.processors import PROCESSORS
from sim.timing.analysis.edits.changes import (
    carried,
    fused,
    loads_left_out,
    meet,
    pairs_of_loads,
    sums_apart,
    waits_left_out,
)
from sim.timing.analysis.edits.code import CodeEdit, TriedCode, code_of
from sim.timing.analysis.edits.dot_products import dot_products
from sim.timing.analysis.loop_report import SEARCHED
from sim.timing.analysis.report import Json
from sim.timing.analysis.top_down import top_down
from sim.timing.loops.loop import Loop
from sim.timing.loops.steady import time_loop
from sim.timing.loops.variants import interleaved, unrolled
from sim.timing.model.core import Core
from sim.timing.model.stream import Executed
from sim.timing.native.scheduling import schedule

MOST: Final = 3
"""Changes that are advised."""
LONGEST: Final = 20_000
"""Instructions of code without a loop that is tried: each change is a schedule of all of it."""
_COPIES: Final = (2, 3, 4)
_COSTLIEST: Final = 8
"""Instructions of which it is tried what they wait for: those that most cycles are charged to."""
_ITERATIONS: Final = 24


@dataclass(frozen=True, kw_only=True)
class Advice:
    """A change that was tried: its kind, what was done in words, and what must hold, "" if results stay the same.

    `before` and `after` are cycles of an iteration in the steady state, of which there are `times`; or of all, once.
    `refused` is the sentence why it cannot be made, "" where it was tried.
    """

    kind: str
    what: str
    condition: str
    before: Fraction
    after: Fraction
    times: int
    refused: str = ""

    @property
    def gain(self) -> Fraction:
        """Cycles saved, of an iteration or of all; less than 0 where it got slower."""
        return self.before - self.after

    @property
    def saved(self) -> int:
        """Cycles saved in all iterations, rounded."""
        return round(self.gain * self.times)

    def as_json(self) -> Json:
        """For machines."""
        figures = {name: float(getattr(self, name)) for name in ("before", "after", "gain")}
        return {"kind": self.kind, "what": self.what, "condition": self.condition, **figures, "times": self.times,
                "saved": self.saved, "refused": self.refused}  # fmt: skip


def advise(timed: Loop | Sequence[Executed], core: Core, times: int = 1, in_a_row: int | None = None) -> list[Advice]:
    """Every change that was tried on code that runs so many times, what saves most first, then what cannot be made.

    A loop is timed in its steady state, code without one as it stands; addresses stay what they were, for `in_a_row`
    iterations of a loop (`times`).  Raises ValueError for a straight line that is too long to be tried.
    """
    if not isinstance(timed, Loop) and len(timed) > LONGEST:
        raise ValueError(f"{len(timed):,} instructions without a loop of equal iterations: no change was tried")
    before = _cycles(timed, core)
    found = []
    for kind, make, copies in _edits(timed, core, times if in_a_row is None else in_a_row):
        refused, after = "", before
        try:
            what, condition, changed = make()
            after = _cycles(changed, core) / copies
        except ValueError as error:
            what, condition, refused = f"{copies} copies", "", str(error)
        found.append(
            Advice(kind=kind, what=what, condition=condition, before=before, after=after, times=times, refused=refused)
        )
    return sorted(found, key=lambda one: (bool(one.refused), -one.gain))


def best_advice(tried: Sequence[Advice]) -> list[Advice]:
    """The changes that save most, of each kind one, what changes no result before what does where both save as much."""
    found: dict[str, Advice] = {}
    for one in sorted(tried, key=lambda one: (-one.gain, bool(one.condition))):
        if one.gain > 0:
            found.setdefault(one.kind, one)
    return list(found.values())[:MOST]


_Timed = Loop | Sequence[Executed]
_Made = tuple[str, str, _Timed]
"""What was done, what must hold for it, and what came of it."""
_Try = tuple[str, Callable[[], _Made], int]
"""A kind of change, what makes it, and how many iterations there are then in one; ValueError where it cannot be."""


def _edits(timed: Loop | Sequence[Executed], core: Core, iterations: int) -> Iterator[_Try]:
    code = code_of(timed)
    if isinstance(timed, Loop):
        for copies in _COPIES:
            yield "unroll", partial(_unrolled, timed, copies), copies
        for copies in _COPIES:
            yield "interleave", partial(_interleaved, timed, copies, iterations), copies
    kinds: tuple[tuple[str, Callable[[TriedCode], Iterator[CodeEdit]]], ...] = (
        ("pair loads", pairs_of_loads),
        ("another instruction", fused),
        ("dot product", dot_products),
        ("fewer loads", partial(loads_left_out, iterations=iterations)),
        ("sums apart", sums_apart),
    )
    for kind, make in kinds:
        yield from ((kind, partial(_made, edit, code, core), 1) for edit in make(code))
    for place in _costliest(timed, core):
        yield from (("dependency", partial(_made, edit, code, core), 1) for edit in waits_left_out(code, place))


def _made(edit: CodeEdit, before: TriedCode, core: Core) -> _Made:
    """With the extensions that the code needs by the change, and whether the core is known to lack them."""
    conditions = [edit.condition] if edit.condition else []
    for feature in sorted(_features(edit.code) - _features(before)):
        lacks = core.name in PROCESSORS and feature not in PROCESSORS[core.name]
        conditions.append(f"needs {feature}" + (f", which {core.name} lacks" if lacks else ""))
    return edit.what, "; ".join(conditions), edit.code.timed


def _features(code: TriedCode) -> set[str]:
    return {feature for step in code.steps for feature in step.executed.instruction.form.features}


def _unrolled(loop: Loop, copies: int) -> _Made:
    return f"{copies} iterations in a row, counted and closed once", "", unrolled(loop, copies)


def _interleaved(loop: Loop, copies: int, iterations: int) -> _Made:
    kept = carried(loop)
    conditions = [f"if {', '.join(kept)} may be kept {copies} times, and put together in the end"] if kept else []
    if meet(loop, copies, iterations):
        conditions.append("if no iteration needs what another one stores")
    what = f"{copies} iterations at once, one instruction of each in turn, with registers of their own"
    return what, "; ".join(conditions), interleaved(loop, copies)


def _costliest(timed: Loop | Sequence[Executed], core: Core) -> list[int]:
    """The places of the instructions that most cycles are charged to."""
    some = [one for k in range(_ITERATIONS) for one in timed.iteration(k)] if isinstance(timed, Loop) else list(timed)
    # of what is executed again, the first place
    places = {(one.pc, one.instruction.text): place for place, one in reversed(list(enumerate(some)))}
    accounts = sorted(top_down(schedule(some, core)).accounts, key=lambda account: -account.cycles)
    named = [places[account.site.pc, account.site.instruction.text] for account in accounts if account.cycles]
    return named[:_COSTLIEST]


def _cycles(timed: Loop | Sequence[Executed], core: Core) -> Fraction:
    """Of an iteration in the steady state, or of all."""
    if isinstance(timed, Loop):
        return time_loop(timed, core, max(_ITERATIONS, SEARCHED // len(timed.body))).per_iteration
    return Fraction(schedule(timed, core).cycles)
