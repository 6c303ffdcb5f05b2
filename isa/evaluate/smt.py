"""Lane expressions as bit-vectors, for answers about all inputs at once.  The only file that imports the solver.

The solver is asked in lane expressions: a condition is one that is not 0 where it holds.

    solver = Solver(deadline)
    solver.require(a < 10)
    solver.check((a * a).equals(49))      Found({Place("a"): 7})
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from threading import current_thread, main_thread
from typing import Any

from isa.errors import MISSING, LanewiseError, pip_install
from isa.evaluate.smt_terms import Terms
from isa.lane import Lane, Place


class SolverMissing(LanewiseError):
    """The solver is not installed: one sentence that says how to get it."""

    exit_code = MISSING


@dataclass(frozen=True)
class Found:
    """The conditions hold for these inputs."""

    values: Mapping[Place, int]


@dataclass(frozen=True)
class Impossible:
    """The conditions hold for no inputs."""


@dataclass(frozen=True)
class Undecided:
    """The solver gave up, for this reason."""

    reason: str


Answer = Found | Impossible | Undecided


def solver_version() -> str:
    """Such as "bitwuzla 0.9.1".  Raises SolverMissing."""
    return f"bitwuzla {_bitwuzla().version()}"


def _bitwuzla() -> Any:
    try:
        import bitwuzla
    except ImportError as error:
        raise SolverMissing(f"the solver is not installed; run: {pip_install('bitwuzla')}") from error
    return bitwuzla


@contextmanager
def kept_interrupts(met: list[int]) -> Iterator[None]:
    """Keep the interrupts of the keyboard in a list, and raise one of them at the end as KeyboardInterrupt.

    The solver calls back and swallows what is raised there.  Only the main thread is interrupted.
    """
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, _: met.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if met:
        met.clear()
        raise KeyboardInterrupt


@dataclass
class _Search:
    """When a search is over.  The solver keeps it; if it knew the solver in turn, neither would ever be freed."""

    deadline: float
    rounds: float
    searched: int = 0
    interrupts: list[int] = field(default_factory=list)

    def is_over(self) -> bool:
        """Called about every millisecond."""
        self.searched += 1
        return bool(self.interrupts) or self.searched > self.rounds or time.monotonic() > self.deadline


class Solver:
    """Looks for inputs on which conditions hold, until `deadline` by `time.monotonic`; then it gives up.

    So it does after so many `rounds` of its search, each about a millisecond: their number is the same in every run.
    An interrupt ends the search: KeyboardInterrupt.
    """

    def __init__(self, deadline: float, rounds: float = inf) -> None:
        api = _bitwuzla()
        self._results = api.Result
        self.terms = Terms(api)
        options = api.Options()
        options.set(api.Option.PRODUCE_MODELS, True)
        self._solver = api.Bitwuzla(self.terms.manager, options)
        self._stated = 0
        self._search = _Search(deadline, rounds)
        self._solver.configure_terminator(self._search.is_over)

    @property
    def searched(self) -> int:
        """How many rounds the searches took."""
        return self._search.searched

    def require(self, condition: Lane) -> None:
        """Look only where the condition holds.  Raises Untranslatable."""
        self._solver.assert_formula(self.terms.holds(condition))

    def check(self, *conditions: Lane) -> Answer:
        """Inputs on which all of the conditions hold, and those required before.  Raises Untranslatable."""
        formulas = [self.terms.holds(condition) for condition in conditions]
        for fact in self.terms.facts[self._stated :]:
            self._solver.assert_formula(fact)
        self._stated = len(self.terms.facts)
        with kept_interrupts(self._search.interrupts):
            result = self._solver.check_sat(*formulas)
        if result == self._results.UNSAT:
            return Impossible()
        if result != self._results.SAT:
            return Undecided("the time limit was reached")
        terms = self.terms
        values = {p: self._solver.get_value(term).value(16) for p, term in terms.inputs.items()}
        return Found({place: terms.read_back(place, bits) for place, bits in values.items()})

    def text(self, condition: Lane) -> str:
        """What would be asked, in SMT-LIB: the same text asks the same.  Raises Untranslatable."""
        terms = self.terms
        formulas = [terms.holds(condition), *terms.facts]
        declared = [f"(declare-const {p} {constant.sort()})" for p, constant in terms.inputs.items()]
        return "\n".join([*declared, *(f"(assert {formula})" for formula in formulas)])
