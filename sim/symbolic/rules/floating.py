"""Floating point: operations are taken as they are, only what is true of them bit by bit brings them to one form.

A sum is not reassociated, a product and a sum are not contracted, and operands change places only where it does not
show: Arm's rules give the first NaN of two (Arm ARM, shared pseudocode: FPProcessNaNs), so one of them must be none, or
which NaN comes out must not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from isa.evaluate.floating import compute
from isa.floating import F32, F64, Float, FloatOperation, Operation
from isa.lane import Binary, Constant, Field, Floating, Int, Lane, Pick, head
from sim.symbolic.nodes import LinearSum, Simplifier, is_condition, rule
from sim.symbolic.rules.windows import again_if_new

FLAGS: Final = Int(4, signed=False)
LESS, EQUAL, GREATER, UNORDERED = 0b1000, 0b0110, 0b0010, 0b0011
"""What a comparison gives: N, Z, C, V as a number."""
ORDERS: Final = (LESS, EQUAL, GREATER, UNORDERED)
COMPARISONS: Final[dict[Operation, tuple[int, ...]]] = {
    "equal": (EQUAL,),
    "greater": (GREATER,),
    "greater_or_equal": (EQUAL, GREATER),
}
"""The orders of two numbers in which a condition on them holds."""
_TO_INTEGERS: Final[tuple[Operation, ...]] = ("to_integer", "compare", "compare_signalling", *COMPARISONS)
"""Operations that make the same of every NaN, and no NaN."""
_FACTORS: Final[dict[Operation, tuple[int, int]]] = {"add": (0, 1), "multiply": (0, 1), "multiply_add": (1, 2)}
"""The operands of an operation that may change places, NaNs apart."""
_OF_NUMBERS: Final[tuple[Operation, ...]] = (
    "add", "subtract", "multiply", "divide", "multiply_add", "square_root", "convert", "to_integral",
)  # fmt: skip
"""Operations that give a NaN of whichever operand is one."""


@rule("floating")
def floating_of_numbers(s: Simplifier, node: Floating) -> Lane | None:
    """An operation on known numbers, in a known mode, has a known result."""
    numbers = [arg.value for arg in node.args]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return None
    return s.number(compute(node.operation, tuple(known[:-1]), known[-1])[0])


def _operation(s: Simplifier, operation: FloatOperation, operands: Sequence[Lane], fpcr: Lane) -> Lane:
    return s.made(operation(*operands, fpcr=fpcr))


@rule("floating")
def integer_of_any_type(s: Simplifier, node: Floating) -> Lane | None:
    """An integer becomes the same number whatever type it is of: it is taken for the smallest signed one."""
    if node.operation.name != "from_integer":
        return None
    bits = next((bits for bits in (32, 64) if Int(bits, True).holds(node.operands[0])), 65)
    if node.operation.of == Int(bits, True):
        return None
    return _operation(s, replace(node.operation, of=Int(bits, True)), node.operands, node.fpcr)


@rule("floating")
def integer_made_longer(s: Simplifier, node: Floating) -> Lane | None:
    """An integer that single precision holds is the same in double precision."""
    if (node.operation.name, node.operation.of, node.operation.to) != ("convert", F32, F64):
        return None
    match node.operands[0]:
        case Floating(FloatOperation("from_integer") as made, (number,), fpcr) if fpcr is node.fpcr:
            if made.fraction_bits == 0 and number.magnitude_bits <= F32.fraction_bits:
                return _operation(s, replace(made, to=F64), (number,), fpcr)
    return None


@rule("floating")
def quotient_of_integers(s: Simplifier, node: Floating) -> Lane | None:
    """A quotient of integers a and d, rounded and cut to an integer, is their quotient where |a| + |d| <= 2^p.

    p is how many bits a significand has.  Rounded to nearest, a / d reaches the next whole number n only where it lies
    less than n 2^-p below; but n - |a / d| >= 1 / |d|, and n |d| <= |a| + |d|.  So cutting gives what was below n.
    """
    match node:
        case Floating(
            FloatOperation("to_integer", of, to, "zero", 0),
            (
                Floating(
                    FloatOperation("divide", rounding="fpcr"),
                    (Floating(FloatOperation("from_integer", fraction_bits=0), (a,)), by),
                    Constant(0),
                ),
            ),
        ) if isinstance(of, Float) and isinstance(to, Int):
            divisor = _integer(by, of)
            if not divisor or max(-a.low, a.high) + abs(divisor) > 1 << (of.fraction_bits + 1):
                return None
            quotient = s.computed("divide", a, divisor)
            return quotient if to.holds(quotient) else None
    return None


def _integer(number: Lane, format: Float) -> int | None:
    """The integer that a known floating-point number is; None for another, and for one that is not known."""
    if number.value is None:
        return None
    whole = compute(FloatOperation("to_integer", format, Int(32, True), "zero"), (number.value,), 0)[0]
    back = compute(FloatOperation("from_integer", Int(32, True), format), (whole,), 0)[0]
    return whole if back == number.value else None


@rule("floating")
def operands_in_order(s: Simplifier, node: Floating) -> Lane | None:
    """Terms and factors in order, where one of them is no NaN."""
    swapped = _in_order(s, node, nans_count=True)
    return s.again(node, swapped) if swapped is not None else None


@rule("floating")
def difference_of_number(s: Simplifier, node: Floating) -> Lane | None:
    """To take away a number that is no NaN is to add its opposite."""
    if node.operation.name != "subtract" or not _is_usual(node.operation):
        return None
    a, b = node.operands
    format = node.operation.operand_format
    if b.value is None or not _is_no_nan(b, format):
        return None
    return _operation(s, replace(node.operation, name="add"), (a, s.number(b.value ^ format.sign_bit)), node.fpcr)


@rule("pick")
def choice_of_operations(s: Simplifier, node: Pick) -> Lane | None:
    """Between two results of one operation that differ in one operand, the operand is chosen."""
    match node:
        case Pick(index, (Floating() as no,), Floating() as yes) if is_condition(index) and head(no) == head(yes):
            unlike = [k for k, (one, other) in enumerate(zip(no.args, yes.args, strict=True)) if one is not other]
            if len(unlike) == 1:
                args = list(no.args)
                args[unlike[0]] = s.select(index, yes.args[unlike[0]], no.args[unlike[0]])
                return s.again(no, args)
    return None


def _in_order(s: Simplifier, node: Floating, nans_count: bool) -> list[Lane] | None:
    """The operands of a node, two of which change places; None where they stay."""
    one, other = _FACTORS.get(node.operation.name, (0, 0))
    if one == other or not _is_usual(node.operation):
        return None
    a, b = node.operands[one], node.operands[other]
    first, _ = s.sorted((a, b))
    format = node.operation.operand_format
    if first is a or (nans_count and not _is_no_nan(a, format) and not _is_no_nan(b, format)):
        return None
    args = list(node.args)
    args[one], args[other] = b, a
    return args


def _is_usual(operation: FloatOperation) -> bool:
    """Whether it is of single and double precision alone: half precision may have no NaNs."""
    return all(not isinstance(kind, Float) or kind in (F32, F64) for kind in (operation.of, operation.to))


def _is_no_nan(lane: Lane, format: Float) -> bool:
    if isinstance(lane, Constant):
        return lane.low & (format.sign_bit - 1) <= format.infinity
    return isinstance(lane, Floating) and lane.operation.name == "from_integer"


@rule("floating")
def nans_that_do_not_count(s: Simplifier, node: Floating) -> Lane | None:
    """Where every NaN gives the same, terms and factors below are in order whatever they are."""
    if node.operation.name not in _TO_INTEGERS or not _is_usual(node.operation):
        return None
    args = [*(_without_nans(s, operand) for operand in node.operands), node.fpcr]
    found = again_if_new(s, node, args)
    return found if found is not node else None


def but_for_nans(s: Simplifier, lane: Lane, format: Float) -> Lane:
    """The number with one NaN in the place of every NaN."""
    plain = _without_nans(s, lane)
    compared = _operation(s, FloatOperation("compare", format, FLAGS), (plain, plain), s.number(0))
    nan = s.number(format.infinity | format.quiet_bit)
    return s.select(s.computed("equal", compared, UNORDERED), nan, plain)


def _without_nans(s: Simplifier, lane: Lane) -> Lane:
    """A number that is equal but for which NaN it is, where it is one."""
    if isinstance(lane, Pick):
        return again_if_new(s, lane, [lane.index, *(_without_nans(s, item) for item in lane.args[1:])])
    if not isinstance(lane, Floating) or lane.operation.name not in _OF_NUMBERS or not _is_usual(lane.operation):
        return lane
    args = [*(_without_nans(s, operand) for operand in lane.operands), lane.fpcr]
    plain = s.kept(Floating(lane.operation, tuple(args[:-1]), lane.fpcr, lane.low, lane.high))
    if not isinstance(plain, Floating):
        return lane
    swapped = _in_order(s, plain, nans_count=False)
    if swapped is not None:
        return s.kept(Floating(lane.operation, tuple(swapped[:-1]), lane.fpcr, lane.low, lane.high))
    return plain if any(new is not old for new, old in zip(args, lane.args, strict=True)) else lane


@rule("floating")
def comparison_by_flags(s: Simplifier, node: Floating) -> Lane | None:
    """All comparisons of two numbers are one: which of the four orders they are in."""
    orders = COMPARISONS.get(node.operation.name)
    if orders is None and node.operation.name != "compare_signalling":
        return None
    operation = FloatOperation("compare", node.operation.of, FLAGS)
    compared = _operation(s, operation, node.operands, node.fpcr)
    return compared if orders is None else _by_order(s, compared, dict.fromkeys(orders, 1))


def _is_comparison(lane: Lane) -> bool:
    return isinstance(lane, Floating) and lane.operation.name == "compare"


def _by_order(s: Simplifier, compared: Lane, numbers: Mapping[int, int]) -> Lane:
    """A number for each order that a comparison gives, 0 for those that are not named."""
    unordered = numbers.get(UNORDERED, 0)
    total = LinearSum({}, unordered)
    for order in (LESS, EQUAL, GREATER):
        total = total.plus(s.sum_of(s.computed("equal", compared, order)), numbers.get(order, 0) - unordered)
    return s.total(total)


@rule("equal")
def order_of_operands(s: Simplifier, node: Binary) -> Lane | None:
    """Which order it is, asked of the operands in one order: turned round, less is greater; unordered is no other."""
    match node:
        case Binary(_, Floating() as compared, Constant(order)) if _is_comparison(compared):
            if s.sorted(compared.operands)[0] is not compared.operands[0]:
                turned = _operation(s, compared.operation, compared.operands[::-1], compared.fpcr)
                return s.computed("equal", turned, {LESS: GREATER, GREATER: LESS}.get(order, order))
            if order not in (LESS, EQUAL, GREATER):
                return _by_order(s, compared, {order: 1}) if order == UNORDERED else s.number(0)
    return None


@rule("less")
def order_below(s: Simplifier, node: Binary) -> Lane | None:
    """A comparison of two numbers below a limit is one of the orders below it."""
    if not _is_comparison(node.a) or not isinstance(node.b, Constant):
        return None
    return _by_order(s, node.a, {order: int(order < node.b.low) for order in ORDERS})


@rule("shift_right")
def upper_flags(s: Simplifier, node: Binary) -> Lane | None:
    """The upper flags of a comparison, by its orders."""
    if not _is_comparison(node.a) or not isinstance(node.b, Constant) or node.b.low >= FLAGS.bits:
        return None
    return _by_order(s, node.a, {order: order >> node.b.low for order in ORDERS})


@rule("field")
def lower_flags(s: Simplifier, node: Field) -> Lane | None:
    """The lower flags of a comparison, by its orders."""
    if not _is_comparison(node.operand):
        return None
    return _by_order(s, node.operand, {order: node.element.wrapped(order >> node.lsb) for order in ORDERS})
