"""arithmetic_addition: integers by Python's, quantized sums by exact fractions, the operator, every way to run it."""

from __future__ import annotations

import doctest
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job, check_job, jobs_of
from sim.check.vectors import Vectors
from sim.kernels import Kernel, built_in_kernel, kernel_modes
from sim.kernels.arithmetic_addition import golden
from sim.kernels.arithmetic_addition.configure import ArithmeticAddition
from sim.kernels.arithmetic_addition.golden import MODES, Quantized, arithmetic_addition
from sim.kernels.operator import AnyArray, ConfigurationError, TensorInfo
from support.exact_rounding import float32_nearest, half_away
from support.planted_source import wrong_lanes

NAME = "arithmetic_addition"
KERNELS = [built_in_kernel(NAME, mode) for mode in kernel_modes(NAME)]
CASES = [
    pytest.param(kernel, job, id=f"{kernel.mode} {job.name}") for kernel in KERNELS for job in jobs_of(kernel, ["O2"])
]
QUANTIZED = [mode for mode, rule in MODES.items() if rule.block]
SCALES = [(0.5, 0.25, 0.5), (0.1, 0.1, 0.2), (0.0072, 0.013, 0.02), (3.0, 1.0, 0.75), (0.05, 0.05, 0.1)]


def test_every_docstring_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted) == (0, 1)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode not in QUANTIZED])
def test_integers_wrap_or_saturate(mode: str) -> None:
    """All pairs of bytes; of 16 bits all pairs of numbers around the edges and 0."""
    low, high = (int(limit) for limit in (np.iinfo(MODES[mode].dtype).min, np.iinfo(MODES[mode].dtype).max))
    numbers = (
        range(256) if high == 255 else [n + d for n in (low, 0, high) for d in range(-9, 10) if low <= n + d <= high]
    )
    pairs = [(x, y) for x in numbers for y in numbers]
    a, b = (np.array(side, MODES[mode].dtype) for side in zip(*pairs, strict=True))
    size = high - low + 1
    wrapped = [(x + y - low) % size + low for x, y in pairs]
    expected = [min(max(x + y, low), high) for x, y in pairs] if MODES[mode].saturates else wrapped
    assert arithmetic_addition(a, b, mode=mode).tolist() == expected


def exact(x: int, y: int, by: Quantized, mode: str, is_lane: bool) -> int:
    """One sum by the definition of docs/spec/neighbours.md section 19."""
    scales = [Fraction(float(np.float32(scale))) for scale in by[:3]]
    total = float32_nearest(float32_nearest((x - by.a_zero) * scales[0]) + float32_nearest((y - by.b_zero) * scales[1]))
    limits = np.iinfo(MODES[mode].dtype)
    if is_lane:
        product = total * float32_nearest(1 / scales[2])
        placed = float32_nearest((product if MODES[mode].is_fused else float32_nearest(product)) + by.output_zero)
        rounded = round(placed)
    else:
        rounded = half_away(float32_nearest(total / scales[2])) + by.output_zero
    return min(max(rounded, int(limits.min)), int(limits.max))


@pytest.mark.parametrize("mode", QUANTIZED)
@pytest.mark.parametrize("scales", SCALES)
def test_quantized_sums_are_those_of_the_definition(mode: str, scales: tuple[float, float, float]) -> None:
    """A row whose last columns are the tail, so that each pair is taken in both ways."""
    rule, rng = MODES[mode], np.random.default_rng(5)
    by = Quantized(*scales, 3, 130, 10) if rule.dtype == np.uint8 else Quantized(*scales)
    rows = 60
    a, b = (np.frombuffer(rng.bytes(rows * 31 * rule.dtype.itemsize), rule.dtype).reshape(rows, 31) for _ in range(2))
    made, split = arithmetic_addition(a, b, by, mode), 31 // rule.block * rule.block
    for x, y, z in zip(a.tolist(), b.tolist(), made.tolist(), strict=True):
        assert z == [exact(p, q, by, mode, i < split) for i, (p, q) in enumerate(zip(x, y, strict=True))]


@pytest.mark.parametrize(
    ("mode", "value", "by", "expected"),
    [
        ("qasymm8_fused", 1, Quantized(0.5, 1.0, 1.0, 0, 0, 0), [0] * 16 + [1]),
        ("qasymm8_fused", 1, Quantized(0.5, 1.0, 1.0, 0, 0, 1), [2] * 17),
        ("qsymm16", 5, Quantized(0.5, 1.0, 1.0), [2] * 16 + [3]),
    ],
)
def test_the_last_columns_part_from_the_others_on_ties(
    mode: str, value: int, by: Quantized, expected: list[int]
) -> None:
    """docs/spec/neighbours.md section 19: to even after the zero point in blocks, away before it behind them."""
    a, b = np.full(17, value, MODES[mode].dtype), np.zeros(17, MODES[mode].dtype)
    assert arithmetic_addition(a, b, by, mode).tolist() == expected


