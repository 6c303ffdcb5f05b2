"""What intrinsics work on: ACLE's types, values of them, and typed pointers.

Source: Arm C Language Extensions (ACLE), section "Advanced SIMD (Neon) intrinsics", vector data types.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

from isa.acle.elements import DTYPES, ELEMENTS, ElementType, Kind

# 256 = 16 vectors of 16 bytes.  LDR and STR reach further (4095 vectors, Arm ARM C7.2), but each offset is a pattern,
# of which code is generated: so those of one intrinsic stay at most 16 (32 at 64 bits), however long the array is.
REACH = 256
"""Bytes that one address register serves by offsets; a pointer that moves on gets the next register."""


class _OfElements:
    """What types made of one kind of element share."""

    element: ElementType

    @property
    def bits(self) -> int:
        """Bits of one element."""
        return self.element.bits

    @property
    def half(self) -> VectorType:
        """64 bits of such elements."""
        return VectorType(self.element, 64 // self.bits)

    @property
    def full(self) -> VectorType:
        """128 bits of such elements."""
        return VectorType(self.element, 128 // self.bits)


@dataclass(frozen=True)
class ScalarType(_OfElements):
    """`float32_t`: one number.  Called with a number it gives that number as this type has it.

    The properties are the types that other arguments and the result of an intrinsic have beside this one.
    """

    element: ElementType

    def __str__(self) -> str:
        return f"{self.element.c_name}_t"

    def __call__(self, value: object) -> Any:
        """The number: an int, or a `FloatNumber` rounded to nearest even.  Raises TypeError or ValueError."""
        return self.element.number(self.element.bits_of(value, str(self)))

    def of_bits(self, bits: int) -> Any:
        """The number that the low bits stand for, which makes any NaN."""
        return self.element.number(bits)

    @property
    def wide(self) -> ScalarType | VectorType:
        """A number of twice the bits."""
        wide = self.element.wide
        return VectorType(wide, 1) if wide.bits == 128 else ScalarType(wide)

    @property
    def narrow(self) -> ScalarType:
        """A number of half the bits."""
        return ScalarType(self.element.narrow)

    def of_kind(self, kind: Kind) -> ScalarType:
        """A number of as many bits."""
        return ScalarType(ElementType(kind, self.bits))


@dataclass(frozen=True)
class VectorType(_OfElements):
    """`int32x4_t`: `lanes` elements that fill 64 or 128 bits.

    Called with one number for each lane it makes a value.  The properties are the types that other arguments and the
    result of an intrinsic have beside this one.  Raises ValueError where ACLE has no such type.
    """

    element: ElementType
    lanes: int

    def __post_init__(self) -> None:
        if self.total_bits not in (64, 128):
            raise ValueError(f"no vector type has {self.lanes} lanes of {self.element}: 64 or 128 bits in all")

    def __str__(self) -> str:
        return f"{self.element.c_name}{'' if self.bits == 128 else f'x{self.lanes}'}_t"

    def __call__(self, *lanes: float) -> VectorValue:
        """The vector with these lanes, lane 0 first, as C's `{1, 2, 3, 4}`; floats are rounded to nearest even.

        Raises TypeError for another number of lanes or for no number, ValueError for one that is out of range.
        """
        if len(lanes) != self.lanes:
            raise TypeError(f"{self} has {self.lanes} lanes, not {len(lanes)}")
        fields = [self.element.bits_of(lane, f"lane {i} of {self}") for i, lane in enumerate(lanes)]
        return VectorValue(self, sum(field << self.bits * i for i, field in enumerate(fields)))

    def of_bits(self, bits: int) -> VectorValue:
        """The vector that the low 64 or 128 bits stand for, which makes any NaN."""
        return VectorValue(self, bits % (1 << self.total_bits))

    @property
    def total_bits(self) -> int:
        """Bits of the whole vector, 64 or 128."""
        return self.bits * self.lanes

    @property
    def letter(self) -> str:
        """The letter of one element in assembly text."""
        return self.element.letter

    @property
    def wide(self) -> VectorType:
        """128 bits of elements twice as wide: as many as this type has, or its upper half."""
        return VectorType(self.element.wide, 64 // self.bits)

    @property
    def narrow(self) -> VectorType:
        """As many elements of half the width."""
        return replace(self, element=self.element.narrow)

    @property
    def pairs(self) -> VectorType:
        """The same bits in elements twice as wide."""
        return VectorType(self.element.wide, self.lanes // 2)

    @property
    def bytes(self) -> VectorType:
        """The same bits in 8-bit elements."""
        return VectorType(ElementType(self.element.kind, 8), self.total_bits // 8)

    @property
    def brains(self) -> VectorType:
        """The same bits in bfloat16."""
        return VectorType(ElementType("b", 16), self.total_bits // 16)

    def of_kind(self, kind: Kind) -> VectorType:
        """The same lanes of another kind."""
        return replace(self, element=ElementType(kind, self.bits))


@dataclass(frozen=True)
class StructureType:
    """`int32x4x2_t`: `count` vectors of one type, 2 to 4; called with them it makes a value.

    Raises ValueError where ACLE has no such type.
    """

    vector: VectorType
    count: int

    def __post_init__(self) -> None:
        if not 2 <= self.count <= 4 or self.vector.bits == 128:
            raise ValueError(f"no structure type has {self.count} vectors of {self.vector}: 2 to 4")

    def __str__(self) -> str:
        return f"{str(self.vector).removesuffix('_t')}x{self.count}_t"

    def __call__(self, *vectors: VectorValue) -> StructureValue:
        """The structure of these vectors, as C's `{{a, b}}`.  Raises TypeError for others."""
        given = [str(v.type) if isinstance(v, VectorValue) else type(v).__name__ for v in vectors]
        if given != [str(self.vector)] * self.count:
            raise TypeError(f"{self} has {self.count} vectors of {self.vector}, not {', '.join(given) or 'none'}")
        return StructureValue(self, vectors)


