"""The smallest operands that tell two conventions apart.

First every combination of parameters of their family, with all corners and all numbers of 16 bits for what is swept;
where none tells them apart, the solver is asked for all operands, if both are also written as lane expressions.
"Smallest" is said of what was tried, in this order: the plainest parameters, as the family lists them, and for these
the least sum of magnitudes, then the least magnitude of each operand in turn, a positive number before its negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Literal

import numpy as np

from isa.errors import LanewiseError
from isa.evaluate.smt import SolverMissing
from sim.golden.registry.conventions import convention_named
from sim.golden.registry.record import Convention, Family, Numbers
from sim.prove.separate_by_solver import NotWritten, solved

Operands = tuple[float, ...]
Verdict = Literal["apart", "proved equal", "not told apart"]
Result = int | tuple[int, ...] | None
"""What a convention gives, None where it refuses the operands."""
SOLVER_SECONDS = 60.0


class NotComparable(LanewiseError, ValueError):
    """Two conventions that do not take the same operands; the message is one sentence."""


@dataclass(frozen=True, kw_only=True)
class Separated:
    """What tells two conventions apart: `operands` by name, the `results` of both, the `exact` value if there is one.

    `tried` counts the operand sets that were compared; `note` says what more there is to know: how the solver decided,
    or why it could not.
    """

    one: Convention
    other: Convention
    verdict: Verdict
    tried: int
    operands: Mapping[str, float] = field(default_factory=dict)
    results: tuple[Result, Result] = (None, None)
    exact: Fraction | None = None
    note: str = ""

    def __repr__(self) -> str:
        operands = ", ".join(f"{name} {value}" for name, value in self.operands.items())
        where = f" at {operands}: {self.results[0]} and {self.results[1]}" if operands else ""
        return f"Separated({self.one.name}, {self.other.name}: {self.verdict}{where})"

    def as_json(self) -> dict[str, object]:
        """The answer as plain data; the exact value as a text like "-1/2"."""
        return {
            "between": [self.one.name, self.other.name],
            "family": self.one.family.name,
            "verdict": self.verdict,
            "operands": dict(self.operands),
            "results": list(self.results),
            "exact": None if self.exact is None else str(self.exact),
            "operand_sets_tried": self.tried,
            "note": self.note,
        }


def separate(one: str, other: str, seconds: float = SOLVER_SECONDS) -> Separated:
    """Search for operands on which the two conventions differ; the solver gets at most so many seconds.

    Raises LookupError for an unknown name and NotComparable for conventions of two families, both with a sentence.
    """
    first, second = convention_named(one), convention_named(other)
    if first.family is not second.family:
        raise NotComparable(
            f"{one} ({first.family.name}) and {other} ({second.family.name}) do not take the same operands: "
            "give two conventions of one family"
        )
    found, tried = _searched(first, second)
    if found:
        return _answer(first, second, tried, found)
    verdict: Verdict = "not told apart"
    try:
        finding = solved(first.name, second.name, seconds)
    except (NotWritten, SolverMissing) as reason:
        note = str(reason)
    else:
        if finding.outcome == "counter-example":
            operands = tuple(finding.values[operand.name] for operand in first.family.operands)
            return _answer(first, second, tried, operands, "found by the solver")
        note = f"the solver does not know: {finding.reason}"
        if finding.outcome == "proved":
            verdict, note = "proved equal", "for all operands that both define, by the solver"
    return Separated(one=first, other=second, verdict=verdict, tried=tried, note=note)


def _searched(one: Convention, other: Convention) -> tuple[Operands | None, int]:
    """The first operands on which the numbers differ, else the first that only one refuses; and how many were tried."""
    family, tried, refused = one.family, 0, None
    swept = swept_values(family)
    for parameters in family.parameters:
        outcomes: list[Numbers | None] = []
        for convention in (one, other):
            try:
                outcomes.append(family.evaluate(convention.function, *swept, *parameters))
            except ValueError:
                outcomes.append(None)
        left, right = outcomes
        tried += swept[0].size if swept else 1
        if left is not None and right is not None and (left != right).any():
            place = int(np.argmax((left != right).reshape(len(left), -1).any(axis=1)))
            return (*(array[place].item() for array in swept), *parameters), tried
        if refused is None and (left is None) != (right is None) and family.refusal_counts:
            refused = (*(array[0].item() for array in swept), *parameters)
    return refused, tried


@cache
def swept_values(family: Family) -> tuple[Numbers, ...]:
    """Arrays of one length, the swept operands of a family in the order in which they are tried.

    All numbers of so many bits that they are 16 together, and the corners, in each operand's own dtype.
    """
    values = []
    for operand in family.operands[: family.swept]:
        bits = 16 // family.swept
        if operand.kind in ("float", "float32"):
            narrow = np.arange(1 << bits, dtype=np.uint16).view(np.float16)
            dense: Numbers = narrow[np.isfinite(narrow)].astype(np.float64)
        else:
            low = max(-(1 << bits - 1), int(operand.low))
            dense = np.arange(low, low + (1 << bits))
        dtype = {"float": np.float64}.get(operand.kind, np.dtype(operand.kind))
        inside = dense[(dense >= operand.low) & (dense <= operand.high)]
        values.append(np.unique(np.concatenate([inside, np.array(operand.corners, dense.dtype)])).astype(dtype))
    grid = np.meshgrid(*values, indexing="ij")
    columns = [part.ravel() for part in grid]
    magnitudes = [np.abs(column.astype(np.float64)) for column in columns]
    signs = [column < 0 for column in columns]
    order = np.lexsort(
        [key for pair in zip(signs[::-1], magnitudes[::-1], strict=True) for key in pair] + [sum(magnitudes)]
    )
    return tuple(column[order] for column in columns)


def _answer(one: Convention, other: Convention, tried: int, operands: Operands, note: str = "") -> Separated:
    family = one.family
    named = {operand.name: value for operand, value in zip(family.operands, operands, strict=True)}
    exact = family.exact(*operands) if family.exact is not None else None
    results = result_of(one, operands), result_of(other, operands)
    return Separated(
        one=one, other=other, verdict="apart", tried=tried, operands=named, results=results, exact=exact, note=note
    )


def result_of(convention: Convention, operands: Operands) -> Result:
    """What a convention gives for one set of the operands of its family, in their order; None where it refuses."""
    family = convention.family
    swept = [np.array([value], array.dtype) for value, array in zip(operands, swept_values(family), strict=False)]
    try:
        result = family.evaluate(convention.function, *swept, *operands[family.swept :])[0]
    except ValueError:
        return None
    return tuple(result.tolist()) if np.ndim(result) else int(result)
