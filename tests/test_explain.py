"""Outputs made from the definitions, in integers and fractions, are explained by the convention that they follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sim
from sim import golden
from sim.explanation.addition import ADDITION_AND_TAIL, addition_rules
from sim.explanation.candidates import Multiplier, RealFactor, derivations, requantization_rules
from sim.explanation.explanation import Explanation, Match
from sim.explanation.limits import limits_of
from sim.explanation.places import places_of
from sim.explanation.question import QuestionError, combined
from sim.explanation.rule import Candidate, RuleStep
from sim.explanation.scaling import FixedPoint, FloatScaling, IntegerScaling, by_channel
from sim.golden.addition import AddParameters, Quantization
from sim.golden.registry.conventions import CONVENTIONS

Array = npt.NDArray[Any]
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
HALF = 1 << 30
PUBLISHED = 1583594044
SMALL = list(range(-2000, 2001))
EXTREMES = [sign * (1 << bit) + step for bit in range(11, 31) for sign in (1, -1) for step in (-1, 0, 1)]
ACCUMULATORS = np.array([*SMALL, *EXTREMES, INT32_MIN, INT32_MIN + 1, INT32_MAX], np.int32)


def up(number: Fraction) -> int:
    return floor(number + Fraction(1, 2))


def away(number: Fraction) -> int:
    return up(number) if number >= 0 else -up(-number)


def even(number: Fraction) -> int:
    return round(number)


def wrap(number: int) -> int:
    return (number - INT32_MIN) % 2**32 + INT32_MIN


def saturate(number: int) -> int:
    return min(max(number, INT32_MIN), INT32_MAX)


def high(x: int, q: int) -> int:
    return saturate(up(Fraction(x * q, 2**31)))


def split(e: int) -> tuple[int, int]:
    return 2 ** max(e, 0), 2 ** max(-e, 0)


def double_rounding(x: int, q: int, e: int) -> int:
    left, right = split(e)
    return away(Fraction(high(wrap(x * left), q), right))


def double_rounding_ties_up(x: int, q: int, e: int) -> int:
    left, right = split(e)
    return up(Fraction(high(wrap(x * left), q), right))


def double_rounding_floor(x: int, q: int, e: int) -> int:
    return floor(Fraction(high(x, q), 2**-e))


def double_rounding_saturating_left(x: int, q: int, e: int) -> int:
    left, right = split(e)
    return away(Fraction(high(saturate(x * left), q), right))


def double_rounding_unsaturated(x: int, q: int, e: int) -> int:
    left, right = split(e)
    return away(Fraction(wrap(up(Fraction(wrap(x * left) * q, 2**31))), right))


def single_rounding(x: int, q: int, e: int) -> int:
    return wrap(up(x * q * Fraction(2) ** (e - 31)))


def single_rounding_narrowed(x: int, q: int, e: int) -> int:
    return wrap(wrap(floor(x * q * Fraction(2) ** (e - 30))) + 1) // 2


def single_rounding_by_vector(x: int, q: int, e: int) -> int:
    right = max(-e, 1)
    return up(Fraction(wrap(x * 2 ** (e + right)) * q // 2**31, 2**right))


def single_rounding_of_long(x: int, q: int, e: int) -> int:
    return wrap(up(x * min((q + 2**15) // 2**16, 2**15 - 1) * Fraction(2) ** (e - 15)))


def single_rounding_ties_away(x: int, q: int, e: int) -> int:
    return wrap(away(x * q * Fraction(2) ** (e - 31)))


def single_rounding_floor(x: int, q: int, e: int) -> int:
    return wrap(floor(x * q * Fraction(2) ** (e - 31)))


def single_rounding_truncated(x: int, q: int, e: int) -> int:
    return wrap(int(x * q * Fraction(2) ** (e - 31)))


def single_rounding_by_vector_saturating_left(x: int, q: int, e: int) -> int:
    right = max(-e, 1)
    return up(Fraction(saturate(x * 2 ** (e + right)) * q // 2**31, 2**right))


def single_rounding_of_long_narrowed(x: int, q: int, e: int) -> int:
    reduced = min((q + 2**15) // 2**16, 2**15 - 1)
    return wrap(wrap(floor(x * reduced * Fraction(2) ** (e - 14))) + 1) // 2


def shift_after_rounding_in_lanes(x: int, q: int, e: int) -> int:
    return wrap(high(x, q) * 2**e) if e > 0 else away(Fraction(high(x, q), 2**-e))


def shift_after_rounding_in_tail(x: int, q: int, e: int) -> int:
    count = -e % 32
    mask = (1 << count) - 1
    y = high(x, q)
    return (y >> count) + ((y & mask) > (mask >> 1) + (y < 0))


def float32_product(x: int, q: int, e: int) -> Fraction:
    return Fraction(float(np.float32(x) * np.float32(q * 2.0 ** (e - 31))))


def product_xnnpack(x: int, q: int, e: int) -> int:
    return saturate(even(float32_product(x, q, e)))


def round_even_then_offset(x: int, q: int, e: int) -> int:
    return product_xnnpack(x, q, e)


def round_away_then_offset(x: int, q: int, e: int) -> int:
    return away(float32_product(x, q, e))


def integer_scale_floor(x: int, q: int, e: int) -> int:
    return wrap(x * q) >> -e


def integer_scale_ties_away(x: int, q: int, e: int) -> int:
    return away(Fraction(wrap(x * q), 2**-e))


COLUMNS = 17
"""One more than a block of ACL's vector code, whose last columns are computed by other code."""
Definition = Callable[[int, int, int], int]
CASES: list[tuple[Definition, int, int]] = [
    (double_rounding, PUBLISHED, -4),
    (double_rounding, HALF, -1),
    (double_rounding, PUBLISHED, 1),
    (double_rounding_ties_up, HALF, -3),
    (double_rounding_floor, HALF, -3),
    (double_rounding_saturating_left, HALF, 1),
    (double_rounding_unsaturated, INT32_MIN, 0),
    (single_rounding, HALF, -3),
    (single_rounding, HALF, 0),
    (single_rounding_narrowed, INT32_MAX, 0),
    (single_rounding_by_vector, HALF, 0),
    (single_rounding_of_long, 1717986918, -3),
    (single_rounding_ties_away, HALF, -3),
    (single_rounding_floor, HALF, -3),
    (single_rounding_truncated, HALF, -3),
    (single_rounding_of_long_narrowed, INT32_MAX, 0),
    (shift_after_rounding_in_lanes, HALF, 1),
    (shift_after_rounding_in_tail, HALF, 2),
    (product_xnnpack, HALF, -3),
    (round_even_then_offset, HALF, -3),
    (round_away_then_offset, HALF, -3),
    (integer_scale_floor, 3, -2),
    (integer_scale_ties_away, 3, -2),
]


