"""The records of the registry: a convention is a function whose docstring says what it is, a family what it takes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from inspect import getdoc
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

Function = Callable[..., Any]
Numbers = npt.NDArray[Any]

_ROW = r"\d+[a-z]?"
_ROWS = re.compile(rf"\b[Rr]ows? ({_ROW}(?:(?:, | and |, and ){_ROW})*)")
_SENTENCE_END = r"(?=[.;]\s+[A-Z`]|[.;]?\s*$)"


@dataclass(frozen=True)
class Operand:
    """A number that conventions take: `kind` ("int32", "uint8", "int", "float32", "float", "bool"), and `low`..`high`.

    `corners` are the values tried for it, the plainest first.
    """

    name: str
    kind: str
    low: float
    high: float
    corners: Sequence[float]


@dataclass(frozen=True, eq=False)
class Family:
    """Conventions that take the same operands, so that two of them can be told apart by numbers.

    The first `swept` operands are tried on all their corners and all numbers of 16 bits; the rest, the parameters, on
    what is `given`, the plainest first (default: every combination of corners). `evaluate(function, *operands)` gives
    one result, or one row of results, for each element of the arrays of swept operands, with one number for each
    parameter; `exact` the number that all of them approximate, where there is one. `refusal_counts`: where no numbers
    tell two apart, that one refuses what the other takes does.
    """

    name: str
    operands: tuple[Operand, ...]
    swept: int = 1
    evaluate: Callable[..., Numbers] = lambda function, *operands: np.asarray(function(*operands))
    exact: Callable[..., Fraction] | None = None
    given: Sequence[tuple[float, ...]] = ()
    refusal_counts: bool = False

    @property
    def parameters(self) -> Sequence[tuple[float, ...]]:
        """The combinations of parameters that are tried, in order."""
        return self.given or list(product(*(operand.corners for operand in self.operands[self.swept :])))


@dataclass(frozen=True)
class Convention:
    """A function of `sim.golden` under its own name; all else is read from its docstring."""

    family: Family
    function: Function

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def text(self) -> str:
        """The docstring without its examples, as one line."""
        prose, _, _ = (getdoc(self.function) or "").partition(">>>")
        return " ".join(prose.split())

    @property
    def summary(self) -> str:
        """The first sentence: what it does."""
        return (getdoc(self.function) or "").partition("\n\n")[0].replace("\n", " ")

    @property
    def formula(self) -> str:
        """What follows "Formula:", to the end of its sentence; "" where there is none."""
        definitions = _part(r"Formula, (with [^:]*):", self.text)
        formula = _part(rf"Formula(?:, with [^:]*)?: (.*?){_SENTENCE_END}", self.text)
        return f"{formula}, {definitions}" if definitions else formula

    @property
    def users(self) -> str:
        """Who uses it, from the sentence that begins with "Used by"; "" where there is none."""
        users = _part(rf"\bUsed by (.*?){_SENTENCE_END}", self.text)
        return re.sub(r" \((?:spec/\S+, )?rows? [^)]*\)|; rows? .*", "", users)

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows of spec/known_differences.md that the docstring names."""
        return tuple(row for listed in _ROWS.findall(self.text) for row in re.findall(_ROW, listed))

    @property
    def example(self) -> str:
        """The doctest, with its results."""
        _, mark, examples = (getdoc(self.function) or "").partition(">>>")
        return mark + examples.rstrip()

    def as_json(self) -> dict[str, object]:
        """The convention as plain data."""
        return {
            "name": self.name,
            "family": self.family.name,
            "operands": [operand.name for operand in self.family.operands],
            "summary": self.summary,
            "formula": self.formula,
            "users": self.users,
            "rows": list(self.rows),
            "example": self.example,
        }


def _part(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found.group(1).rstrip(".; ") if found else ""
