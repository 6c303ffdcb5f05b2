"""C's types, as a prototype or debug information has them, how C lays out structures and unions of them, and the bytes
of what is passed.

Source: AAPCS64 section 5.9, composite types; 5.9.5, homogeneous aggregates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from sim.kernels.signature import LARGEST_STRUCT, ByValue, Layout, PlacedField, Pointer, Struct, fields_of

Array = np.ndarray[Any, Any]


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
class CPointer:
    """A pointer in a structure, and the array that it points to; None where it is null."""

    array: Pointer | None


class CField(NamedTuple):
    """Numbers in a structure.

    `dtype` has their extents; `strides` are the distances in bytes along the first of them, of structures that repeat;
    `bits` are the lowest bit of a field of bits in its number, and how many it has.
    """

    name: str
    dtype: str
    offset: int
    strides: tuple[int, ...] = ()
    bits: tuple[int, int] | None = None


@dataclass(frozen=True)
class CRecord:
    """A structure or union, laid out: its numbers, and the offsets and arrays of what pointers in it point to (None for
    null).

    `base` is whether the members are floating-point numbers or vectors of one size, what that is, and how many.
    """

    fields: tuple[CField, ...]
    pointers: tuple[tuple[int, Pointer | None], ...]
    size: int
    alignment: int
    base: tuple[str, int, int] | None

    def struct(self, name: str) -> Struct:
        """An argument of that type and name, by value."""
        offsets = tuple(field.offset for field in self.fields)
        homogeneous = None
        if self.base is not None and self.base[2] <= 4 and self.base[1] * self.base[2] == self.size:
            homogeneous = self.base[2], self.base[1]
        strides = tuple(field.strides for field in self.fields)
        bits = tuple(field.bits for field in self.fields)
        layout = Layout(
            offsets, self.size, self.alignment, homogeneous, strides if any(strides) else (), bits if any(bits) else ()
        )
        pointers = tuple(
            (offset, None if pointer is None else replace(pointer, name=f"{name}.{pointer.name}"))
            for offset, pointer in self.pointers
        )
        fields = tuple((field.name, field.dtype) for field in self.fields)
        if fields and not pointers and not layout.strides and not layout.bits:
            plain = Struct(name, fields)
            assert plain.type.fields is not None
            laid_out = tuple(plain.type.fields[field][1] for field, _ in fields)
            if layout == Layout(laid_out, plain.type.itemsize, plain.c_alignment, plain.homogeneous):
                return plain
        return Struct(name, fields, layout=layout, pointers=pointers)


CType = CNumber | CVector | CFunction | CVoid | CRecord


class CMember(NamedTuple):
    """A field: its name ("" for a structure without one, and for bits that nothing names), its type, its extents.

    `bits` is how many a field of bits has, and `at` the bit of the structure at which debug information says that a
    field begins.
    """

    name: str
    type: CType | CPointer
    extents: tuple[int, ...] = ()
    bits: int | None = None
    at: int | None = None


def record_of(members: Sequence[CMember], is_union: bool = False) -> CRecord:
    """The structure of these members, or the union, of which the first member alone is given numbers.

    Raises ValueError for members that cannot be.
    """
    end, alignment = 0, 1  # in bits, in bytes
    fields, pointers, bases = list[CField](), list[tuple[int, Pointer | None]](), list[object]()
    for number, member in enumerate(members):
        size, aligned, base = _extent_of(member)
        first = _begin_of(member, 0 if is_union else end, size, aligned)
        end, alignment = max(end, first + (8 * size if member.bits is None else member.bits)), max(alignment, aligned)
        at = first // 8
        if member.bits is not None and not member.name:
            continue
        bases.append(base)
        if is_union and number:
            continue
        inside = f"{member.name}." if member.name else ""
        if isinstance(member.type, CPointer):
            array = member.type.array
            pointers.append((at, None if array is None else replace(array, name=member.name)))
        elif isinstance(member.type, CRecord):
            steps = tuple(member.type.size * prod(member.extents[axis + 1 :]) for axis in range(len(member.extents)))
            for field in member.type.fields:
                dtype = np.dtype(field.dtype)
                shaped = _shaped(dtype.base.name, (*member.extents, *dtype.shape))
                strides = (*steps, *field.strides)
                fields.append(CField(inside + field.name, shaped, at + field.offset, strides, field.bits))
            for offset, array in member.type.pointers:
                pointers.append((at + offset, None if array is None else replace(array, name=inside + array.name)))
        elif member.bits is None:
            fields.append(CField(member.name, _dtype_of(member), at))
        else:
            whole, bit = divmod(first, 8 * size)
            bits = (bit, member.bits) if member.bits < 8 * size else None  # all of a number is a number
            fields.append(CField(member.name, _dtype_of(member), whole * size, bits=bits))
    end = -(-end // 8)
    names = [field.name for field in fields]
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
    if isinstance(member.type, CPointer):
        return 8, 8, None
    count, kind = prod(member.extents), member.type
    if isinstance(kind, CRecord):
        if member.extents and kind.pointers:
            raise ValueError(f"the field {member.name!r} is an array of structures with pointers: give them one by one")
        return kind.size * count, kind.alignment, kind.base and (*kind.base[:2], kind.base[2] * count)
    if isinstance(kind, CVector):
        each = np.dtype(kind.dtype).itemsize * kind.lanes
        return each * kind.count * count, each, ("vector", each, kind.count * count)
    if isinstance(kind, CNumber):
        dtype = np.dtype(kind.dtype)
        is_float = dtype.kind == "f" or kind.in_vector
        name = "bfloat" if kind.in_vector else "float"
        return dtype.itemsize * count, dtype.itemsize, (name, dtype.itemsize, count) if is_float else None
    raise ValueError(f"the field {member.name!r} has no type that a structure can have: give a pointer")


def _begin_of(member: CMember, end: int, size: int, alignment: int) -> int:
    """The bit at which a member begins that comes behind so many bits.

    A field of bits lies in one of its numbers, so that it begins with the next where it would cross their border; one
    without bits goes to the border (AAPCS64 10.1.8).  Raises ValueError where debug information has it elsewhere.
    """
    room = 8 * alignment
    if member.bits is None:
        first = -(-end // room) * room
    elif not isinstance(member.type, CNumber) or np.dtype(member.type.dtype).kind == "f" or member.extents:
        raise ValueError(f"the field {member.name!r} is of bits, and no integer")
    elif member.bits > (1 if member.type.dtype == "bool" else 8 * size) or (member.name and not member.bits):
        raise ValueError(f"the field {member.name!r} cannot have {member.bits} bits")
    else:
        crosses = not member.bits or end // room != (end + member.bits - 1) // room
        first = -(-end // room) * room if crosses else end
    if member.at is None:
        return first
    # Bits that nothing names may lie before it, of which debug information says nothing.
    fits = member.at % room == 0 if member.bits is None else member.at // room == (member.at + member.bits - 1) // room
    if member.at < end or not fits:
        raise ValueError(f"the field {member.name!r} is laid out otherwise than C does by itself")
    return member.at


def _dtype_of(member: CMember) -> str:
    """With the extents of the field before it."""
    if not isinstance(member.type, CNumber | CVector):
        raise ValueError(f"the field {member.name!r} is no number")
    extents = member.extents
    if isinstance(member.type, CVector):
        extents = (*extents, *([member.type.count] if member.type.count > 1 else []), member.type.lanes)
    return _shaped(member.type.dtype, extents)


def _shaped(dtype: str, extents: tuple[int, ...]) -> str:
    return f"({','.join(map(str, extents))},){dtype}" if extents else dtype


def as_bytes(argument: ByValue, value: Any) -> bytes:
    """The bytes of an argument's value as C has them, of a structure with zeros between its fields and for pointers.

    Raises what numpy raises for a value that does not fit.
    """
    if isinstance(argument, Struct):
        data = bytearray(argument.type.itemsize)
        write_fields(argument, value, data)
        return bytes(data)
    array = np.asarray(value, argument.type.base)
    if array.shape != argument.type.shape:
        raise ValueError(f"it is one number or vector, not {list(array.shape)} of them")
    return array.tobytes()


def write_fields(struct: Struct, value: Any, data: bytearray, count: tuple[int, ...] = ()) -> None:
    """Put the fields of a structure, or of so many one behind the other, into their bytes; the others stay.

    Raises what numpy raises for a value that does not fit, and ValueError for other fields or extents.
    """
    values = fields_of(struct, value)
    for field, held in _views(struct, data, count):
        given = values[field.name]
        numbers = np.array(given, field.dtype) if getattr(given, "dtype", None) != field.dtype else np.asarray(given)
        if numbers.shape != held.shape:
            raise ValueError(f"the field {field.name!r} has the extents {list(held.shape)}, not {list(numbers.shape)}")
        if field.bits is None:
            held[...] = numbers
            continue
        lowest, bits = field.bits
        least, most = limits_of_bits(field.dtype, bits)
        if not all(least <= number <= most for number in numbers.ravel().tolist()):
            raise ValueError(f"the field {field.name!r} has {bits} bits: its numbers are {least} to {most}")
        mask = held.dtype.type((1 << bits) - 1)
        held[...] = held & ~(mask << lowest) | (numbers.astype(held.dtype) & mask) << lowest


def read_fields(struct: Struct, data: bytearray, count: tuple[int, ...] = ()) -> dict[str, Array]:
    """The numbers of each field, of a structure or of so many one behind the other, as arrays of their own."""
    found = {}
    for field, held in _views(struct, data, count):
        numbers = held.copy()
        if field.bits is not None:
            lowest, bits = field.bits
            above = 8 * field.dtype.itemsize - bits
            # The highest bit is that of a signed number: shifted to the top and back, it is copied.
            whole = (numbers << above - lowest).view(_whole(field.dtype))
            numbers = np.asarray(whole >> above).astype(field.dtype)
        found[field.name] = numbers
    return found


def limits_of_bits(dtype: np.dtype[Any], bits: int) -> tuple[int, int]:
    """The least and the largest number of a field of so many bits."""
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.kind == "i" else (0, (1 << bits) - 1)


def _views(struct: Struct, data: bytearray, count: tuple[int, ...]) -> Iterator[tuple[PlacedField, Array]]:
    """Each field as an array on the bytes; one of bits as the whole numbers that it is part of, without signs."""
    for field in struct.placed_fields:
        shape, strides = (*count, *field.shape), (*(struct.type.itemsize for _ in count), *field.strides)
        dtype = field.dtype if field.bits is None else np.dtype(f"uint{8 * field.dtype.itemsize}")
        yield field, np.ndarray(shape, dtype, data, field.offset if 0 not in shape else 0, strides)


def _whole(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype, for a truth that of its byte."""
    return np.dtype("uint8") if dtype.kind == "b" else dtype
