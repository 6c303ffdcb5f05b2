"""quantize_down as ACL exposes it: validate() in upstream's order, configure(), run() on windows."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array
from sim.kernels.operator import AnyArray, ConfigurationError, ErrorCode, Shape, TensorInfo, Window
from sim.kernels.quantize_down.configure import QuantizeDown, validate
from sim.kernels.quantize_down.golden import Parameters, quantize_down

UPSTREAM = Parameters(254601600, 1, 2)
LANES_AND_TAIL = "acl_19_08_lanes_and_tail"
NEW_BOUNDS = "acl_20_05_bounds"
INPUT = TensorInfo((13, 21), "S32")  # numpy order: 21 is ACL's dimension 0
BIAS = TensorInfo((21,), "S32")
OUTPUT = TensorInfo((13, 21), "QASYMM8")
UNTOUCHED = 99


# Upstream's own cases.


@pytest.mark.parametrize(
    ("output", "maximum", "accepted"),
    [(OUTPUT, 205, True), (OUTPUT, 300, False), (replace(OUTPUT, data_type="S32"), 205, False)],
)
def test_upstream_validate_cases(output: TensorInfo, maximum: int, accepted: bool) -> None:
    assert bool(validate(INPUT, BIAS, output, 0, maximum)) is accepted


SHAPES = [(11, 11), (7, 13, 27), (2, 17, 27, 31), (4, 2, 13, 27), (5, 3, 11, 11)]  # numpy order: ACL's x is last
BOUNDS = [(0, 0), *product((0, 1), (171, 172, 173))]


def uniform(seed: int, shape: Shape) -> Int32Array:
    """Upstream's range and seeds; numpy's generator, so not upstream's numbers."""
    return np.random.default_rng(seed).integers(-6000, 6000, shape, dtype=np.int32, endpoint=True)


