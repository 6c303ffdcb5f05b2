"""The AAPCS64 signature of a compiled function: which argument travels where.

Source: Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64), section 6.8.2, parameter passing rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from isa.lane import Place

Direction = Literal["in", "out", "inout"]


@dataclass(frozen=True)
class Pointer:
    """A pointer to an array.

    `shape` holds numbers and names of scalar arguments, so ("rows", "length").  A `nullable` pointer may be null.
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    direction: Direction = "in"
    nullable: bool = False


@dataclass(frozen=True)
class Scalar:
    """A number passed by value; the bits above its dtype are not specified, so callees must not rely on them."""

    name: str
    dtype: str


Argument = Pointer | Scalar


@dataclass(frozen=True)
class Stack:
    """An argument in memory, so many bytes above sp at the call."""

    offset: int


Location = Place | Stack


@dataclass(frozen=True)
class Signature:
    """The arguments of a function in order.  Raises ValueError where names repeat or a shape names no scalar."""

    arguments: tuple[Argument, ...]

    def __post_init__(self) -> None:
        names = [argument.name for argument in self.arguments]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"the signature names {sorted(repeated)[0]!r} twice")
        scalars = {a.name for a in self.arguments if isinstance(a, Scalar)}
        for pointer in self.pointers:
            if unknown := {d for d in pointer.shape if isinstance(d, str)} - scalars:
                raise ValueError(f"the shape of {pointer.name!r} names {sorted(unknown)[0]!r}, which is no scalar")

    @property
    def pointers(self) -> tuple[Pointer, ...]:
        return tuple(a for a in self.arguments if isinstance(a, Pointer))

    @property
    def outputs(self) -> tuple[Pointer, ...]:
        return tuple(p for p in self.pointers if p.direction != "in")

    def locations(self) -> dict[str, Location]:
        """Where each argument travels: x0..x7, v0..v7, then the stack in 8-byte slots."""
        places: dict[str, Location] = {}
        general, vector, stack = iter(range(8)), iter(range(8)), 0
        for argument in self.arguments:
            in_vector = isinstance(argument, Scalar) and np.dtype(argument.dtype).kind == "f"
            number = next(vector if in_vector else general, None)
            if number is not None:
                places[argument.name] = Place("v" if in_vector else "x", number)
            else:
                places[argument.name] = Stack(stack)
                stack += 8
        return places

    @property
    def stack_bytes(self) -> int:
        """Bytes of stack arguments, rounded up to the 16 that sp is aligned to."""
        slots = sum(isinstance(location, Stack) for location in self.locations().values())
        return (8 * slots + 15) & ~15
