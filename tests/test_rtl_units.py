"""The figures of the hardware's package, and what the streaming units are expected to give, against numbers by hand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from rtl_models.latencies import constants_of, depths, latency, package_constants, profile_named, profile_parameter
from rtl_models.unit_values import UNDEFINED, Settings, channel_setting
from rtl_models.units import LANE_COUNTS, UNITS
from sim.golden.addition import LEFT_SHIFT, AddParameters, Quantization, add_tflite, relu_if
from sim.golden.derivation import derive_tflite
from sim.golden.fixed_point import INT32_MAX, INT32_MIN
from sim.kernels.quantize_down import golden

Rows = list[list[int]]
DOWN = {"multiplier": 254601600, "shift": 1, "offset": 2, "minimum": 0, "maximum": 255, "signed": 0}
HALF = 2**30
"""The multiplier that halves."""


def _result(unit: str, settings: Settings, lanes: int, **operands: Rows) -> Rows:
    arrays = {f"{name}_i": np.array(rows, np.int64) for name, rows in operands.items()}
    rows: Rows = UNITS[unit].expected(settings, arrays, lanes)["result_o"].tolist()
    return rows


def _down(accumulators: list[int], **changed: int) -> list[int]:
    rows = [accumulators]
    return _result("quantize_down", DOWN | changed, len(accumulators), accumulator=rows, bias=[[0] * len(rows[0])])[0]


@pytest.mark.parametrize(
    ("unit", "shallow", "deep"),
    [
        ("quantize_down", 4, 11),
        ("offset_contribution", 2, 4),
        ("transpose1xw", 1, 2),
        ("quantized_add", 7, 20),
        ("quantized_add_float", 9, 46),
        ("requantize", 4, 12),
        ("quantized_multiplier", 3, 8),
        ("integer_scale", 4, 8),
        ("interleave4x4", 1, 2),
    ],
)
def test_the_latencies_are_the_documented_ones(unit: str, shallow: int, deep: int) -> None:
    assert (latency(unit, "shallow"), latency(unit, "deep")) == (shallow, deep)


@pytest.mark.parametrize(
    ("unit", "between"),
    [
        ("quantize_down", (7, 9)),
        ("quantize_down_channels", (7, 9)),
        ("offset_contribution", (3,)),
        ("transpose1xw", ()),
        ("quantized_add", (13, 17, 19)),
        ("quantized_add_float", ()),
        ("requantize", (7, 9, 11)),
        ("quantized_multiplier", (6,)),
        ("integer_scale", (5, 7)),
        ("interleave4x4", ()),
    ],
)
def test_between_shallow_and_deep_are_the_documented_depths(unit: str, between: tuple[int, ...]) -> None:
    ends = latency(unit, "shallow"), latency(unit, "deep")
    assert depths(unit) == (ends[0], *between, ends[1])
    assert UNITS[unit].profiles == ("shallow", *map(str, between), "deep")
    assert [latency(unit, profile) for profile in UNITS[unit].profiles] == list(depths(unit))


def test_a_profile_goes_by_its_name_where_it_has_one() -> None:
    assert [profile_named("quantize_down", text) for text in ("4", "7", "11", "deep")] == [
        "shallow",
        "7",
        "deep",
        "deep",
    ]
    parameters = [profile_parameter("quantize_down", profile) for profile in ("shallow", "7", "deep")]
    assert parameters == [("Deep", 0), ("Depth", 7), ("Deep", 1)]


@pytest.mark.parametrize("profile", ["8", "wide", "", "07", "-7"])
def test_a_depth_that_a_unit_has_not_is_refused(profile: str) -> None:
    told = f"quantize_down has the profiles shallow, deep, 4, 7, 9, 11, not {profile!r}"
    with pytest.raises(ValueError, match=told):
        latency("quantize_down", profile)


def test_every_unit_has_both_latencies() -> None:
    assert all(0 < unit.latency("shallow") <= unit.latency("deep") for unit in UNITS.values())


def test_the_package_gives_the_addresses_of_the_registers() -> None:
    constants = package_constants()
    assert (constants["AddressMultiplier"], constants["AddressOffset"], constants["AddressTables"]) == (4, 12, 4096)


def test_a_constant_is_a_sum_of_numbers_and_of_constants_before_it() -> None:
    text = "  localparam int Two = 2;  // not this = 7;\n  localparam logic [15:0] Sum = Two + 16'h0_1F + Two + 1;\n"
    assert constants_of(text) == {"Two": 2, "Sum": 36}


def test_a_constant_of_anything_else_is_refused() -> None:
    with pytest.raises(ValueError, match="'Later' is neither a number nor a constant before it"):
        constants_of("localparam int First = 1 + Later;\nlocalparam int Later = 2;\n")


def test_a_unit_that_the_package_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="no unit is called 'softmax'"):
        latency("softmax", "shallow")


def test_quantize_down_gives_the_vectors_of_the_specification() -> None:
    given = [INT32_MIN, -12000, -30, -26, -25, -17, -9, -8, -5, -4, -1, 0, 1, 4, 5, 8, 9, 13, 25, 2134, 2143, 6000]
    wanted = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 129, 129, 255]
    assert _down([*given, INT32_MAX]) == [*wanted, 255]


def test_quantize_down_breaks_the_ties_of_its_two_roundings_differently() -> None:
    accumulators = [-30, -25, -9, -5, -1, 0, 1, 5, 9, 25]
    assert _down(accumulators, multiplier=HALF, offset=100) == [92, 94, 98, 99, 100, 100, 101, 102, 103, 107]


def test_quantize_down_saturates_the_lowest_number_times_itself() -> None:
    assert _down([INT32_MIN], multiplier=INT32_MIN, shift=24, offset=0) == [128]


def test_the_offset_of_quantize_down_wraps() -> None:
    assert _down([10], multiplier=HALF, shift=0, offset=INT32_MAX) == [0]


def test_quantize_down_gives_bytes_of_either_kind() -> None:
    accumulators, signed = [-2000, -30, 30, 2000], {"multiplier": HALF, "offset": 0, "signed": 1}
    assert _down(accumulators, **signed, minimum=0x80, maximum=0x7F) == [256 - 128, 256 - 8, 8, 127]
    assert _down(accumulators, **signed, minimum=256 - 100, maximum=256 - 7) == [256 - 100, 256 - 8, 256 - 7, 256 - 7]


def test_the_bias_of_quantize_down_is_that_of_each_lane_and_wraps() -> None:
    accumulators, biases = [[4, 4], [INT32_MAX, INT32_MAX]], [[0, 1], [0, 1]]
    assert _result("quantize_down", DOWN, 2, accumulator=accumulators, bias=biases) == [[2, 3], [255, 0]]


@pytest.mark.parametrize(("minimum", "maximum"), [(0, 0), (0, 255), (7, 7), (255, 255), (1, 172), (0, 1), (254, 255)])
def test_quantize_down_is_the_golden_mode_with_the_bounds_in_effect(minimum: int, maximum: int) -> None:
    accumulators = np.random.default_rng(9).integers(-6000, 6001, (40, 8))
    parameters = golden.Parameters(254601601, 1, 2, minimum, maximum)
    low, high = golden.effective_bounds(parameters)
    settings = DOWN | {"multiplier": 254601601, "minimum": low, "maximum": high}
    given = _result("quantize_down", settings, 8, accumulator=accumulators.tolist(), bias=[[0] * 8] * 40)
    assert given == golden.quantize_down(accumulators.astype(np.int32), None, parameters).tolist()


def test_the_tables_of_quantize_down_channels_begin_again_with_every_row() -> None:
    """Six channels in beats of four: the factor is 1/2, the bias ten times the channel."""
    settings = {"offset": 0, "minimum": 0, "maximum": 255, "signed": 0, "channels": 6}
    for channel in range(6):
        settings |= {channel_setting("bias", channel): 10 * channel, channel_setting("multiplier", channel): HALF}
        settings |= {channel_setting("shift", channel): 0}
    beats = [[0] * 4, [2] * 4, [4] * 4]
    wanted = [[0, 5, 10, 15], [21, 26, UNDEFINED, UNDEFINED], [2, 7, 12, 17]]
    assert _result("quantize_down_channels", settings, 4, accumulator=beats) == wanted


def test_offset_contribution_adds_all_terms_and_wraps() -> None:
    settings = {"a_offset": 3, "b_offset": -2, "constant": 100}
    operands: dict[str, Rows] = {
        "product": [[10, INT32_MAX], [0, 0]], "column_sums": [[7, 0], [1, INT32_MIN]],
        "row_sum": [[5], [50]], "bias": [[1000, 1], [0, 0]],
    }  # fmt: skip
    first = [10 + 21 - 10 + 100 + 1000, INT32_MIN + 90]
    assert _result("offset_contribution", settings, 2, **operands) == [first, [3 - 100 + 100, INT32_MIN]]


def test_offset_contribution_without_offsets_adds_constant_and_bias_alone() -> None:
    settings = {"a_offset": 0, "b_offset": 0, "constant": INT32_MIN}
    operands: dict[str, Rows] = {"product": [[-1]], "column_sums": [[9]], "row_sum": [[9]], "bias": [[2]]}
    assert _result("offset_contribution", settings, 1, **operands) == [[INT32_MIN + 1]]


def _transposed(lanes: int, data: Rows, **settings: int) -> dict[str, Rows]:
    values = UNITS["transpose1xw"].expected(settings, {"data_i": np.array(data, np.int64)}, lanes)
    return {port: array.tolist() for port, array in values.items()}


FRAME: Rows = [[1, 2, 3, 4, 5, 6, 7, 8], [9, 10, 11, 12, 99, 99, 99, 99]] * 2


def test_the_chunks_of_transpose1xw_go_to_the_column_of_their_block() -> None:
    """Three chunks a row, two a beat, two rows."""
    given = _transposed(8, FRAME, destination=64, width=12, height=2, element=4, zero_tail=0)
    assert given["address_o"] == [[64, 96], [128, UNDEFINED], [80, 112], [144, UNDEFINED]]


def test_transpose1xw_writes_the_chunks_there_are_and_marks_the_last_beat() -> None:
    given = _transposed(8, FRAME, destination=0, width=12, height=2, element=4, zero_tail=0)
    assert (given["write_o"], given["last_o"]) == ([[1, 1], [1, 0]] * 2, [[0], [0], [0], [1]])


@pytest.mark.parametrize(
    ("element", "width", "zero_tail", "words"),
    [
        (1, 19, 1, [0xCCDDEE, 0, 0, 0]),
        (1, 19, 0, [0xBBCCDDEE, 6, 7, 8]),
        (2, 9, 1, [0xDDEE, 0, 0, 0]),
        (4, 5, 1, [0xBBCCDDEE, 0, 0, 0]),
        (4, 8, 1, [0xBBCCDDEE, 6, 7, 8]),
    ],
)
def test_behind_the_end_of_a_row_transpose1xw_gives_zero_if_asked(
    element: int, width: int, zero_tail: int, words: list[int]
) -> None:
    data = [[1, 2, 3, 4], [0xBBCCDDEE, 6, 7, 8]]
    given = _transposed(4, data, destination=0, width=width, height=1, element=element, zero_tail=zero_tail)
    assert given["data_o"] == [[1, 2, 3, 4], words]


def test_addresses_of_transpose1xw_wrap() -> None:
    given = _transposed(4, [[0] * 4] * 2, destination=2**32 - 16, width=8, height=1, element=4, zero_tail=0)
    assert given["address_o"] == [[2**32 - 16], [0]]


ADD = {
    "signed": 0, "a_offset": 0, "b_offset": 0, "left_shift": 20, "a_multiplier": HALF, "a_shift": 0,
    "b_multiplier": HALF, "b_shift": 0, "multiplier": HALF, "shift": 19, "offset": 0, "minimum": 0, "maximum": 255,
}  # fmt: skip
"""Half the sum of two bytes."""


def _added(a: int, b: int, **changed: int) -> int:
    return _result("quantized_add", ADD | changed, 1, a=[[a]], b=[[b]])[0][0]


def test_quantized_add_breaks_ties_away_from_zero() -> None:
    signed = {"signed": 1, "minimum": 0x80, "maximum": 0x7F}
    assert [_added(2, 5), _added(0, 1), _added(256 - 2, 256 - 5, **signed)] == [4, 1, 256 - 4]


def test_quantized_add_reads_bytes_and_bounds_as_the_setting_says() -> None:
    signed = {"signed": 1, "minimum": 256 - 100, "maximum": 100}
    assert [_added(200, 255), _added(0x80, 0x80, **signed), _added(0x7F, 0x7F, **signed)] == [228, 256 - 100, 100]


def test_quantized_add_saturates_the_lowest_number_times_itself() -> None:
    changed = {"left_shift": 31, "a_multiplier": INT32_MIN, "b_multiplier": 0, "shift": 23}
    assert _added(1, 0, **changed) == 128


def test_an_operand_of_quantized_add_with_its_offset_wraps() -> None:
    changed = {"a_offset": INT32_MAX, "left_shift": 0, "a_multiplier": INT32_MIN, "b_multiplier": 0, "shift": 23}
    assert [_added(1, 0, **changed), _added(0, 0, **changed)] == [128, 0]


def test_the_offset_of_quantized_add_wraps() -> None:
    assert _added(2, 2, offset=INT32_MAX) == 0


def _multiplied(value: int, rounding: int, multiplier: int, left: int, right: int) -> int:
    operands = {"value": [[value]], "multiplier": [[multiplier]], "left_shift": [[left]], "shift": [[right]]}
    return _result("quantized_multiplier", {"rounding": rounding}, 1, **operands)[0][0]


@pytest.mark.parametrize(("rounding", "results"), [(0, [1, -1]), (1, [1, 0]), (2, [0, 0])])
def test_quantized_multiplier_rounds_as_the_setting_says(rounding: int, results: list[int]) -> None:
    """A quarter of 1, and of -2: 0.25, which two roundings make 1, and -0.5."""
    assert [_multiplied(value, rounding, HALF, 0, 1) for value in (1, -2)] == results


def test_the_left_shift_of_quantized_multiplier_wraps_before_two_roundings_and_not_before_one() -> None:
    assert [_multiplied(1 << 30, rounding, HALF, 1, 0) for rounding in (0, 2)] == [-(1 << 30), 1 << 30]
    assert _multiplied(3, 0, INT32_MIN, 31, 0) == INT32_MAX


def test_requantize_adds_a_bias_that_wraps_and_an_offset_that_saturates() -> None:
    settings = {"rounding": 0, "offset": INT32_MAX, "minimum": 0, "maximum": 255, "signed": 0}
    operands = {"multiplier": [[HALF] * 2], "left_shift": [[0, 0]], "shift": [[0, 0]]}
    biased: dict[str, Rows] = {"accumulator": [[INT32_MAX, 10]], "bias": [[1, 0]]}
    assert _result("requantize", settings, 2, **biased, **operands) == [[255, 255]]
    assert _result("requantize", settings | {"offset": 0}, 2, **biased, **operands) == [[0, 5]]


SCALE = {"multiplier": 3, "shift": 1, "offset": 0, "minimum": 0, "maximum": 255, "signed": 0}


def _integer_scaled(accumulator: int, rounding: int, bias: int = 0, **changed: int) -> int:
    settings = SCALE | {"rounding": rounding} | changed
    return _result("integer_scale", settings, 1, accumulator=[[accumulator]], bias=[[bias]])[0][0]


@pytest.mark.parametrize(("rounding", "results"), [(0, [8, 256 - 8]), (1, [8, 256 - 7]), (2, [7, 256 - 8])])
def test_integer_scale_divides_with_ties_away_with_ties_up_or_down(rounding: int, results: list[int]) -> None:
    signed = {"signed": 1, "minimum": 0x80, "maximum": 0x7F}
    assert [_integer_scaled(value, rounding, **signed) for value in (5, -5)] == results


def test_the_sum_and_the_product_of_integer_scale_wrap() -> None:
    assert _integer_scaled(INT32_MAX, 2, offset=1, multiplier=1) == 0
    assert _integer_scaled(INT32_MAX, 2, bias=2, multiplier=-1, shift=30) == 1
    assert _integer_scaled(1 << 30, 2, multiplier=5, shift=24) == 64


def test_interleave4x4_takes_the_rows_column_by_column() -> None:
    data = [[0x03020100, 0x13121110, 0x23222120, 0x33323130]]
    wanted = {
        1: [[0x30201000, 0x31211101, 0x32221202, 0x33231303]],
        2: [[0x11100100, 0x31302120, 0x13120302, 0x33322322]],
        4: data,
    }
    for element, words in wanted.items():
        given = UNITS["interleave4x4"].expected({"element": element}, {"data_i": np.array(data, np.int64)}, 4)
        assert given["data_o"].tolist() == words


def test_a_beat_of_interleave4x4_has_as_many_bytes_of_a_row_as_there_are_lanes() -> None:
    data = np.arange(32, dtype=np.uint8).view("<u4").astype(np.int64)[None]
    given = UNITS["interleave4x4"].expected({"element": 1}, {"data_i": data}, 8)["data_o"]
    assert given.astype("<u4").view(np.uint8)[0, :8].tolist() == [0, 8, 16, 24, 1, 9, 17, 25]


def _added_in_floats(a: int, b: int, a_multiplier: float, b_multiplier: float, constant: float, **modes: int) -> int:
    words = np.array([a_multiplier, b_multiplier, constant], np.float32).view(np.int32).tolist()
    settings = dict(zip(("a_multiplier", "b_multiplier", "constant"), words, strict=True))
    settings |= {"rounding": 0, "unfused": 0} | modes
    return _result("quantized_add_float", settings, 1, a=[[a]], b=[[b]])[0][0]


def test_quantized_add_float_rounds_halves_as_the_setting_says() -> None:
    halves = [(0, 1), (2, 5), (0, 5), (1, 0)]
    even, away = ([_added_in_floats(a, b, 0.5, 0.5, 0, rounding=rounding) for a, b in halves] for rounding in (0, 1))
    assert (even, away) == ([0, 4, 2, 0], [1, 4, 3, 1])


def test_a_product_of_quantized_add_float_is_rounded_by_itself_only_where_it_is_unfused() -> None:
    """255 times the float32 next to 1/255 is a little more than 1: what is left of it decides half-way."""
    part = float(np.float32(1 / 255))
    assert [_added_in_floats(255, 1, part, 0.5, -1.0, unfused=unfused) for unfused in (0, 1)] == [1, 0]


def test_quantized_add_float_gives_0_for_no_number_and_the_ends_of_a_byte_beyond_them() -> None:
    infinity = float("inf")
    assert [_added_in_floats(1, 1, infinity, factor, 0) for factor in (1.0, -infinity)] == [255, 0]
    assert [_added_in_floats(1, 0, factor, infinity, 0) for factor in (0.0, -infinity)] == [0, 0]


def _parameters(generator: np.random.Generator) -> AddParameters:
    scales, zeros = np.exp2(generator.uniform(-6, 0, 3)), generator.integers(0, 256, 3)
    a, b, output = (Quantization(float(scale), int(zero)) for scale, zero in zip(scales, zeros, strict=True))
    return AddParameters(a, b, output, relu_if(bool(generator.integers(2))))


def _derived(parameters: AddParameters) -> Settings:
    """The settings that TFLite derives."""
    a, b, output = (float(q.scale) for q in (parameters.a, parameters.b, parameters.output))
    twice = 2 * max(a, b)
    factors = {"a_": a / twice, "b_": b / twice, "": twice / (2**LEFT_SHIFT * output)}
    settings = {"offset": parameters.output.zero_point, "left_shift": LEFT_SHIFT, "signed": 0, "maximum": 255}
    settings |= {"a_offset": -parameters.a.zero_point, "b_offset": -parameters.b.zero_point}
    settings["minimum"] = parameters.output.zero_point if parameters.relu else 0
    for name, factor in factors.items():
        multiplier, left = derive_tflite(factor)
        settings |= {f"{name}multiplier": multiplier, f"{name}shift": -left}
    return settings


@pytest.mark.parametrize("seed", range(8))
def test_quantized_add_with_the_settings_that_tflite_derives_is_its_add(seed: int) -> None:
    parameters = _parameters(np.random.default_rng(seed))
    a, b = np.meshgrid(np.arange(256), np.arange(256))
    operands: dict[str, npt.NDArray[np.int64]] = {"a_i": a, "b_i": b}
    given = UNITS["quantized_add"].expected(_derived(parameters), operands, 256)["result_o"]
    np.testing.assert_array_equal(given, add_tflite(a, b, parameters))


@pytest.mark.parametrize("lanes", LANE_COUNTS)
def test_a_beat_has_a_chunk_for_four_lanes_and_one_number_a_beat(lanes: int) -> None:
    ports = UNITS["transpose1xw"].results
    assert [port.count(lanes) for port in ports] == [lanes, lanes // 4, lanes // 4, 1]
