"""depthwise_conv2d: conv2d channel by channel, the operator, every way to run it, and faults that are noticed."""

from __future__ import annotations

import doctest
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.check.check import Job, check_job
from sim.check.vectors import make_vectors
from sim.cycles.input import kernel_calls
from sim.kernels.conv2d.golden import Geometry, conv2d
from sim.kernels.depthwise_conv2d import golden
from sim.kernels.depthwise_conv2d.configure import DepthwiseConv2d
from sim.kernels.depthwise_conv2d.golden import depthwise_conv2d
from sim.kernels.fully_connected.golden import MODES, FloatChannels, Parameters
from sim.kernels.fully_connected.vectors import random_bytes
from sim.kernels.kernel import built_in_kernel, kernel_modes
from sim.kernels.operator import ConfigurationError, TensorInfo
from sim.kernels.requantize.golden import Channels
from support.planted_source import compiled_with_fault, is_wrong
from support.rivals import hardly_apart
from support.sampled import sampled

NAME, DEFAULT = "depthwise_conv2d", "s8_double_rounding"


def parameters_of(parameters: Parameters, channel: int) -> Parameters:
    """With the factor of that channel alone."""
    factors = parameters.factors
    if isinstance(factors, FloatChannels):
        return replace(parameters, factors=FloatChannels((factors.scales[channel % len(factors.scales)],)))
    at = channel % len(factors.multipliers)
    return replace(parameters, factors=Channels((factors.multipliers[at],), (factors.left_shifts[at],)))


@pytest.mark.parametrize("mode", MODES)
def test_each_column_is_a_convolution_of_its_own(mode: str) -> None:
    kernel, rng = built_in_kernel(NAME, mode), np.random.default_rng(5)
    for inputs in (*islice(kernel.corners(), 42), *(kernel.sample(rng) for _ in range(10))):
        made = depthwise_conv2d(**inputs, mode=mode)
        for c in range(made.shape[3]):
            bias, by = inputs["bias"], parameters_of(inputs["parameters"], c)
            channel = c * inputs["input"].shape[3] // made.shape[3]
            image, taps = inputs["input"][..., channel : channel + 1], inputs["weights"][None, :, :, c : c + 1]
            alone = conv2d(image, taps, None if bias is None else bias[c : c + 1], by, inputs["geometry"], mode)
            assert made[..., c].tolist() == alone[..., 0].tolist()


@pytest.mark.parametrize("mode", ["s8_double_rounding", "s8_fp32", "u8_double_rounding"])
def test_several_windows_of_a_channel_are_convolutions_of_that_channel(mode: str) -> None:
    """Of a depth multiplier of 3, those of a channel come out behind each other."""
    dtype, rng = MODES[mode].dtype, np.random.default_rng(6)
    image, taps = (np.frombuffer(rng.bytes(size), dtype) for size in (2 * 5 * 6 * 4, 3 * 2 * 12))
    image, taps, bias = image.reshape(2, 5, 6, 4), taps.reshape(3, 2, 12), rng.integers(-900, 900, 12).astype(np.int32)
    parameters = next(iter(built_in_kernel(NAME, mode).corners()))["parameters"]
    by = parameters_of(parameters, 0)
    geometry = Geometry(1, 2, 1, 1, 0, 1)
    made = depthwise_conv2d(image, taps, bias, by, geometry, mode)
    for j in range(12):
        of_one = image[..., j // 3 : j // 3 + 1], taps[None, :, :, j : j + 1], bias[j : j + 1]
        assert made[..., j].tolist() == conv2d(*of_one, by, geometry, mode)[..., 0].tolist()


@pytest.mark.parametrize("source", [0, 1, None])
@pytest.mark.parametrize(("channels", "windows"), [(1, 1), (2, 8), (3, 1), (1, 17), (3, 3), (2, 24)])
def test_compiled_kernel_and_program_have_several_windows_of_a_channel(
    channels: int, windows: int, source: int | None
) -> None:
    kernel, rng = built_in_kernel(NAME), np.random.default_rng(channels * windows)
    image, taps = (
        random_bytes(rng, (1, 4, 3, channels), DEFAULT),
        random_bytes(rng, (3, 2, channels * windows), DEFAULT),
    )
    bias = rng.integers(-900, 900, channels * windows).astype(np.int32)
    by = replace(BY, factors=Channels((2**30,), (-5,)), input_zero=3)
    inputs = {"input": image, "weights": taps, "bias": bias, "parameters": by, "geometry": Geometry(1, 1, 1, 0, 1, 0)}
    own = replace(kernel, corners=lambda: iter([inputs]), sample=lambda _: inputs)
    job = Job(None, ()) if source is None else Job(kernel.sources[source], ("-O2", *kernel.flags))
    outcome = check_job(own, job, make_vectors(own, 1, 1), lambda done: None)
    assert (outcome.failure, outcome.vectors > 0) == ("", True)


def test_the_operator_has_several_windows_of_a_channel() -> None:
    operator, output = DepthwiseConv2d(), TensorInfo()
    infos = TensorInfo((1, 3, 3, 2), "QASYMM8_SIGNED"), TensorInfo((3, 3, 4), "QASYMM8_SIGNED")
    operator.configure(*infos, None, output, BY, Geometry())
    assert output.shape == (1, 1, 1, 4)


def test_every_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted) == (0, 4)


BYTES, TAPS = np.zeros((1, 3, 3, 2), np.int8), np.zeros((3, 3, 2), np.int8)
BY = Parameters(factors=Channels((2**30,), (0,)), minimum=-128, maximum=127)


