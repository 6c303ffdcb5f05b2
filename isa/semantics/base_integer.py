"""The general registers: arithmetic, logic, bit fields, multiplication, conditional select (Arm ARM C6.2)."""

from __future__ import annotations

from collections.abc import Callable

from isa.lane import U1, U64, Int, Lane, Place, Write, constant, divide, lift, read, select
from isa.operands import Condition, Extended, General, Immediate, Shifted
from isa.semantics import bitwise
from isa.semantics.elementwise import Body, Writes

Source = General | Shifted | Extended | Immediate
FLAGS = Place("nzcv")
_V, _C, _Z, _N = range(4)


def _signed(element: Int) -> Int:
    return Int(element.bits, True)


def _flag(bit: int) -> Lane:
    return U1.field(read(FLAGS), bit)


def _not(condition: Lane) -> Lane:
    return condition.equals(0)


def holds(condition: Condition) -> Lane:
    """1 where the condition is true of the flags (Arm ARM C1.2.4, table C1-1)."""
    n, z, c, v = _flag(_N), _flag(_Z), _flag(_C), _flag(_V)
    table = {
        "eq": z, "ne": _not(z), "hs": c, "lo": _not(c), "mi": n, "pl": _not(n), "vs": v, "vc": _not(v),
        "hi": c & _not(z), "ls": _not(c) | z, "ge": n.equals(v), "lt": n ^ v,
        "gt": _not(z) & n.equals(v), "le": z | (n ^ v), "al": constant(1), "nv": constant(1),
    }  # fmt: skip
    return table[condition.name]


def _flags(element: Int, result: Lane, carry: Lane, overflow: Lane) -> Writes:
    negative = _signed(element).wrap(result) < 0
    return (Write(FLAGS, 1, [overflow, carry, result.equals(0), negative]),)


def _sum(element: Int, a: Lane, b: Lane, carry_in: Lane | int) -> tuple[Lane, Writes]:
    """Sum and flags: carry where the unsigned, overflow where the signed sum does not fit."""
    signed = _signed(element)
    total, signed_total = a + b + carry_in, signed.wrap(a) + signed.wrap(b) + carry_in
    result = element.wrap(total)
    overflow = _not(signed.wrap(result).equals(signed_total))
    return result, _flags(element, result, total >> element.bits, overflow)


def _difference(element: Int, a: Lane, b: Lane, borrow_in: Lane | int) -> tuple[Lane, Writes]:
    """Difference and flags; carry is set where nothing had to be borrowed."""
    signed = _signed(element)
    total, signed_total = a - b - borrow_in, signed.wrap(a) - signed.wrap(b) - borrow_in
    result = element.wrap(total)
    overflow = _not(signed.wrap(result).equals(signed_total))
    return result, _flags(element, result, _not(total < 0), overflow)


def _operand(element: Int, source: Source) -> Lane:
    return element.wrap(source.value)


def add(d: General, n: General, m: Source) -> Writes:
    return d.write(n.value + m.value)


def subtract(d: General, n: General, m: Source) -> Writes:
    return d.write(n.value - m.value)


def add_setting_flags(d: General, n: General, m: Source) -> Writes:
    result, flags = _sum(d.type, n.value, _operand(d.type, m), 0)
    return d.write(result) + flags


def subtract_setting_flags(d: General, n: General, m: Source) -> Writes:
    result, flags = _difference(d.type, n.value, _operand(d.type, m), 0)
    return d.write(result) + flags


def compare(n: General, m: Source) -> Writes:
    return _difference(n.type, n.value, _operand(n.type, m), 0)[1]


def compare_negative(n: General, m: Source) -> Writes:
    return _sum(n.type, n.value, _operand(n.type, m), 0)[1]


def negate(d: General, m: Source) -> Writes:
    return d.write(-m.value)


def negate_setting_flags(d: General, m: Source) -> Writes:
    result, flags = _difference(d.type, constant(0), _operand(d.type, m), 0)
    return d.write(result) + flags


def add_with_carry(d: General, n: General, m: General) -> Writes:
    return d.write(n.value + m.value + _flag(_C))


def add_with_carry_setting_flags(d: General, n: General, m: General) -> Writes:
    result, flags = _sum(d.type, n.value, m.value, _flag(_C))
    return d.write(result) + flags


def subtract_with_carry(d: General, n: General, m: General) -> Writes:
    return d.write(n.value - m.value - _not(_flag(_C)))


def subtract_with_carry_setting_flags(d: General, n: General, m: General) -> Writes:
    result, flags = _difference(d.type, n.value, m.value, _not(_flag(_C)))
    return d.write(result) + flags


