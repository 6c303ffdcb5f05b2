"""requantize as an operator: validate() in its order, configure(), run() on windows."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array
from sim.kernels.kernel import kernel_modes
from sim.kernels.operator import AnyArray, ConfigurationError, ErrorCode, Shape, TensorInfo, Window
from sim.kernels.requantize.configure import Parameters, Requantize, output_type, validate
from sim.kernels.requantize.golden import (
    FIXED_POINT,
    FLOAT_SCALE,
    Channels,
    FloatScale,
    IntegerScale,
    requantize,
    requantize_float,
    requantize_integer,
)

INPUT = TensorInfo((3, 5), "S32")
BIAS = TensorInfo((5,), "S32")
BY_CHANNELS = Channels((2**30, 3 * 2**29, 2**30, 5 * 2**28, 2**30), (0, -1, 1, -3, -9))
BY_FLOAT = FloatScale(np.float32(0.25), 3, 1, 120)
BY_INTEGERS = IntegerScale(-2, 3, 2, 1, 172)
UNTOUCHED = 99
DTYPES = {"S32": np.int32, "QASYMM8_SIGNED": np.int8, "QASYMM8": np.uint8}


def parameters_of(mode: str) -> Parameters:
    return BY_CHANNELS if mode in FIXED_POINT else BY_FLOAT if mode in FLOAT_SCALE else BY_INTEGERS


def expected_of(values: Int32Array, bias: Int32Array | None, mode: str) -> AnyArray:
    if mode in FIXED_POINT:
        return requantize(values, BY_CHANNELS, mode)
    if mode in FLOAT_SCALE:
        return requantize_float(values, BY_FLOAT, mode)
    return requantize_integer(values, bias, BY_INTEGERS, mode)


def bias_of(mode: str) -> Int32Array | None:
    return np.array([5, -5, 0, INT32_MAX, 900], np.int32) if mode.endswith("integer_scale") else None


def configured(mode: str) -> Requantize:
    operator = Requantize()
    operator.configure(INPUT, BIAS if bias_of(mode) is not None else None, TensorInfo(), parameters_of(mode), mode)
    return operator


def random_values(shape: Shape) -> Int32Array:
    values = np.random.default_rng(5).integers(INT32_MIN, INT32_MAX, shape)
    return (values >> np.random.default_rng(6).integers(0, 28, shape)).astype(np.int32)


# run()


@pytest.mark.parametrize("window", [None, (slice(1, 3), slice(1, 4)), (slice(0, 3), slice(4, 5)), (slice(1, 1),) * 2])
@pytest.mark.parametrize("mode", kernel_modes("requantize"))
def test_run_computes_its_window_and_nothing_else(mode: str, window: Window | None) -> None:
    values, bias = random_values((3, 5)), bias_of(mode)
    made = np.full((3, 5), UNTOUCHED, DTYPES[output_type(mode)])
    configured(mode).run(values, bias, made, window)
    inside = window or (slice(None), slice(None))
    expected = np.full((3, 5), UNTOUCHED, made.dtype)
    expected[inside] = expected_of(values, bias, mode)[inside]
    assert made.tolist() == expected.tolist()


@pytest.mark.parametrize("shape", [(0,), (0, 5), (4, 0), (1,), (2, 1, 3)])
def test_one_channel_serves_any_shape(shape: Shape) -> None:
    values, made = np.full(shape, 6, np.int32), np.full(shape, UNTOUCHED, np.int32)
    operator = Requantize()
    operator.configure(TensorInfo(shape, "S32"), None, TensorInfo(), Channels((2**30,), (0,)))
    operator.run(values, None, made)
    assert np.array_equal(made, np.full(shape, 3))


def test_output_may_drop_axes_of_size_1() -> None:
    operator, made = Requantize(), np.zeros(2, np.int32)
    operator.configure(TensorInfo((1, 2), "S32"), None, TensorInfo((2,), "S32"), Channels((2**30,), (0,)))
    operator.run(np.array([[8, 9]], np.int32), None, made)
    assert made.tolist() == [4, 5]


VALUES, OUTPUT = np.zeros((3, 5), np.int32), np.zeros((3, 5), np.uint8)


@pytest.mark.parametrize(
    ("values", "bias", "output", "window", "error", "sentence"),
    [
        (VALUES.astype(np.int64), VALUES[0], OUTPUT, None, TypeError, "values is not a numpy array of int32"),
        (VALUES, VALUES[0], OUTPUT.astype(np.int8), None, TypeError, "output is not a numpy array of uint8"),
        (VALUES, VALUES[0].astype(np.int64), OUTPUT, None, TypeError, "bias is not a numpy array of int32"),
        (VALUES[:2], VALUES[0], OUTPUT, None, ValueError, "values has shape"),
        (VALUES, VALUES[0, :4], OUTPUT, None, ValueError, "bias has shape"),
        (VALUES, None, OUTPUT, None, ValueError, "give it to both or to neither"),
        (VALUES, VALUES[0], OUTPUT, (slice(0, 3),), ValueError, "window has 1 slices"),
        (VALUES, VALUES[0], OUTPUT, (slice(0, 4), slice(0, 5)), ValueError, "give 0 <= start <= stop <= 3"),
        (VALUES, VALUES[0], OUTPUT, (0, 1), TypeError, "give a slice"),
    ],
)
def test_run_refuses(values: Any, bias: Any, output: Any, window: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        configured("acl_integer_scale").run(values, bias, output, window)


def test_run_before_configure_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="call configure"):
        Requantize().run(VALUES, None, OUTPUT)


# validate() and configure()

OUT = TensorInfo((3, 5), "QASYMM8")
FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("input has data type F32: it must be S32", {"input": replace(INPUT, data_type="F32")}),
    ("input has 2 channels: it must have 1", {"input": replace(INPUT, channels=2)}),
    ("maximum is 300: it must not exceed 255", {"parameters": IntegerScale(0, 1, 1, -1, 300)}),
    ("minimum is -1: it must not be below 0", {"parameters": IntegerScale(0, 1, 32, -1, 3)}),
    ("minimum 9 is above maximum 3: give minimum <= maximum", {"parameters": IntegerScale(0, 1, 32, 9, 3)}),
    ("the right shift is 32: it must lie in 0..31", {"parameters": IntegerScale(0, 1, 32)}),
    ("bias has data type F32: it must be the input's, S32", {"bias": TensorInfo((5, 5), "F32")}),
    ("bias has rank 2, shape (5, 5): it must have rank 1", {"bias": TensorInfo((5, 5), "S32")}),
    (
        "bias has shape (4,): its length must be the last axis of the input's (3, 5)",
        {"bias": TensorInfo((4,), "S32")},
    ),
    ("output has data type S32: it must be QASYMM8", {"output": replace(OUT, data_type="S32")}),
    ("output has 2 channels: it must have 1", {"output": replace(OUT, channels=2)}),
    ("output has shape (5, 3): it must be the input's, (3, 5)", {"output": replace(OUT, shape=(5, 3))}),
]
LEGAL: dict[str, Any] = {
    "input": INPUT,
    "bias": BIAS,
    "output": OUT,
    "parameters": BY_INTEGERS,
    "mode": "acl_integer_scale",
}


@pytest.mark.parametrize(("sentence", "wrong"), FAULTS)
def test_each_fault_has_its_sentence(sentence: str, wrong: dict[str, Any]) -> None:
    status = validate(**(LEGAL | wrong))
    assert (status.code, status.description) == (ErrorCode.RUNTIME_ERROR, sentence)


@pytest.mark.parametrize("first", range(len(FAULTS)))
def test_earlier_fault_comes_first(first: int) -> None:
    later: dict[str, Any] = {}
    for _, wrong in reversed(FAULTS[first:]):
        later |= wrong
    assert validate(**(LEGAL | later)).description == FAULTS[first][0]


@pytest.mark.parametrize("mode", kernel_modes("requantize"))
def test_legal_tensors_pass(mode: str) -> None:
    assert validate(INPUT, None, TensorInfo((3, 5), output_type(mode)), parameters_of(mode), mode)


def test_bias_where_the_mode_has_none_is_a_fault() -> None:
    assert validate(INPUT, BIAS, TensorInfo(), BY_CHANNELS).description == (
        "mode tflite_double_rounding has no bias: give None"
    )


def test_channels_are_counted_against_the_last_axis() -> None:
    status = validate(TensorInfo((5, 3), "S32"), None, TensorInfo(), BY_CHANNELS)
    assert status.description == "there are 5 multipliers and 5 shifts: give one of each, or 3"


@pytest.mark.parametrize("mode", kernel_modes("requantize"))
def test_empty_output_is_initialised(mode: str) -> None:
    output = TensorInfo()
    Requantize().configure(replace(INPUT, quantization=(0.5, 3)), None, output, parameters_of(mode), mode)
    assert (output.shape, output.data_type, output.quantization) == ((3, 5), output_type(mode), (0.5, 3))


def test_configure_raises_the_status_text() -> None:
    with pytest.raises(ConfigurationError, match="the right shift is 32"):
        Requantize().configure(INPUT, None, TensorInfo(), IntegerScale(0, 1, 32), "acl_integer_scale")


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ((None, None, OUT, BY_CHANNELS), TypeError, "input is None: give a TensorInfo"),
        ((INPUT, None, None, BY_CHANNELS), TypeError, "output is None: give a TensorInfo"),
        ((INPUT, None, OUT, BY_FLOAT), TypeError, "parameters of mode tflite_double_rounding are not a FloatScale"),
        ((INPUT, None, OUT, BY_CHANNELS, "gemmlowp"), ValueError, "unknown mode 'gemmlowp': give one of tflite"),
    ],
)
def test_wrong_call_is_refused(arguments: tuple[Any, ...], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        validate(*arguments)