WIDE_CASES: list[tuple[Definition, int, int]] = [
    (single_rounding_by_vector_saturating_left, HALF, 0),
    (single_rounding_by_vector, HALF, 0),
]


def made(definition: Definition, accumulators: Array, q: int, e: int, zero_point: int = 0) -> Array:
    """int8, saturated; the zero point is added in int32, which wraps."""
    values = [wrap(definition(int(x), q, e) + zero_point) for x in accumulators.ravel()]
    return np.clip(values, -128, 127).astype(np.int8).reshape(accumulators.shape)


@pytest.mark.parametrize(("definition", "q", "e"), CASES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_output_made_by_the_definition_is_named(definition: Definition, q: int, e: int) -> None:
    zero_point = 0 if "integer" in definition.__name__ else 5  # which the integer scales add before they multiply
    column = made(definition, ACCUMULATORS, q, e, zero_point)[:, None]
    rows = np.tile(ACCUMULATORS[:, None], COLUMNS)
    found = sim.explain(np.tile(column, COLUMNS), accumulators=rows, multiplier=q, shift=-e, zero_point=zero_point)
    assert definition.__name__ in found.matches[0].names
    assert not found.inseparable


@pytest.mark.parametrize(("definition", "q", "e"), WIDE_CASES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_what_only_outputs_of_32_bits_show_is_named(definition: Definition, q: int, e: int) -> None:
    output = np.array([definition(int(x), q, e) for x in ACCUMULATORS], np.int32)
    found = sim.explain(output, accumulators=ACCUMULATORS, multiplier=q, shift=-e)
    assert (found.names, found.inseparable) == ((definition.__name__,), ())


def test_a_zero_point_inside_the_rounding_of_int8_is_told_from_one_that_is_added() -> None:
    """PyTorch's older order, which fbgemm calls legacy: a tie is even after an odd zero point is added."""
    accumulators = np.arange(-200, 200, dtype=np.int32)
    inside = [min(max(round(Fraction(int(x), 2) + 5), -128), 127) for x in accumulators]
    found = sim.explain(np.array(inside, np.int8), accumulators=accumulators, scale=0.5, zero_point=5)
    assert (found.names, found.inseparable) == (("int8_offset_then_round_even",), ())


def candidates_of(dtype: str, bounds: tuple[int, int] | None, factor: Multiplier | RealFactor) -> list[Candidate]:
    """All that define all of the accumulators."""
    derived = derivations(factor, []) if isinstance(factor, RealFactor) else []
    limits, _ = limits_of(np.dtype(dtype), bounds)
    return [
        candidate
        for candidate in combined(requantization_rules(factor, derived, 3, np.dtype(dtype)), limits)
        if defined(candidate)
    ]


def test_all_fixed_point_conventions_but_those_named_single_round_twice() -> None:
    rules = [each.rule for each in candidates_of("int8", None, FIXED) if isinstance(each.rule, FixedPoint)]
    names = {rule.name: rule.rounds_twice for rule in rules}
    assert names == {name: not name.startswith("single_rounding") for name in names}
    assert set(names.values()) == {True, False}


def defined(candidate: Candidate) -> bool:
    try:
        candidate.run(OPERANDS)
    except ValueError:
        return False
    return True


ROWS = np.resize(np.unique(np.concatenate([np.arange(-20000, 20000, 29), EXTREMES])).astype(np.int32), (49, 31))
ROWS = np.stack([ROWS, ROWS[:, ::-1]])
"""Every accumulator in whole blocks of columns and in the last columns, nearly."""
OPERANDS: dict[str, Array] = {
    "value": ROWS.ravel().astype(np.int64),
    "channel": np.zeros(ROWS.size, np.int64),
    "in_tail": np.broadcast_to(np.arange(31) >= 16, ROWS.shape).ravel().astype(np.int64),
}
FIXED = Multiplier(np.array([PUBLISHED]), np.array([-6]))
LEFT = Multiplier(np.array([PUBLISHED]), np.array([2]))
REAL = RealFactor(np.array([0.011234]))
SWEEPS: list[tuple[str, tuple[int, int] | None, Multiplier | RealFactor]] = [
    ("int8", None, FIXED),
    ("uint8", (10, 200), FIXED),
    ("uint8", (0, 0), LEFT),
    ("int8", None, REAL),
]


@pytest.mark.parametrize(
    ("dtype", "bounds", "factor", "candidate"),
    [(*sweep, candidate) for sweep in SWEEPS for candidate in candidates_of(*sweep)],
    ids=lambda value: value.name if isinstance(value, Candidate) else "",
)
def test_every_candidate_is_among_the_conventions_that_give_its_output(
    dtype: str, bounds: tuple[int, int] | None, factor: Multiplier | RealFactor, candidate: Candidate
) -> None:
    output = candidate.run(OPERANDS).astype(dtype).reshape(ROWS.shape)
    minimum, maximum = bounds or (None, None)
    given: dict[str, Any] = (
        {"scale": factor.scale[0]}
        if isinstance(factor, RealFactor)
        else {"multiplier": factor.multiplier[0], "shift": -factor.left_shift[0]}
    )
    found = sim.explain(output, accumulators=ROWS, zero_point=3, minimum=minimum, maximum=maximum, **given)
    assert candidate.name in found.names
    # where another is first, an input is named that tells them apart, or that none was found
    assert all(match.directed for match in found.matches[1:])


def test_every_convention_of_scaling_is_a_candidate() -> None:
    names = {c.rule.name for s in SWEEPS for c in candidates_of(*s)}
    names |= {name for sweep in SWEEPS for c in candidates_of(*sweep) for name in c.limits.names}
    families = {"scaling", "integer scale", "float to byte", "bounds"}
    listed = {name for name, convention in CONVENTIONS.items() if convention.family.name in families}
    of_a_scale = {"reciprocal_round_even_then_offset"}  # which is 1 after the product, and its own reciprocal
    assert listed - {name.split(" ")[0] for name in names} == of_a_scale


def test_every_convention_of_addition_is_a_candidate() -> None:
    found = {rule.name for rule in addition_rules(AddParameters(), np.dtype("uint8"))} - {ADDITION_AND_TAIL}
    assert found == {name for name, convention in CONVENTIONS.items() if convention.family.name == "quantized add"}


def test_tie_at_the_shift_is_traced_with_its_exact_value() -> None:
    accumulators = np.array([100, -2, 40], np.int32)
    output = made(double_rounding_ties_up, accumulators, HALF, -1)
    found = sim.explain(output, accumulators=accumulators, multiplier=HALF, shift=1)
    trace = next(near for near in found.nearest if near.name == "double_rounding").traces[0]
    assert str(trace) == (
        "element [1]: accumulator -2, exact -1/2 (tie at the shift): "
        "double_rounding gives -1, single_rounding 0, double_rounding_ties_up 0; yours 0"
    )


def test_false_tie_of_the_first_rounding_is_told() -> None:
    found = explained_by(single_rounding, [7984], PUBLISHED, -9)  # TensorFlow's issue 25087: 11.499
    (trace,) = next(near for near in found.nearest if near.name == "double_rounding").traces
    assert (trace.decided.split(":")[0], trace.result, trace.yours) == ("false tie at the shift", 12, 11)
    assert trace.exact == Fraction(7984 * PUBLISHED, 2**40)


def explained_by(definition: Definition, accumulators: list[int], q: int, e: int, **given: Any) -> Explanation:
    array = np.array(accumulators, np.int32)
    return sim.explain(made(definition, array, q, e), accumulators=array, multiplier=q, shift=-e, **given)


def test_steps_of_a_trace_hold_the_value_and_the_exact_one() -> None:
    found = explained_by(double_rounding_ties_up, [-2], HALF, -1)
    (trace,) = next(near for near in found.nearest if near.name == "double_rounding").traces
    steps = [(step.name, step.value, step.exact) for step in trace.steps]
    half = Fraction(-1, 2)
    assert steps == [("multiply", -1, Fraction(-1)), ("shift", -1, half), ("clamp", -1, half)]


ELEMENT = {"channel": 0, "in_tail": 0, "has_bias": 0}


def test_steps_of_a_factor_without_a_shift_are_the_multiply_alone() -> None:
    rule = FixedPoint(
        name="",
        note="",
        convention=golden.double_rounding,
        rounds_twice=True,
        multiplier=np.array([HALF]),
        left_shift=np.array([0]),
        zero_point=0,
    )
    assert rule.steps({"value": 5, "sum": 5} | ELEMENT) == [RuleStep("multiply", 3, Fraction(5, 2), "tie")]


def test_steps_of_an_integer_factor_are_offset_product_and_shift() -> None:
    rule = IntegerScaling(
        name="",
        note="",
        convention=golden.integer_scale_floor,
        multiplier=np.array([3]),
        right_shift=np.array([2]),
        zero_point=5,
    )
    assert rule.steps({"value": 4, "sum": 4} | ELEMENT) == [
        RuleStep("offset", 4 + 5, Fraction(9)),
        RuleStep("multiply", 9 * 3, Fraction(27)),
        RuleStep("shift rounded down", 27 // 4, Fraction(27, 4)),
    ]


def test_values_of_every_channel_are_scaled_by_its_own() -> None:
    operands = {"value": np.array([8, 8, 12, 4]), "channel": np.array([2, 0, 2, 1])}
    scales = np.array([0.5, 2, 0.25], np.float32)
    assert by_channel(scales, operands, lambda values, scale: values * scale).tolist() == [2, 4, 3, 8]


def test_the_step_of_a_float_factor_has_the_product_as_exact_value() -> None:
    rule = FloatScaling("", "", golden.product_xnnpack, np.array([0.375], np.float32), (Fraction(3, 8),), 0)
    assert rule.steps({"value": 6, "sum": 6} | ELEMENT) == [RuleStep("multiply and round", 2, Fraction(18, 8))]


@pytest.mark.parametrize(
    ("convention", "x", "q", "e", "result", "event"),
    [
        (golden.single_rounding_by_vector, 2**30, HALF, 0, -(2**29), "parts from the exact value"),  # row 17
        (golden.single_rounding, 2**30, HALF, 3, 0, "wraps"),  # 2^32
        (golden.single_rounding, 5, HALF, 0, 3, "tie"),
        (golden.single_rounding, 4, HALF, 0, 2, ""),
    ],
)
def test_what_became_of_a_result_that_is_rounded_once_is_told(
    convention: Any, x: int, q: int, e: int, result: int, event: str
) -> None:
    rule = FixedPoint(
        name="",
        note="",
        convention=convention,
        rounds_twice=False,
        multiplier=np.array([q]),
        left_shift=np.array([e]),
        zero_point=0,
    )
    exact = Fraction(x * q * 2**e, 2**31)
    assert rule.steps({"value": x, "sum": x} | ELEMENT) == [RuleStep("multiply and shift", result, exact, event)]


def test_wrap_of_the_left_shift_is_told() -> None:
    found = explained_by(single_rounding, [2**30, *range(-100, 100)], HALF, 1)
    (trace,) = next(near for near in found.nearest if "double_rounding" in near.names).traces
    assert (trace.decided, trace.result, trace.yours) == ("wraps at the left shift", -128, 127)


def test_wrap_of_the_bias_is_told() -> None:
    accumulators = np.array([INT32_MAX, 3], np.int32)
    found = sim.explain(
        np.array([1, 2], np.int8), accumulators=accumulators, bias=np.array([1, 0]), multiplier=HALF, shift=31
    )
    traces = [trace for near in found.nearest for trace in near.traces if trace.element == (0,)]
    assert {trace.steps[0].event for trace in traces} == {"wraps"}


def test_data_that_cannot_tell_say_so_and_which_inputs_would() -> None:
    found = explained_by(double_rounding, [4, 8, 400, 1000, -1000, 2000], HALF, -1)
    rival = next(match for match in found.matches if match.name == "double_rounding_ties_up")
    told = rival.directed[0]
    x = told.operands["accumulator"]
    assert (told.first, told.other) == (double_rounding(x, HALF, -1), double_rounding_ties_up(x, HALF, -1))
    assert told.first != told.other
    assert "cannot tell it from" in found.verdict


def test_the_verdict_names_what_gives_all_elements_and_what_these_data_cannot_tell_from_it() -> None:
    found = explained_by(double_rounding, [4, 8, 400, 1000, -1000, 2000], HALF, -1)
    first, *others = found.matches
    one, two = (replace(match, name=name) for match, name in zip(others, ("this", "that"), strict=False))
    none = f"none of {found.candidates} conventions gives all 6 elements"
    alone = "double_rounding gives all 6 elements"
    cannot = f"{alone}, but these data cannot tell it from"
    given: list[tuple[Match, ...]] = [(), (first,), (first, one), (first, one, two)]
    verdicts = [replace(found, matches=matches).verdict for matches in given]
    assert verdicts == [none, alone, f"{cannot} this", f"{cannot} this, that"]


def test_conventions_that_no_accumulator_tells_apart_are_called_equal() -> None:
    found = explained_by(double_rounding, SMALL, PUBLISHED, -4)
    alike = {other.name: (other.is_all, other.searched) for other in found.matches[0].alike}
    assert alike["double_rounding_saturating_left"] == (True, "all 2^32 accumulators")


def test_equality_of_all_accumulators_is_not_claimed_where_they_do_not_rise() -> None:
    found = explained_by(double_rounding, [*SMALL, *EXTREMES], HALF, 1)
    alike = {other.name: other.is_all for match in found.matches for other in match.alike}
    assert alike["double_rounding_unsaturated"] is False


def test_thresholds_find_the_one_accumulator_that_differs() -> None:
    # 2^31 times the float32 nearest to q * 2^-31 is another integer than q, so that thresholds far out part
    found = explained_by(double_rounding, SMALL, PUBLISHED, -26)
    rival = next(match for match in found.matches if match.name == "product_xnnpack")
    x = rival.directed[0].operands["accumulator"]
    assert double_rounding(x, PUBLISHED, -26) != product_xnnpack(x, PUBLISHED, -26)


def test_wrong_data_give_the_nearest_convention_and_the_element() -> None:
    accumulators = np.array(SMALL, np.int32)
    output = made(double_rounding, accumulators, PUBLISHED, -4)
    output[2100] += 1
    found = sim.explain(output, accumulators=accumulators, multiplier=PUBLISHED, shift=4)
    near = found.nearest[0]
    assert not found.explained
    assert ("double_rounding" in near.names, near.differing, near.traces[0].element) == (True, 1, (2100,))


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({"zero_point": 2}, "with zero_point 0 instead of 2, double_rounding gives all elements"),
        (
            {"shift": 35},
            "with a shift of 4, as the multiplier has 31 fractional bits already, double_rounding gives all elements",
        ),
        ({"shift": 5}, "with 1 less of right shift, double_rounding gives all elements"),
        ({"bias": np.full(len(SMALL), 100)}, "with the bias left out, double_rounding gives all elements"),
        (
            {"accumulators": np.array(SMALL, np.int32) + 100, "bias": np.full(len(SMALL), 100)},
            "with the bias subtracted, double_rounding gives all elements",
        ),
    ],
)
def test_a_change_that_explains_all_elements_is_a_hint(change: dict[str, Any], hint: str) -> None:
    accumulators = np.array(SMALL, np.int32)
    given: dict[str, Any] = {"accumulators": accumulators, "multiplier": PUBLISHED, "shift": 4} | change
    found = sim.explain(made(double_rounding, accumulators, PUBLISHED, -4), **given)
    assert hint in found.hints


def test_a_total_shift_is_told_as_such_alone() -> None:
    """Counts beyond the register are taken modulo 32 by some code, which one bit more would be."""
    accumulators = np.array(SMALL, np.int32)
    output = made(double_rounding, accumulators, PUBLISHED, -8)
    found = sim.explain(output, accumulators=accumulators, multiplier=PUBLISHED, shift=31 + 8)
    assert [hint.partition(",")[0] for hint in found.hints] == ["with a shift of 8"]


def test_what_differs_is_said_so() -> None:
    accumulators = np.arange(-3000, 3000, 7)
    output = made(double_rounding, accumulators.astype(np.int32), PUBLISHED, -4)
    output[5] += 1
    told = str(sim.explain(output, accumulators=accumulators, multiplier=PUBLISHED, shift=4))
    assert "differs in 1 of 858 elements" in told
    assert "otherwise" not in told
    assert "(in " not in told


def test_an_activation_that_was_not_told_is_a_hint() -> None:
    accumulators = np.array(SMALL, np.int32)
    output = np.clip(made(double_rounding, accumulators, PUBLISHED, -5), 3, 40)
    found = sim.explain(output, accumulators=accumulators, multiplier=PUBLISHED, shift=5)
    changed = "minimum 3 and maximum 40, the ends of your output"
    assert found.hints == (f"with {changed}, double_rounding then bounded gives all elements",)


def test_a_wrong_zero_point_of_an_addition_is_a_hint() -> None:
    a, b = np.arange(200, dtype=np.uint8), np.arange(10, 210, dtype=np.uint8)
    output = (a // 2 + b // 2 + a % 2 + 7).astype(np.uint8)  # (a + b) / 2 + 7, a and b both even or both odd
    found = sim.explain(output, a=a, b=b, scale_a=0.5, scale_b=0.5, scale=1.0, zero_point=9)
    assert "with zero_point 7 instead of 9, add_tflite gives all elements" in found.hints


@pytest.mark.parametrize(("moved", "side"), [(1, "later"), (-1, "earlier")])
def test_an_output_moved_by_one_element_is_a_hint(moved: int, side: str) -> None:
    accumulators = np.array(SMALL[::7] + SMALL[3::7], np.int32)
    output = np.roll(made(double_rounding, accumulators, PUBLISHED, -5), moved)
    found = sim.explain(output, accumulators=accumulators, multiplier=PUBLISHED, shift=5)
    assert f"with the output read one element {side}, double_rounding gives all elements" in found.hints


def test_a_change_under_which_many_elements_still_differ_is_no_hint() -> None:
    accumulators = np.array(SMALL, np.int32)
    output = made(double_rounding, accumulators, PUBLISHED, -5)
    output[::2] = np.where(output[::2] < 0, 0, output[::2])
    found = sim.explain(output, accumulators=accumulators, multiplier=PUBLISHED, shift=5)
    assert found.hints == ()


def test_a_change_that_comes_near_but_leaves_a_fifth_of_the_elements_is_no_hint() -> None:
    accumulators = np.array(SMALL, np.int32)
    output = made(double_rounding, accumulators, PUBLISHED, -7)
    output[::5] += 1
    found = sim.explain(output, accumulators=accumulators, multiplier=PUBLISHED, shift=7, zero_point=40)
    assert found.hints == ()


def test_parameters_of_the_channel_before_are_a_hint() -> None:
    accumulators = np.resize(np.array(SMALL, np.int32), (500, 4))
    multiplier, shift = np.array([HALF, PUBLISHED, 1717986918, INT32_MAX]), np.array([4, 5, 6, 4])
    columns = [made(double_rounding, accumulators[:, i], int(multiplier[i - 1]), -int(shift[i - 1])) for i in range(4)]
    found = sim.explain(np.stack(columns, 1), accumulators=accumulators, multiplier=multiplier, shift=shift)
    assert found.hints == ("with multiplier and shift of the channel before, double_rounding gives all elements",)


def test_channels_along_another_axis_are_read_there() -> None:
    accumulators = np.resize(np.array(SMALL, np.int32), (3, 900))
    multiplier = np.array([HALF, PUBLISHED, 1717986918])
    rows = [made(double_rounding, accumulators[i], int(multiplier[i]), -4) for i in range(3)]
    found = sim.explain(np.stack(rows), accumulators=accumulators, multiplier=multiplier, shift=4, axis=0)
    assert found.matches[0].name == "double_rounding"


def test_elements_of_the_same_accumulator_that_differ_are_named() -> None:
    accumulators = np.array([5, 9, 5], np.int32)
    found = sim.explain(np.array([3, 0, 4], np.int8), accumulators=accumulators, multiplier=HALF, shift=0)
    assert found.contradiction.startswith(
        "elements [0] and [2] are computed from the same numbers, yet yours are 3 and"
    )


@pytest.mark.parametrize(("sign", "way"), [(1, "offsets_added"), (-1, "zero_points_subtracted")])
def test_product_is_explained_by_the_sign_of_its_offsets(sign: int, way: str) -> None:
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 256, (9, 5), np.uint8), rng.integers(-128, 128, (5, 300), np.int8)
    accumulators = (a.astype(int) + sign * 3) @ (b.astype(int) + sign * 7)
    output = made(double_rounding, accumulators, PUBLISHED, -8)
    found = sim.explain(output, a=a, b=b, offset_a=3, offset_b=7, multiplier=PUBLISHED, shift=8)
    assert {name.split(",")[0] for name in found.names} == {way}


def test_offsets_that_are_not_given_are_0() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 256, (9, 5), np.uint8), rng.integers(-128, 128, (5, 300), np.int8)
    output = made(double_rounding, a.astype(int) @ b.astype(int), PUBLISHED, -8)
    found = sim.explain(output, a=a, b=b, multiplier=PUBLISHED, shift=8)
    assert any("double_rounding" in name for name in found.names)


