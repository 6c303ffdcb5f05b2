"""Floating-point products that mix lanes or formats: complex numbers, FMLAL, bfloat16 (Arm ARM C7.2)."""

from __future__ import annotations

from isa.floating import BF16, F16, F32, FLOATS, FloatOperation
from isa.lane import U16, Lane, constant, read
from isa.operands import Element, Immediate, Vector
from isa.semantics.elementwise import Body, Writes, in_pairs

Pair = tuple[Lane, Lane]

_FLUSHING_DEFAULT_NAN = constant(1 << 24 | 1 << 25)
"""The FPCR by which bfloat16 dot products compute, whatever the register says: FZ and DN (Arm ARM: BFAdd, BFMul)."""
_BFLOAT_PRODUCT = FloatOperation("multiply", BF16, F32, "odd_or_infinity", silent=True)
_BFLOAT_SUM = FloatOperation("add", F32, F32, "odd_or_infinity", silent=True)


def _complex_pairs(source: Vector | Element, count: int) -> list[Pair]:
    """Real and imaginary parts; an element `.s[i]` names the complex number i."""
    if isinstance(source, Vector):
        return in_pairs(source.lanes(False))
    real, imaginary = source.element(False).lanes(read(source.place), 2, 2 * source.number)
    return [(real, imaginary)] * count


def complex_add(d: Vector, n: Vector, m: Vector, rotation: Immediate) -> Writes:
    """FCADD: m is turned by 90 or 270 degrees first."""
    format = FLOATS[d.bits]
    add, lanes = FloatOperation("add", format, format), []
    for a, (real, imaginary) in zip(in_pairs(n.lanes(False)), in_pairs(m.lanes(False)), strict=True):
        turned = {90: (format.negated(imaginary), real), 270: (imaginary, format.negated(real))}[rotation.number]
        lanes += [add(x, y) for x, y in zip(a, turned, strict=True)]
    return d.write(lanes)


def complex_multiply_add(d: Vector, n: Vector, m: Vector | Element, rotation: Immediate) -> Writes:
    """FCMLA: one half of a complex product, each part a fused multiply-add."""
    format = FLOATS[d.bits]
    fused, lanes = FloatOperation("multiply_add", format, format), []
    sources = zip(in_pairs(d.lanes(False)), in_pairs(n.lanes(False)), _complex_pairs(m, d.count // 2), strict=True)
    for old, a, (real, imaginary) in sources:
        turned = {
            0: (real, imaginary),
            90: (format.negated(imaginary), real),
            180: (format.negated(real), format.negated(imaginary)),
            270: (imaginary, format.negated(real)),
        }[rotation.number]
        part = a[rotation.number in (90, 270)]
        lanes += [fused(x, part, y) for x, y in zip(old, turned, strict=True)]
    return d.write(lanes)


def multiply_add_long(upper: bool, negative: bool) -> Body:
    """FMLAL, FMLAL2, FMLSL, FMLSL2: half-precision products added to single precision, rounded once.

    The `...2` forms take the upper half of the half-precision lanes that the arrangement spans.
    """
    fused = FloatOperation("multiply_add", F16, F32)

    def body(d: Vector, n: Vector, m: Vector | Element) -> Writes:
        a = U16.lanes(read(n.place), d.count, d.count if upper else 0)
        b = U16.lanes(read(m.place), d.count, d.count if upper else 0) if isinstance(m, Vector) else m.lanes(False) * 4
        rows = zip(d.lanes(False), a, b[: d.count], strict=True)
        return d.write([fused(old, F16.negated(x) if negative else x, y) for old, x, y in rows])

    return body


def _bfloat_dot(accumulator: Lane, a: list[Lane], b: list[Lane]) -> Lane:
    """Two products, their sum, and that added: each rounded to odd (Arm ARM: BFDotAdd)."""
    first, second = (_BFLOAT_PRODUCT(x, y, fpcr=_FLUSHING_DEFAULT_NAN) for x, y in zip(a, b, strict=True))
    products = _BFLOAT_SUM(first, second, fpcr=_FLUSHING_DEFAULT_NAN)
    return _BFLOAT_SUM(accumulator, products, fpcr=_FLUSHING_DEFAULT_NAN)


def bfloat_dot(d: Vector, n: Vector, m: Vector | Element) -> Writes:
    """BFDOT: two products of bfloat16 added to each single-precision lane; no exceptions."""
    a, b = n.lanes(False, n.count), m.lanes(False, n.count)
    twos = [slice(2 * i, 2 * i + 2) for i in range(d.count)]
    return d.write([_bfloat_dot(old, a[two], b[two]) for old, two in zip(d.lanes(False), twos, strict=True)])


def bfloat_matrix_multiply(d: Vector, n: Vector, m: Vector) -> Writes:
    """BFMMLA: the 2x4 matrix n times the transposed 2x4 matrix m, added to the 2x2 matrix d, two products at a time."""
    a, b, old = n.lanes(False), m.lanes(False), d.lanes(False)
    lanes = []
    for i, (row, column) in enumerate((r, c) for r in (0, 4) for c in (0, 4)):
        first = _bfloat_dot(old[i], a[row : row + 2], b[column : column + 2])
        lanes.append(_bfloat_dot(first, a[row + 2 : row + 4], b[column + 2 : column + 4]))
    return d.write(lanes)


def bfloat_multiply_add_long(first: int) -> Body:
    """BFMLALB, BFMLALT: the even or the odd lanes, widened exactly to single precision, fused."""
    fused = FloatOperation("multiply_add", F32, F32)

    def body(d: Vector, n: Vector, m: Vector | Element) -> Writes:
        b = m.lanes(False)[first::2] if isinstance(m, Vector) else m.lanes(False) * d.count
        rows = zip(d.lanes(False), n.lanes(False)[first::2], b, strict=True)
        return d.write([fused(old, x << 16, y << 16) for old, x, y in rows])

    return body
