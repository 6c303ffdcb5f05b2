"""Lane expressions: the range of every operator, the words that narrow, constants and fields."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.lane import (
    S8,
    S16,
    S32,
    U1,
    U8,
    U16,
    U32,
    U64,
    Constant,
    Int,
    Lane,
    Place,
    Read,
    constant,
    divide,
    lift,
    load,
    maximum,
    minimum,
    pick,
    read,
    select,
    walk,
)

Operator = Callable[[Lane, Lane], Lane]
Reference = Callable[[int, int], int]
Range = tuple[int, int]

X0, V0 = Place("x", 0), Place("v", 0)


def leaf(bounds: Range) -> Lane:
    """An unknown that ranges over the bounds."""
    return Read(X0, *bounds)


def towards_zero(a: int, b: int) -> int:
    quotient = abs(a) // abs(b) if b else 0
    return quotient if (a < 0) == (b < 0) else -quotient


MONOTONE: dict[str, tuple[Operator, Reference]] = {
    "add": (operator.add, operator.add),
    "subtract": (operator.sub, operator.sub),
    "multiply": (operator.mul, operator.mul),
    "minimum": (minimum, min),
    "maximum": (maximum, max),
}
SHIFTS: dict[str, tuple[Operator, Reference]] = {
    "shift_left": (operator.lshift, operator.lshift),
    "shift_right": (operator.rshift, operator.rshift),
}
OTHERS: dict[str, tuple[Operator, Reference]] = {
    "and": (operator.and_, operator.and_),
    "or": (operator.or_, operator.or_),
    "xor": (operator.xor, operator.xor),
    "less": (operator.lt, operator.lt),
    "greater": (operator.gt, operator.gt),
    "equal": (lambda a, b: a.equals(b), operator.eq),
    "divide": (divide, towards_zero),
}


def ranges(low: int, high: int) -> st.SearchStrategy[Range]:
    pairs = st.tuples(st.integers(low, high), st.integers(low, high))
    return pairs.map(lambda pair: (min(pair), max(pair)))


def inside(bounds: Range) -> st.SearchStrategy[int]:
    return st.integers(*bounds)


def corners(a: Range, b: Range, reference: Reference) -> list[int]:
    return [int(reference(x, y)) for x in a for y in b]


@pytest.mark.parametrize("name", [*MONOTONE, *OTHERS])
@given(data=st.data())
def test_the_exact_result_lies_in_the_claimed_range(name: str, data: st.DataObject) -> None:
    build, reference = {**MONOTONE, **OTHERS}[name]
    a, b = data.draw(ranges(-300, 300)), data.draw(ranges(-300, 300))
    result = build(leaf(a), leaf(b))
    assert result.low <= reference(data.draw(inside(a)), data.draw(inside(b))) <= result.high


@pytest.mark.parametrize("name", SHIFTS)
@given(data=st.data())
def test_the_exact_shift_lies_in_the_claimed_range(name: str, data: st.DataObject) -> None:
    build, reference = SHIFTS[name]
    a, count = data.draw(ranges(-300, 300)), data.draw(ranges(0, 40))
    result = build(leaf(a), leaf(count))
    assert result.low <= reference(data.draw(inside(a)), data.draw(inside(count))) <= result.high


@pytest.mark.parametrize("name", MONOTONE)
@given(a=ranges(-300, 300), b=ranges(-300, 300))
def test_the_claimed_range_is_attained_at_the_corners(name: str, a: Range, b: Range) -> None:
    build, reference = MONOTONE[name]
    result, values = build(leaf(a), leaf(b)), corners(a, b, reference)
    assert (result.low, result.high) == (min(values), max(values))


@pytest.mark.parametrize("name", SHIFTS)
@given(a=ranges(-300, 300), count=ranges(0, 40))
def test_the_claimed_range_of_a_shift_is_attained_at_the_corners(name: str, a: Range, count: Range) -> None:
    build, reference = SHIFTS[name]
    result, values = build(leaf(a), leaf(count)), corners(a, count, reference)
    assert (result.low, result.high) == (min(values), max(values))


@given(data=st.data())
def test_negation_and_complement_lie_in_the_claimed_range(data: st.DataObject) -> None:
    bounds = data.draw(ranges(-300, 300))
    value, negative, complement = data.draw(inside(bounds)), -leaf(bounds), ~leaf(bounds)
    assert (negative.low <= -value <= negative.high, complement.low <= ~value <= complement.high) == (True, True)


@given(a=ranges(-300, 300))
def test_negation_has_the_mirrored_range(a: Range) -> None:
    result = -leaf(a)
    assert (result.low, result.high) == (-a[1], -a[0])


def test_the_negative_of_the_least_value_needs_a_wider_range() -> None:
    assert (-leaf((-128, 127))).high == 128


@given(a=ranges(0, 300), b=ranges(0, 300))
def test_and_of_unsigned_values_is_no_larger_than_either(a: Range, b: Range) -> None:
    assert (leaf(a) & leaf(b)).high <= min(a[1], b[1])


@pytest.mark.parametrize(("bounds", "bits"), [((-1, 0), 0), ((0, 255), 8), ((-128, 127), 7), ((-129, 0), 8)])
def test_magnitude_bits_hold_the_range(bounds: Range, bits: int) -> None:
    assert leaf(bounds).magnitude_bits == bits


@pytest.mark.parametrize("name", [*MONOTONE, *SHIFTS])
@given(a=st.integers(-300, 300), b=st.integers(0, 40))
def test_an_operator_on_constants_is_a_constant(name: str, a: int, b: int) -> None:
    build, reference = {**MONOTONE, **SHIFTS}[name]
    assert build(constant(a), constant(b)).value == reference(a, b)


def test_constants_fold_into_one_node() -> None:
    assert isinstance(constant(3) * 5 - 1, Constant)


def test_a_product_with_zero_is_the_constant_zero() -> None:
    assert (leaf((-5, 5)) * 0).value == 0


def test_a_node_with_a_choice_has_no_value() -> None:
    assert leaf((0, 1)).value is None


def test_an_int_is_lifted_to_a_constant() -> None:
    assert lift(7).value == 7


def test_a_lane_is_lifted_to_itself() -> None:
    lane = leaf((0, 1))
    assert lift(lane) is lane


@pytest.mark.parametrize("count", [(-1, 3), (0, 1025), (-1, -1), (2000, 2000)])
@pytest.mark.parametrize("shift", [operator.lshift, operator.rshift])
def test_a_shift_count_out_of_bounds_is_refused(shift: Operator, count: Range) -> None:
    with pytest.raises(ValueError, match=rf"0\.\.1024, this one ranges over {count[0]}\.\.{count[1]}"):
        shift(leaf((0, 255)), leaf(count))


def test_a_shift_count_of_1024_is_allowed() -> None:
    assert (constant(1) << 1024).value == 2**1024


ELEMENTS = [Int(bits, signed) for bits in (1, 4, 8, 16, 32, 64, 128) for signed in (False, True)]


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_an_element_type_has_two_to_the_bits_values(element: Int) -> None:
    assert element.high - element.low + 1 == 2**element.bits


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_the_least_value_is_zero_or_minus_half_of_them(element: Int) -> None:
    assert element.low == (-(2**element.bits) // 2 if element.signed else 0)


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
@given(value=st.integers(-(2**130), 2**130))
def test_wrapped_is_congruent_and_in_range(element: Int, value: int) -> None:
    wrapped = element.wrapped(value)
    assert (element.low <= wrapped <= element.high, (wrapped - value) % 2**element.bits) == (True, 0)


@pytest.mark.parametrize("element", [S8, U8, S16, U16, S32, U32], ids=str)
@given(value=st.integers(-(2**40), 2**40))
def test_wrap_of_a_constant_is_what_a_register_would_hold(element: Int, value: int) -> None:
    stored = (value % 2**element.bits).to_bytes(element.bits // 8, "little")
    assert element.wrap(value).value == int.from_bytes(stored, "little", signed=element.signed)


@pytest.mark.parametrize("element", [S8, U8, S16, U16, S32, U32], ids=str)
@given(value=st.integers(-(2**40), 2**40))
def test_saturate_claims_only_clamped_values_for_a_constant(element: Int, value: int) -> None:
    lane = element.saturate(value)
    assert (lane.low, lane.high) == (sorted((element.low, value, element.high))[1],) * 2


@given(bounds=ranges(-300, 300))
def test_saturate_keeps_the_node_of_a_value_that_fits(bounds: Range) -> None:
    lane = leaf(bounds)
    assert (S8.saturate(lane) is lane) == (bounds[0] >= -128 and bounds[1] <= 127)


@given(bounds=ranges(-300, 300))
def test_wrap_keeps_the_node_of_a_value_that_fits(bounds: Range) -> None:
    lane = leaf(bounds)
    assert (U8.wrap(lane) is lane) == (bounds[0] >= 0 and bounds[1] <= 255)


@given(data=st.data())
def test_saturate_claims_a_range_that_holds_the_clamped_value(data: st.DataObject) -> None:
    bounds = data.draw(ranges(-300, 300))
    lane, value = S8.saturate(leaf(bounds)), data.draw(inside(bounds))
    assert lane.low <= max(-128, min(127, value)) <= lane.high


@given(bounds=ranges(-300, 300))
def test_saturate_claims_a_range_attained_at_its_ends(bounds: Range) -> None:
    lane = S8.saturate(leaf(bounds))
    assert (lane.low, lane.high) == tuple(max(-128, min(127, end)) for end in bounds)


def test_wrap_of_a_wide_value_claims_the_whole_type() -> None:
    lane = S8.wrap(leaf((0, 300)))
    assert (lane.low, lane.high) == (-128, 127)


@pytest.mark.parametrize("element", [S8, U16, S32, U64], ids=str)
@given(value=st.integers(0, 2**128 - 1), lsb=st.integers(0, 127))
def test_a_field_of_a_constant_is_the_bits_from_its_lowest_one(element: Int, value: int, lsb: int) -> None:
    bits = format(value, "0192b")[::-1][lsb : lsb + element.bits][::-1]
    unsigned = int(bits, 2)
    negative = element.signed and bits[0] == "1" and len(bits) == element.bits
    assert element.field(constant(value), lsb).value == unsigned - (2**element.bits if negative else 0)


def test_a_field_of_a_register_claims_the_range_of_its_type() -> None:
    field = S16.field(read(V0), 16)
    assert (field.low, field.high) == (-32768, 32767)


def test_lanes_are_adjacent_elements() -> None:
    value = int.from_bytes(bytes(range(16)), "little")
    assert [lane.value for lane in U8.lanes(constant(value), 16)] == list(range(16))


def test_lanes_start_at_the_element_asked_for() -> None:
    value = int.from_bytes(bytes(range(16)), "little")
    assert [lane.value for lane in U8.lanes(constant(value), 4, 8)] == [8, 9, 10, 11]


def test_lanes_of_a_signed_type_are_signed() -> None:
    value = int.from_bytes(bytes([1, 255, 128, 127]), "little")
    assert [lane.value for lane in S8.lanes(constant(value), 4)] == [1, -1, -128, 127]


def test_wide_has_twice_the_bits_and_the_same_sign() -> None:
    assert (S16.wide, U8.wide) == (S32, U16)


@pytest.mark.parametrize(("element", "name"), [(S8, "s8"), (U64, "u64"), (U1, "u1")])
def test_an_element_type_prints_as_its_short_name(element: Int, name: str) -> None:
    assert str(element) == name


@pytest.mark.parametrize(("file", "bits"), [("v", 128), ("x", 64), ("sp", 64), ("nzcv", 4), ("fpsr", 32), ("fpcr", 32)])
def test_a_read_ranges_over_the_whole_register(file: str, bits: int) -> None:
    lane = read(Place(file))
    assert (lane.low, lane.high) == (0, 2**bits - 1)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 64])
def test_a_load_ranges_over_its_bytes(size: int) -> None:
    assert load(read(X0), size).high == 256**size - 1


@given(data=st.data())
def test_a_pick_ranges_over_its_items_and_the_other_value(data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(-50, 50), min_size=1))
    other = data.draw(st.integers(-50, 50))
    lane = pick(leaf((-1, 60)), values, other)
    assert (lane.low, lane.high) == (min(*values, other), max(*values, other))


@pytest.mark.parametrize(("condition", "chosen"), [(1, 10), (0, 20)])
def test_select_of_a_constant_condition_is_one_of_its_values(condition: int, chosen: int) -> None:
    assert select(constant(condition), 10, 20).value == chosen


def test_select_of_an_unknown_condition_ranges_over_both() -> None:
    lane = select(leaf((0, 1)), 10, 20)
    assert (lane.low, lane.high) == (10, 20)


def test_walk_yields_a_shared_node_once() -> None:
    shared = leaf((0, 9))
    assert list(walk([shared + shared, shared * shared])).count(shared) == 1


def test_walk_reaches_every_leaf() -> None:
    a, b, c = leaf((0, 9)), leaf((0, 9)), leaf((0, 9))
    assert {a, b, c} <= set(walk([(a + b) * c]))


@pytest.mark.parametrize(("place", "name"), [(V0, "v0"), (Place("x", 30), "x30"), (Place("sp"), "sp")])
def test_a_place_prints_as_its_register(place: Place, name: str) -> None:
    assert str(place) == name