def test_sums_of_a_product_are_exact_beyond_the_integers_of_float64() -> None:
    # (2^27 + 1) * (2^26 + 1) = 2^53 + 2^27 + 2^26 + 1, which float64 rounds; its low 32 bits are
    one, output = np.array([[1]], np.int8), np.array([[2**27 + 2**26 + 1]], np.int32)
    found = sim.explain(output, a=one, b=one, offset_a=2**27, offset_b=2**26, multiplier=HALF, shift=-1)
    assert any("single_rounding" in name for name in found.names)


def test_sums_of_many_products_are_so_too() -> None:
    """Each of the three fits float64, 2^52 + 2^27 + 1, and their sum does not."""
    row, column = np.zeros((1, 3), np.uint8), np.zeros((3, 1), np.uint8)
    output = np.array([[3 * (2**27 + 1)]], np.int32)
    found = sim.explain(output, a=row, b=column, offset_a=2**26 + 1, offset_b=2**26 + 1, multiplier=HALF, shift=-1)
    assert any("single_rounding" in name for name in found.names)


def test_product_wraps_in_int32() -> None:
    a, b = np.full((1, 70000), 255, np.uint8), np.full((70000, 1), 255, np.uint8)
    found = sim.explain(np.array([[-128]], np.int8), a=a, b=b, multiplier=INT32_MAX, shift=20)
    exact = Fraction(wrap(255 * 255 * 70000) * INT32_MAX, 2**51)
    assert ("double_rounding" in found.names) == (exact < -128)


