"""The records of the registry: a convention is a function that declares its formula, a family is what it takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from inspect import getdoc
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.golden.declaration import Declaration, declaration_of

Function = Callable[..., Any]
Numbers = npt.NDArray[Any]


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
    what `given` gives, the plainest first (default: every combination of corners).
    `evaluate(function, *operands)` gives one result, or one row of results, for each element of the arrays of swept
    operands, with one number for each parameter; `exact` the number that all of them approximate, where there is one.
    `refusal_counts`: where no numbers tell two apart, that one refuses what the other takes does.
    """

    name: str
    operands: tuple[Operand, ...]
    swept: int = 1
    evaluate: Callable[..., Numbers] = lambda function, *operands: np.asarray(function(*operands))
    exact: Callable[..., Fraction] | None = None
    given: Callable[[], Sequence[tuple[float, ...]]] = tuple
    refusal_counts: bool = False

    @property
    def parameters(self) -> Sequence[tuple[float, ...]]:
        """The combinations of parameters that are tried, in order."""
        return self.given() or list(product(*(operand.corners for operand in self.operands[self.swept :])))


@dataclass(frozen=True)
class Convention:
    """A function of `sim.golden` that `convention` declares, under its own name.

    `LookupError`: the function declares nothing.
    """

    family: Family
    function: Function

    def __post_init__(self) -> None:
        declaration_of(self.function)

    def __repr__(self) -> str:
        return f"Convention({self.name}: {self.formula})"

    @property
    def declaration(self) -> Declaration:
        """What stands above the function: formula, users, rows."""
        return declaration_of(self.function)

    @property
    def name(self) -> str:
        """That of the function, such as "double_rounding"."""
        return self.function.__name__

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring: what it does."""
        return (getdoc(self.function) or "").partition("\n\n")[0].replace("\n", " ")

    @property
    def formula(self) -> str:
        """Its arithmetic."""
        return self.declaration.formula

    @property
    def users(self) -> str:
        """Who uses it."""
        return self.declaration.users

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows of docs/spec/known_differences.md in which it is a side."""
        return self.declaration.rows

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