def negate_with_carry(d: General, m: General) -> Writes:
    return d.write(-m.value - _not(_flag(_C)))


def logical(function: Callable[[Int, Lane, Lane], Lane]) -> Body:
    """AND, ORR, EOR, BIC, ORN, EON of two registers or a register and an immediate."""

    def body(d: General, n: General, m: Source) -> Writes:
        return d.write(function(d.type, n.value, m.value))

    return body


def exclusive_or_not(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap(a ^ ~b)


def _logical_flags(element: Int, result: Lane) -> Writes:
    return _flags(element, result, constant(0), constant(0))


def and_setting_flags(d: General, n: General, m: Source) -> Writes:
    result = bitwise.bitwise_and(d.type, n.value, _operand(d.type, m))
    return d.write(result) + _logical_flags(d.type, result)


def clear_setting_flags(d: General, n: General, m: Source) -> Writes:
    result = bitwise.clear_bits(d.type, n.value, m.value)
    return d.write(result) + _logical_flags(d.type, result)


def test(n: General, m: Source) -> Writes:
    return _logical_flags(n.type, bitwise.bitwise_and(n.type, n.value, _operand(n.type, m)))


def invert(d: General, m: Source) -> Writes:
    return d.write(~m.value)


def move(d: General, source: Source) -> Writes:
    return d.write(source.value)


def move_inverted(d: General, source: Immediate) -> Writes:
    return d.write(~source.value)


def move_keeping(d: General, source: Immediate) -> Writes:
    """MOVK: 16 bits replaced."""
    kept = d.value & ~(0xFFFF << source.amount)
    return d.write(kept | source.value)


def _shift_amount(d: General, m: Source) -> Lane:
    return m.value & (d.bits - 1)


def shift_left(d: General, n: General, m: Source) -> Writes:
    return d.write(n.value << _shift_amount(d, m))


def shift_right(d: General, n: General, m: Source) -> Writes:
    return d.write(n.value >> _shift_amount(d, m))


def shift_right_signed(d: General, n: General, m: Source) -> Writes:
    return d.write(_signed(n.type).wrap(n.value) >> _shift_amount(d, m))


def rotate_right(d: General, n: General, m: Source) -> Writes:
    amount = _shift_amount(d, m)
    return d.write((n.value >> amount) | (n.value << (lift(d.bits) - amount)))


def extract(d: General, n: General, m: General, lsb: Immediate) -> Writes:
    return d.write(((n.value << d.bits) | m.value) >> lsb.number)


def extend(element: Int) -> Body:
    """SXTB, UXTH, SXTW, ..."""

    def body(d: General, n: General) -> Writes:
        return d.write(element.wrap(n.value))

    return body


def field_extract(signed: bool) -> Body:
    """SBFX, UBFX: `width` bits from `lsb`, extended."""

    def body(d: General, n: General, lsb: Immediate, width: Immediate) -> Writes:
        return d.write(Int(width.number, signed).field(n.value, lsb.number))

    return body


def field_insert_in_zero(signed: bool) -> Body:
    """SBFIZ, UBFIZ: the low `width` bits, extended, moved up to `lsb`."""

    def body(d: General, n: General, lsb: Immediate, width: Immediate) -> Writes:
        return d.write(Int(width.number, signed).wrap(n.value) << lsb.number)

    return body


def _with_field(d: General, field: Lane, lsb: int, width: int) -> Writes:
    kept = d.value & ~(((1 << width) - 1) << lsb)
    return d.write(kept | (field << lsb))


def field_insert(d: General, n: General, lsb: Immediate, width: Immediate) -> Writes:
    """BFI: the low `width` bits of n replace those of d from `lsb` on."""
    return _with_field(d, Int(width.number, False).wrap(n.value), lsb.number, width.number)


def field_insert_low(d: General, n: General, lsb: Immediate, width: Immediate) -> Writes:
    """BFXIL: `width` bits of n from `lsb` on replace the low bits of d."""
    return _with_field(d, Int(width.number, False).field(n.value, lsb.number), 0, width.number)


def field_clear(d: General, lsb: Immediate, width: Immediate) -> Writes:
    return _with_field(d, constant(0), lsb.number, width.number)


def per_register(function: Callable[[Int, Lane], Lane]) -> Body:
    """CLZ, CLS, RBIT: one function of the whole register."""

    def body(d: General, n: General) -> Writes:
        return d.write(function(d.type, n.value))

    return body


def leading_sign_bits(to: Int, a: Lane) -> Lane:
    return bitwise.leading_sign_bits(to, _signed(to).wrap(a))


def reverse_bytes(container_bits: int) -> Body:
    """REV16, REV32, REV: the bytes of each container in reverse order."""

    def body(d: General, n: General) -> Writes:
        swap = container_bits // 8 - 1
        positions = [8 * (i ^ swap) for i in range(d.bits // 8)]
        value = constant(0)
        for i, position in enumerate(positions):
            value = value | (Int(8, False).field(n.value, position) << (8 * i))
        return d.write(value)

    return body


def multiply(d: General, n: General, m: General) -> Writes:
    return d.write(n.value * m.value)


def multiply_negate(d: General, n: General, m: General) -> Writes:
    return d.write(-(n.value * m.value))


def multiply_add(d: General, n: General, m: General, a: General) -> Writes:
    return d.write(a.value + n.value * m.value)


def multiply_subtract(d: General, n: General, m: General, a: General) -> Writes:
    return d.write(a.value - n.value * m.value)


def _long_product(signed: bool, n: General, m: General) -> Lane:
    element = Int(n.bits, signed)
    return element.wrap(n.value) * element.wrap(m.value)


def multiply_long(signed: bool) -> Body:
    return lambda d, n, m: d.write(_long_product(signed, n, m))


def multiply_long_negate(signed: bool) -> Body:
    return lambda d, n, m: d.write(-_long_product(signed, n, m))


def multiply_long_add(signed: bool) -> Body:
    return lambda d, n, m, a: d.write(a.value + _long_product(signed, n, m))


def multiply_long_subtract(signed: bool) -> Body:
    return lambda d, n, m, a: d.write(a.value - _long_product(signed, n, m))


def multiply_high(signed: bool) -> Body:
    return lambda d, n, m: d.write(_long_product(signed, n, m) >> 64)


def divide_registers(signed: bool) -> Body:
    """SDIV, UDIV: toward zero; by zero gives zero."""

    def body(d: General, n: General, m: General) -> Writes:
        element = Int(d.bits, signed)
        return d.write(divide(element.wrap(n.value), element.wrap(m.value)))

    return body


def conditional(function: Callable[[Lane], Lane]) -> Body:
    """CSEL, CSINC, CSINV, CSNEG: n where the condition holds, else a function of m."""

    def body(d: General, n: General, m: General, condition: Condition) -> Writes:
        return d.write(select(holds(condition), n.value, d.type.wrap(function(m.value))))

    return body


def conditional_or_same(function: Callable[[Lane], Lane]) -> Body:
    """CINC, CINV, CNEG: a function of n where the condition holds, else n."""

    def body(d: General, n: General, condition: Condition) -> Writes:
        return d.write(select(holds(condition), d.type.wrap(function(n.value)), n.value))

    return body


def same(a: Lane) -> Lane:
    return a


def incremented(a: Lane) -> Lane:
    return a + 1


def inverted(a: Lane) -> Lane:
    return ~a


def negated(a: Lane) -> Lane:
    return -a


def condition_set(d: General, condition: Condition) -> Writes:
    return d.write(holds(condition))


def condition_set_mask(d: General, condition: Condition) -> Writes:
    return d.write(-holds(condition))


def conditional_compare(comparison: Callable[[General, Source], Writes]) -> Body:
    """CCMP, CCMN: the flags of the comparison where the condition holds, else the four given flags."""

    def body(n: General, m: Source, otherwise: Immediate, condition: Condition) -> Writes:
        (compared,) = comparison(n, m)
        given = [constant(otherwise.number >> bit & 1) for bit in range(4)]
        taken = holds(condition)
        return (Write(FLAGS, 1, [select(taken, a, b) for a, b in zip(compared.lanes, given, strict=True)]),)

    return body


def read_system(place: Place) -> Body:
    """MRS of FPCR or FPSR."""
    return lambda d, _name: d.write(read(place))


def write_system(place: Place) -> Body:
    """MSR of FPCR or FPSR."""
    return lambda _name, n: (Write(place, 32, [Int(32, False).wrap(n.value)]),)


def read_flags(d: General, _name: object) -> Writes:
    return d.write(read(FLAGS) << 28)


def write_flags(_name: object, n: General) -> Writes:
    return (Write(FLAGS, 4, [Int(4, False).field(n.value, 28)]),)


def page_address(d: General, target: Immediate) -> Writes:
    """ADR, ADRP: the disassembler has already added the program counter."""
    return d.write(U64.wrap(target.value))