def added(a: int, b: int, rule: Callable[[Fraction], int]) -> int:
    """(a + b) / 2: both scales 0.01, the output's 0.02, no zero points."""
    return rule(Fraction(a + b, 2))


@pytest.mark.parametrize(("rule", "names"), [(even, {"add_base", "add_neon_ties_even"}), (away, {"add_tflite"})])
def test_addition_is_explained_by_how_it_breaks_ties(rule: Callable[[Fraction], int], names: set[str]) -> None:
    a, b = (grid.astype(np.uint8) for grid in np.meshgrid(np.arange(256), np.arange(256)))
    output = np.array([added(int(x), int(y), rule) for x, y in zip(a.flat, b.flat, strict=True)], np.uint8)
    found = sim.explain(output.reshape(a.shape), a=a, b=b, scale_a=0.01, scale_b=0.01, scale=0.02)
    assert names <= set(found.names)
    assert not found.inseparable


def test_addition_in_int8_is_the_one_in_uint8_moved_by_128() -> None:
    a = np.arange(-128, 128, dtype=np.int8)
    b = np.zeros_like(a)
    output = np.array([added(int(x), 0, away) for x in a])
    found = sim.explain(output.astype(np.int8), a=a, b=b, scale_a=0.01, scale_b=0.01, scale=0.02)
    assert "add_tflite" in found.names


