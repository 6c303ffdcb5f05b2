"""Floating-point arithmetic, comparison and conversion of one lane (Arm ARM C7.2: FABD to FSUB, SCVTF, UCVTF, BF*).

A lane is the unsigned number of its bits; `isa.floating` has the node that computes with them.
"""

from __future__ import annotations

from isa.floating import BF16, F32, FLOATS, FloatOperation, Operation, Rounding
from isa.lane import U1, Int, Lane, Write, constant, select
from isa.operands import Condition, FloatImmediate, General, Immediate, Scalar, Vector
from isa.semantics.base.conditional import holds
from isa.semantics.base.flags import FLAGS
from isa.semantics.elementwise import Body, Destination, LaneFunction, Source, Writes

U4, U33 = Int(4, False), Int(33, False)


def arithmetic(name: Operation, rounding: Rounding = "fpcr") -> LaneFunction:
    """FADD, FSQRT, FMAX, FRINTN, ...: one operation on lanes of the format of the result."""

    def function(to: Int, *lanes: Lane) -> Lane:
        return FloatOperation(name, FLOATS[to.bits], FLOATS[to.bits], rounding)(*lanes)

    return function


_add, _subtract, _multiply = arithmetic("add"), arithmetic("subtract"), arithmetic("multiply")
_fused = arithmetic("multiply_add")


def negated(to: Int, a: Lane) -> Lane:
    """The sign bit flipped, whatever the number is."""
    return FLOATS[to.bits].negated(a)


def absolute_difference(to: Int, a: Lane, b: Lane) -> Lane:
    """FABD: the difference is rounded, then its sign bit cleared."""
    return FLOATS[to.bits].magnitude(_subtract(to, a, b))


def negated_multiply(to: Int, a: Lane, b: Lane) -> Lane:
    """FNMUL: the sign bit of the product is flipped, that of a NaN too."""
    return negated(to, _multiply(to, a, b))