@pytest.mark.parametrize(
    ("a", "b", "by", "mode", "sentence"),
    [
        (np.zeros(3, np.int8), np.zeros(3, np.uint8), None, "u8_wrap", "a is not a numpy array of uint8"),
        (np.zeros(3, np.uint8), np.zeros(2, np.uint8), None, "u8_wrap", r"a has shape \(3,\) and b \(2,\)"),
        (np.zeros(3, np.uint8), np.zeros(3, np.uint8), None, "qasymm8_fused", "needs scales: give Quantized"),
        (np.zeros(3, np.uint8), np.zeros(3, np.uint8), None, "u8", "unknown mode 'u8'"),
    ],
)
def test_refused_arguments(a: AnyArray, b: AnyArray, by: Quantized | None, mode: str, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        arithmetic_addition(a, b, by, mode)


@pytest.mark.parametrize(("kernel", "job"), CASES)
def test_every_implementation_agrees_in_lockstep(kernel: Kernel, job: Job) -> None:
    inputs = [kernel.sample(np.random.default_rng(seed)) for seed in range(15)]
    vectors = Vectors(inputs, [kernel.golden(case) for case in inputs], seed=0)
    outcome = check_job(kernel, job, vectors, lambda _: None)
    assert (outcome.failure, outcome.vectors) == ("", vectors.count)


PLANTED = [
    ("u8_saturate", 0, "vqaddq_u8(vld1q_u8", "vaddq_u8(vld1q_u8"),
    ("s16_wrap", 1, "(int16_t)(a[i] + b[i])", "(int16_t)clamp(a[i] + b[i], -32768, 32767)"),
    ("qasymm8_unfused", 0, "vcvtnq_s32_f32(vaddq_f32(zero", "vcvtaq_s32_f32(vaddq_f32(zero"),
    ("qasymm8_fused", 0, "vcvtaq_s32_f32(vdivq_f32(sum", "vcvtnq_s32_f32(vdivq_f32(sum"),
    ("qasymm8_fused", 1, "length - length % 16", "length"),
    ("qasymm8_unfused", 0, "vsubq_s32(numbers, vdupq_n_s32(zero))", "vaddq_s32(numbers, vdupq_n_s32(zero))"),
    ("qsymm16", 0, "vqmovn_s32(vcvtnq_s32_f32(vmulq_f32(low", "vmovn_s32(vcvtnq_s32_f32(vmulq_f32(low"),
]


@pytest.mark.parametrize(("mode", "source", "right", "wrong"), PLANTED)
def test_a_planted_fault_is_found(tmp_path: Path, mode: str, source: int, right: str, wrong: str) -> None:
    assert wrong_lanes(built_in_kernel(NAME, mode), source, right, wrong, tmp_path) > 0


# The operator.


def test_a_window_that_begins_elsewhere_moves_the_tail() -> None:
    operator, info, output = ArithmeticAddition(), TensorInfo((17,), "QSYMM16", quantization=(0.5, 0)), TensorInfo()
    output.quantization = (1.0, 0)
    operator.configure(info, info, output, "qsymm16")
    a, made = np.full(17, 5, np.int16), np.zeros((2, 17), np.int16)
    operator.run(a, np.zeros(17, np.int16), made[0])
    operator.run(a, np.zeros(17, np.int16), made[1], (slice(1, 17),))
    assert made.tolist() == [[2] * 16 + [3], [0] + [2] * 16]
    assert (operator.name(), output.shape, output.data_type) == ("NEArithmeticAdditionKernel", (17,), "QSYMM16")


def test_what_cannot_be_configured_or_run_is_refused() -> None:
    operator, info = ArithmeticAddition(), TensorInfo((3,), "QASYMM8", quantization=(0.5, 0))
    with pytest.raises(ConfigurationError, match="the operator is not configured"):
        operator.window()
    with pytest.raises(ConfigurationError, match="the output has no quantization"):
        operator.configure(info, info, TensorInfo(), "qasymm8_fused")
    with pytest.raises(ConfigurationError, match="a has data type QASYMM8: mode u8_wrap has U8"):
        operator.configure(info, info, TensorInfo(), "u8_wrap")
