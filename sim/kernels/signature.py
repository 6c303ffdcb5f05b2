"""The AAPCS64 signature of a compiled function: which argument travels where.

Source: Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64), section 6.8.2, parameter passing rules, whose
rule numbers are cited below; section 6.9 for results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from math import prod
from typing import Any, Final, Literal, TypeGuard

import numpy as np

from isa.errors import LanewiseError
from isa.lane import Place
from sim.kernels.extent import Extent, names_in, value_of

Direction = Literal["in", "out", "inout", "scratch"]
REGISTERS: Final = 8
"""Argument registers of each kind: x0 to x7, v0 to v7."""
LARGEST_IN_REGISTERS: Final = 16
LARGEST_STRUCT: Final = 4096
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
    The array's address is a multiple of `alignment`, a power of two up to a page.
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


@dataclass(frozen=True)
class ScalarArgument:
    """A number passed by value; the bits above its dtype are not specified, so callees must not rely on them."""

    name: str
    dtype: str

    @property
    def type(self) -> np.dtype[Any]:
        """Its dtype as numpy's."""
        return np.dtype(self.dtype)


@dataclass(frozen=True)
class VectorArgument:
    """A vector of 8 or 16 bytes passed by value, such as int32x4_t; its value is an array of `lanes` numbers."""

    name: str
    dtype: str
    lanes: int

    @property
    def type(self) -> np.dtype[Any]:
        """Its dtype as numpy's, an array of `lanes` numbers."""
        return np.dtype((self.dtype, (self.lanes,)))


@dataclass(frozen=True)
class Struct:
    """A structure, laid out as C does; its value is a mapping of its fields or a tuple of them.

    `fields` are names and dtypes, such as (("scale", "float32"), ("bounds", "(2,)uint8")).  It is passed by value, or
    with `by_pointer` as the address of one that the function only reads.
    """

    name: str
    fields: tuple[tuple[str, str], ...]
    by_pointer: bool = False

    @property
    def type(self) -> np.dtype[Any]:
        """Its dtype as numpy's, with the padding that C has."""
        return np.dtype([(name, np.dtype(dtype)) for name, dtype in self.fields], align=True)

    @property
    def homogeneous_floats(self) -> int:
        """Members of a homogeneous floating-point aggregate (AAPCS64 5.9.5); 0 where it is none."""
        types = [np.dtype(dtype) for _, dtype in self.fields]
        count = sum(prod(dtype.shape) for dtype in types)
        alike = len({dtype.base for dtype in types}) == 1 and types[0].base.kind == "f"
        return count if alike and count <= 4 else 0