def multiply_add(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    """FMLA: rounded once."""
    return _fused(to, accumulator, a, b)


def multiply_subtract(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    """FMLS: the product of minus `a`, added; rounded once."""
    return _fused(to, accumulator, negated(to, a), b)


def add_product(to: Int, a: Lane, b: Lane, addend: Lane) -> Lane:
    """FMADD: the addend comes last."""
    return _fused(to, addend, a, b)


def subtract_product(to: Int, a: Lane, b: Lane, addend: Lane) -> Lane:
    """FMSUB: minus the product, plus the addend."""
    return _fused(to, addend, negated(to, a), b)


def negated_add_product(to: Int, a: Lane, b: Lane, addend: Lane) -> Lane:
    """FNMADD: minus the product, minus the addend."""
    return _fused(to, negated(to, addend), negated(to, a), b)


def negated_subtract_product(to: Int, a: Lane, b: Lane, addend: Lane) -> Lane:
    """FNMSUB: the product, minus the addend."""
    return _fused(to, negated(to, addend), a, b)


def comparison(name: Operation) -> LaneFunction:
    """FCMEQ, FCMGE, FCMGT: all ones where it holds."""

    def function(to: Int, a: Lane, b: Lane) -> Lane:
        return to.wrap(-FloatOperation(name, FLOATS[to.bits], U1)(a, b))

    return function


def reversed_comparison(name: Operation) -> LaneFunction:
    """FCMLE, FCMLT: the operands change places."""
    compared = comparison(name)
    return lambda to, a, b: compared(to, b, a)


def absolute_comparison(name: Operation) -> LaneFunction:
    """FACGE, FACGT: of the magnitudes."""
    compared = comparison(name)
    return lambda to, a, b: compared(to, FLOATS[to.bits].magnitude(a), FLOATS[to.bits].magnitude(b))


def to_integer(signed: bool, rounding: Rounding) -> LaneFunction:
    """FCVTNS to FCVTZU: to an integer of the same width, or to fixed point; it saturates."""

    def function(to: Int, a: Lane, fraction_bits: Lane | None = None) -> Lane:
        integer = Int(to.bits, signed)
        return FloatOperation("to_integer", FLOATS[to.bits], integer, rounding, _value(fraction_bits))(a)

    return function


def from_integer(signed: bool) -> LaneFunction:
    """SCVTF, UCVTF: from an integer of the same width, or from fixed point."""

    def function(to: Int, a: Lane, fraction_bits: Lane | None = None) -> Lane:
        integer = Int(to.bits, signed)
        return FloatOperation("from_integer", integer, FLOATS[to.bits], fraction_bits=_value(fraction_bits))(a)

    return function


def _value(fraction_bits: Lane | None) -> int:
    return fraction_bits.low if fraction_bits is not None else 0


def to_general(signed: bool, rounding: Rounding) -> Body:
    """FCVTNS to FCVTZU into a general register."""

    def body(d: General, n: Scalar, fraction_bits: Immediate | None = None) -> Writes:
        count = fraction_bits.number if fraction_bits is not None else 0
        convert = FloatOperation("to_integer", FLOATS[n.bits], Int(d.bits, signed), rounding, count)
        return d.receive(convert(*n.lanes(False)))

    return body


def from_general(signed: bool) -> Body:
    """SCVTF, UCVTF from a general register."""

    def body(d: Scalar, n: General, fraction_bits: Immediate | None = None) -> Writes:
        integer, count = Int(n.bits, signed), fraction_bits.number if fraction_bits is not None else 0
        convert = FloatOperation("from_integer", integer, FLOATS[d.bits], fraction_bits=count)
        return d.write([convert(integer.wrap(n.value))])

    return body


def to_word_modulo(d: General, n: Scalar) -> Writes:
    """FJCVTZS: modulo 2^32 as JavaScript does it; Z says that nothing was lost, the other flags are cleared."""
    result = FloatOperation("to_integer_modulo", FLOATS[n.bits], U33)(*n.lanes(False))
    zero = U1.field(result, 32)
    return (*d.receive(Int(32, False).wrap(result)), Write(FLAGS, 4, [zero << 2]))


def widened(to: Int, a: Lane) -> Lane:
    """FCVTL: exact, but a NaN becomes quiet and FZ flushes."""
    return FloatOperation("convert", FLOATS[to.bits // 2], FLOATS[to.bits])(a)


def narrowed(rounding: Rounding) -> LaneFunction:
    """FCVTN; FCVTXN rounds to odd, so that a second rounding does no harm."""

    def function(to: Int, a: Lane) -> Lane:
        return FloatOperation("convert", FLOATS[2 * to.bits], FLOATS[to.bits], rounding)(a)

    return function


def to_bfloat(to: Int, a: Lane) -> Lane:
    """BFCVT, BFCVTN: from single precision."""
    return FloatOperation("convert", F32, BF16)(a)


def convert(d: Scalar, n: Scalar) -> Writes:
    """FCVT: between half, single and double precision."""
    return d.write([FloatOperation("convert", FLOATS[n.bits], FLOATS[d.bits])(*n.lanes(False))])


def bounded_integral(bits: int, rounding: Rounding) -> LaneFunction:
    """FRINT32X to FRINT64Z: what does not fit an integer of so many bits becomes the lowest one."""

    def function(to: Int, a: Lane) -> Lane:
        format = FLOATS[to.bits]
        return FloatOperation("to_integral_bounded", format, format, rounding, integer=Int(bits, True))(a)

    return function


def across_in_halves(name: Operation) -> Body:
    """FMAXV, FMINNMV, ...: the lower half against the upper, each reduced first; NaNs meet in this order."""
    function = arithmetic(name)

    def reduced(element: Int, lanes: list[Lane]) -> Lane:
        if len(lanes) == 1:
            return lanes[0]
        half = len(lanes) // 2
        return function(element, reduced(element, lanes[:half]), reduced(element, lanes[half:]))

    def body(destination: Destination, source: Source) -> Writes:
        return destination.write([reduced(destination.element(False), source.lanes(False, 0))])

    return body


def move_immediate(d: Vector | Scalar, value: FloatImmediate) -> Writes:
    """FMOV (immediate)."""
    return d.write([constant(value.bits_in(d.bits))] * d.count)


def compare(name: Operation) -> Body:
    """FCMP, FCMPE: the flags; unordered operands set C and V."""

    def body(n: Scalar, m: Scalar | FloatImmediate) -> Writes:
        flags = FloatOperation(name, FLOATS[n.bits], U4)(*n.lanes(False), *m.lanes(False))
        return (Write(FLAGS, 4, [flags]),)

    return body


def conditional_compare(name: Operation) -> Body:
    """FCCMP, FCCMPE: the flags of the comparison where the condition holds, else the four given flags.

    A comparison that is not made raises no exception: then it is one of zeros.
    """

    def body(n: Scalar, m: Scalar, otherwise: Immediate, condition: Condition) -> Writes:
        taken = holds(condition)
        operands = [select(taken, lane, 0) for scalar in (n, m) for lane in scalar.lanes(False)]
        flags = FloatOperation(name, FLOATS[n.bits], U4)(*operands)
        return (Write(FLAGS, 4, [select(taken, flags, otherwise.number)]),)

    return body


def conditional_select(d: Scalar, n: Scalar, m: Scalar, condition: Condition) -> Writes:
    """FCSEL: the bits of one of two registers."""
    return d.write([select(holds(condition), *n.lanes(False), *m.lanes(False))])
