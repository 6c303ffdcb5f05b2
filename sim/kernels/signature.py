"""The AAPCS64 signature of a compiled function: which argument travels where.

Source: Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64), section 6.8.2, parameter passing rules, whose
rule numbers are cited below; section 6.9 for results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeGuard

import numpy as np

from isa.errors import LanewiseError
from isa.lane import Place
from sim.kernels.extent import Extent, names_in, value_of

Direction = Literal["in", "out", "inout", "scratch"]
REGISTERS: Final = 8
"""Argument registers of each kind: x0 to x7, v0 to v7."""
LARGEST_IN_REGISTERS: Final = 16
LARGEST_STRUCT: Final = 4096
BETWEEN_ROWS: Final = 64
"""Bytes at least between the arrays that a table of pointers points to."""
_WRITTEN: Final = ("out", "inout")
RETURNED: Final = "returned"
"""The name of a function's result among the outputs."""

ALIGNMENTS: Final = tuple(1 << power for power in range(13))
LARGEST_ARRAY = 1 << 28
"""Bytes, as many as an image may have: machine and emulator hold each array, and its guards are as large again."""


class ArrayTooLarge(LanewiseError, ValueError):
    """Extents of an array that nobody means; the message is one sentence."""


@dataclass(frozen=True)
class Pointer:
    """A pointer to an array.

    `shape` holds numbers, names of scalar arguments, so ("rows", "length"), and C's arithmetic of them, so
    ("(k + 3) / 4 * 4",).  What is left in a "scratch" array is of no interest.  `strides` are the distances of
    neighbours along each axis in elements, likewise; empty where the array is contiguous.  A `nullable` pointer may be
    null.  `over_read` is how many bytes behind the array the function may read, though they must not reach an output.
    The array's address is a multiple of `alignment`, a power of two up to a page.  An `indirect` one is passed as a
    table of pointers: the first axis counts them, each points to an array of the other axes, which lies apart from the
    others.  Of a `shared` table several pointers may be the same: an input with its name and ".rows" says which array
    each is, by its number; the number behind the last one is the input that it `may_be`.  An output that `may_be` an
    input is that very array in calls whose input set has the input's name as its value.
    """

    name: str
    dtype: str
    shape: tuple[Extent, ...]
    _: KW_ONLY
    direction: Direction = "in"
    nullable: bool = False
    strides: tuple[Extent, ...] = ()
    over_read: int = 0
    alignment: int = 1
    indirect: bool = False
    may_be: str = ""
    shared: bool = False

    @cached_property
    def type(self) -> np.dtype[Any]:
        """Of its elements, as numpy's."""
        return np.dtype(self.dtype)

    @property
    def is_choice(self) -> bool:
        """Whether it is an output that may be an input."""
        return bool(self.may_be) and not self.shared

    @property
    def rows(self) -> str:
        """The name of the input that says which array each pointer of a shared table is."""
        return f"{self.name}.rows"


@dataclass(frozen=True)
class ScalarArgument:
    """A number passed by value; the bits above its dtype are not specified, so callees must not rely on them.

    `choices` are all that one of an enumeration may be.  With `in_vector` it travels as floating-point numbers do: a
    `__bf16`, whose value is its 16 bits.
    """

    name: str
    dtype: str
    _: KW_ONLY
    choices: tuple[int, ...] = ()
    in_vector: bool = False

    @cached_property
    def type(self) -> np.dtype[Any]:
        """Its dtype as numpy's."""
        return np.dtype(self.dtype)


@dataclass(frozen=True)
class VectorArgument:
    """One vector of 8 or 16 bytes passed by value, such as int32x4_t, or two to four, such as int8x16x2_t.

    Its value is an array of `lanes` numbers, for each of the vectors where there are several (`count`).
    """

    name: str
    dtype: str
    lanes: int
    count: int = 1

    @cached_property
    def type(self) -> np.dtype[Any]:
        """Its dtype as numpy's, an array of all its numbers."""
        return np.dtype((self.dtype, (self.lanes,) if self.count == 1 else (self.count, self.lanes)))


@dataclass(frozen=True)
class FunctionArgument:
    """A pointer to a function; its value is the symbol of one of the `functions` of the image, or None for null."""

    name: str
    functions: tuple[str | None, ...]

    @cached_property
    def type(self) -> np.dtype[Any]:
        """Of the address."""
        return np.dtype("uint64")


