"""The steps of one element and whether a rule rises, by hand, for each thing that can happen on the way."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from sim import golden
from sim.explanation.addition import Addition, AdditionOfPowers, IntegerAddition, addition_rules, exact_sum
from sim.explanation.candidates import Multiplier, RealFactor, derivations, requantization_rules
from sim.explanation.rule import RuleStep
from sim.explanation.scaling import (
    ByteRounding,
    FixedPoint,
    FloatScaling,
    IntegerScaling,
    LanesAndTail,
    _rounding_event,
    by_channel,
    float32_product,
    float_event,
    of_channels,
    of_element,
    of_factor,
    shown,
)
from sim.golden.addition import AddParameters, Quantization, add_page, add_tflite, relu_if
from sim.kernels.quantized_add.golden_tflite_pot import derived_of_powers

HALF, TOP, LOW = 1 << 30, 2**31 - 1, -(2**31)
Steps = list[tuple[str, int, Fraction | int, str]]


def fixed_point(convention: Any, multiplier: Any = HALF, left_shift: Any = 0, zero_point: int = 0) -> FixedPoint:
    many = {"multiplier": np.atleast_1d(multiplier), "left_shift": np.atleast_1d(left_shift)}
    twice = not convention.__name__.startswith("single")
    return FixedPoint(
        name="", note="", convention=convention, rounds_twice=twice, zero_point=zero_point, **many
    )  # fmt: skip


def element(value: int, total: int | None = None, **more: int) -> dict[str, int]:
    return {"value": value, "sum": value if total is None else total, "channel": 0, "in_tail": 0, "has_bias": 0} | more


def steps_of(rule: Any, of: dict[str, int]) -> Steps:
    return [(step.name, step.value, step.exact, step.event) for step in rule.steps(of)]


@pytest.mark.parametrize(
    ("convention", "x", "left_shift", "expected"),
    [
        (golden.double_rounding, HALF, 1, [("left shift", LOW, 2**31, "wraps"), ("multiply", -HALF, HALF, "")]),
        (
            golden.double_rounding_saturating_left, HALF, 1,
            [("left shift", TOP, 2**31, "saturates"), ("multiply", HALF, HALF, "tie")],
        ),
        (golden.double_rounding, 3, 1, [("left shift", 6, 6, ""), ("multiply", 3, 3, "")]),
        (golden.double_rounding, 3, 2, [("left shift", 12, 12, ""), ("multiply", 6, 6, "")]),
        (golden.double_rounding, 6, -1, [("multiply", 3, 3, ""), ("shift", 2, Fraction(3, 2), "tie")]),
        (golden.double_rounding_floor, 6, -1, [("multiply", 3, 3, ""), ("shift", 1, Fraction(3, 2), "tie")]),
        (golden.double_rounding, 8, -1, [("multiply", 4, 4, ""), ("shift", 2, 2, "")]),
        (golden.double_rounding, 0, -1, [("multiply", 0, 0, ""), ("shift", 0, 0, "")]),
        (
            golden.double_rounding, 5, -1,
            [
                ("multiply", 3, Fraction(5, 2), "tie"),
                ("shift", 2, Fraction(5, 4), "false tie: the multiply made 3 of 5/2"),
            ],
        ),
        (
            golden.shift_after_rounding_in_lanes, 3, 1,
            [("multiply", 2, Fraction(3, 2), "tie"), ("shift", 4, 3, "shifts left after the rounding")],
        ),
        (
            golden.shift_after_rounding_in_tail, 3, 1,
            [("multiply", 2, Fraction(3, 2), "tie"), ("shift", 0, 3, "shifts left after the rounding")],
        ),
        (golden.shift_after_rounding_in_lanes, 0, 1, [("multiply", 0, 0, "")]),
        (
            golden.shift_after_rounding_in_lanes, -1, 1,
            [("multiply", 0, Fraction(-1, 2), "tie"), ("shift", 0, -1, "shifts left after the rounding")],
        ),
    ],
)  # fmt: skip
def test_steps_of_two_roundings_by_a_half(convention: Any, x: int, left_shift: int, expected: Steps) -> None:
    assert steps_of(fixed_point(convention, HALF, left_shift), element(x)) == expected


def test_the_one_product_that_does_not_fit_saturates() -> None:
    assert steps_of(fixed_point(golden.double_rounding, LOW), element(LOW)) == [("multiply", TOP, 2**31, "saturates")]


def test_the_steps_of_a_bias_and_of_an_offset_stand_around_the_others() -> None:
    rule = fixed_point(golden.double_rounding, HALF, 0, 7)
    assert steps_of(rule, element(4, has_bias=1)) == [
        ("bias", 4, 4, ""), ("multiply", 2, 2, ""), ("offset", 9, 9, ""),
    ]  # fmt: skip
    assert steps_of(rule, element(LOW, 2**31, has_bias=1)) == [
        ("bias", LOW, 2**31, "wraps"), ("multiply", -HALF, HALF, ""), ("offset", -HALF + 7, HALF + 7, ""),
    ]  # fmt: skip
    low = steps_of(fixed_point(golden.double_rounding, HALF, 0, LOW), element(-4))
    assert low == [("multiply", -2, -2, ""), ("offset", TOP - 1, -2 + LOW, "wraps")]


@pytest.mark.parametrize(
    ("in_tail", "scaled"), [(0, ("shift", 4, 3, "shifts left after the rounding")),
                            (1, ("shift", 0, 3, "shifts left after the rounding"))],
)  # fmt: skip
def test_lanes_and_tail_shift_in_their_own_ways(in_tail: int, scaled: tuple[str, int, int, str]) -> None:
    rule = LanesAndTail(
        name="", note="", convention=golden.shift_after_rounding_in_lanes, rounds_twice=True,
        multiplier=np.array([HALF]), left_shift=np.array([1]), zero_point=0,
    )  # fmt: skip
    assert steps_of(rule, element(3, in_tail=in_tail))[-1] == scaled


@pytest.mark.parametrize(
    ("convention", "multiplier", "left_shift", "zero_point", "rises"),
    [
        (golden.double_rounding, HALF, 0, 0, True),
        (golden.double_rounding, HALF, 1, 0, False),
        (golden.double_rounding, HALF, [-1, 1], 0, False),
        (golden.double_rounding, HALF, -31, 0, True),
        (golden.shift_after_rounding_in_tail, HALF, -32, 0, False),
        (golden.shift_after_rounding_in_tail, HALF, [-32, 0], 0, False),
        (golden.double_rounding, 0, 0, 0, True),
        (golden.double_rounding, -1, 0, 0, False),
        (golden.double_rounding, [HALF, -1], 0, 0, False),
        (golden.double_rounding, HALF, 0, HALF - 2, True),
        (golden.double_rounding, HALF, 0, HALF - 1, False),
        (golden.double_rounding, HALF, 0, -HALF + 1, True),
        (golden.double_rounding, HALF, 0, -HALF, False),
        (golden.double_rounding, [1, HALF], 0, HALF - 1, False),
        (golden.double_rounding, HALF, -1, 3 * 2**29 - 2, True),
        (golden.double_rounding, HALF, -1, 3 * 2**29 - 1, False),
        (golden.single_rounding_narrowed, HALF, 0, 0, False),
        (golden.single_rounding_narrowed, HALF, -1, 0, True),
        (golden.single_rounding_by_vector, HALF, 0, 0, False),
        (golden.single_rounding, HALF, 0, 0, True),
    ],
)
def test_a_rule_rises_where_nothing_wraps_and_no_factor_is_negative(
    convention: Any, multiplier: Any, left_shift: Any, zero_point: int, rises: bool
) -> None:
    assert fixed_point(convention, multiplier, left_shift, zero_point).rises == rises


@pytest.mark.parametrize(
    ("zero_point", "scales", "rises"),
    [
        (HALF - 1, [0.5], True),
        (HALF, [0.5], False),
        (-HALF, [0.5], False),
        (-HALF + 1, [0.25, 0.5], True),
        (0, [0.25, np.nextafter(np.float32(0.5), np.float32(1))], False),
    ],
)
def test_float_products_rise_up_to_a_half(zero_point: int, scales: list[float], rises: bool) -> None:
    scale = np.array(scales, np.float32)
    assert FloatScaling("", "", golden.product_xnnpack, scale, (Fraction(0),), zero_point).rises == rises


@pytest.mark.parametrize(
    ("product", "exact", "event"),
    [
        (Fraction(5, 2), Fraction(5, 2), "tie"),
        (Fraction(5, 2), Fraction(9, 4), "false tie: float32 makes 5/2 of 9/4"),
        (Fraction(3), Fraction(5, 2), "float32 makes 3 of 5/2"),
        (Fraction(2), Fraction(5, 2), ""),
        (Fraction(2), Fraction(9, 4), ""),
        (Fraction(3), Fraction(9, 4), "float32 makes 3 of 9/4"),
    ],
)
def test_what_float32_did_is_told_where_it_bears_on_the_rounding(
    product: Fraction, exact: Fraction, event: str
) -> None:
    assert float_event(product, exact) == event


def test_short_fractions_are_shown_as_such() -> None:
    numbers = (Fraction(1, 64), Fraction(1, 65), Fraction(1, 128), Fraction(-7), Fraction(2, 3))
    assert [shown(number) for number in numbers] == ["1/64", "0.0153846154", "0.0078125", "-7", "2/3"]


def test_the_product_of_a_channel_in_float32_is_0_where_it_overflows() -> None:
    scale = np.array([0.5, 3e38], np.float32)
    made = [float32_product(element(value, channel=at), scale) for value, at in ((5, 0), (0, 1), (2, 1))]
    assert made == [Fraction(5, 2), 0, 0]
    assert float32_product(element(2**24 + 1, channel=1), np.array([0.5], np.float32)) == 2**23


def test_each_element_has_the_parameter_of_its_channel_or_the_only_one() -> None:
    operands = {"value": np.array([10, 20, 30, 40]), "channel": np.array([1, 0, 2, 1])}
    scale = np.array([1, 2, 5], np.float32)
    assert of_channels(scale, operands).tolist() == [2, 1, 5, 2]
    assert of_channels(scale[1:2], operands).tolist() == 2
    made = by_channel(scale, operands, lambda values, one: np.asarray(values * int(one) + len(values)))
    assert made.tolist() == [10 * 2 + 2, 20 * 1 + 1, 30 * 5 + 1, 40 * 2 + 2]
    assert by_channel(scale[2:], operands, lambda values, one: values * int(one)).tolist() == [50, 100, 150, 200]


@pytest.mark.parametrize(
    ("convention", "x", "zero_point", "multiplier", "shift", "expected"),
    [
        (
            golden.integer_scale_floor, TOP, 1, 1, 0,
            [("offset", LOW, 2**31, "wraps"), ("multiply", LOW, 2**31, ""),
             ("shift rounded down", LOW, 2**31, "wraps")],
        ),
        (
            golden.integer_scale_ties_away, 3, 0, 3, 1,
            [("offset", 3, 3, ""), ("multiply", 9, 9, ""), ("shift", 5, Fraction(9, 2), "tie")],
        ),
        (
            golden.integer_scale_ties_away, HALF, 0, 2, 1,
            [("offset", HALF, HALF, ""), ("multiply", LOW, 2**31, "wraps"),
             ("shift", -HALF, HALF, "parts from the exact value")],
        ),
        (
            golden.integer_scale_floor, 7, -2, 1, 2,
            [("offset", 5, 5, ""), ("multiply", 5, 5, ""), ("shift rounded down", 1, Fraction(5, 4), "")],
        ),
    ],
)  # fmt: skip
def test_steps_of_an_integer_factor(
    convention: Any, x: int, zero_point: int, multiplier: int, shift: int, expected: Steps
) -> None:
    rule = IntegerScaling(
        name="", note="", convention=convention, multiplier=np.array([multiplier]), right_shift=np.array([shift]),
        zero_point=zero_point,
    )  # fmt: skip
    assert steps_of(rule, element(x)) == expected


def test_a_byte_is_placed_by_its_own_zero_point() -> None:
    """3 * 1/2 is a tie, to even 2, whether 5 is the zero point of a uint8, or -123 that of an int8 moved up by 128."""
    for lowest in (0, -128):
        rule = ByteRounding(
            name="", note="", convention=golden.round_even_then_offset, scale=np.array([0.5], np.float32),
            factor=(Fraction(1, 2),), zero_point=5 + lowest, lowest=lowest,
        )  # fmt: skip
        total = Fraction(3, 2) + 5 + lowest
        assert rule.steps(element(3)) == [RuleStep("multiply, round, offset", 7 + lowest, total, "tie")]


FACTORS: dict[str, Multiplier | RealFactor] = {
    "to the right": Multiplier(np.array([HALF, 3 << 28]), np.array([-3, -6])),
    "to the left": Multiplier(np.array([HALF, 3 << 28]), np.array([1, 2])),
    "real": RealFactor(np.array([0.0123, 0.25])),
}


@pytest.mark.parametrize("kind", FACTORS)
@pytest.mark.parametrize("bias", [0, 9])
def test_the_last_step_of_every_rule_is_its_result_beside_the_real_number(kind: str, bias: int) -> None:
    """Of each channel; the integer scales add the zero point before they multiply."""
    factor = FACTORS[kind]
    derived = derivations(factor, []) if isinstance(factor, RealFactor) else []
    kinds = (np.dtype("int8"), np.dtype("int16"))
    for rule in (rule for dtype in kinds for rule in requantization_rules(factor, derived, 3, dtype)):
        for value, channel in product((-70_001, -1, 40_002), (0, 1)):
            of = element(value, channel=channel, has_bias=int(bias > 0))
            try:
                *before, last = rule.steps(of)
            except ValueError:  # numbers that the convention refuses
                continue
            operands = {name: np.array([of[name]]) for name in ("value", "channel", "in_tail")}
            if isinstance(rule, IntegerScaling):
                by = Fraction(int(rule.multiplier[channel])) / Fraction(2) ** int(rule.right_shift[channel])
                exact = (value + 3) * by
            elif isinstance(rule, FixedPoint):
                by = Fraction(int(rule.multiplier[channel]), 2**31) * Fraction(2) ** int(rule.left_shift[channel])
                exact = value * by + 3
            else:
                exact = value * factor.factors[channel] + 3
            assert (last.value, last.exact) == (rule.run(operands).item(), exact), (rule.name, of)
            assert [step.value for step in before if step.name == "bias"] == [value] * (bias > 0)


def test_one_parameter_is_that_of_all_channels_and_of_several_each_has_its_own() -> None:
    for parameters, channel, expected in (([7], 3, 7), ([7, 8], 0, 7), ([7, 8], 1, 8), ([5, 6, 7, 8], 2, 7)):
        of = element(0, channel=channel)
        assert of_element(np.array(parameters), of) == expected
        assert of_factor(tuple(map(Fraction, parameters)), of) == expected
        assert np.broadcast_to(of_channels(np.array(parameters), {"channel": np.array([channel])}), 1) == expected
        one = float32_product(element(2, channel=channel), np.array(parameters, np.float32))
        assert one == 2 * expected


@pytest.mark.parametrize(
    ("exact", "scaled", "event"),
    [
        (Fraction(3, 2), 2, "tie"), (Fraction(4, 3), 1, ""), (Fraction(4), 3, ""), (Fraction(4), 5, ""),
        (Fraction(9, 2), 3, "parts from the exact value"), (Fraction(2**31), 2**31 - 1, ""),
        (Fraction(2**31), -(2**31), "wraps"), (Fraction(2**31) - 1, 0, "parts from the exact value"),
    ],
)  # fmt: skip
def test_a_result_more_than_one_from_the_exact_one_wraps_or_parts_from_it(
    exact: Fraction, scaled: int, event: str
) -> None:
    assert _rounding_event(exact, scaled) == event


@pytest.mark.parametrize(("zero_point", "is_one"), [(-129, False), (-128, True), (127, True), (128, False)])
def test_a_byte_with_a_sign_has_a_zero_point_of_its_own_range(zero_point: int, is_one: bool) -> None:
    rule = ByteRounding(
        name="", note="", convention=golden.round_even_then_offset, scale=np.array([0.5], np.float32),
        factor=(Fraction(1, 2),), zero_point=zero_point, lowest=-128,
    )  # fmt: skip
    operands = {"value": np.zeros(1, np.int64), "channel": np.array([0])}
    if is_one:
        assert rule.run(operands).tolist() == [zero_point]
    else:
        with pytest.raises(ValueError, match=rf"zero_point is {zero_point}: it must lie in -128\.\.127"):
            rule.run(operands)


def test_a_scale_that_is_not_finite_makes_no_byte() -> None:
    rule = ByteRounding(
        name="", note="", convention=golden.round_even_then_offset, scale=np.array([0.5, np.inf], np.float32),
        factor=(Fraction(1, 2),), zero_point=0, lowest=0,
    )  # fmt: skip
    with pytest.raises(ValueError, match="the scale does not fit float32"):
        rule.run({"value": np.array([1]), "channel": np.array([0])})


# Additions.


def added(scales: tuple[float, float, float], zeros: tuple[int, int, int] = (0, 0, 0), relu: bool = False) -> Any:
    a, b, output = (Quantization(scale, zero) for scale, zero in zip(scales, zeros, strict=True))
    return AddParameters(a, b, output, relu_if(relu))


ONES = (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("lowest", "a", "b", "expected"),
    [
        (0, 200, 55, (255, 255, "")),
        (0, 200, 56, (255, 256, "saturates at 255")),
        (0, 0, 0, (0, 0, "")),
        (-128, 100, 27, (127, 127, "")),
        (-128, 100, 28, (127, 128, "saturates at 127")),
        (-128, -100, -28, (-128, -128, "")),
        (-128, -100, -29, (-128, -129, "saturates at -128")),
    ],
)
def test_a_sum_of_bytes_saturates_behind_their_ends(
    lowest: int, a: int, b: int, expected: tuple[int, int, str]
) -> None:
    assert steps_of(Addition(add_page, added(ONES), lowest), {"a": a, "b": b}) == [("sum", *expected)]


@pytest.mark.parametrize(
    ("scale", "event"),
    [(1.5, "tie"), (float(np.float32(1.4999998)), "nearly a tie"), (1.4375, ""), (1.5 + 2.0**-16, ""), (2.0, "")],
)
def test_next_to_a_tie_a_sum_is_nearly_one(scale: float, event: str) -> None:
    (step,) = Addition(add_page, added((scale, 1.0, 1.0)), 0).steps({"a": 1, "b": 0})
    assert (step.exact, step.event) == (Fraction(scale), event)


@pytest.mark.parametrize(("relu", "sums"), [(False, [2, 10, 18]), (True, [10, 10, 18])])
def test_the_exact_sum_has_the_zero_point_and_relu_in_it(relu: bool, sums: list[int]) -> None:
    """Halves less 5, in quarters, from 10 on: -4, 0 and 4 halves."""
    parameters = added((0.5, 0.5, 0.25), (5, 3, 10), relu)
    assert [exact_sum(5 + moved, 3, parameters) for moved in (-4, 0, 4)] == sums


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf"), float("nan")])
def test_the_integer_add_takes_no_scale_that_is_not_above_0_and_finite(place: int, scale: float) -> None:
    scales = [1.0, 1.0, 1.0]
    scales[place] = scale
    with pytest.raises(ValueError, match="finite and above 0"):
        IntegerAddition.of(add_tflite, added((scales[0], scales[1], scales[2])), 16)


@pytest.mark.parametrize(
    ("a", "b", "relu", "expected"),
    [
        (1, 2, False, (5, Fraction(9, 2), "tie")),
        (2, 2, False, (5, 5, "")),
        (-9, 2, False, (-1, Fraction(-1, 2), "tie")),
        (-9, 2, True, (3, 3, "")),
    ],
)
def test_the_integer_add_of_16_bits_is_bounded_by_its_zero_point(
    a: int, b: int, relu: bool, expected: tuple[int, Fraction | int, str]
) -> None:
    """Halves from 3 on, ties away from zero before the zero point: -7/2 is -4."""
    rule = IntegerAddition.of(add_tflite, added((1.0, 1.0, 2.0), (0, 0, 3), relu), 16)
    assert steps_of(rule, {"a": a, "b": b}) == [("sum", *expected)]


@pytest.mark.parametrize(
    ("shifts", "a", "b", "expected"),
    [
        ((-1, 0), 3, 10, [("a by 2^-1", 2, Fraction(3, 2), "tie"), ("sum", 12, Fraction(23, 2), "")]),
        ((0, -2), 10, 5, [("b by 2^-2", 1, Fraction(5, 4), ""), ("sum", 11, Fraction(45, 4), "")]),
        ((0, 0), 10, 5, [("b by 2^0", 5, 5, ""), ("sum", 15, 15, "")]),
        ((0, 0), 32767, 0, [("b by 2^0", 0, 0, ""), ("sum", 32767, 32767, "")]),
        ((0, 0), 32767, 1, [("b by 2^0", 1, 1, ""), ("sum", 32767, 32768, "saturates at 32767")]),
        ((0, 0), -32768, 0, [("b by 2^0", 0, 0, ""), ("sum", -32768, -32768, "")]),
        ((0, 0), -32768, -1, [("b by 2^0", -1, -1, ""), ("sum", -32768, -32769, "saturates at -32768")]),
    ],
)
def test_steps_of_an_addition_by_shifts(shifts: tuple[int, int], a: int, b: int, expected: Steps) -> None:
    scales = (2.0 ** shifts[0], 2.0 ** shifts[1], 1.0)
    rule = AdditionOfPowers(parameters=added(scales), shifts=derived_of_powers(*scales))
    assert steps_of(rule, {"a": a, "b": b}) == expected


def test_relu_of_an_addition_by_shifts_is_0_and_more() -> None:
    rule = AdditionOfPowers(parameters=added(ONES, relu=True), shifts=derived_of_powers(*ONES))
    assert rule.run({"a": np.array([-3, -1, 0, 2]), "b": np.zeros(4, np.int64)}).tolist() == [0, 0, 0, 2]


@pytest.mark.parametrize(
    ("dtype", "scales", "zeros", "names"),
    [
        ("int16", ONES, (0, 0, 0), ["add_tflite", "add_tflite_single_rounding", "add_tflite_pot"]),
        ("int16", ONES, (0, 0, 1), ["add_tflite", "add_tflite_single_rounding"]),
        ("int16", ONES, (1, 0, 0), ["add_tflite", "add_tflite_single_rounding"]),
        ("int16", (3.0, 1.0, 1.0), (0, 0, 0), ["add_tflite", "add_tflite_single_rounding"]),
        (
            "int8",
            ONES,
            (0, 0, 0),
            ["add_tflite", "add_tflite_single_rounding", "add_xnnpack", "add_page", "add_avx2_of_int8"],
        ),
    ],
)
def test_which_additions_there_are_of_a_type(
    dtype: str, scales: tuple[float, float, float], zeros: tuple[int, int, int], names: list[str]
) -> None:
    assert [rule.name for rule in addition_rules(added(scales, zeros), np.dtype(dtype))] == names


def test_of_uint8_there_are_those_with_a_folded_constant_too() -> None:
    names = [rule.name for rule in addition_rules(added(ONES), np.dtype("uint8"))]
    assert (len(names), names[3:5], names[-1]) == (15, ["add_page", "add_base"], "add_pytorch_and_tail")


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_every_addition_gives_a_neighbour_of_the_real_sum_within_its_bounds(dtype: str, relu: bool) -> None:
    """Scales and zero points that are all unlike; the kernels of ONNX Runtime have no ReLU.  Steps say the same sum."""
    info, rng = np.iinfo(dtype), np.random.default_rng(3)
    scales, zeros = (0.25, 0.375, 0.8125), (17, 41, 90) if info.min == 0 else (-17, 41, 9)
    a, b = rng.integers(info.min, info.max + 1, (2, 60))
    for rule in addition_rules(added(scales, zeros, relu), np.dtype(dtype)):
        has_relu = relu and not rule.name.startswith(("add_base", "add_avx2", "add_neon"))
        made = rule.run({"a": a, "b": b}).tolist()
        for x, y, result in zip(a.tolist(), b.tolist(), made, strict=True):
            total = (x - zeros[0]) * Fraction(scales[0]) + (y - zeros[1]) * Fraction(scales[1])
            exact = (max(total, Fraction(0)) if has_relu else total) / Fraction(scales[2]) + zeros[2]
            bounded = min(max(exact, info.min), info.max)
            assert abs(min(max(result, info.min), info.max) - bounded) <= 1, rule.name
            if has_relu == relu and x % 5 == 0:
                (step,) = rule.steps({"a": x, "b": y})
                assert (step.value, step.exact) == (result, exact), rule.name


def test_behind_the_last_vector_pytorch_adds_as_its_tail_does() -> None:
    """A half, an odd zero point: to even before it is added, and after."""
    *_, both = addition_rules(added((0.5, 0.5, 1.0), (0, 0, 1)), np.dtype("uint8"))
    ones = {"a": np.array([1, 1]), "b": np.array([0, 0])}
    assert both.run({**ones, "in_tail": np.array([0, 1])}).tolist() == [1, 2]
    assert both.run(ones).tolist() == [1, 1]