@pytest.mark.parametrize(
    ("weights", "geometry", "error", "sentence"),
    [
        (BYTES, Geometry(), ValueError, "weights has shape .* give 3 axes"),
        (TAPS[..., :1], Geometry(), ValueError, r"give .*kernel height, kernel width, m \* channels"),
        (TAPS[..., :0], Geometry(), ValueError, r"give .*kernel height, kernel width, m \* channels"),
        (TAPS.astype(np.uint8), Geometry(), TypeError, "not a numpy array of int8"),
        (TAPS[:0], Geometry(), ValueError, "it must be 1 or more each way"),
        (np.zeros((4, 1, 2), np.int8), Geometry(), ValueError, "is smaller"),
    ],
)
def test_what_does_not_fit_is_refused(weights: Any, geometry: Geometry, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        depthwise_conv2d(BYTES, weights, None, BY, geometry)


# The operator.


def test_run_computes_its_window_and_nothing_else() -> None:
    inputs = built_in_kernel(NAME).sample(np.random.default_rng(4))
    arrays = {name: inputs[name] for name in ("input", "weights", "bias")}
    input, weights = (TensorInfo(inputs[name].shape, "QASYMM8_SIGNED") for name in ("input", "weights"))
    bias = None if inputs["bias"] is None else TensorInfo(inputs["bias"].shape, "S32")
    operator, whole = DepthwiseConv2d(), depthwise_conv2d(**inputs)
    operator.configure(input, weights, bias, TensorInfo(), inputs["parameters"], inputs["geometry"])
    made, expected = np.full_like(whole, 99), np.full_like(whole, 99)
    window = (slice(None), slice(0, 1), slice(None), slice(0, 1))
    operator.run(**arrays, output=made, window=window)
    expected[window] = whole[window]
    assert made.tolist() == expected.tolist()


def test_run_before_configure_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="call configure"):
        DepthwiseConv2d().run(BYTES, TAPS, None, BYTES)


# Every way to run it.


WAYS = [*zip(MODES, cycle((0, 1, None)), strict=False), *((DEFAULT, source) for source in (1, None))]
"""Each mode in one of the three ways, the default in all: `make kernels` has the rest."""


@pytest.mark.parametrize(("mode", "source"), WAYS)
def test_implementation_agrees_with_the_golden_reference(mode: str, source: int | None) -> None:
    whole = built_in_kernel(NAME, mode)
    kernel = replace(whole, corners=lambda: islice(whole.corners(), 0, None, 11))
    job = Job(None, ()) if source is None else Job(kernel.sources[source], ("-O2", *kernel.flags))
    outcome = check_job(kernel, job, make_vectors(kernel, 40, 1), lambda done: None, engine="machine")
    assert (outcome.failure, outcome.vectors > 100) == ("", True)


@pytest.mark.slow
@pytest.mark.parametrize("mode", sampled(["s8_double_rounding", "u8_fp32"], 2))
def test_compiled_kernel_agrees_with_the_emulator_in_lockstep(mode: str) -> None:
    kernel = replace(built_in_kernel(NAME, mode), corners=lambda: iter(()))
    job = Job(kernel.sources[0], ("-O2", *kernel.flags))
    outcome = check_job(kernel, job, make_vectors(kernel, 60, 2), lambda done: None)
    assert (outcome.failure, outcome.vectors >= 60) == ("", True)


FAULTS = {
    "strides are exchanged": ("y * of->stride_y", "y * of->stride_x"),
    "the upper four have the lower's factors": ("high, scaling, c + 4, by", "high, scaling, c, by"),
    "a channel's second eight windows are the next one's": (
        "&of, c, channel, &by, is_signed, 8, 1",
        "&of, c, channel + (c + 8 > end - windows + 8), &by, is_signed, 8, 1",
    ),
    "the last windows are of the channel before": (
        "&of, c, channel, &by, is_signed, 1, 1",
        "&of, c, channel - (channel > 0), &by, is_signed, 1, 1",
    ),
    "eight windows have eight channels": ("channel, &by, is_signed, 8, 1", "channel, &by, is_signed, 8, 8"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", sampled(FAULTS, 2))
def test_a_fault_is_noticed(fault: str, tmp_path: Path) -> None:
    kernel, (text, changed) = built_in_kernel(NAME, "s8_fp32"), FAULTS[fault]
    parts = ("conv2d", "fully_connected", "requantize")
    compiled = compiled_with_fault(kernel, parts, "kernel.c", text, changed, tmp_path, "-O1")
    rng = np.random.default_rng(7)
    assert any(is_wrong(compiled, kernel, kernel.sample(rng)) for _ in range(40))


@pytest.mark.parametrize("mode", MODES)
def test_random_vectors_separate_the_mode_from_every_convention(mode: str) -> None:
    kernel = built_in_kernel(NAME, mode)
    assert (len(kernel.conventions) >= 2, hardly_apart(kernel, 40)) == (True, [])


def test_default_mode_comes_first() -> None:
    assert kernel_modes(NAME) == tuple(MODES)


@pytest.mark.slow
def test_cycles_are_told_by_multiply_accumulate() -> None:
    call = next(kernel_calls(built_in_kernel(NAME), ["-O2"], [], None, 1, 1 << 20))
    assert (call.elements, call.notes) == (5 * 5 * 32 * 3 * 3, ("an element is a multiply-accumulate",))