@dataclass(frozen=True)
class Layout:
    """Where the fields of a structure lie that C's rules for them, in order, do not say.

    `homogeneous` are the members of a homogeneous aggregate of vectors or floating-point numbers, and the bytes of
    each (AAPCS64 5.9.5); None where it is none.  `strides` are the distances in bytes along the first axes of a field
    of structures that repeat within, for each field; `bits` the lowest bit of a field of bits in its number, and how
    many it has, None for other fields.  Both are empty where no field has any.
    """

    offsets: tuple[int, ...]
    size: int
    alignment: int
    homogeneous: tuple[int, int] | None = None
    strides: tuple[tuple[int, ...], ...] = ()
    bits: tuple[tuple[int, int] | None, ...] = ()


class PlacedField(NamedTuple):
    """Where a field of a structure lies: its numbers as an array, `strides` in bytes, and which bits of each it is."""

    name: str
    dtype: np.dtype[Any]
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    bits: tuple[int, int] | None


@dataclass(frozen=True)
class Struct:
    """A structure or union, laid out as C does; its value is a mapping of its fields or a tuple of them.

    `fields` are names and dtypes, such as (("scale", "float32"), ("bounds", "(2,)uint8")); those of a structure within
    have names such as "bounds.low".  `layout` says where they lie if that does not follow.  `pointers` are the fields
    that point to arrays, each with its offset: these arrays are inputs and outputs of their own, by names such as
    "quantization.shift"; one without an array (None) is null.  A structure is passed by value, or with `by_pointer` as
    the address of one, or of an array of them with the extents `shape`, which goes in that `direction`.
    """

    name: str
    fields: tuple[tuple[str, str], ...]
    by_pointer: bool = False
    _: KW_ONLY
    direction: Direction = "in"
    nullable: bool = False
    shape: tuple[Extent, ...] = ()
    over_read: int = 0
    alignment: int = 1
    layout: Layout | None = None
    pointers: tuple[tuple[int, Pointer | None], ...] = ()

    strides: ClassVar[tuple[Extent, ...]] = ()
    indirect: ClassVar[bool] = False

    @cached_property
    def type(self) -> np.dtype[Any]:
        """Its dtype as numpy's, with the padding that C has; only bytes where that has no such fields."""
        if self.layout is None:
            return np.dtype([(name, np.dtype(dtype)) for name, dtype in self.fields], align=True)
        if self.layout.strides or self.layout.bits:
            return np.dtype(f"V{self.layout.size}")
        names, formats = [name for name, _ in self.fields], [dtype for _, dtype in self.fields]
        return np.dtype(
            {"names": names, "formats": formats, "offsets": [*self.layout.offsets], "itemsize": self.layout.size}
        )

    @cached_property
    def c_alignment(self) -> int:
        """Of what number of bytes its address is a multiple in C."""
        return self.type.alignment if self.layout is None else self.layout.alignment

    @cached_property
    def homogeneous(self) -> tuple[int, int] | None:
        """The members of a homogeneous aggregate, and the bytes of each (AAPCS64 5.9.5); None where it is none."""
        if self.layout is not None:
            return self.layout.homogeneous
        types = [np.dtype(dtype) for _, dtype in self.fields]
        count = sum(prod(dtype.shape) for dtype in types)
        alike = len({dtype.base for dtype in types}) == 1 and types[0].base.kind == "f"
        return (count, types[0].base.itemsize) if alike and count <= 4 else None

    @property
    def placed_fields(self) -> Iterator[PlacedField]:
        """Its fields, in order, where they lie in one structure."""
        plain = self.type.fields
        for at, (name, kind) in enumerate(self.fields):
            dtype = np.dtype(kind)
            if self.layout is None:
                assert plain is not None
                offset, outer, bits = plain[name][1], tuple[int, ...](), None
            else:
                offset = self.layout.offsets[at]
                outer = self.layout.strides[at] if self.layout.strides else ()
                bits = self.layout.bits[at] if self.layout.bits else None
            axes = range(len(outer), len(dtype.shape))
            inner = (prod(dtype.shape[axis + 1 :]) * dtype.base.itemsize for axis in axes)
            yield PlacedField(name, dtype.base, offset, dtype.shape, (*outer, *inner), bits)

    @cached_property
    def arrays(self) -> tuple[tuple[int, Pointer], ...]:
        """Its fields as arrays in memory: the offset of each, and what lies there in all structures."""
        found = []
        for field in self.placed_fields:
            each = field.dtype.itemsize
            outer = (self.type.itemsize // each,) * len(self.shape)
            strides = (*outer, *(stride // each for stride in field.strides))
            array = Pointer(
                f"{self.name}.{field.name}",
                field.dtype.name,
                (*self.shape, *field.shape),
                direction=self.direction,
                strides=strides,
            )
            found.append((field.offset, array))
        return tuple(found)


ByValue = ScalarArgument | VectorArgument | FunctionArgument | Struct
Argument = Pointer | ByValue
InMemory = Pointer | Struct
"""What lies in memory of its own: a structure only by pointer."""


@dataclass(frozen=True)
class Stack:
    """A place in memory, so many bytes above sp at the call."""

    offset: int


Location = Place | Stack


@dataclass(frozen=True)
class ArgumentPiece:
    """`size` bytes of an argument, from byte `start` on, and where they travel."""

    location: Location
    start: int
    size: int


@dataclass(frozen=True)
class Passed:
    """Where an argument travels.

    Where `copy` is given, the argument lies there in memory, and the one piece is its address.
    """

    pieces: tuple[ArgumentPiece, ...]
    copy: Stack | None = None


@dataclass(frozen=True)
class Signature:
    """The arguments of a function in order, and the dtype of the number that it returns ("" for none).

    `returned` is a structure or a vector that it returns instead, with the name "returned".  Raises ValueError where
    names repeat, a shape or stride names no scalar, or a type is none that can be passed.
    """

    arguments: tuple[Argument, ...]
    returns: str = ""
    returned: Struct | VectorArgument | None = None

    def __post_init__(self) -> None:
        names = [argument.name for argument in (*self.arguments, *self._pointed)]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"the signature names {sorted(repeated)[0]!r} twice")
        if RETURNED in names:
            raise ValueError(f"no argument can be named {RETURNED!r}: that is the name of the result")
        for argument in (*self.arguments, *self._pointed, *([self.returned] if self.returned is not None else [])):
            _check_type(argument)
        if self.returned is not None and (self.returned.name != RETURNED or self.returns):
            raise ValueError(f"a function returns one number, structure or vector, which is named {RETURNED!r}")
        scalars = {a.name for a in self.arguments if isinstance(a, ScalarArgument) and a.type.kind in "iu"}
        scalars |= {f"{s.name}.{f}" for s in self._structs for f, d in s.fields if np.dtype(d).kind in "iu"}
        for pointer in self.in_memory:
            for what, extents in (("shape", pointer.shape), ("strides", pointer.strides)):
                if unknown := frozenset[str]().union(*map(names_in, extents)) - scalars:
                    raise ValueError(f"the {what} of {pointer.name!r} names {sorted(unknown)[0]!r}, which is no scalar")
                if any(isinstance(extent, int) and extent < 0 for extent in extents):
                    raise ValueError(f"the {what} of {pointer.name!r} is {extents}: no number may be negative")
            if pointer.strides and len(pointer.strides) != len(pointer.shape):
                raise ValueError(f"{pointer.name!r} has {len(pointer.shape)} axes and {len(pointer.strides)} strides")
            if pointer.over_read < 0:
                raise ValueError(f"{pointer.name!r} cannot over-read {pointer.over_read} bytes: give 0 or more")
            if pointer.alignment not in ALIGNMENTS:
                raise ValueError(f"{pointer.name!r} cannot be aligned to {pointer.alignment}: give 1, 2, 4, ... 4096")
        for pointer in self.pointers:
            if pointer.indirect and (len(pointer.shape) < 2 or pointer.strides):
                raise ValueError(
                    f"the table of pointers {pointer.name!r} needs its extent, then those of each array: [n][length]"
                )
            inputs = {other.name for other in self.pointers if other.direction == "in" and not other.indirect}
            if pointer.shared and not (pointer.indirect and pointer.direction == "in"):
                raise ValueError(f"{pointer.name!r} cannot be shared: only the pointers of a table of inputs can be")
            can_be = pointer.shared or (pointer.direction == "out" and not pointer.indirect)
            if pointer.may_be and (pointer.may_be not in inputs or not can_be):
                what = "only an output, or a pointer of a shared table, can be an input array"
                raise ValueError(f"{pointer.name!r} cannot be {pointer.may_be!r}: {what}")
        for struct in self.blocks:
            if len(struct.shape) > 1 or (struct.shape and struct.pointers):
                raise ValueError(f"the structures {struct.name!r} can have one extent, and then no pointers in them")
        written = [s for s in self.blocks if s.direction in _WRITTEN]
        for struct in (*written, *([self.returned] if isinstance(self.returned, Struct) else [])):
            if of_bits := [field.name for field in struct.placed_fields if field.bits is not None]:
                what = f"the structure {struct.name!r} is written, and its field {of_bits[0]!r} is of bits"
                raise ValueError(f"{what}: give the whole number that it is part of, or const before the structure")

    @cached_property
    def sizes(self) -> frozenset[str]:
        """The arguments that shapes and strides depend on."""
        return frozenset[str]().union(*(names_in(e) for p in self.in_memory for e in (*p.shape, *p.strides)))

    @cached_property
    def pointers(self) -> tuple[Pointer, ...]:
        """The arrays among the arguments, in order, then those that fields of structures point to."""
        return (*(a for a in self.arguments if isinstance(a, Pointer)), *self._pointed)

    @cached_property
    def blocks(self) -> tuple[Struct, ...]:
        """The structures by pointer, in order."""
        return tuple(struct for struct in self._structs if struct.by_pointer)

    @cached_property
    def in_memory(self) -> tuple[InMemory, ...]:
        """The arrays, then the structures by pointer."""
        return (*self.pointers, *self.blocks)

    @cached_property
    def by_value(self) -> tuple[ByValue, ...]:
        """The other arguments, in order; structures by pointer among them."""
        return tuple(a for a in self.arguments if not isinstance(a, Pointer))

    @cached_property
    def _structs(self) -> tuple[Struct, ...]:
        return tuple(a for a in self.arguments if isinstance(a, Struct))

    @cached_property
    def _pointed(self) -> tuple[Pointer, ...]:
        return tuple(pointer for struct in self._structs for _, pointer in struct.pointers if pointer is not None)

    @cached_property
    def outputs(self) -> tuple[Pointer, ...]:
        """The arrays that the function writes, "inout" ones among them, in order; of structures each field.

        The fields of a structure that it returns, or the lanes of a vector, are among them, a number is not.
        """
        written = [p for p in self.pointers if p.direction in _WRITTEN]
        written += [field for s in self.blocks if s.direction in _WRITTEN for _, field in s.arrays]
        if isinstance(self.returned, Struct):
            written += [field for _, field in self.returned.arrays]
        elif self.returned is not None:
            written.append(Pointer(RETURNED, self.returned.dtype, self.returned.type.shape, direction="out"))
        return tuple(written)

    def outputs_of(self, arguments: Mapping[str, Any]) -> tuple[Pointer, ...]:
        """The outputs that one call has: not those of null pointers."""
        null = {p.name for p in self.in_memory if p.direction == "inout" and arguments.get(p.name) is None}
        return tuple(p for p in self.outputs if null.isdisjoint((p.name, p.name.partition(".")[0])))

    @property
    def result(self) -> Place:
        """The register of the result that is a number (AAPCS64 6.9)."""
        return Place("v" if np.dtype(self.returns).kind == "f" else "x", 0)

    @cached_property
    def result_pieces(self) -> tuple[ArgumentPiece, ...] | None:
        """Where what it returns travels: as the first argument would; None if in memory that x8 points to."""
        if self.returned is None:
            return ()
        return None if _is_indirect(self.returned) else _Allocation((self.returned,)).passed[RETURNED].pieces

    def result_byte(self, output: str, byte: int) -> tuple[Place, int] | None:
        """The register, and the byte of it, in which that byte of a result or of its field comes back.

        None for what comes back in memory.
        """
        name, _, field = output.partition(".")
        pieces = self.result_pieces
        if name != RETURNED or pieces is None:
            return None
        if self.returned is None:
            return self.result, byte
        if isinstance(self.returned, Struct):
            byte += next(placed.offset for placed in self.returned.placed_fields if placed.name == field)
        piece = max((one for one in pieces if one.start <= byte), key=lambda one: one.start)
        assert isinstance(piece.location, Place)
        return piece.location, byte - piece.start

    def passed(self) -> dict[str, Passed]:
        """Where each argument travels."""
        return _Allocation(self.arguments).passed

    @cached_property
    def stack_bytes(self) -> int:
        """Bytes of stack arguments and of copies, rounded up to the 16 that sp is aligned to."""
        return _aligned(_Allocation(self.arguments).stack, 16)


class _Allocation:
    """Stage C of the rules: the next registers of each kind, and the next stacked argument."""

    def __init__(self, arguments: tuple[Argument, ...]) -> None:
        self._next: dict[Literal["x", "v"], int] = {"x": 0, "v": 0}
        self.stack = 0
        self.passed = {argument.name: self._place(argument) for argument in arguments}
        for argument in arguments:
            if (
                _is_indirect(argument) and not argument.by_pointer
            ):  # rule B.4: the caller's copy of it lies above the stacked arguments
                at = _aligned(self.stack, 16)
                self.stack = at + argument.type.itemsize
                self.passed[argument.name] = Passed(self.passed[argument.name].pieces, Stack(at))

    def _place(self, argument: Argument) -> Passed:
        if isinstance(argument, Pointer) or _is_indirect(argument):
            return Passed(tuple(self._in_general(8, 8)))
        size = argument.type.itemsize
        if isinstance(argument, VectorArgument):
            return Passed(tuple(self._in_vectors(argument.count, size, size // argument.count)))
        if isinstance(argument, ScalarArgument) and (argument.type.kind == "f" or argument.in_vector):
            return Passed(tuple(self._in_vectors(1, size, size)))
        if not isinstance(argument, Struct):
            return Passed(tuple(self._in_general(size, argument.type.alignment)))
        if argument.homogeneous is not None:
            count, each = argument.homogeneous
            return Passed(tuple(self._in_vectors(count, count * each, argument.c_alignment)))
        return Passed(tuple(self._in_general(size, argument.c_alignment)))

    def _in_vectors(self, count: int, size: int, alignment: int) -> Iterator[ArgumentPiece]:
        """Rules C.1 to C.6: one register for each member, or the stack for all."""
        first = self._next["v"]
        if first + count > REGISTERS:
            self._next["v"] = REGISTERS
            yield self._on_stack(size, alignment)
            return
        self._next["v"] += count
        each = size // count
        yield from (ArgumentPiece(Place("v", first + i), i * each, each) for i in range(count))

    def _in_general(self, size: int, alignment: int) -> Iterator[ArgumentPiece]:
        """Rules C.9 to C.17: as many registers as it has double-words, or the stack for all.

        What is aligned to 16 bytes begins with an even register (C.10).
        """
        first, count = self._next["x"], (size + 7) // 8
        first += first % 2 if alignment == 16 else 0
        if first + count > REGISTERS:
            self._next["x"] = REGISTERS
            yield self._on_stack(size, alignment)
            return
        self._next["x"] = first + count
        yield from (ArgumentPiece(Place("x", first + i), 8 * i, min(8, size - 8 * i)) for i in range(count))

    def _on_stack(self, size: int, alignment: int) -> ArgumentPiece:
        at = _aligned(self.stack, min(max(8, alignment), 16))
        self.stack = at + _aligned(size, 8)
        return ArgumentPiece(Stack(at), 0, size)


def is_given(pointer: InMemory) -> bool:
    """Whether an input set has numbers for it."""
    return pointer.direction in ("in", "inout")


def extents(pointer: InMemory, arguments: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape of a pointer's array in one call.  Raises ArrayTooLarge."""
    shape = tuple(value_of(extent, arguments) for extent in pointer.shape)
    if prod(shape) * pointer.type.itemsize > LARGEST_ARRAY:
        allowed = f"at most {LARGEST_ARRAY >> 20} MiB are allowed: give smaller extents, or a smaller domain for them"
        raise ArrayTooLarge(f"the array {pointer.name}{list(shape)} of {pointer.type} is too large; {allowed}")
    return shape


def steps_in_elements(pointer: InMemory, arguments: Mapping[str, Any]) -> tuple[int, ...]:
    """The strides of a pointer's array in one call, in elements."""
    if pointer.strides:
        return tuple(value_of(stride, arguments) for stride in pointer.strides)
    shape = extents(pointer, arguments)
    steps = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
    if not pointer.indirect:
        return steps
    size = steps[0] * pointer.type.itemsize + pointer.over_read + BETWEEN_ROWS
    return _aligned(size, max(16, pointer.alignment)) // pointer.type.itemsize, *steps[1:]


def fields_of(struct: Struct, value: Any) -> dict[str, Any]:
    """The values of a structure's fields by their names, of a structure within as "bounds.low".

    `value` is a mapping, of mappings where structures are within, or a tuple in the order of the fields.  Raises
    ValueError for other fields than the structure has.
    """
    if not isinstance(value, Mapping):
        values = tuple(value)
        if len(values) != len(struct.fields):
            raise ValueError(f"it has {len(struct.fields)} fields, not {len(values)}")
        return dict(zip((name for name, _ in struct.fields), values, strict=True))
    found = flattened(value)
    if set(found) != {name for name, _ in struct.fields}:
        raise ValueError(f"its fields are {', '.join(name for name, _ in struct.fields)}, not {', '.join(found)}")
    return found


def flattened(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name, those of mappings within by names such as "bounds.low"; of lists of mappings, lists of each."""
    found = dict[str, Any]()
    for name, value in values.items():
        inner = _by_name(value)
        found.update({name: value} if inner is None else {f"{name}.{key}": part for key, part in inner.items()})
    return found


def _by_name(value: Any) -> dict[str, Any] | None:
    """What is in a mapping, or in lists of mappings with the same names; None for what is no such thing."""
    if isinstance(value, Mapping):
        return flattened(value)
    if not isinstance(value, list | tuple) or not value:
        return None
    each = list[dict[str, Any]]()
    for one in value:
        inner = _by_name(one)
        if inner is None or (each and set(inner) != set(each[0])):
            return None
        each.append(inner)
    return {name: [one[name] for one in each] for name in each[0]}


def nested(fields: Mapping[str, Any]) -> dict[str, Any]:
    """`flattened` the other way round."""
    found = dict[str, Any]()
    for name, value in fields.items():
        *outer, last = name.split(".")
        into = found
        for part in outer:
            into = into.setdefault(part, {})
        into[last] = value
    return found


def _is_indirect(argument: Argument) -> TypeGuard[Struct]:
    if not isinstance(argument, Struct):
        return False
    return argument.by_pointer or (argument.homogeneous is None and argument.type.itemsize > LARGEST_IN_REGISTERS)


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _check_type(argument: Argument) -> None:
    """Numbers of 1 to 8 bytes only; vectors of 8 or 16 bytes; structures of up to a page."""
    if isinstance(argument, FunctionArgument):
        if not argument.functions:
            raise ValueError(f"the function pointer {argument.name!r} needs functions: write one_of(name) behind it")
        return
    kinds = [dtype for _, dtype in argument.fields] if isinstance(argument, Struct) else [argument.dtype]
    for kind in kinds:
        try:
            np.dtype(kind)
        except (TypeError, ValueError):
            fault = f"{argument.name!r} has the unknown dtype {kind!r}"
            raise ValueError(f"{fault}: give one such as int32 or float32") from None
    types = [np.dtype(kind).base for kind in kinds]
    if isinstance(argument, Struct) and argument.pointers and not types:
        return
    if not types or any(kind.kind not in "iufb" or kind.itemsize > 8 or not kind.isnative for kind in types):
        raise ValueError(f"{argument.name!r} has no type that can be passed: give integers or floats of 1 to 8 bytes")
    if isinstance(argument, VectorArgument) and argument.type.itemsize not in (8 * argument.count, 16 * argument.count):
        size = argument.type.itemsize // argument.count
        raise ValueError(f"the vector {argument.name!r} has {size} bytes: it must have 8 or 16")
    if isinstance(argument, Struct):
        try:
            size = argument.type.itemsize
        except ValueError as error:  # repeated names
            raise ValueError(f"the structure {argument.name!r} cannot be laid out: {error}") from None
        if not 0 < size <= LARGEST_STRUCT:
            raise ValueError(f"the structure {argument.name!r} must have 1 to {LARGEST_STRUCT} bytes")
