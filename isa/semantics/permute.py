"""Moving lanes about: interleave, transpose, extract, reverse, table lookup, insert, duplicate (Arm ARM C7.2)."""

from __future__ import annotations

from isa.lane import U8, Int, Lane, pick, read
from isa.operands import Element, General, Immediate, RegisterList, Scalar, Vector
from isa.semantics.elementwise import Writes


def _both(n: Vector, m: Vector) -> tuple[list[Lane], list[Lane]]:
    return n.lanes(False), m.lanes(False)


def _alternate(a: list[Lane], b: list[Lane]) -> list[Lane]:
    return [lane for pair in zip(a, b, strict=True) for lane in pair]


def zip1(d: Vector, n: Vector, m: Vector) -> Writes:
    """ZIP1: the lower halves, their lanes in turn."""
    a, b = _both(n, m)
    return d.write(_alternate(a[: d.count // 2], b[: d.count // 2]))


def zip2(d: Vector, n: Vector, m: Vector) -> Writes:
    """ZIP2: the upper halves, their lanes in turn."""
    a, b = _both(n, m)
    return d.write(_alternate(a[d.count // 2 :], b[d.count // 2 :]))


def uzp1(d: Vector, n: Vector, m: Vector) -> Writes:
    """UZP1: the even lanes of n, then those of m."""
    a, b = _both(n, m)
    return d.write((a + b)[0::2])


def uzp2(d: Vector, n: Vector, m: Vector) -> Writes:
    """UZP2: the odd lanes of n, then those of m."""
    a, b = _both(n, m)
    return d.write((a + b)[1::2])


def trn1(d: Vector, n: Vector, m: Vector) -> Writes:
    """TRN1: the even lanes of n and m in turn."""
    a, b = _both(n, m)
    return d.write(_alternate(a[0::2], b[0::2]))


def trn2(d: Vector, n: Vector, m: Vector) -> Writes:
    """TRN2: the odd lanes of n and m in turn."""
    a, b = _both(n, m)
    return d.write(_alternate(a[1::2], b[1::2]))


def extract(d: Vector, n: Vector, m: Vector, first: Immediate) -> Writes:
    """EXT: as many bytes as a register has, from byte `first` of n followed by m."""
    a, b = _both(n, m)
    return d.write((a + b)[first.number : first.number + d.count])


def _reversed_in(container_bits: int, d: Vector, n: Vector) -> Writes:
    size = container_bits // d.element(False).bits
    lanes = n.lanes(False)
    return d.write([lane for i in range(0, d.count, size) for lane in reversed(lanes[i : i + size])])


def rev16(d: Vector, n: Vector) -> Writes:
    """REV16: the bytes of each 16 bits in reverse order."""
    return _reversed_in(16, d, n)


def rev32(d: Vector, n: Vector) -> Writes:
    """REV32: the lanes of each 32 bits in reverse order."""
    return _reversed_in(32, d, n)


def rev64(d: Vector, n: Vector) -> Writes:
    """REV64: the lanes of each 64 bits in reverse order."""
    return _reversed_in(64, d, n)


def _table(table: RegisterList) -> list[Lane]:
    return [byte for register in table.registers for byte in U8.lanes(read(register.place), 16)]


def table_lookup(d: Vector, table: RegisterList, indices: Vector) -> Writes:
    """TBL: zero where the index is past the table."""
    items = _table(table)
    return d.write([pick(index, items, 0) for index in indices.lanes(False)])


def table_extension(d: Vector, table: RegisterList, indices: Vector) -> Writes:
    """TBX: the old byte where the index is past the table."""
    items = _table(table)
    rows = zip(indices.lanes(False), d.lanes(False), strict=True)
    return d.write([pick(index, items, old) for index, old in rows])


def insert(d: Element, n: Element | General) -> Writes:
    """INS, shown as MOV: one lane replaced; FMOV to the upper half."""
    return d.write([d.element(False).wrap(n.lanes(False)[0])])


def to_general(d: General, n: Element | Scalar) -> Writes:
    """UMOV and FMOV: zero-extended."""
    return d.write(n.lanes(False)[0])


def to_general_signed(d: General, n: Element) -> Writes:
    """SMOV: sign-extended."""
    return d.write(n.lanes(True)[0])


def from_general(d: Scalar, n: General) -> Writes:
    """FMOV from a general register: its bits, the rest of the vector register becomes zero."""
    return d.write([Int(d.bits, False).wrap(n.value)])