ByValue = ScalarArgument | VectorArgument | Struct
Argument = Pointer | ByValue


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

    Raises ValueError where names repeat, a shape or stride names no scalar, or a type is none that can be passed.
    """

    arguments: tuple[Argument, ...]
    returns: str = ""

    def __post_init__(self) -> None:
        names = [argument.name for argument in self.arguments]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"the signature names {sorted(repeated)[0]!r} twice")
        if RETURNED in names:
            raise ValueError(f"no argument can be named {RETURNED!r}: that is the name of the result")
        for argument in self.arguments:
            _check_type(argument)
        scalars = {a.name for a in self.arguments if isinstance(a, ScalarArgument) and a.type.kind in "iu"}
        for pointer in self.pointers:
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

    @property
    def sizes(self) -> frozenset[str]:
        """The arguments that shapes and strides depend on."""
        return frozenset[str]().union(*(names_in(e) for p in self.pointers for e in (*p.shape, *p.strides)))

    @property
    def pointers(self) -> tuple[Pointer, ...]:
        """The arrays among the arguments, in order."""
        return tuple(a for a in self.arguments if isinstance(a, Pointer))

    @property
    def by_value(self) -> tuple[ByValue, ...]:
        """The other arguments, in order."""
        return tuple(a for a in self.arguments if not isinstance(a, Pointer))

    @property
    def outputs(self) -> tuple[Pointer, ...]:
        """The arrays that the function writes, "inout" ones among them, in order."""
        return tuple(p for p in self.pointers if p.direction in ("out", "inout"))

    @property
    def result(self) -> Place:
        """The register of the result (AAPCS64 6.9)."""
        return Place("v" if np.dtype(self.returns).kind == "f" else "x", 0)

    def passed(self) -> dict[str, Passed]:
        """Where each argument travels."""
        return _Allocation(self.arguments).passed

    @property
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
            if _is_indirect(argument):  # rule B.4: the caller's copy of it lies above the stacked arguments
                at = _aligned(self.stack, 16)
                self.stack = at + argument.type.itemsize
                self.passed[argument.name] = Passed(self.passed[argument.name].pieces, Stack(at))

    def _place(self, argument: Argument) -> Passed:
        if isinstance(argument, Pointer) or _is_indirect(argument):
            return Passed(tuple(self._in_general(8, 8)))
        size = argument.type.itemsize
        if isinstance(argument, VectorArgument) or (isinstance(argument, ScalarArgument) and argument.type.kind == "f"):
            return Passed(tuple(self._in_vectors(1, size, size)))
        if isinstance(argument, Struct) and argument.homogeneous_floats:
            return Passed(tuple(self._in_vectors(argument.homogeneous_floats, size, argument.type.alignment)))
        return Passed(tuple(self._in_general(size, argument.type.alignment)))

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
        """Rules C.9 to C.17: as many registers as it has double-words, or the stack for all."""
        first, count = self._next["x"], (size + 7) // 8
        if first + count > REGISTERS:
            self._next["x"] = REGISTERS
            yield self._on_stack(size, alignment)
            return
        self._next["x"] += count
        yield from (ArgumentPiece(Place("x", first + i), 8 * i, min(8, size - 8 * i)) for i in range(count))

    def _on_stack(self, size: int, alignment: int) -> ArgumentPiece:
        at = _aligned(self.stack, max(8, alignment))
        self.stack = at + _aligned(size, 8)
        return ArgumentPiece(Stack(at), 0, size)


def is_given(pointer: Pointer) -> bool:
    """Whether an input set has an array for it."""
    return pointer.direction in ("in", "inout")


def extents(pointer: Pointer, arguments: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape of a pointer's array in one call.  Raises ArrayTooLarge."""
    shape = tuple(value_of(extent, arguments) for extent in pointer.shape)
    if prod(shape) * np.dtype(pointer.dtype).itemsize > LARGEST_ARRAY:
        allowed = f"at most {LARGEST_ARRAY >> 20} MiB are allowed: give smaller extents, or a smaller domain for them"
        raise ArrayTooLarge(f"the array {pointer.name}{list(shape)} of {pointer.dtype} is too large; {allowed}")
    return shape


def steps_in_elements(pointer: Pointer, arguments: Mapping[str, Any]) -> tuple[int, ...]:
    """The strides of a pointer's array in one call, in elements."""
    if pointer.strides:
        return tuple(value_of(stride, arguments) for stride in pointer.strides)
    shape = extents(pointer, arguments)
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def as_bytes(argument: ByValue, value: Any) -> bytes:
    """The bytes of an argument's value as C has them.  Raises what numpy raises for a value that does not fit."""
    if not isinstance(argument, Struct):
        array = np.asarray(value, argument.type.base)
        if array.shape != argument.type.shape:
            raise ValueError(f"it is one number or vector, not {list(array.shape)} of them")
        return array.tobytes()
    fields = tuple(value[name] for name, _ in argument.fields) if isinstance(value, Mapping) else tuple(value)
    return np.array([fields], argument.type).tobytes()


def _is_indirect(argument: Argument) -> TypeGuard[Struct]:
    if not isinstance(argument, Struct):
        return False
    return argument.by_pointer or (not argument.homogeneous_floats and argument.type.itemsize > LARGEST_IN_REGISTERS)


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _check_type(argument: Argument) -> None:
    """Numbers of 1 to 8 bytes only; vectors of 8 or 16 bytes; structures of up to a page."""
    kinds = [dtype for _, dtype in argument.fields] if isinstance(argument, Struct) else [argument.dtype]
    for kind in kinds:
        try:
            np.dtype(kind)
        except (TypeError, ValueError):
            fault = f"{argument.name!r} has the unknown dtype {kind!r}"
            raise ValueError(f"{fault}: give one such as int32 or float32") from None
    types = [np.dtype(kind).base for kind in kinds]
    if not types or any(kind.kind not in "iufb" or kind.itemsize > 8 or not kind.isnative for kind in types):
        raise ValueError(f"{argument.name!r} has no type that can be passed: give integers or floats of 1 to 8 bytes")
    if isinstance(argument, VectorArgument) and argument.type.itemsize not in (8, 16):
        raise ValueError(f"the vector {argument.name!r} has {argument.type.itemsize} bytes: it must have 8 or 16")
    if isinstance(argument, Struct):
        try:
            size = argument.type.itemsize
        except ValueError as error:  # repeated names
            raise ValueError(f"the structure {argument.name!r} cannot be laid out: {error}") from None
        if not 0 < size <= LARGEST_STRUCT:
            raise ValueError(f"the structure {argument.name!r} must have 1 to {LARGEST_STRUCT} bytes")
