"""Claims about lane expressions, and what there is to say of one for all inputs.

    Claim("halving", {"x": S8}, left=lambda x: x >> 1, right=lambda x: divide(x, constant(2)), relation="not equal")

An answer is proved, a counter-example or unknown, never a bare bool.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from inspect import signature
from typing import Literal, assert_never

from isa.errors import LanewiseError
from isa.evaluate.exact import Evaluation
from isa.evaluate.smt import Found, Impossible, Solver, Undecided
from isa.evaluate.smt_terms import Untranslatable
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    Int,
    Lane,
    Load,
    Pick,
    Place,
    Read,
    Saturate,
    constant,
    lift,
    walk,
)
from sim.prove.shrink import smallest_found

Result = Lane | Mapping[str, Lane]
"""What a side computes: one number, or several by name."""

Relation = Literal["equal", "not equal"]
Outcome = Literal["proved", "counter-example", "unknown"]


class BrokenClaim(LanewiseError):
    """A claim that says nothing; the message names it and what to mend."""


@dataclass(frozen=True)
class Range:
    """The numbers `low`..`high`, both included, as the type of an input."""

    low: int
    high: int


@dataclass(frozen=True)
class Claim:
    """That `left` and `right` are equal for all inputs on which `given` is not 0, or that they are not.

    The functions take the inputs as lane expressions, in the order of `inputs`.  A claim of "not equal" holds where
    some input tells the sides apart.  `covers` names the instruction forms it speaks of.
    """

    name: str
    inputs: Mapping[str, Int | Range]
    left: Callable[..., Result]
    right: Callable[..., Result]
    _: KW_ONLY
    given: Callable[..., Lane] | None = None
    relation: Relation = "equal"
    covers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sides:
    """The expressions of a claim: `left` and `right` by the names of their results."""

    inputs: tuple[Read, ...]
    left: Mapping[str, Lane]
    right: Mapping[str, Lane]
    given: Lane

    @property
    def differ(self) -> Lane:
        """1 where the sides have some result on which they differ."""
        pairs = [(self.left[name], self.right[name]) for name in self.left]
        return any_of(a.equals(b).equals(0) for a, b in pairs)


@dataclass(frozen=True)
class Finding:
    """The answer to one claim, after `seconds`.

    `values` are the inputs of a counter-example; it is the smallest unless `smallest` says that time ran out.
    `reason` says why an answer is unknown.  `cached`: found in an earlier run, in which it took the time.
    """

    outcome: Outcome
    seconds: float
    values: Mapping[str, int] = field(default_factory=dict)
    smallest: bool = True
    reason: str = ""
    cached: bool = False

    def supports(self, claim: Claim) -> bool:
        """Whether all is as claimed."""
        return self.outcome == ("proved" if claim.relation == "equal" else "counter-example")


def any_of(conditions: Iterable[Lane]) -> Lane:
    """1 where some of the conditions is 1."""
    some = constant(0)
    for condition in conditions:
        some = some | condition
    return some


def clamped(lane: Lane) -> Lane:
    """1 where some saturation in the expression clamps: what an instruction that computes it adds to FPSR.QC."""
    clamps: list[Lane] = []
    for node in walk([lane]):
        match node:
            case Saturate(operand):
                clamps.append(node.equals(operand).equals(0))
            case Constant() | Read() | Load() | Field() | Pick() | Binary() | Floating():
                pass
            case _:
                assert_never(node)
    return any_of(clamps)


def with_qc(lane: Lane) -> Mapping[str, Lane]:
    """The results of an instruction's lane: its value, and whether it sets QC."""
    return {"value": lane, "QC": clamped(lane)}


def input_lane(name: str, kind: Int | Range) -> Read:
    """An input as an expression: a leaf of that name."""
    return Read(Place(name), kind.low, kind.high)


def sides_of(claim: Claim) -> Sides:
    """The expressions of a claim.  Raises BrokenClaim where its functions give none, or different results."""
    inputs = {}
    for name, kind in claim.inputs.items():
        if not isinstance(kind, Int | Range) or kind.low > kind.high:
            raise BrokenClaim(
                f"claim {claim.name!r}: input {name!r} is {kind!r}: give an Int such as S32, or a Range(low, high)"
            )
        inputs[name] = input_lane(name, kind)
    left, right = (_results(claim, side, inputs) for side in ("left", "right"))
    if left.keys() != right.keys():
        raise BrokenClaim(f"claim {claim.name!r}: left gives {', '.join(left)}, right gives {', '.join(right)}")
    given = constant(1) if claim.given is None else _results(claim, "given", inputs)["value"]
    return Sides(tuple(inputs.values()), left, right, given)


