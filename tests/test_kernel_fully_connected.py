"""fully_connected: the numbers of docs/spec/layers.md, exact fractions, the operator, and every way to run it."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.check.check import Job, check_job
from sim.check.vectors import make_vectors
from sim.cycles.input import kernel_calls
from sim.kernels.fully_connected import golden
from sim.kernels.fully_connected.configure import FullyConnected
from sim.kernels.fully_connected.golden import MODES, FloatChannels, Parameters, fully_connected
from sim.kernels.kernel import Inputs, Kernel, built_in_kernel, kernel_modes
from sim.kernels.operator import ConfigurationError, TensorInfo
from sim.kernels.requantize.golden import Channels
from support.exact_rounding import float32_nearest, half_away, half_up, wrapped
from support.planted_source import compiled_with_fault, is_wrong
from support.rivals import hardly_apart
from support.sampled import sampled

NAME = "fully_connected"
QUARTER = Channels((2**30,), (-1,))


# The golden reference.


def high_half(x: int, q: int, e: int) -> Fraction:
    return Fraction(half_up(Fraction(wrapped(x * 2 ** max(e, 0)) * q, 2**31)), 2 ** max(-e, 0))


EXACT: dict[str, Callable[..., int]] = {
    "double_rounding": lambda x, q, e: half_away(high_half(x, q, e)),
    "double_rounding_ties_up": lambda x, q, e: half_up(high_half(x, q, e)),
    "single_rounding": lambda x, q, e: wrapped(half_up(Fraction(x * q) * Fraction(2) ** (e - 31))),
    "fp32": lambda x, s: round(float32_nearest(float32_nearest(Fraction(x)) * Fraction(float(s)))),
}


def exact(inputs: Inputs, mode: str) -> list[list[int]]:
    """Element by element from the definition, in integers and fractions."""
    by, factors = inputs["parameters"], inputs["parameters"].factors
    arrays = (factors.multipliers, factors.left_shifts) if isinstance(factors, Channels) else (factors.scales,)
    each = list(zip(*arrays, strict=True))
    rows = []
    for row in inputs["input"].tolist():
        made = []
        for j, column in enumerate(inputs["weights"].tolist()):
            pairs = zip(row, column, strict=True)
            total = sum((x - by.input_zero) * (w - by.weights_zero) for x, w in pairs)
            total = wrapped(total + (0 if inputs["bias"] is None else int(inputs["bias"][j])))
            scaled = EXACT[mode.partition("_")[2]](total, *each[j % len(each)])
            made.append(min(max(scaled + by.output_zero, by.minimum), by.maximum))
        rows.append(made)
    return rows


@pytest.mark.parametrize("mode", MODES)
def test_bytes_are_exact(mode: str) -> None:
    kernel, rng = built_in_kernel(NAME, mode), np.random.default_rng(5)
    sets = [*islice(kernel.corners(), 0, None, 9), *(kernel.sample(rng) for _ in range(60))]
    assert [fully_connected(**case, mode=mode).tolist() for case in sets] == [exact(case, mode) for case in sets]


@pytest.mark.parametrize(
    ("mode", "expected"), [("s8_double_rounding", -2), ("s8_double_rounding_ties_up", -1), ("s8_single_rounding", -1)]
)
def test_a_tie_is_rounded_as_the_mode_says(mode: str, expected: int) -> None:
    """(5 - 2) * -2 = -6, a quarter of it is -1.5."""
    by = Parameters(factors=QUARTER, input_zero=2, minimum=-128, maximum=127)
    made = fully_connected(np.array([[5]], np.int8), np.array([[-2]], np.int8), None, by, mode)
    assert made.tolist() == [[expected]]


@pytest.mark.parametrize(("sum_", "expected"), [(5, 2), (7, 4), (-5, -2), (2**24 + 1, 127)])
def test_fp32_rounds_to_even(sum_: int, expected: int) -> None:
    by = Parameters(factors=FloatChannels((np.float32(0.5),)), minimum=-128, maximum=127)
    nothing = np.zeros((1, 0), np.int8)
    made = fully_connected(nothing, nothing, np.array([sum_], np.int32), by, "s8_fp32")
    assert made.tolist() == [[expected]]


def test_each_column_has_its_factor() -> None:
    by = Parameters(factors=Channels((2**30, 2**30, 2**30), (1, 0, -1)), minimum=-128, maximum=127)
    ones = np.ones((3, 8), np.int8)
    assert fully_connected(ones[:1], ones, None, by).tolist() == [[8, 4, 2]]


def test_sums_wrap() -> None:
    by = Parameters(factors=Channels((2**30,), (-23,)), minimum=-128, maximum=127)
    nothing = np.array([[-128, 1]], np.int8)
    made = fully_connected(nothing, np.array([[-1, 0]], np.int8), np.array([2**31 - 1], np.int32), by)
    assert made.tolist() == [[-128]]


def test_every_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted) == (0, 2)


BYTES = np.zeros((2, 3), np.int8)
GIVEN = {"input": BYTES, "weights": BYTES, "bias": None, "mode": "s8_double_rounding",
         "parameters": Parameters(factors=QUARTER, minimum=-128, maximum=127)}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"input": BYTES.astype(np.int16)}, TypeError, "input is not a numpy array of int8"),
        ({"weights": BYTES.astype(np.uint8)}, TypeError, "weights is not a numpy array of int8"),
        ({"input": BYTES[0]}, ValueError, "give 2 axes"),
        ({"weights": BYTES[:, :2]}, ValueError, "their depths differ"),
        ({"bias": np.zeros(3, np.int32)}, ValueError, r"bias is int32\[3\]: it must be int32\[2\]"),
        ({"bias": np.zeros(2)}, ValueError, "it must be int32"),
        ({"mode": "s8"}, ValueError, "unknown mode 's8': give one of s8_double_rounding"),
        ({"mode": "s8_fp32"}, ValueError, "mode s8_fp32 does not scale by Channels"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        fully_connected(**{**GIVEN, **changes})


def test_a_scale_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match=r"give a numpy\.float32"):
        FloatChannels((0.5,))  # type: ignore[arg-type]


# The operator.


def operator_of(inputs: Inputs, mode: str) -> FullyConnected:
    operator, kind = FullyConnected(), "QASYMM8" if mode.startswith("u8") else "QASYMM8_SIGNED"
    input, weights = (TensorInfo(inputs[name].shape, kind) for name in ("input", "weights"))
    bias = None if inputs["bias"] is None else TensorInfo(inputs["bias"].shape, "S32")
    operator.configure(input, weights, bias, TensorInfo(), inputs["parameters"], mode)
    return operator


@pytest.mark.parametrize("window", [None, (slice(0, 1), slice(1, 3)), (slice(1, 1), slice(None))])
def test_run_computes_its_window_and_nothing_else(window: Any) -> None:
    mode, kernel, rng = "u8_fp32", built_in_kernel(NAME, "u8_fp32"), np.random.default_rng(3)
    inputs = next(
        case
        for case in iter(lambda: kernel.sample(rng), None)
        if case["bias"] is not None and len(case["input"]) > 1 and len(case["weights"]) > 3
    )
    arrays = {name: inputs[name] for name in ("input", "weights", "bias")}
    whole = fully_connected(**inputs, mode=mode)
    made, expected = np.full_like(whole, 99), np.full_like(whole, 99)
    operator_of(inputs, mode).run(**arrays, output=made, window=window)
    inside = window or (slice(None), slice(None))
    expected[inside] = whole[inside]
    assert made.tolist() == expected.tolist()


def test_run_before_configure_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="call configure"):
        FullyConnected().run(BYTES, BYTES, None, BYTES)


def test_what_is_refused_is_not_configured() -> None:
    with pytest.raises(ConfigurationError, match=r"give \[rows, depth\]"):
        FullyConnected().configure(
            TensorInfo((2, 3), "QASYMM8_SIGNED"), TensorInfo((2, 2), "QASYMM8_SIGNED"), None, TensorInfo(),
            GIVEN["parameters"],  # type: ignore[arg-type]
        )  # fmt: skip


# Every way to run it.


def few_corners(kernel: Kernel, every: int = 13) -> Kernel:
    return replace(kernel, corners=lambda: islice(kernel.corners(), 0, None, every))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", [0, 1, None], ids=["kernel.c", "kernel_plain.c", "program"])
def test_implementation_agrees_with_the_golden_reference(mode: str, source: int | None) -> None:
    kernel = few_corners(built_in_kernel(NAME, mode))
    job = Job(None, ()) if source is None else Job(kernel.sources[source], ("-O2", *kernel.flags))
    outcome = check_job(kernel, job, make_vectors(kernel, 200, 1), lambda done: None, engine="machine")
    assert (outcome.failure, outcome.vectors > 300) == ("", True)


@pytest.mark.slow
@pytest.mark.parametrize("mode", sampled(["s8_double_rounding", "u8_fp32"], 2))
def test_compiled_kernel_agrees_with_the_emulator_in_lockstep(mode: str) -> None:
    kernel = replace(built_in_kernel(NAME, mode), corners=lambda: iter(()))
    outcome = check_job(
        kernel, Job(kernel.sources[0], ("-O1", *kernel.flags)), make_vectors(kernel, 200, 2), lambda done: None
    )
    assert (outcome.failure, outcome.vectors >= 200) == ("", True)


FAULTS = {
    "zeros of the weights are forgotten": ("layer.h", "vsubq_s32(vaddq_s32(terms, totals(sums, count)), of_bytes)",
                                           "vaddq_s32(terms, totals(sums, count))"),
    "both zeros are forgotten": ("layer.h", "vdupq_n_s32((int32_t)zeros)", "vdupq_n_s32(0)"),
    "the zero of the input has another sign": ("layer.h", "vmlsq_n_s32(biases", "vmlaq_n_s32(biases"),
    "the tail of a row is left out": ("layer.h", "for (; k < length; ++k)", "for (; k + 1 < length; ++k)"),
    "the zero point wraps": ("layer.h", "vqaddq_s32(scaled", "vaddq_s32(scaled"),
    "floats are rounded away": ("layer.h", "vcvtnq_s32_f32", "vcvtaq_s32_f32"),
    "the factor is that of the first column": ("layer.h", "scaling->scales + j)", "scaling->scales)"),
    "the last columns are left out": ("kernel.c", "for (; j < columns; ++j)", "for (; j + 1 < columns; ++j)"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", sampled(FAULTS, 2))
def test_a_fault_is_noticed(fault: str, tmp_path: Path) -> None:
    """Each in the mode that has all of these parts."""
    kernel, rng = built_in_kernel(NAME, "u8_fp32"), np.random.default_rng(7)
    compiled = compiled_with_fault(kernel, ("requantize",), *FAULTS[fault], tmp_path)
    assert any(is_wrong(compiled, kernel, kernel.sample(rng)) for _ in range(60))


@pytest.mark.parametrize("mode", MODES)
def test_random_vectors_separate_the_mode_from_every_convention(mode: str) -> None:
    kernel = built_in_kernel(NAME, mode)
    assert (len(kernel.conventions) >= 2, hardly_apart(kernel, 300)) == (True, [])


def test_default_mode_comes_first() -> None:
    assert kernel_modes(NAME) == tuple(MODES)


@pytest.mark.slow
def test_cycles_are_told_by_multiply_accumulate() -> None:
    call = next(kernel_calls(built_in_kernel(NAME), ["-O2"], [], None, 1, 1 << 20))
    assert (call.elements, call.notes) == (4 * 32 * 256, ("an element is a multiply-accumulate",))
