"""conv2d: the numbers of docs/spec/layers.md, the definition in integers, the operator, and every way to run it."""

from __future__ import annotations

import doctest
from dataclasses import replace
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.check.check import Job, check_job
from sim.check.vectors import Vectors, make_vectors
from sim.cycles.input import kernel_calls
from sim.kernels.conv2d import golden
from sim.kernels.conv2d.configure import Conv2d
from sim.kernels.conv2d.golden import Geometry, conv2d
from sim.kernels.fully_connected.golden import MODES, Parameters, fully_connected
from sim.kernels.kernel import Inputs, Kernel, built_in_kernel, kernel_modes
from sim.kernels.operator import ConfigurationError, TensorInfo
from sim.kernels.requantize.golden import Channels
from support.planted_source import compiled_with_fault, is_wrong
from support.rivals import hardly_apart
from support.sampled import sampled

NAME = "conv2d"


def products(inputs: Inputs) -> list[int]:
    """Sum by sum from the definition, in Python's integers."""
    by, of = inputs["parameters"], inputs["geometry"]
    image, weights = inputs["input"].astype(object), inputs["weights"].astype(object)
    (batches, height, width, channels), (columns, kh, kw, _) = image.shape, weights.shape
    sums = []
    for n, y, x in product(
        range(batches),
        range((height + of.top + of.bottom - kh) // of.stride_y + 1),
        range((width + of.left + of.right - kw) // of.stride_x + 1),
    ):
        for j in range(columns):
            total = 0
            for ky, kx, c in product(range(kh), range(kw), range(channels)):
                row, place = y * of.stride_y + ky - of.top, x * of.stride_x + kx - of.left
                if 0 <= row < height and 0 <= place < width:
                    total += (image[n, row, place, c] - by.input_zero) * (weights[j, ky, kx, c] - by.weights_zero)
            sums.append(total)
    return sums


@pytest.mark.parametrize("mode", ["s8_double_rounding", "u8_fp32"])
def test_sums_are_those_of_the_definition(mode: str) -> None:
    kernel, rng = built_in_kernel(NAME, mode), np.random.default_rng(5)
    sets = [*islice(kernel.corners(), 42), *(kernel.sample(rng) for _ in range(20))]
    made = [golden.steps(**case, mode=mode)["products"].reshape(-1).tolist() for case in sets]
    assert made == [products(case) for case in sets]


@pytest.mark.parametrize("mode", MODES)
def test_a_window_of_one_pixel_is_fully_connected(mode: str) -> None:
    """What is behind the sums is checked in fractions there."""
    rng = np.random.default_rng(6)
    sets = [built_in_kernel("fully_connected", mode).sample(rng) for _ in range(20)]
    apart = []
    for inputs in sets:
        rows = {**inputs, "input": inputs["input"][:, None, None], "weights": inputs["weights"][:, None, None]}
        apart.append((conv2d(**rows, mode=mode)[:, 0, 0] != fully_connected(**inputs, mode=mode)).any())
    assert not any(apart)


def test_every_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted) == (0, 4)


BYTES = np.zeros((1, 3, 3, 2), np.int8)
BY = Parameters(factors=Channels((2**30,), (0,)), minimum=-128, maximum=127)


@pytest.mark.parametrize(
    ("weights", "geometry", "error", "sentence"),
    [
        (BYTES[0], Geometry(), ValueError, "weights has shape .* give 4 axes"),
        (BYTES[..., :1], Geometry(), ValueError, "give .*kernel height"),
        (BYTES.astype(np.uint8), Geometry(), TypeError, "not a numpy array of int8"),
        (BYTES[:, :0], Geometry(), ValueError, "it must be 1 or more each way"),
        (BYTES, Geometry(1, 0), ValueError, "they must be 1 or more"),
        (BYTES, Geometry(1, 1, -1, 1), ValueError, "a padding is negative"),
        (np.zeros((1, 4, 1, 2), np.int8), Geometry(), ValueError, "is smaller"),
    ],
)
def test_what_does_not_fit_is_refused(weights: Any, geometry: Geometry, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        conv2d(BYTES, weights, None, BY, geometry)


# The operator.


def test_run_computes_its_window_and_nothing_else() -> None:
    inputs = built_in_kernel(NAME).sample(np.random.default_rng(4))
    arrays = {name: inputs[name] for name in ("input", "weights", "bias")}
    input, weights = (TensorInfo(inputs[name].shape, "QASYMM8_SIGNED") for name in ("input", "weights"))
    bias = None if inputs["bias"] is None else TensorInfo(inputs["bias"].shape, "S32")
    operator, whole = Conv2d(), conv2d(**inputs)
    operator.configure(input, weights, bias, TensorInfo(), inputs["parameters"], inputs["geometry"])
    made, expected = np.full_like(whole, 99), np.full_like(whole, 99)
    window = (slice(None), slice(0, 1), slice(None), slice(0, 1))
    operator.run(**arrays, output=made, window=window)
    expected[window] = whole[window]
    assert made.tolist() == expected.tolist()


def test_run_before_configure_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="call configure"):
        Conv2d().run(BYTES, BYTES, None, BYTES)


# Every way to run it.


@cache
def with_few_corners(mode: str) -> tuple[Kernel, Vectors]:
    whole = built_in_kernel(NAME, mode)
    kernel = replace(whole, corners=lambda: islice(whole.corners(), 0, None, 7))
    return kernel, make_vectors(kernel, 100, 1)


@pytest.mark.slow
@pytest.mark.parametrize("mode", sampled(MODES, 3))
@pytest.mark.parametrize("source", [0, 1, None], ids=["kernel.c", "kernel_plain.c", "program"])
def test_implementation_agrees_with_the_golden_reference(mode: str, source: int | None) -> None:
    kernel, vectors = with_few_corners(mode)
    job = Job(None, ()) if source is None else Job(kernel.sources[source], ("-O2", *kernel.flags))
    outcome = check_job(kernel, job, vectors, lambda done: None, engine="machine")
    assert (outcome.failure, outcome.vectors > 200) == ("", True)


@pytest.mark.slow
@pytest.mark.parametrize("mode", sampled(["s8_double_rounding", "u8_fp32"], 2))
def test_compiled_kernel_agrees_with_the_emulator_in_lockstep(mode: str) -> None:
    kernel = replace(built_in_kernel(NAME, mode), corners=lambda: iter(()))
    job = Job(kernel.sources[0], ("-O1", *kernel.flags))
    outcome = check_job(kernel, job, make_vectors(kernel, 100, 2), lambda done: None)
    assert (outcome.failure, outcome.vectors >= 100) == ("", True)


FAULTS = {
    "padding counts as the pixel before": ("pixel = padding;", "pixel = input;"),
    "the last row is outside": ("row < of->height", "row + 1 < of->height"),
    "padding on the left is that on top": ("kx - of->left", "kx - of->top"),
    "strides are exchanged": ("y * of->stride_y", "y * of->stride_x"),
    "each batch is the first": ("input += of->height * of->width * of->channels", "input += 0"),
    "the window is one pixel": ("tap, length, of->channels", "own, length, of->channels"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", sampled(FAULTS, 2))
def test_a_fault_is_noticed(fault: str, tmp_path: Path) -> None:
    kernel, (text, changed) = built_in_kernel(NAME, "s8_fp32"), FAULTS[fault]
    compiled = compiled_with_fault(kernel, ("fully_connected", "requantize"), "kernel.c", text, changed, tmp_path)
    rng = np.random.default_rng(7)
    assert any(is_wrong(compiled, kernel, kernel.sample(rng)) for _ in range(40))


@pytest.mark.parametrize("mode", MODES)
def test_random_vectors_separate_the_mode_from_every_convention(mode: str) -> None:
    kernel = built_in_kernel(NAME, mode)
    assert (len(kernel.conventions) >= 2, hardly_apart(kernel, 80)) == (True, [])


def test_default_mode_comes_first() -> None:
    assert kernel_modes(NAME) == tuple(MODES)


@pytest.mark.slow
def test_cycles_are_told_by_multiply_accumulate() -> None:
    call = next(kernel_calls(built_in_kernel(NAME), ["-O2"], [], None, 1, 1 << 20))
    assert (call.elements, call.notes) == (5 * 5 * 8 * 3 * 3 * 32, ("an element is a multiply-accumulate",))