def _results(claim: Claim, side: str, inputs: Mapping[str, Lane]) -> dict[str, Lane]:
    function = getattr(claim, side)
    taken = _parameters(function)
    if sorted(taken) == sorted(inputs) and taken != list(inputs):
        raise BrokenClaim(
            f"claim {claim.name!r}: {side} takes {', '.join(taken)}, and the inputs come as {', '.join(inputs)}: "
            "give them in one order"
        )
    try:
        result = function(*inputs.values())
    except Exception as error:  # whatever a user's function fails with
        raise BrokenClaim(f"claim {claim.name!r}: {side} raised {type(error).__name__}: {error}") from error
    named = dict(result) if isinstance(result, Mapping) and side != "given" else {"value": result}
    wrong = [value for value in named.values() if not isinstance(value, Lane | int)]
    if wrong or not named:
        raise BrokenClaim(f"claim {claim.name!r}: {side} gives {result!r}: it must give a lane, or lanes by name")
    return {name: lift(value) for name, value in named.items()}


def _parameters(function: Callable[..., object]) -> list[str]:
    """The names of what a function takes; none where it does not say."""
    try:
        return [*signature(function).parameters]
    except (TypeError, ValueError):
        return []


def prove(claim: Claim, seconds: float = 60) -> Finding:
    """Decide a claim for all inputs it speaks of: ask the solver, for at most so many seconds.

    Raises BrokenClaim for a claim that says nothing, SolverMissing where bitwuzla is not installed.
    """
    return prove_sides(sides_of(claim), seconds)


def prove_sides(sides: Sides, seconds: float) -> Finding:
    """`prove` for the expressions of a claim."""
    started = time.monotonic()
    outcome = _asked(sides, started + seconds)
    return Finding(outcome.outcome, time.monotonic() - started, outcome.values, outcome.smallest, outcome.reason)


def _asked(sides: Sides, deadline: float) -> Finding:
    solver = Solver(deadline)
    try:
        solver.require(sides.given)
        answer = solver.check(sides.differ)
        if isinstance(answer, Found):
            found, smallest = smallest_found(solver, sides.inputs, sides.differ, answer)
            values = {lane.place.file: found[lane] for lane in sides.inputs}
            if tells_apart(sides, values):
                return Finding("counter-example", 0, values, smallest)
            return _unknown(f"solver and exact evaluation disagree on {values}: this is a fault of lanewise")
        open_question = left_open(solver, answer)
    except Untranslatable as error:
        return _unknown(str(error))
    return _unknown(open_question) if open_question else Finding("proved", 0)


def left_open(solver: Solver, answer: Impossible | Undecided) -> str:
    """Why a claim is not proved whose sides differ on nothing that the solver has found; "" where it is proved.

    A claim about no input at all says nothing; so what is required must be possible.
    """
    if isinstance(answer, Undecided):
        return answer.reason
    match solver.check():
        case Found():
            return ""
        case Impossible():
            return "no input at all fulfils what is given"
        case Undecided(reason):
            return f"no counter-example, but whether any input fulfils what is given is open: {reason}"


def _unknown(reason: str) -> Finding:
    return Finding("unknown", 0, reason=reason)


def tells_apart(sides: Sides, values: Mapping[str, int]) -> bool:
    """Whether the sides differ on these inputs, and the inputs are allowed, by exact evaluation."""
    evaluation = Evaluation(ClaimInputs(values))
    return bool(evaluation.value(sides.given)) and bool(evaluation.value(sides.differ))


@dataclass(frozen=True)
class ClaimInputs:
    """The inputs of a claim as a state to evaluate on."""

    values: Mapping[str, int]

    def read(self, place: Place) -> int:
        """The number of an input."""
        return self.values[place.file]

    def load(self, address: int, size: int) -> bytes:
        """Raises LookupError: a claim has no memory."""
        raise LookupError(f"a claim has no memory to load {size} bytes from at {address:#x}")