@pytest.mark.parametrize(
    ("minimum", "maximum", "value", "name"),
    [
        (0, 0, 50, "double_rounding then bounded_unless_equal or bounds_not_applied"),
        (0, 0, 0, "double_rounding then bounded_unless_whole_range or bounded_then_low_byte"),
        (7, 7, 7, "double_rounding then bounded_unless_whole_range or bounded_then_low_byte"),
    ],
)
def test_equal_bounds_are_told_apart_as_in_row_9(minimum: int, maximum: int, value: int, name: str) -> None:
    output = np.array([value], np.uint8)
    found = sim.explain(
        output, accumulators=np.array([100]), multiplier=HALF, shift=0, minimum=minimum, maximum=maximum
    )
    assert name in found.names


def test_low_byte_of_the_fused_path_is_told_as_in_row_9c() -> None:
    output = np.array([44], np.uint8)
    found = sim.explain(output, accumulators=np.array([600]), multiplier=HALF, shift=0, minimum=0, maximum=300)
    assert found.matches[0].name == "double_rounding then bounded_then_low_byte"
    assert ("bounded_unless_equal", "maximum is 300: it must not exceed 255") in found.refused


@pytest.mark.parametrize(("dtype", "ends"), [(np.int8, "-128..127"), (np.uint8, "0..255")])
def test_a_zero_point_outside_the_bytes_is_refused_as_it_was_given(dtype: type[Any], ends: str) -> None:
    """By the conventions of bytes; ACL's integer ones add any offset."""
    found = sim.explain(np.array([44], dtype), accumulators=np.array([600]), multiplier=HALF, shift=0, zero_point=300)
    assert ("round_even_then_offset", f"zero_point is 300: it must lie in {ends}") in found.refused


