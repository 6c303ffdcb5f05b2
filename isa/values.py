"""What intrinsics work on: ACLE's vector types, values of them, and typed pointers.

Source: Arm C Language Extensions (ACLE), section "Advanced SIMD (Neon) intrinsics", vector data types.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import index

from isa.lane import S8, S16, S32, S64, U8, U16, U32, U64, Int
from isa.operands import ELEMENT_LETTERS

_ELEMENTS = (S8, S16, S32, S64, U8, U16, U32, U64)


def c_name(element: Int) -> str:
    """The element type's name without `_t`, which is its numpy name too: `int32`."""
    return f"{'' if element.signed else 'u'}int{element.bits}"


DTYPES = {c_name(element): element for element in _ELEMENTS}
"""What a `Pointer` can point to, by name."""


@dataclass(frozen=True)
class VectorType:
    """`int32x4_t`: `lanes` elements that fill 64 or 128 bits.

    Called with one int for each lane it makes a value.  The properties are the types that other arguments and the
    result of an intrinsic have beside this one.  Raises ValueError where ACLE has no such type.
    """

    element: Int
    lanes: int

    def __post_init__(self) -> None:
        if self.element not in _ELEMENTS or self.total_bits not in (64, 128):
            raise ValueError(f"no vector type has {self.lanes} lanes of {self.element}: 8 to 64 bits, 64 or 128 in all")

    def __str__(self) -> str:
        return f"{c_name(self.element)}x{self.lanes}_t"

    def __call__(self, *lanes: int) -> VectorValue:
        """The vector with these lanes, lane 0 first, as C's `{1, 2, 3, 4}`.

        Raises TypeError for another number of lanes, ValueError for one that the element type does not hold.
        """
        if len(lanes) != self.lanes:
            raise TypeError(f"{self} has {self.lanes} lanes, not {len(lanes)}")
        fields = [as_element(self.element, lane, f"lane {i} of {self}") for i, lane in enumerate(lanes)]
        mask = (1 << self.bits) - 1
        return VectorValue(self, sum((lane & mask) << self.bits * i for i, lane in enumerate(fields)))

    @property
    def bits(self) -> int:
        """Bits of one element."""
        return self.element.bits

    @property
    def signed(self) -> bool:
        """Whether the elements are signed."""
        return self.element.signed

    @property
    def total_bits(self) -> int:
        """Bits of the whole vector, 64 or 128."""
        return self.bits * self.lanes

    @property
    def suffix(self) -> str:
        """How an intrinsic's name ends: `s32`."""
        return str(self.element)

    @property
    def letter(self) -> str:
        """The letter of one element in assembly text."""
        return ELEMENT_LETTERS[self.bits]

    @property
    def half(self) -> VectorType:
        """64 bits of the same elements."""
        return VectorType(self.element, 64 // self.bits)

    @property
    def full(self) -> VectorType:
        """128 bits of the same elements."""
        return VectorType(self.element, 128 // self.bits)

    @property
    def as_signed(self) -> VectorType:
        """The same lanes, signed."""
        return replace(self, element=Int(self.bits, True))

    @property
    def as_unsigned(self) -> VectorType:
        """The same lanes, unsigned."""
        return replace(self, element=Int(self.bits, False))

    @property
    def wide(self) -> VectorType:
        """128 bits of elements twice as wide: as many as this type has, or its upper half."""
        return VectorType(self.element.wide, 64 // self.bits)

    @property
    def narrow(self) -> VectorType:
        """As many elements of half the width."""
        return replace(self, element=Int(self.bits // 2, self.signed))

    @property
    def pairs(self) -> VectorType:
        """The same bits in elements twice as wide."""
        return VectorType(self.element.wide, self.lanes // 2)

    @property
    def bytes(self) -> VectorType:
        """The same bits in 8-bit elements."""
        return VectorType(Int(8, self.signed), self.total_bits // 8)


@dataclass(slots=True, eq=False)
class VectorValue:
    """A value of a vector type: `bits` is a 64- or 128-bit number with lane 0 lowest.

    `register` is the virtual register that holds it in `owner`, the Program it was made in; both are None for a value
    made outside of one.  Values compare by identity: compare their `lanes`.
    """

    type: VectorType
    bits: int
    register: int | None = None
    owner: object = None

    @property
    def lanes(self) -> tuple[int, ...]:
        """The lanes as numbers of the element type, lane 0 first."""
        element = self.type.element
        return tuple(element.wrapped(self.bits >> element.bits * i) for i in range(self.type.lanes))

    def __repr__(self) -> str:
        return f"{self.type}{self.lanes}"


@dataclass(frozen=True)
class VectorText:
    """A vector register in assembly text; a template picks the form: `{0}` is `v0.4s`, `{0.e}` is `v0.s`."""

    register: int
    type: VectorType

    def __str__(self) -> str:
        return f"d{self.register}" if self.type.lanes == 1 else self.v

    @property
    def v(self) -> str:
        """With its arrangement: `v0.4s`."""
        return f"v{self.register}.{self.type.lanes}{self.type.letter}"

    @property
    def e(self) -> str:
        """One element, without its number: `v0.s`."""
        return f"v{self.register}.{self.type.letter}"

    @property
    def d(self) -> str:
        """One 64-bit element, without its number: `v0.d`."""
        return f"v{self.register}.d"

    @property
    def g(self) -> str:
        """A group of four bytes, without its number: `v0.4b`."""
        return f"v{self.register}.4b"

    @property
    def b(self) -> str:
        """As bytes: `v0.16b`; `v0.8b` for 64 bits."""
        return f"v{self.register}.{self.type.total_bits // 8}b"

    @property
    def q(self) -> str:
        """As a scalar of the whole vector: `q0`; `d0` for 64 bits."""
        return f"{'q' if self.type.total_bits == 128 else 'd'}{self.register}"


@dataclass(frozen=True)
class Pointer:
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

    def __add__(self, elements: int) -> Pointer:
        return Pointer(self.address + self.element_size * elements, self.dtype, self.origin)


def as_element(element: Int, value: object, what: str) -> int:
    """The number as a Python int; `what` names it in the TypeError (no int) or ValueError (out of range)."""
    try:
        number = index(value)  # type: ignore[arg-type]  # the point is to ask
    except TypeError:
        raise TypeError(f"{what} is an int, not {type(value).__name__}") from None
    if not element.low <= number <= element.high:
        raise ValueError(f"{what} is {c_name(element)}_t, {element.low}..{element.high}, not {number}")
    return number


int8x8_t, int8x16_t = VectorType(S8, 8), VectorType(S8, 16)
int16x4_t, int16x8_t = VectorType(S16, 4), VectorType(S16, 8)
int32x2_t, int32x4_t = VectorType(S32, 2), VectorType(S32, 4)
int64x1_t, int64x2_t = VectorType(S64, 1), VectorType(S64, 2)
uint8x8_t, uint8x16_t = VectorType(U8, 8), VectorType(U8, 16)
uint16x4_t, uint16x8_t = VectorType(U16, 4), VectorType(U16, 8)
uint32x2_t, uint32x4_t = VectorType(U32, 2), VectorType(U32, 4)
uint64x1_t, uint64x2_t = VectorType(U64, 1), VectorType(U64, 2)

VECTOR_TYPES = (
    int8x8_t, int16x4_t, int32x2_t, int64x1_t, uint8x8_t, uint16x4_t, uint32x2_t, uint64x1_t,
    int8x16_t, int16x8_t, int32x4_t, int64x2_t, uint8x16_t, uint16x8_t, uint32x4_t, uint64x2_t,
)  # fmt: skip
"""Every integer vector type."""

_SHARED = {vector_type: vector_type for vector_type in VECTOR_TYPES}


def shared(vector_type: VectorType) -> VectorType:
    """The one of `VECTOR_TYPES` that equals this: comparing those takes no time."""
    return _SHARED[vector_type]
