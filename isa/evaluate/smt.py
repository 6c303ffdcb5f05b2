"""Lane expressions as bit-vectors, for answers about all inputs at once.  The only file that imports the solver.

The solver is asked in lane expressions: a condition is one that is not 0 where it holds.

    solver = Solver(deadline)
    solver.require(a < 10)
    solver.check((a * a).equals(49))      Found({Place("a"): 7})
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from isa.evaluate.smt_terms import Terms
from isa.lane import Lane, Place


class SolverMissing(Exception):
    """The solver is not installed: one sentence that says how to get it."""


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
        raise SolverMissing("the solver is not installed; run: pip install bitwuzla") from error
    return bitwuzla


class Solver:
    """Looks for inputs on which conditions hold, until `deadline` by `time.monotonic`; then it gives up."""

    def __init__(self, deadline: float) -> None:
        api = _bitwuzla()
        self._results = api.Result
        self.terms = Terms(api)
        options = api.Options()
        options.set(api.Option.PRODUCE_MODELS, True)
        self._solver = api.Bitwuzla(self.terms.manager, options)
        self._solver.configure_terminator(lambda: time.monotonic() > deadline)
        self._stated = 0

    def require(self, condition: Lane) -> None:
        """Look only where the condition holds.  Raises Untranslatable."""
        self._solver.assert_formula(self.terms.holds(condition))

    def check(self, *conditions: Lane) -> Answer:
        """Inputs on which all of the conditions hold, and those required before.  Raises Untranslatable."""
        formulas = [self.terms.holds(condition) for condition in conditions]
        for fact in self.terms.facts[self._stated :]:
            self._solver.assert_formula(fact)
        self._stated = len(self.terms.facts)
        result = self._solver.check_sat(*formulas)
        if result == self._results.UNSAT:
            return Impossible()
        return self._found() if result == self._results.SAT else Undecided("the time limit was reached")

    def _found(self) -> Found:
        terms = self.terms
        values = {p: self._solver.get_value(term).value(16) for p, term in terms.inputs.items()}
        return Found({place: terms.read_back(place, bits) for place, bits in values.items()})

    def text(self, condition: Lane) -> str:
        """What would be asked, in SMT-LIB: the same text asks the same.  Raises Untranslatable."""
        terms = self.terms
        formulas = [terms.holds(condition), *terms.facts]
        declared = [f"(declare-const {p} {constant.sort()})" for p, constant in terms.inputs.items()]
        return "\n".join([*declared, *(f"(assert {formula})" for formula in formulas)])