def test_factor_1_is_derived_as_in_row_6() -> None:
    accumulators = np.array([100, 50, -128], np.int32)
    flushed = sim.explain(np.zeros(3, np.int8), accumulators=accumulators, scale=1.0)
    kept = sim.explain(accumulators.astype(np.int8), accumulators=accumulators, scale=1.0)
    assert "double_rounding of derive_acl_19_08" in flushed.names
    assert "double_rounding of derive_tflite" in kept.names
    assert ("derive_armnn", "the factor is 1.0: ArmNN takes 0 <= factor < 1") in kept.refused


def test_int16_output_is_explained() -> None:
    accumulators = np.array(SMALL, np.int32)
    output = np.array([double_rounding(x, PUBLISHED, 0) for x in SMALL], np.int16)
    found = sim.explain(output, accumulators=accumulators, multiplier=PUBLISHED, shift=0)
    assert "double_rounding" in found.names


def test_json_form_holds_what_the_explanation_holds() -> None:
    found = explained_by(double_rounding_ties_up, [-2, 100], HALF, -1)
    data = found.as_json()
    traced = next(near for near in data["nearest"] if "double_rounding" in near["names"])["traces"][0]
    assert (data["explained"], data["elements"], traced["exact"], traced["element"]) == (True, 2, "-1/2", [0])


def test_notebooks_get_the_verdict_and_the_names_escaped() -> None:
    html = explained_by(double_rounding_ties_up, [-2, 100], HALF, -1)._repr_html_()
    assert "double_rounding_ties_up" in html
    assert html.count("<table>") == html.count("</table>") == 2


