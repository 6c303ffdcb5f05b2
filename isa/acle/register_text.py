"""Registers in assembly text, of which a template picks the form: `{0}` is `v0.4s`, `{0.e}` is `v0.s`."""

from __future__ import annotations

from dataclasses import dataclass

from isa.acle.elements import ElementType
from isa.acle.values import StructureType, VectorType


class _InVectorRegister:
    register: int

    @property
    def d(self) -> str:
        """One 64-bit element, without its number: `v0.d`."""
        return f"v{self.register}.d"

    @property
    def s(self) -> str:
        """One 32-bit element, without its number: `v0.s`."""
        return f"v{self.register}.s"

    @property
    def dd(self) -> str:
        """The whole register in 64-bit elements: `v0.2d`."""
        return f"v{self.register}.2d"

    @property
    def bb(self) -> str:
        """The whole register in bytes: `v0.16b`."""
        return f"v{self.register}.16b"


@dataclass(frozen=True)
class VectorText(_InVectorRegister):
    """A vector register with the lanes of a type: `v0.4s`; `d0` for one lane."""

    register: int
    type: VectorType

    def __str__(self) -> str:
        return f"d{self.register}" if self.type.lanes == 1 else self.v

    @property
    def v(self) -> str:
        """With its arrangement: `v0.4s`."""
        return f"v{self.register}.{self.type.lanes}{self.type.letter}"

    @property
    def half(self) -> str:
        """Its lower half: `v0.2s`."""
        return f"v{self.register}.{self.type.lanes // 2}{self.type.letter}"

    @property
    def e(self) -> str:
        """One element, without its number: `v0.s`."""
        return f"v{self.register}.{self.type.letter}"

    @property
    def g(self) -> str:
        """A group of four bytes, without its number: `v0.4b`."""
        return f"v{self.register}.4b"

    @property
    def hh(self) -> str:
        """A pair of 16-bit elements, without its number: `v0.2h`."""
        return f"v{self.register}.2h"

    @property
    def ss(self) -> str:
        """In 32-bit elements: `v0.4s`; `v0.2s` for 64 bits."""
        return f"v{self.register}.{self.type.total_bits // 32}s"

    @property
    def b(self) -> str:
        """As bytes: `v0.16b`; `v0.8b` for 64 bits."""
        return f"v{self.register}.{self.type.total_bits // 8}b"

    @property
    def q(self) -> str:
        """As a scalar of the whole vector: `q0`; `d0` for 64 bits."""
        return f"{'q' if self.type.total_bits == 128 else 'd'}{self.register}"


@dataclass(frozen=True)
class ScalarText(_InVectorRegister):
    """A vector register with one number in its lowest element: `s0`."""

    register: int
    element: ElementType

    def __str__(self) -> str:
        return f"{self.element.letter}{self.register}"

    @property
    def e(self) -> str:
        """The element, without its number: `v0.s`."""
        return f"v{self.register}.{self.element.letter}"

    @property
    def h(self) -> str:
        """As a scalar of 16 bits: `h0`."""
        return f"h{self.register}"

    @property
    def v(self) -> str:
        """As a vector of one lane: `v0.1d`."""
        return f"v{self.register}.1{self.element.letter}"

    @property
    def q(self) -> str:
        """As a scalar of 64 bits: `d0`."""
        return f"d{self.register}"


@dataclass(frozen=True)
class GeneralText:
    """A general register wide enough for an element: `w0`; `x0` for 64 bits."""

    register: int
    element: ElementType

    def __str__(self) -> str:
        return f"{'x' if self.element.bits == 64 else 'w'}{self.register}"


@dataclass(frozen=True)
class ListText:
    """Registers from `register` on, as the list that structure loads, stores and table lookups take."""

    register: int
    type: StructureType

    def __str__(self) -> str:
        return f"{{{', '.join(vector.v for vector in self._vectors)}}}"

    @property
    def e(self) -> str:
        """One element of each, without its number: `{v0.s, v1.s}`."""
        return f"{{{', '.join(vector.e for vector in self._vectors)}}}"

    @property
    def _vectors(self) -> list[VectorText]:
        return [VectorText(self.register + k, self.type.vector) for k in range(self.type.count)]

    @property
    def first(self) -> VectorText:
        """Its first vector."""
        return self._vectors[0]

    @property
    def second(self) -> VectorText:
        """Its second vector."""
        return self._vectors[1]

    @property
    def third(self) -> VectorText:
        """Its third vector."""
        return self._vectors[2]

    @property
    def fourth(self) -> VectorText:
        """Its fourth vector."""
        return self._vectors[3]
