"""C's types, as a prototype or debug information has them, and how C lays out structures and unions of them.

Source: AAPCS64 section 5.9, composite types; 5.9.5, homogeneous aggregates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

import numpy as np

from sim.kernels.signature import LARGEST_STRUCT, Layout, Pointer, Struct


@dataclass(frozen=True)
class CNumber:
    """A number; `choices` are those of an enumeration, and `in_vector` is `__bf16`, as its 16 bits."""

    dtype: str
    choices: tuple[int, ...] = ()
    in_vector: bool = False


@dataclass(frozen=True)
class CVector:
    """A vector of `lanes` numbers, or an array of `count` of them in a structure of ACLE's."""

    dtype: str
    lanes: int
    count: int = 1


@dataclass(frozen=True)
class CFunction:
    """What a pointer to a function points to."""


@dataclass(frozen=True)
class CVoid:
    """No type: what a `void *` points to is bytes."""


@dataclass(frozen=True)
class CRecord:
    """A structure or union, laid out: the name, dtype and offset of each number, and the arrays that pointers in it
    point to (None for null).

    `base` is whether the members are floating-point numbers or vectors of one size, what that is, and how many.
    """

    fields: tuple[tuple[str, str, int], ...]
    pointers: tuple[tuple[int, Pointer | None], ...]
    size: int
    alignment: int
    base: tuple[str, int, int] | None

    def struct(self, name: str) -> Struct:
        """An argument of that type and name, by value."""
        offsets = tuple(offset for _, _, offset in self.fields)
        homogeneous = None
        if self.base is not None and self.base[2] <= 4 and self.base[1] * self.base[2] == self.size:
            homogeneous = self.base[2], self.base[1]
        layout = Layout(offsets, self.size, self.alignment, homogeneous)
        pointers = tuple(
            (offset, None if pointer is None else replace(pointer, name=f"{name}.{pointer.name}"))
            for offset, pointer in self.pointers
        )
        fields = tuple((field, dtype) for field, dtype, _ in self.fields)
        if fields and not pointers:
            plain = Struct(name, fields)
            assert plain.type.fields is not None
            laid_out = tuple(plain.type.fields[field][1] for field, _ in fields)
            if layout == Layout(laid_out, plain.type.itemsize, plain.c_alignment, plain.homogeneous):
                return plain
        return Struct(name, fields, layout=layout, pointers=pointers)


CType = CNumber | CVector | CFunction | CVoid | CRecord


class CMember(NamedTuple):
    """A field: its name ("" for a structure without one), its type, its extents.

    Of a pointer, `is_pointer`, the `array` that it points to, None where it is null.
    """

    name: str
    type: CType
    extents: tuple[int, ...] = ()
    is_pointer: bool = False
    array: Pointer | None = None


def record_of(members: Sequence[CMember], is_union: bool = False) -> CRecord:
    """The structure of these members, or the union, of which the first member alone is given numbers.

    Raises ValueError for members that cannot be.
    """
    end, alignment = 0, 1
    fields, pointers, bases = list[tuple[str, str, int]](), list[tuple[int, Pointer | None]](), list[object]()
    for number, member in enumerate(members):
        size, aligned, base = _extent_of(member)
        at = 0 if is_union else -(-end // aligned) * aligned
        end, alignment = max(end, at + size), max(alignment, aligned)
        bases.append(base)
        if is_union and number:
            continue
        inside = f"{member.name}." if member.name else ""
        if member.is_pointer:
            pointers.append((at, None if member.array is None else replace(member.array, name=member.name)))
        elif isinstance(member.type, CRecord):
            fields += [(inside + name, dtype, at + offset) for name, dtype, offset in member.type.fields]
            for offset, array in member.type.pointers:
                pointers.append((at + offset, None if array is None else replace(array, name=inside + array.name)))
        else:
            fields.append((member.name, _dtype_of(member), at))
    names = [name for name, *_ in fields]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"a structure names {repeated[0]!r} twice")
    if not 0 < end <= LARGEST_STRUCT:
        raise ValueError(f"a structure must have 1 to {LARGEST_STRUCT} bytes, not {end}")
    known = [base for base in bases if isinstance(base, tuple)]
    count = max((n for *_, n in known), default=0) if is_union else sum(n for *_, n in known)
    alike = len(known) == len(bases) > 0 and len({base[:2] for base in known}) == 1
    whole = -(-end // alignment) * alignment
    return CRecord(tuple(fields), tuple(pointers), whole, alignment, (*known[0][:2], count) if alike else None)


def _extent_of(member: CMember) -> tuple[int, int, tuple[str, int, int] | None]:
    """Size and alignment of a member, and of what its numbers are, for homogeneous aggregates."""
    if member.is_pointer:
        return 8, 8, None
    count, kind = prod(member.extents), member.type
    if isinstance(kind, CRecord):
        if member.extents:
            raise ValueError(
                f"the field {member.name!r} is an array of structures: give an array of each of its fields"
            )
        return kind.size, kind.alignment, kind.base
    if isinstance(kind, CVector):
        each = np.dtype(kind.dtype).itemsize * kind.lanes
        return each * kind.count * count, each, ("vector", each, kind.count * count)
    if isinstance(kind, CNumber):
        dtype = np.dtype(kind.dtype)
        is_float = dtype.kind == "f" or kind.in_vector
        name = "bfloat" if kind.in_vector else "float"
        return dtype.itemsize * count, dtype.itemsize, (name, dtype.itemsize, count) if is_float else None
    raise ValueError(f"the field {member.name!r} has no type that a structure can have: give a pointer")


def _dtype_of(member: CMember) -> str:
    """With the extents of the field before it."""
    if not isinstance(member.type, CNumber | CVector):
        raise ValueError(f"the field {member.name!r} is no number")
    extents = member.extents
    if isinstance(member.type, CVector):
        extents = (*extents, *([member.type.count] if member.type.count > 1 else []), member.type.lanes)
    return f"({','.join(map(str, extents))},){member.type.dtype}" if extents else member.type.dtype