ONE = {"accumulators": np.array([5]), "multiplier": HALF, "shift": 0}
BYTE = np.array([3], np.int8)


@pytest.mark.parametrize(
    ("output", "given", "sentence"),
    [
        (BYTE.astype(np.float32), ONE, "the output has dtype float32: it must be one of int8, uint8, int16, int32"),
        (np.zeros((0, 3), np.int8), ONE, "the output has shape (0, 3) and so no element"),
        (np.int8(3), ONE, "the output is a int8: give a numpy array"),
        (np.array(3, np.int8), ONE, "the output is one number without an axis"),
        (BYTE, ONE | {"accumulators": np.array([5, 6])}, "the accumulators: the shape is (2,), the output has (1,)"),
        (BYTE, ONE | {"accumulators": np.array([5.0])}, "the accumulators: float64 is given"),
        (BYTE, ONE | {"accumulators": np.array([2**31])}, "the accumulators: 2147483648 is given"),
        (BYTE, ONE | {"bias": np.array([1, 2])}, "the bias has shape (2,): it must be (1,)"),
        (BYTE, ONE | {"multiplier": 2**31}, "the multiplier: 2147483648 is given"),
        (BYTE, ONE | {"multiplier": 0.5}, "the multiplier is 0.5: give integers"),
        (BYTE, ONE | {"multiplier": [[1], [2, 3]]}, "the multiplier has rows of several lengths: give numbers, one"),
        (BYTE, ONE | {"shift": 300}, "the shift: 300 is given, it must lie in -255..255"),
        (BYTE, ONE | {"shift": 2**64 - 1}, f"the shift: {2**64 - 1} is given, it must lie in -255..255"),
        (BYTE, ONE | {"multiplier": 2**64 - 1}, f"the multiplier: {2**64 - 1} is given"),
        (BYTE, ONE | {"shift": None}, "the shift is missing"),
        (BYTE, ONE | {"scale": 0.5}, "give either multiplier and shift, or scale"),
        (BYTE, ONE | {"zero_point": 2**31}, "the zero_point is 2147483648: it must lie in int32"),
        (BYTE, ONE | {"zero_point": 0.5}, "the zero_point is 0.5: give an integer"),
        (BYTE, ONE | {"minimum": 5, "maximum": 3}, "minimum 5 is above maximum 3"),
        (BYTE, ONE | {"minimum": 5}, "only one of minimum and maximum is given"),
        (BYTE, ONE | {"axis": 1}, "axis is 1: an output of 1 axes has -1..0"),
        (BYTE, {"multiplier": HALF, "shift": 0}, "give either accumulators, or a and b"),
        (BYTE, {"accumulators": np.array([5]), "scale": 0.0}, "the scale is 0.0: it must be finite and above 0"),
        (BYTE, {"accumulators": np.array([5]), "scale": -1.0}, "the scale is -1.0"),
        (BYTE, {"accumulators": np.array([5]), "scale": np.inf}, "the scale is inf"),
        (BYTE, {"accumulators": np.array([5]), "scale": np.nan}, "the scale is nan"),
        (BYTE, {"accumulators": np.array([5]), "scale": np.array([1.0, 2.0])}, "the scale has shape (2,)"),
        (BYTE, {"a": BYTE, "b": BYTE, "scale_a": 1.0}, "the scale of b is None"),
        (BYTE, {"a": BYTE, "b": BYTE, "scale_a": 0.0, "scale_b": 1.0, "scale": 1.0}, "the scale is 0.0"),
        (BYTE, {"a": BYTE, "b": BYTE, "scale": 1.0}, "a (1,) times b (1,) does not give (1,)"),
        (BYTE, {"a": BYTE.astype(int), "b": BYTE, "scale": 1.0}, "a is int64: give an array of int8 or uint8"),
        (BYTE, {"a": BYTE, "b": None, "scale": 1.0}, "b is NoneType: give an array of int8 or uint8"),
    ],
)
def test_bad_input_gets_a_sentence(output: Any, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(QuestionError) as error:
        sim.explain(output, **given)
    assert sentence in str(error.value)


SUM: dict[str, Any] = {"a": BYTE, "b": BYTE, "scale_a": 1.0, "scale_b": 1.0, "scale": 1.0}
PRODUCT: dict[str, Any] = {"a": BYTE.reshape(1, 1), "b": BYTE.reshape(1, 1), "multiplier": HALF, "shift": 0}


@pytest.mark.parametrize(
    ("asked", "of", "names"),
    [
        (ONE, "accumulators", "offset_a offset_b scale_a scale_b zero_point_a zero_point_b relu"),
        (PRODUCT, "a matrix product", "zero_point_a zero_point_b relu"),
        (SUM, "an addition", "bias offset_a offset_b multiplier shift minimum maximum"),
    ],
)
def test_what_has_no_part_in_a_question_is_refused(asked: dict[str, Any], of: str, names: str) -> None:
    """It would be passed over: the answer would be that to another question."""
    output, taken = (BYTE.reshape(1, 1) if asked is PRODUCT else BYTE), {"minimum": 0, "maximum": 0}
    wrong: dict[str, Any] = {name: taken.get(name, 1) for name in names.split()} | {"bias": np.array([1])}
    for name in names.split():
        with pytest.raises(QuestionError) as error:
            sim.explain(output, **asked, **{name: wrong[name]})
        assert str(error.value) == f"a question about {of} takes no {name}"
    with pytest.raises(QuestionError, match=" and no ".join(names.split())):
        sim.explain(output, **asked, **{name: wrong[name] for name in names.split()})


def test_what_is_0_or_false_is_not_given() -> None:
    nothing: dict[str, Any] = {"offset_a": 0, "offset_b": 0, "zero_point_a": 0, "zero_point_b": 0, "relu": False}
    asked: dict[str, Any] = {**ONE}
    assert sim.explain(BYTE, **asked, **nothing).names == sim.explain(BYTE, **asked).names


def test_parameters_of_an_addition_have_one_dtype() -> None:
    with pytest.raises(QuestionError, match="a is uint8 and the output int8: an addition has one dtype"):
        sim.explain(BYTE, a=BYTE.view(np.uint8), b=BYTE, scale_a=1.0, scale_b=1.0, scale=1.0)


def test_quantization_of_the_test_is_the_one_of_the_golden_reference() -> None:
    halves = AddParameters(Quantization(0.01), Quantization(0.01), Quantization(0.02))
    assert float(halves.a.scale) * 2 == float(halves.output.scale)


@pytest.mark.parametrize(("beside", "event"), [(2.0**-16, ""), (2.0**-17, "nearly a tie")])
def test_a_sum_is_nearly_a_tie_where_less_than_a_65536th_is_between(beside: float, event: str) -> None:
    parameters = AddParameters(Quantization(beside), Quantization(0.5), Quantization(1.0))
    found = {
        step.event for rule in addition_rules(parameters, np.dtype("uint8")) for step in rule.steps({"a": 1, "b": 1})
    }
    assert found == {event}


def requantized(accumulators: Array, q: int, shift: int) -> Array:
    return made(double_rounding, accumulators, q, -shift)


GRID = np.arange(-600, 600, dtype=np.int32).reshape(40, 30)


def test_a_multiplier_one_off_is_a_hint() -> None:
    found = sim.explain(requantized(GRID, HALF + 1, 3), accumulators=GRID, multiplier=HALF, shift=3)
    assert any(hint.startswith("with a multiplier one more, double_rounding gives all") for hint in found.hints)
    large = GRID[::10] * 1_700_000
    found = sim.explain(requantized(large, 999, 3), accumulators=large, multiplier=1000, shift=3)
    assert any(hint.startswith("with a multiplier one less, double_rounding gives all") for hint in found.hints)


def test_an_output_stored_in_the_other_order_is_a_hint() -> None:
    stored = requantized(GRID, HALF, 3).T.reshape(GRID.shape)
    found = sim.explain(stored, accumulators=GRID, multiplier=HALF, shift=3)
    assert any(hint.startswith("with the output read as its transpose, ") for hint in found.hints)


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ((slice(None), 7), "channel 7"),
        ((11, slice(None)), "row 11"),
        ((slice(None), -1), "channel 29"),
        ((slice(None), slice(28, None)), "the tail, behind the whole blocks of 4"),
    ],
)
def test_where_all_wrong_elements_lie_is_a_hint(wrong: Any, place: str) -> None:
    output = requantized(GRID, HALF, 3).astype(np.int32)
    output[wrong] += 1
    found = sim.explain(output.astype(np.int8), accumulators=GRID, multiplier=HALF, shift=3)
    assert any(hint.endswith(f" lie in {place}") for hint in found.hints), found.hints