class RegisterOwner(Protocol):
    """What holds values in registers of its own: a `Program`."""

    def vector(self, register: int) -> int:
        """The 128 bits of one of its vector registers, lane 0 lowest."""


class VectorValue:
    """A value of a vector type: `bits` is a 64- or 128-bit number with lane 0 lowest.

    `register` is the virtual register that holds it in `owner`, the Program it was made in, which is asked for the bits
    when they are wanted; both are None for a value made outside of one.  Values compare by identity: compare their
    `lanes`, or `bits` where NaNs are about.
    """

    __slots__ = ("_bits", "owner", "register", "type")

    def __init__(
        self, type: VectorType, bits: int | None, register: int | None = None, owner: RegisterOwner | None = None
    ) -> None:
        self.type, self._bits, self.register, self.owner = type, bits, register, owner

    @property
    def bits(self) -> int:
        """The whole vector as a number."""
        if self._bits is None:
            assert self.owner is not None  # a value without bits has one
            assert self.register is not None
            self._bits = self.owner.vector(self.register) & (1 << self.type.total_bits) - 1
        return self._bits

    @property
    def lanes(self) -> tuple[Any, ...]:
        """The lanes as numbers of the element type, lane 0 first: ints, or `FloatNumber`s."""
        element = self.type.element
        return tuple(element.number(self.bits >> element.bits * i) for i in range(self.type.lanes))

    def __repr__(self) -> str:
        return f"{self.type}{self.lanes}"


@dataclass(frozen=True, eq=False)
class StructureValue:
    """A value of a structure type: its vectors are `val`, as in C."""

    type: StructureType
    val: tuple[VectorValue, ...]

    def __repr__(self) -> str:
        return f"{self.type}{self.val}"


@dataclass(frozen=True)
class ElementPointer:
    """The address of an element; `dtype` is one of `DTYPES`.  `pointer + n` is n elements further.

    `origin` is where its arithmetic began: pointers with one origin share an address register.  Raises TypeError for
    another dtype, ValueError for an address outside of 64 bits.
    """

    address: int
    dtype: str
    origin: int = -1

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise TypeError(f"a pointer's dtype is one of {', '.join(DTYPES)}, not {self.dtype!r}")
        if not 0 <= self.address < 2**64:
            raise ValueError(f"an address is 0..2**64-1, not {self.address:#x}")
        if self.origin < 0:
            object.__setattr__(self, "origin", self.address)

    @property
    def element_size(self) -> int:
        """Bytes of one element."""
        return DTYPES[self.dtype].bits // 8

    def __add__(self, elements: int) -> ElementPointer:
        return ElementPointer(self.address + self.element_size * elements, self.dtype, self.origin)

    def offset(self, size: int, further: int = 0) -> int:
        """What an access so many bytes further has as its offset from the address register.

        That is a multiple of `size`; 0 where it would be none, or where the access takes none (`size` is 0).
        """
        offset = (self.address - self.origin + further) % REACH
        return 0 if not size or offset % size else offset


SCALAR_TYPES = tuple(ScalarType(element) for element in ELEMENTS.values() if element.bits < 128)
"""Every type of one number."""

VECTOR_TYPES = tuple(
    VectorType(element, bits // element.bits)
    for bits in (64, 128)
    for element in ELEMENTS.values()
    if element.bits <= bits
)
"""Every vector type; poly128_t is the one that C calls a scalar."""


_SHARED = {vector_type: vector_type for vector_type in VECTOR_TYPES}


def shared(vector_type: VectorType) -> VectorType:
    """The one of `VECTOR_TYPES` that equals this: comparing those takes no time."""
    return _SHARED[vector_type]


def _both(suffix: str) -> tuple[VectorType, VectorType]:
    element = ELEMENTS[suffix]
    return shared(VectorType(element, 64 // element.bits)), shared(VectorType(element, 128 // element.bits))


int8x8_t, int8x16_t = _both("s8")
int16x4_t, int16x8_t = _both("s16")
int32x2_t, int32x4_t = _both("s32")
int64x1_t, int64x2_t = _both("s64")
uint8x8_t, uint8x16_t = _both("u8")
uint16x4_t, uint16x8_t = _both("u16")
uint32x2_t, uint32x4_t = _both("u32")
uint64x1_t, uint64x2_t = _both("u64")
poly8x8_t, poly8x16_t = _both("p8")
poly16x4_t, poly16x8_t = _both("p16")
poly64x1_t, poly64x2_t = _both("p64")
float16x4_t, float16x8_t = _both("f16")
float32x2_t, float32x4_t = _both("f32")
float64x1_t, float64x2_t = _both("f64")
bfloat16x4_t, bfloat16x8_t = _both("bf16")
float16_t, float32_t, float64_t = (ScalarType(ELEMENTS[suffix]) for suffix in ("f16", "f32", "f64"))


@cache
def types_by_name() -> dict[str, ScalarType | VectorType | StructureType]:
    """Every type by its name in C."""
    structures = [StructureType(v, n) for v in VECTOR_TYPES if v.bits < 128 for n in (2, 3, 4)]
    types: list[ScalarType | VectorType | StructureType] = [*SCALAR_TYPES, *VECTOR_TYPES, *structures]
    return {str(each): each for each in types}
