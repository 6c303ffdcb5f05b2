"""Arguments of a kernel in the roles of a requantization: which may have one, their numbers by lane, what is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sim.explanation.of_kernel.recognition import _told
from sim.explanation.of_kernel.requantization import (
    KernelLanes,
    RecognisedGolden,
    Roles,
    _Constants,
    is_number,
    requantization_of,
    requantized,
    requantized_output,
    why_unknown,
)
from sim.golden.registry.conventions import CONVENTIONS
from sim.kernels import Kernel, Pointer, parse_prototype

Inputs = Mapping[str, Any]
BARE = Roles(value="x", bias="", multiplier="", shift="", sign=0, zero_point="", lower="", upper="")
PROTOTYPE = (
    "void f(const int32_t x[m][n], const int32_t bias[n], const int32_t rows[m], const int8_t one[1], "
    "const int8_t other[k], const float scales[n], const int32_t weights[m][n][2], int32_t multiplier, int32_t shift, "
    "float scale, int8_t out[m][n], size_t m, size_t n, size_t k)"
)


def outputs_of(inputs: Inputs) -> dict[str, Any]:
    return {"out": np.zeros((inputs["m"], inputs["n"]), np.int8)}


def steps_of(inputs: Inputs) -> dict[str, Any]:
    shape = inputs["m"], inputs["n"]
    more = {} if inputs["m"] == 1 else {"of some": np.ones(shape, np.int64)}
    return {"sum": inputs["x"] + np.int64(1), "real": np.zeros(shape), "x": inputs["x"], **more}


def kernel_of(prototype: str = PROTOTYPE, golden: Any = outputs_of, **given: Any) -> Kernel:
    name, signature = parse_prototype(prototype)
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, **given)


def case(m: int, n: int, **given: Any) -> dict[str, Any]:
    return {
        "x": np.arange(m * n, dtype=np.int32).reshape(m, n), "bias": np.arange(10, 10 + n, dtype=np.int32),
        "rows": np.arange(50, 50 + m, dtype=np.int32), "one": np.array([-7], np.int8), "other": np.zeros(2, np.int8),
        "scales": np.linspace(0, 1, n, dtype=np.float32), "weights": np.zeros((m, n, 2), np.int32), "multiplier": 5,
        "shift": -2, "scale": 0.5, "m": m, "n": n, "k": 2, **given,
    }  # fmt: skip


def lanes_of(kernel: Kernel, *cases: Inputs) -> KernelLanes:
    output = requantized_output(kernel)
    assert output is not None
    return KernelLanes(kernel, output, cases)


LANES = lanes_of(kernel_of(steps=steps_of), case(2, 3), case(1, 4))


def test_values_are_integers_of_the_shape_of_the_output_arguments_before_steps_that_all_input_sets_have() -> None:
    assert LANES.values == ["x", "sum"]
    assert lanes_of(kernel_of(steps=steps_of), case(2, 3)).values == ["x", "sum", "of some"]
    assert lanes_of(kernel_of(), case(2, 3)).values == ["x"]
    assert lanes_of(kernel_of(steps=steps_of)).values == []


def test_parameters_are_one_number_or_one_for_each_channel_or_row() -> None:
    assert LANES.parameters("iu") == ["bias", "rows", "one", "multiplier", "shift"]
    assert LANES.parameters("f") == ["scales", "scale"]
    assert LANES.parameters("iuf") == ["bias", "rows", "one", "scales", "multiplier", "shift", "scale"]
    flat = lanes_of(kernel_of("void f(const int32_t x[n], const int32_t y[n], int32_t s, int8_t out[n], size_t n)"))
    assert (flat.values, flat.parameters("iu")) == ([], ["s"])


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("x", [0, 1, 2, 3, 4, 5, 0, 1, 2, 3]),
        ("sum", [1, 2, 3, 4, 5, 6, 1, 2, 3, 4]),
        ("bias", [10, 11, 12, 10, 11, 12, 10, 11, 12, 13]),
        ("rows", [50, 50, 50, 51, 51, 51, 50, 50, 50, 50]),
        ("one", [-7] * 10),
        ("multiplier", [5] * 10),
        ("shift", [-2] * 10),
        ("31", [31] * 10),
        ("-4", [-4] * 10),
    ],
)
def test_the_numbers_of_lanes_are_those_of_their_channel_or_row(name: str, numbers: list[int]) -> None:
    assert LANES.of(name).tolist() == numbers


def test_a_null_pointer_is_zeros_and_of_a_square_the_last_axis_has_the_channels() -> None:
    prototype = "void f(const int32_t x[n][n], const int32_t bias[n], int8_t out[n][n], size_t n)"
    square = kernel_of(prototype, lambda inputs: {"out": np.zeros((2, 2), np.int8)})
    given = {"x": np.zeros((2, 2), np.int32), "bias": np.array([1, 2], np.int32), "n": 2}
    assert lanes_of(square, given).of("bias").tolist() == [1, 2, 1, 2]
    signature = square.signature
    nullable = tuple(replace(one, nullable=isinstance(one, Pointer)) for one in signature.pointers)
    absent = replace(square, signature=replace(signature, arguments=(*nullable, *signature.by_value)))
    assert lanes_of(absent, {**given, "bias": None}).of("bias").tolist() == [0] * 4


@pytest.mark.parametrize(
    ("numbers", "is_long"),
    [([-(2**31), 2**31 - 1], False), ([0, 2**31], True), ([-(2**31) - 1, 0], True)],
)
def test_numbers_of_more_than_32_bits_are_long(numbers: list[int], is_long: bool) -> None:
    kernel = kernel_of("void f(const int64_t x[n], int8_t out[n], size_t n)", lambda i: {"out": np.zeros(2, np.int8)})
    assert lanes_of(kernel, {"x": np.array(numbers), "n": 2}).is_long("x") == is_long


@pytest.mark.parametrize(
    ("prototype", "has_one"),
    [
        ("void f(const int32_t x[4], int8_t out[4])", True),
        ("void f(const int32_t x[4], uint8_t out[4])", True),
        ("void f(const int32_t x[4], int16_t out[4])", True),
        ("void f(const int32_t x[4], int32_t out[4])", True),
        ("void f(const int32_t x[4], int64_t out[4])", False),
        ("void f(const int32_t x[4], float out[4])", False),
        ("void f(const int32_t x[4], int8_t out[4], int8_t more[4])", False),
        ("int32_t f(const int32_t x[4], int8_t out[4])", False),
    ],
)
def test_a_requantization_has_one_output_of_integers_and_no_result(prototype: str, has_one: bool) -> None:
    kernel = kernel_of(prototype, dict)
    assert requantized_output(kernel) == (kernel.signature.outputs[0] if has_one else None)


@pytest.mark.parametrize(("name", "is_one"), [("5", True), ("-5", True), ("x", False), ("p.x", False), ("", False)])
def test_a_number_in_text_is_told_from_an_argument(name: str, is_one: bool) -> None:
    assert is_number(name) == is_one


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "x"),
        ({"bias": "b"}, "x + b"),
        ({"multiplier": "m", "shift": "s", "sign": 1}, "x by m, left shift s"),
        ({"shift": "7", "sign": -1}, "x, right shift 7"),
        ({"zero_point": "-5"}, "x, then + -5"),
        ({"lower": "lo", "upper": "hi"}, "x, bounded by lo and hi"),
    ],
)
def test_roles_are_told_in_words(given: dict[str, Any], says: str) -> None:
    assert str(replace(BARE, **given)) == says


HELD: Mapping[str, Sequence[float]] = {
    "x": [1000, -1000, 70_000, -70_000, 5, 2**31 - 10, 0], "b": [1, 2, 3, 4, 5, 20, 0], "m": [1 << 30] * 7,
    "s": [2, 3, 0, 5, 1, 4, 0], "z": [3, -4, 200, 0, 1, 2, 2**31 - 1], "lo": [-50] * 6 + [90], "hi": [60] * 7,
    "scale": [0.5, 0.25, 0.5, 2.0, 0.25, 0.5, 1.0],
}  # fmt: skip


def held(name: str) -> Any:
    return np.array(HELD[name], np.float32 if name == "scale" else np.int64)


def as_int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("bias", ["", "b"])
@pytest.mark.parametrize("zero_point", ["", "z"])
@pytest.mark.parametrize("bounds", [("", ""), ("lo", "hi")])
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("single_rounding", {"multiplier": "m", "shift": "s", "sign": -1}),
        ("single_rounding_by_vector", {"multiplier": "m", "shift": "s", "sign": 1}),
        ("single_rounding_of_long", {"multiplier": "m", "shift": "s", "sign": -1}),
        ("divide_by_power_of_two_ties_up", {"shift": "s", "sign": -1}),
        ("product_xnnpack", {"multiplier": "scale"}),
    ],
)
def test_each_lane_is_added_up_scaled_placed_and_bounded(
    name: str, given: dict[str, Any], bias: str, zero_point: str, bounds: tuple[str, str]
) -> None:
    """Sums wrap in 32 bits, but for a convention that takes longer ones."""
    roles = replace(BARE, bias=bias, zero_point=zero_point, lower=bounds[0], upper=bounds[1], **given)
    function, expected = CONVENTIONS[name].function, list[int]()
    for at in range(7):
        total = int(HELD["x"][at] + (HELD["b"][at] if bias else 0))
        total = total if name.endswith("_long") else as_int32(total)
        value, shift = np.array([total]), np.array([int(HELD["s"][at])])
        if name == "product_xnnpack":
            (made,) = function(value, HELD["scale"][at])
        elif "multiplier" in given:
            (made,) = function(value, np.array([1 << 30]), given["sign"] * shift)
        else:
            (made,) = function(value, shift)
        placed = as_int32(int(made) + int(HELD["z"][at])) if zero_point else int(made)
        number = min(max(placed, -128), 127)
        expected.append(min(max(number, int(HELD["lo"][at])), int(HELD["hi"][at])) if bounds[0] else number)
    assert requantized(roles, name, "int8", held).tolist() == expected


FLAT = "void f(const int32_t x[n], int32_t multiplier, int32_t shift, int32_t zero_point, int8_t out[n], size_t n)"


def by(name: str, sign: int) -> Any:
    def golden(inputs: Inputs) -> dict[str, Any]:
        scaled = CONVENTIONS[name].function(inputs["x"], inputs["multiplier"], sign * inputs["shift"])
        return {"out": np.clip(scaled.astype(np.int64) + inputs["zero_point"], -128, 127).astype(np.int8)}

    return golden


def flat(count: int, **given: Any) -> dict[str, Any]:
    x = np.random.default_rng(1).integers(-5000, 5000, count).astype(np.int32)
    return {"x": x, "multiplier": 1518500250, "shift": 6, "zero_point": 4, "n": count, **given}


@pytest.mark.parametrize(("name", "sign"), [*product(["single_rounding", "double_rounding"], [-1, 1])])
def test_a_golden_reference_is_recognised_with_the_roles_of_its_arguments(name: str, sign: int) -> None:
    kernel = kernel_of(FLAT, by(name, sign))
    cases = [flat(300, shift=-sign * 6), flat(5, shift=-sign * 3, zero_point=-9)]
    lanes = lanes_of(kernel, *cases)
    golden = lanes.joined([kernel.golden(one)["out"] for one in cases])
    found = requantization_of(lanes, golden, np.zeros(0, np.int64))
    assert found is not None
    assert name in found.same
    assert str(found.roles).startswith("x by multiplier, ")
    assert not set(found.same) & set(found.others)
    assert {"single_rounding_floor", "single_rounding_truncated"} <= set(found.others)
    wanted = replace(BARE, multiplier="multiplier", shift="shift", sign=sign, zero_point="zero_point")
    assert found.roles == wanted
    for same in (*found.same, *found.others):
        assert lanes.give(wanted, same, golden) == (same in found.same)


def test_what_is_no_known_requantization_is_not_recognised_and_why() -> None:
    def off(inputs: Inputs) -> dict[str, Any]:
        out = by("single_rounding", -1)(inputs)["out"]
        return {"out": np.where(inputs["x"] == inputs["x"][-1], out ^ 1, out)}

    kernel = kernel_of(FLAT, off)
    lanes = lanes_of(kernel, flat(300))
    golden = lanes.joined([kernel.golden(flat(300))["out"]])
    assert requantization_of(lanes, golden, np.zeros(0, np.int64), most=2000) is None
    assert requantization_of(lanes, golden, np.array([299]), most=2000) is None
    assert why_unknown(lanes) == (
        "no way to read x, multiplier, shift, zero_point as its numbers gives all lanes; `lanewise conventions` has "
        "what was tried"
    )
    without = lanes_of(kernel_of(FLAT.replace("x[n]", "x[4]"), off), flat(4))
    assert why_unknown(without) == ("no array of integers and no step is out[n], so none is what multiplier scales")
    assert why_unknown(lanes_of(kernel_of("void f(const int32_t x[n], int8_t out[n], size_t n)", dict))) == ""
    assert requantization_of(lanes, golden[:0], np.zeros(0, np.int64)) is None


def test_no_more_conventions_are_tried_than_are_asked_for() -> None:
    kernel = kernel_of(FLAT, by("single_rounding", -1))
    lanes = lanes_of(kernel, flat(50))
    golden = lanes.joined([kernel.golden(flat(50))["out"]])
    count = sum(one.family.name == "scaling" for one in CONVENTIONS.values())  # those of the first reading
    found = {most: requantization_of(lanes, golden, np.zeros(0, np.int64), most) for most in (count - 1, count, None)}
    assert [one is not None for one in found.values()] == [False, True, True]


def test_large_constants_of_the_code_may_be_multipliers_the_halves_that_rounding_adds_last() -> None:
    numbers = [2**15 - 1, 2**15, 40_000, -50_000, 2**31 - 1, -(2**15) + 1, 2**30, 2**31, -(2**31)]
    assert _Constants(numbers).multipliers == ["40000", "-50000", str(2**31 - 1), str(2**15), str(2**30)]


def test_small_constants_of_the_code_may_be_shifts_also_those_of_a_product_with_31_bits_more() -> None:
    assert _Constants([3, -4, 35, 31, 62, 63, 64, 93, 2**15]).shifts == ["3", "4", "31", "0"]


def test_a_constant_of_the_code_may_be_a_zero_point_of_bytes_with_either_sign() -> None:
    found = _Constants([128, 129, 255, 256, 0, -5]).zero_points
    assert sorted(map(int, found)) == [-128, -5, 5, 128, 129, 255]


ROUNDED, FLOOR = "single_rounding", "single_rounding_floor"
NONE_OF_BOTH = "your outputs are none of the other 2 conventions that take these numbers"


@pytest.mark.parametrize(
    ("yours", "others", "says"),
    [
        ([1, 1, 1, 1], (ROUNDED, FLOOR), f"your outputs are {ROUNDED} on all 4 lanes; used by "),
        ([1, 1, 1, 0], (ROUNDED, FLOOR), f"your 3 wrong lanes are {ROUNDED}, the others are right; used by "),
        ([1, 1, 0, 0], (ROUNDED, FLOOR), NONE_OF_BOTH),  # two may be so by chance
        ([1, 1, 3, 0], (ROUNDED, FLOOR), NONE_OF_BOTH),
        (
            [3, 3, 3, 3],
            (ROUNDED,),
            f"your outputs are not {ROUNDED}, the only other convention that takes these numbers",
        ),
        ([3, 3, 3, 3], (), None),
    ],
)
def test_what_outputs_are_is_said_of_all_lanes_or_of_those_that_are_wrong(
    yours: list[int], others: tuple[str, ...], says: str | None
) -> None:
    made = {ROUNDED: np.ones(4, np.int64), FLOOR: np.full(4, 2)}  # where the golden reference has 0

    def give(roles: Roles, name: str, wanted: Any, lanes: Any = slice(None)) -> bool:
        return bool((made[name] == wanted)[lanes].all())

    elements: Any = SimpleNamespace(give=give)
    numbers = np.array(yours, np.int64)
    told = _told(elements, RecognisedGolden(BARE, ("double_rounding",), others), numbers, np.flatnonzero(numbers))
    assert told[0] == "the golden reference is double_rounding of x"
    assert [one.startswith(says or "") for one in told[1:]] == [True] * (says is not None)


def test_two_conventions_that_give_all_lanes_are_both_named() -> None:
    elements: Any = SimpleNamespace(give=lambda *_: True)
    found = RecognisedGolden(BARE, ("double_rounding",), (ROUNDED, FLOOR))
    _, told = _told(elements, found, np.ones(1200, np.int64), np.arange(1200))
    assert told.startswith(
        f"your outputs are {ROUNDED} on all 1,200 lanes, which these vectors do not tell from {FLOOR};"
    )