def wrong_from(start: int, length: int) -> npt.NDArray[np.bool_]:
    return np.arange(length) >= start


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([wrong_from(0 if length < 8 else 99, length) for length in range(41)], "rows shorter than a block of 8"),
        ([wrong_from(length // 8 * 8, length) for length in range(41)], "the tail, behind the whole blocks of 8"),
        ([wrong_from(0, 1), *[wrong_from(8, length) for length in (9, 11, 12)], *[wrong_from(99, 40)] * 40],
         "the tail, behind the whole blocks of 8"),
    ],
)  # fmt: skip
def test_rows_without_a_whole_block_have_no_tail(rows: list[npt.NDArray[np.bool_]], place: str) -> None:
    wrong = sum(int(row.sum()) for row in rows)
    assert places_of(rows, "wrong lanes") == [f"all {wrong} wrong lanes lie in {place}"]


def test_of_a_few_short_rows_that_are_wrong_as_a_whole_nothing_is_said() -> None:
    """Three calls of forty are wrong, for what they are called with: two of three are short anyway."""
    rows = [wrong_from(99, length) for length in [*[4] * 26, *[16] * 14]]
    for number in (3, 11, 20):
        rows[number] = wrong_from(0, 4)
    assert places_of(rows, "wrong lanes") == []


def test_where_all_rows_are_short_that_says_nothing() -> None:
    assert places_of([wrong_from(0, length) for length in range(1, 6)], "wrong lanes") == []


def test_no_place_is_named_where_wrong_elements_are_strewn_or_few() -> None:
    for wrong in ((slice(None, None, 7), slice(None, None, 7)), (slice(3, 4), slice(5, 6))):
        output = requantized(GRID, HALF, 3).astype(np.int32)
        output[wrong] += 1
        found = sim.explain(output.astype(np.int8), accumulators=GRID, multiplier=HALF, shift=3)
        assert not any(" lie in " in hint or " lies in " in hint for hint in found.hints), found.hints


@pytest.mark.parametrize(("bounds", "is_told"), [((-100, 90), True), ((50, 50), False)])
def test_who_uses_a_convention_is_told_with_bounds_that_all_apply_alike(bounds: tuple[int, int], is_told: bool) -> None:
    accumulators = np.arange(-90_000, 90_000, 1111)
    output = np.clip(golden.double_rounding(accumulators, 1583594044, -8), *bounds).astype(np.int8)
    found = sim.explain(
        output, accumulators=accumulators, multiplier=1583594044, shift=8, minimum=bounds[0], maximum=bounds[1]
    )
    users = {match.name.partition(" then ")[0]: match.note for match in found.matches}
    assert users["double_rounding"] == (CONVENTIONS["double_rounding"].users if is_told else "")