def upstream_reference(values: Int32Array, bias: Int32Array | int, parameters: Parameters) -> AnyArray:
    """The scalar reference in its own words: signed nudge, C division, mask and threshold, bounds first."""
    products = (values.astype(np.int64) + bias) * parameters.multiplier
    nudged = products + np.where(products >= 0, 2**30, 1 - 2**30)
    high = np.sign(nudged) * (np.abs(nudged) // 2**31)
    mask = (1 << parameters.shift) - 1
    scaled = (high >> parameters.shift) + ((high & mask) > (mask >> 1) + (high < 0)) + parameters.offset
    if parameters.minimum != parameters.maximum:
        scaled = np.clip(scaled, parameters.minimum, parameters.maximum)
    return np.asarray(np.clip(scaled, 0, 255), np.uint8)


def configure_and_run(
    values: Int32Array, bias: Int32Array | None, parameters: Parameters, mode: str = "acl_19_08"
) -> AnyArray:
    operator, output = QuantizeDown(), np.full(values.shape, UNTOUCHED, np.uint8)
    bias_info = None if bias is None else TensorInfo(bias.shape, "S32")
    operator.configure(TensorInfo(values.shape, "S32"), bias_info, TensorInfo(), parameters, mode)
    operator.run(values, bias, output)
    return output


@pytest.mark.parametrize("mode", ["acl_19_08", "acl_20_02_left_shift", LANES_AND_TAIL])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("multiplier", [254601600, 254601601])
@pytest.mark.parametrize("shape", SHAPES)
def test_upstream_grid(shape: Shape, multiplier: int, with_bias: bool, mode: str) -> None:
    values, bias = uniform(0, shape), uniform(1, shape[-1:]) if with_bias else None
    sets = [Parameters(multiplier, 1, 2, *bounds) for bounds in BOUNDS]
    expected = [upstream_reference(values, 0 if bias is None else bias, parameters) for parameters in sets]
    np.testing.assert_array_equal([configure_and_run(values, bias, parameters, mode) for parameters in sets], expected)


# validate(): every error, in upstream's order.

FAULTS: list[tuple[str, dict[str, TensorInfo | int]]] = [
    ("input has data type F32: it must be S32", {"input": replace(INPUT, data_type="F32")}),
    ("input has 2 channels: it must have 1", {"input": replace(INPUT, channels=2)}),
    ("maximum is 300: it must not exceed 255", {"maximum": 300}),
    ("minimum is -1: it must not be below 0", {"minimum": -1}),
    ("minimum 206 is above maximum 205: give minimum <= maximum", {"minimum": 206}),
    ("bias has data type F16: it must be the input's, S32", {"bias": replace(BIAS, data_type="F16")}),
    ("bias has rank 2, shape (2, 21): it must have rank 1", {"bias": replace(BIAS, shape=(2, 21))}),
    (
        "bias has shape (20,): its length must be the last axis of the input's (13, 21)",
        {"bias": replace(BIAS, shape=(20,))},
    ),
    ("output has data type S32: it must be QASYMM8", {"output": replace(OUTPUT, data_type="S32")}),
    ("output has 3 channels: it must have 1", {"output": replace(OUTPUT, channels=3)}),
    ("output has shape (21, 13): it must be the input's, (13, 21)", {"output": replace(OUTPUT, shape=(21, 13))}),
]
# Two faults of one argument are two values of it, which cannot be given at once: see the next test but one.
PAIRS = [(a, b) for i, a in enumerate(FAULTS) for b in FAULTS[i + 1 :] if not a[1].keys() & b[1].keys()]


def status_of(changes: dict[str, TensorInfo | int]) -> tuple[ErrorCode, str]:
    good = {"input": INPUT, "bias": BIAS, "output": OUTPUT, "minimum": 0, "maximum": 205}
    status = validate(**(good | changes))  # type: ignore[arg-type]  # one dict holds fields of both types
    return status.code, status.description


@pytest.mark.parametrize(("sentence", "changes"), FAULTS)
def test_each_fault_alone(sentence: str, changes: dict[str, TensorInfo | int]) -> None:
    assert status_of(changes) == (ErrorCode.RUNTIME_ERROR, sentence)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_of_two_faults_the_first_in_upstream_order_is_reported(
    first: tuple[str, dict[str, TensorInfo | int]], second: tuple[str, dict[str, TensorInfo | int]]
) -> None:
    assert status_of(first[1] | second[1]) == (ErrorCode.RUNTIME_ERROR, first[0])


@pytest.mark.parametrize(
    ("name", "info", "sentence"),
    [
        ("input", TensorInfo((13, 21), "F32", channels=2), "input has data type F32: it must be S32"),
        ("bias", TensorInfo((2, 20), "F16"), "bias has data type F16: it must be the input's, S32"),
        ("bias", TensorInfo((2, 20), "S32"), "bias has rank 2, shape (2, 20): it must have rank 1"),
        ("output", TensorInfo((21, 13), "S32", channels=2), "output has data type S32: it must be QASYMM8"),
        ("output", TensorInfo((21, 13), "QASYMM8", channels=2), "output has 2 channels: it must have 1"),
    ],
)
def test_of_two_faults_in_one_tensor_the_first_is_reported(name: str, info: TensorInfo, sentence: str) -> None:
    assert status_of({name: info}) == (ErrorCode.RUNTIME_ERROR, sentence)


def test_maximum_is_judged_before_minimum() -> None:
    assert status_of({"minimum": -1, "maximum": 300})[1] == "maximum is 300: it must not exceed 255"


def test_an_accepted_status_is_true_and_says_nothing() -> None:
    assert status_of({}) == (ErrorCode.OK, "")


@pytest.mark.parametrize("shape", [None, (), (0, 21), (13, 0)])
def test_an_empty_output_passes_whatever_its_type(shape: Shape | None) -> None:
    assert validate(INPUT, None, TensorInfo(shape, "F32", channels=4))


@pytest.mark.parametrize("shape", [(21,), (1, 21), (1, 1, 1, 21)])
def test_leading_ones_of_a_bias_are_acls_trailing_ones_and_pass(shape: Shape) -> None:
    assert validate(INPUT, TensorInfo(shape, "S32"), OUTPUT)


def test_a_bias_column_has_rank_2() -> None:
    assert "must have rank 1" in validate(INPUT, TensorInfo((21, 1), "S32"), OUTPUT).description


def test_output_shape_is_compared_without_acls_trailing_ones() -> None:
    assert validate(INPUT, BIAS, replace(OUTPUT, shape=(1, 13, 21)))


@pytest.mark.parametrize(
    ("minimum", "maximum", "accepted"),
    [(INT32_MIN, INT32_MAX, True), (-1, 300, True), (7, 7, True), (9, 8, False)],
)
def test_20_05_refuses_crossed_bounds_only(minimum: int, maximum: int, accepted: bool) -> None:
    assert bool(validate(INPUT, BIAS, OUTPUT, minimum, maximum, NEW_BOUNDS)) is accepted


@pytest.mark.parametrize(("name", "arguments"), [("input", (None, None, OUTPUT)), ("output", (INPUT, None, None))])
def test_a_null_tensor_is_an_assertion(name: str, arguments: tuple[TensorInfo, None, TensorInfo]) -> None:
    with pytest.raises(TypeError, match=f"{name} is None: give a TensorInfo"):
        validate(*arguments)


# configure()


@pytest.mark.parametrize("empty", [TensorInfo(), TensorInfo((0, 4), "F32", channels=3, quantization=(9.0, 9))])
def test_configure_initialises_an_empty_output(empty: TensorInfo) -> None:
    output = replace(empty)
    QuantizeDown().configure(replace(INPUT, quantization=(0.5, 3)), BIAS, output, UPSTREAM)
    assert output == TensorInfo((13, 21), "QASYMM8", channels=1, quantization=(0.5, 3))


def test_configure_leaves_a_given_output_as_it_is() -> None:
    output = replace(OUTPUT, quantization=(0.25, 7))
    QuantizeDown().configure(replace(INPUT, quantization=(0.5, 3)), BIAS, output, UPSTREAM)
    assert output == replace(OUTPUT, quantization=(0.25, 7))


def test_configure_raises_the_status_text() -> None:
    with pytest.raises(ConfigurationError, match=r"^maximum is 300: it must not exceed 255$"):
        QuantizeDown().configure(INPUT, BIAS, replace(OUTPUT), replace(UPSTREAM, maximum=300))


def test_configure_initialises_before_it_checks() -> None:
    output = TensorInfo()
    with pytest.raises(ConfigurationError):
        QuantizeDown().configure(INPUT, BIAS, output, replace(UPSTREAM, maximum=300))
    assert output == OUTPUT


@pytest.mark.parametrize(("name", "arguments"), [("input", (None, None, OUTPUT)), ("output", (INPUT, None, None))])
def test_configure_asserts_on_a_null_tensor(name: str, arguments: tuple[TensorInfo, None, TensorInfo]) -> None:
    with pytest.raises(TypeError, match=f"{name} is None: give a TensorInfo"):
        QuantizeDown().configure(*arguments, UPSTREAM)


def test_configure_does_not_look_at_the_shift_but_run_does() -> None:
    operator = QuantizeDown()
    operator.configure(TensorInfo((1,), "S32"), None, TensorInfo(), Parameters(2**30, 32))
    with pytest.raises(ValueError, match=f"shift is 32: .*modelled by: {LANES_AND_TAIL}"):
        operator.run(np.zeros(1, np.int32), None, np.zeros(1, np.uint8))


# run()


def configured(mode: str = "acl_19_08", parameters: Parameters = UPSTREAM, shape: Shape = (13, 21)) -> QuantizeDown:
    operator = QuantizeDown()
    operator.configure(TensorInfo(shape, "S32"), None, TensorInfo(), parameters, mode)
    return operator


@pytest.mark.parametrize(
    "window",
    [
        (slice(0, 13), slice(0, 21)),
        (slice(3, 5), slice(2, 20)),
        (slice(None), slice(20, None)),
        (slice(4, 4), slice(0, 21)),
        (slice(12, 13, 1), slice(21, 21)),
    ],
)
def test_run_computes_its_window_and_leaves_the_rest(window: Window) -> None:
    operator, values, bias = QuantizeDown(), uniform(0, (13, 21)), uniform(1, (21,))
    operator.configure(INPUT, BIAS, TensorInfo(), UPSTREAM)
    output, expected = np.full((2, 13, 21), UNTOUCHED, np.uint8)
    expected[window] = quantize_down(values, bias, UPSTREAM)[window]
    operator.run(values, bias, output, window)
    np.testing.assert_array_equal(output, expected)


def test_blocks_start_at_the_first_column_of_the_window() -> None:
    output = np.full(32, UNTOUCHED, np.uint8)
    operator = configured(LANES_AND_TAIL, Parameters(2**30, -1), (32,))
    operator.run(np.full(32, 10, np.int32), None, output, (slice(4, 30),))
    assert output.tolist() == [UNTOUCHED] * 4 + [10] * 16 + [0] * 10 + [UNTOUCHED] * 2


def test_run_writes_through_a_strided_output() -> None:
    values, wide = uniform(0, (13, 21)), np.full((13, 42), UNTOUCHED, np.uint8)
    configured().run(values, None, wide[:, ::2])
    np.testing.assert_array_equal(wide, np.insert(quantize_down(values, None, UPSTREAM), range(1, 22), UNTOUCHED, 1))


def test_run_takes_arrays_with_the_ones_they_were_configured_with() -> None:
    operator, values, bias = QuantizeDown(), uniform(0, (13, 21)), uniform(1, (1, 21))
    output = np.zeros((1, 13, 21), np.uint8)
    operator.configure(INPUT, replace(BIAS, shape=(1, 21)), replace(OUTPUT, shape=(1, 13, 21)), UPSTREAM)
    operator.run(values, bias, output)
    np.testing.assert_array_equal(output[0], quantize_down(values, bias[0], UPSTREAM))


@pytest.mark.parametrize("shape", [(1,), (2, 1, 1, 3, 1, 17), (4, 0)])
def test_run_takes_any_rank_and_empty_axes(shape: Shape) -> None:
    values = uniform(0, shape)
    np.testing.assert_array_equal(configure_and_run(values, None, UPSTREAM), quantize_down(values, None, UPSTREAM))


@pytest.mark.parametrize(
    ("window", "sentence"),
    [
        ((slice(0, 14), slice(0, 21)), r"for axis 0: give 0 <= start <= stop <= 13 and step 1"),
        ((slice(0, 13), slice(-1, 21)), r"for axis 1: give 0 <= start <= stop <= 21 and step 1"),
        ((slice(5, 4), slice(0, 21)), r"for axis 0: give 0 <= start <= stop <= 13 and step 1"),
        ((slice(0, 13), slice(0, 21, 2)), r"for axis 1: give 0 <= start <= stop <= 21 and step 1"),
        ((slice(0, 13),), "window has 1 slices: the tensor has 2 axes"),
        ((slice(0, 13), 3), "window has 3 for axis 1: give a slice"),
    ],
)
def test_windows_outside_the_tensor_are_refused(window: Window, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        configured().run(np.zeros((13, 21), np.int32), None, np.zeros((13, 21), np.uint8), window)


GIVEN: dict[str, AnyArray] = {"accumulators": np.zeros((13, 21), np.int32), "output": np.zeros((13, 21), np.uint8)}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"accumulators": np.zeros((13, 21), np.int64)}, "accumulators is not a numpy array of int32"),
        ({"output": np.zeros((13, 21), np.int8)}, "output is not a numpy array of uint8"),
        ({"accumulators": np.zeros((12, 21), np.int32)}, r"accumulators has shape \(12, 21\): it was configured as"),
        ({"output": np.zeros((1, 13, 21), np.uint8)}, r"output has shape \(1, 13, 21\): it was configured as"),
        ({"bias": np.zeros(21, np.int32)}, "bias was given to one of configure"),
    ],
)
def test_arrays_that_were_not_configured_are_refused(changes: dict[str, AnyArray], sentence: str) -> None:
    arrays = {"bias": None} | GIVEN | changes
    with pytest.raises((ValueError, TypeError), match=sentence):
        configured().run(**arrays)  # type: ignore[arg-type]  # the refusal is the claim


@pytest.mark.parametrize(
    ("bias", "sentence"),
    [
        (None, "bias was given to one of configure"),
        (np.zeros(20, np.int32), r"bias has shape \(20,\): it was configured as \(21,\)"),
        (np.zeros(21, np.int16), "bias is not a numpy array of int32"),
    ],
)
def test_a_bias_that_was_not_configured_is_refused(bias: Int32Array | None, sentence: str) -> None:
    operator = QuantizeDown()
    operator.configure(INPUT, BIAS, TensorInfo(), UPSTREAM)
    with pytest.raises((ValueError, TypeError), match=sentence):
        operator.run(np.zeros((13, 21), np.int32), bias, np.zeros((13, 21), np.uint8))


def test_run_before_configure_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"call configure\(\) before run\(\)"):
        QuantizeDown().run(np.zeros(1, np.int32), None, np.zeros(1, np.uint8))
