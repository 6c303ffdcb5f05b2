"""What a check can tell: which mistakes of the compiled code its inputs would have shown, and which not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from sim.check.aim.directions import WAYS

ENOUGH: Final = 0.5
"""A check is weak where its inputs show less than this share of the mistakes.

Some of them change nothing in any kernel: a sum that cannot overflow need not saturate.  Checks of correct kernels over
wide domains show eight of ten and more.
"""
SEVERAL: Final = 3
"""A line is blind where so many of its mistakes and more are hidden: one or two may change nothing in any kernel."""

NOT_FOUND: Final = "not found within the budget"
IN_WORDS: Final = {
    "tie": "a tie", "saturated low": "the lower bound", "saturated high": "the upper bound", "wrapped": "a wrap",
    "taken": "the branch taken", "not taken": "the branch not taken",
    "true": "a true condition", "false": "a false condition",
    "shifted left": "a shift to the left", "shifted right": "a shift to the right",
    "negative first": "a negative first factor", "negative second": "a negative second factor",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TriedMistake:
    """A mistake that the code could have: at `place` in the source, with an instruction in the place of another.

    `kind` is round, saturate, sign, shift, constant, lane or bound.  `shown` says whether an output lane of the tried
    inputs tells it from the golden reference; `impossible`, that it is proved that the other instruction changes
    nothing: whatever registers and memory hold, it leaves the same in all bits that anything later depends on.
    """

    build: str
    place: str
    kind: str
    instruction: str
    instead: str
    shown: bool
    impossible: bool = False

    def __str__(self) -> str:
        return f"{self.place} {self.instruction} as {self.instead}"


@dataclass(frozen=True)
class OperandsMet:
    """A class of operands that an instruction can have, such as a tie, or a way that it can go, such as a branch taken.

    `met` says whether some lane, or execution, of a build did; `impossible` why no input brings it about, where
    that is proved; else it is "".
    """

    build: str
    place: str
    instruction: str
    name: str
    met: bool
    impossible: str = ""

    @property
    def why_not(self) -> str:
        """Why no lane met it; "" where one did."""
        return "" if self.met else f"none can: {self.impossible}" if self.impossible else NOT_FOUND

    def __str__(self) -> str:
        reason = f" ({self.impossible})" if self.impossible else ""
        return f"{IN_WORDS[self.name]} at {self.place} {self.instruction}{reason}"


@dataclass(frozen=True)
class Rival:
    """An arithmetic by name, whether it is the kernel's own record of one, and whether the inputs tell it.

    `same_with` says of how many elements input sets are of which it is proved that none tells it, "" for none: the two
    give the same wherever both are defined.
    """

    name: str
    of_kernel: bool
    is_apart: bool
    same_with: str = ""


@dataclass(frozen=True)
class Rivals:
    """All rivals of a golden reference; `recognised` says what it is itself, "" where it is nothing that we know."""

    recognised: str = ""
    rivals: Sequence[Rival] = ()

    def __str__(self) -> str:
        close = [rival for rival in self.rivals if not rival.is_apart]
        open_ones = [rival.name for rival in close if not rival.same_with]
        proved = [f"{rival.name} (none can with {rival.same_with} elements)" for rival in close if rival.same_with]
        if open_ones:
            open_ones[-1] += " (equal on this domain, or not found within the budget)"
        rest = f"; not from: {', '.join([*proved, *open_ones])}" if close else ""
        return (
            f"told apart from {len(self.rivals) - len(close)}"
            + rest
            + (f"; the golden reference is {self.recognised}" if self.recognised else "")
        )

    def as_json(self) -> dict[str, object]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Power:
    """What the inputs of a check can tell: output lanes that were aimed, mistakes tried, classes of operands met.

    `beyond` says within which numbers inputs were made of arguments that have no declared domain, "" for none.  Such
    inputs are not part of a check: whether they are inputs of the kernel is not known.  `doubts` says where a build
    differs on them, and what never varied.  `rivals` are the arithmetics that the golden reference may be mixed up
    with.
    """

    lanes_aimed: int = 0
    mistakes: Sequence[TriedMistake] = ()
    operands: Sequence[OperandsMet] = ()
    beyond: str = ""
    doubts: Sequence[str] = ()
    rivals: Rivals = Rivals()

    @property
    def of_ways(self) -> list[OperandsMet]:
        """The ways that branches, selections and comparisons can go, each of which some input went or not."""
        return [one for one in self.operands if one.name in WAYS]

    @property
    def of_operands(self) -> list[OperandsMet]:
        """The classes of operands."""
        return [one for one in self.operands if one.name not in WAYS]

    @property
    def shown(self) -> list[TriedMistake]:
        """The mistakes that the inputs tell from the golden reference."""
        return [mistake for mistake in self.mistakes if mistake.shown]

    @property
    def possible(self) -> list[TriedMistake]:
        """The mistakes of which it is not proved that they change nothing."""
        return [mistake for mistake in self.mistakes if not mistake.impossible]

    @property
    def is_enough(self) -> bool:
        """Whether the inputs show a share of the mistakes that a check is not weak with."""
        return len(self.shown) >= ENOUGH * len(self.possible)

    @property
    def blind_lines(self) -> list[str]:
        """The source lines that round or saturate, with several mistakes tried, none of which is shown."""
        told: dict[str, list[TriedMistake]] = {}
        for mistake in self.possible:
            told.setdefault(mistake.place, []).append(mistake)
        return sorted(
            place
            for place, some in told.items()
            if len(some) >= SEVERAL
            and any(mistake.kind in ("round", "saturate") for mistake in some)
            and not any(mistake.shown for mistake in some)
        )

    @property
    def weaknesses(self) -> list[str]:
        """Why a pass says little, as sentences; none for a strong check."""
        found = list(self.doubts)
        found += [
            "; ".join((f"no input would have shown a mistake at {place}", *self._never_met(place)))
            for place in self.blind_lines
        ]
        if not self.is_enough:
            found.append(f"only {len(self.shown)} of {len(self.possible)} mistakes in the code would have been shown")
        return found

    @property
    def asked(self) -> list[OperandsMet]:
        """Of lines at which no input would have shown a mistake, the classes of which it is not known whether one can
        meet them: one of each build, line and class.
        """
        blind = self.blind_lines
        open_ones = [met for met in self.operands if met.place in blind and met.why_not == NOT_FOUND]
        return [*{(met.build, met.place, met.name): met for met in open_ones}.values()]

    def _never_met(self, place: str) -> list[str]:
        """What operands no lane met at a source line, in words."""
        names = {(met.name, met.why_not): None for met in self.operands if met.place == place and not met.met}
        return [f"no lane met {IN_WORDS[name]} there, {'and ' * (why != NOT_FOUND)}{why}" for name, why in names]

    def as_json(self) -> dict[str, object]:
        """As plain data."""
        return {
            "lanes_aimed": self.lanes_aimed,
            "beyond_declared_domains": self.beyond,
            "mistakes_tried": len(self.mistakes),
            "mistakes_shown": len(self.shown),
            "not_shown": [asdict(mistake) for mistake in self.mistakes if not mistake.shown],
            "operand_classes": [{**asdict(operands), "why_not": operands.why_not} for operands in self.operands],
            "rivals": self.rivals.as_json(),
            "weaknesses": self.weaknesses,
        }
