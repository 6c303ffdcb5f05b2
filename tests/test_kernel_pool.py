"""pool: exact fractions on all sums of small windows, the operator on images, every way to run it, and faults."""

from __future__ import annotations

import doctest
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job, check_job, jobs_of
from sim.check.vectors import Vectors
from sim.kernels import Kernel, built_in_kernel, kernel_modes
from sim.kernels.conv2d.golden import Geometry
from sim.kernels.operator import ConfigurationError, TensorInfo
from sim.kernels.pool import golden
from sim.kernels.pool.configure import Pool2d, PoolWindow, validate
from sim.kernels.pool.golden import MODES, MOST, pool
from support.exact_rounding import half_away
from support.planted_source import wrong_lanes

NAME = "pool"
KERNELS = [built_in_kernel(NAME, mode) for mode in kernel_modes(NAME)]
CASES = [
    pytest.param(kernel, job, id=f"{kernel.mode} {job.name}") for kernel in KERNELS for job in jobs_of(kernel, ["O2"])
]


def test_every_docstring_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted) == (0, 1)


@pytest.mark.parametrize("mode", ["average_s8", "average_u8"])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 9, 49])
def test_every_sum_of_a_window_is_averaged_to_nearest_with_ties_away(mode: str, count: int) -> None:
    """A channel for each sum that so many bytes can have."""
    limits = np.iinfo(MODES[mode].dtype)
    sums = range(count * int(limits.min), count * int(limits.max) + 1)
    pixels = np.array([[(total + k) // count for total in sums] for k in range(count)], MODES[mode].dtype)
    assert pixels.sum(axis=0, dtype=np.int64).tolist() == list(sums)
    made = pool(pixels, int(limits.min), int(limits.max), mode).tolist()
    assert made == [half_away(Fraction(total, count)) for total in sums]


@pytest.mark.parametrize(("mode", "expected"), [("max_s8", [5, -1, -128]), ("max_u8", [5, 255, 128])])
def test_the_highest_has_the_sign_of_its_bytes(mode: str, expected: list[int]) -> None:
    pixels = np.array([[0, 255, 128], [5, 128, 128]], np.uint8).view(MODES[mode].dtype)
    limits = np.iinfo(MODES[mode].dtype)
    assert pool(pixels, int(limits.min), int(limits.max), mode).tolist() == expected


@pytest.mark.parametrize("mode", MODES)
def test_the_upper_bound_is_applied_last(mode: str) -> None:
    pixels = np.array([[0, 20, 90]], MODES[mode].dtype)
    assert (pool(pixels, 10, 50, mode).tolist(), pool(pixels, 50, 10, mode).tolist()) == ([10, 20, 50], [10, 10, 10])


def test_in_float32_no_quotient_below_a_whole_number_reaches_it() -> None:
    """What the kernels rely on, for the counts near the bound and the largest sums, which lie next to whole numbers."""
    for count in (3, 255, 4095, 65_521, MOST):
        wholes = np.arange(1, 256, dtype=np.int64) * count
        sums = np.concatenate([wholes - 1, wholes, wholes + 1])
        quotients = sums.astype(np.float32) / np.float32(count)
        assert (int(sums.max()) < 2**24, np.trunc(quotients).astype(int).tolist()) == (True, (sums // count).tolist())


@pytest.mark.parametrize(
    ("shape", "dtype", "sentence"),
    [((2, 3), np.uint8, "pixels is not a numpy array of int8"), ((0, 3), np.int8, "1 to 65536 pixels"),
     ((3,), np.int8, "give .count, channels."), ((MOST + 1, 1), np.int8, "1 to 65536 pixels")],
)  # fmt: skip
def test_refused_pixels(shape: tuple[int, ...], dtype: type[np.generic], sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        pool(np.zeros(shape, dtype), 0, 1)


@pytest.mark.parametrize(("kernel", "job"), CASES)
def test_every_implementation_agrees_in_lockstep(kernel: Kernel, job: Job) -> None:
    inputs = [kernel.sample(np.random.default_rng(seed)) for seed in range(5)]
    vectors = Vectors(inputs, [kernel.golden(case) for case in inputs], seed=0)
    outcome = check_job(kernel, job, vectors, lambda _: None)
    assert (outcome.failure, outcome.vectors) == ("", vectors.count)


PLANTED = [
    ("average_s8", 0, "vsubq_s32(veorq_s32(vdupq_n_s32(count / 2), sign), sign)", "vdupq_n_s32(count / 2)"),
    ("average_s8", 1, "sum < 0 ? sum - count / 2", "sum < 0 ? sum + count / 2"),
    ("average_u8", 0, "vdupq_n_s32(count / 2)", "vdupq_n_s32(0)"),
    ("average_u8", 0, "c += is_step ? 16 : 1", "c += is_step ? 16 : 2"),
    ("max_s8", 0, "vmaxq_s8(highest, is_step ? vld1q_s8(at) : vld1q_dup_s8(at))", "vld1q_dup_s8(at)"),
    ("max_u8", 1, "bounded(highest, lower, upper)", "highest"),
]


@pytest.mark.parametrize(("mode", "source", "right", "wrong"), PLANTED)
def test_a_planted_fault_is_found(tmp_path: Path, mode: str, source: int, right: str, wrong: str) -> None:
    assert wrong_lanes(built_in_kernel(NAME, mode), source, right, wrong, tmp_path) > 0


# The operator.


def test_pixels_outside_of_the_image_are_not_counted() -> None:
    operator, output_info = Pool2d(), TensorInfo()
    window = PoolWindow(2, 2, Geometry(2, 2, 1, 0, 1, 0), -128, 127)
    operator.configure(TensorInfo((1, 3, 3, 1), "QASYMM8_SIGNED"), output_info, window)
    output = np.zeros((1, 2, 2, 1), np.int8)
    operator.run(np.arange(-4, 5, dtype=np.int8).reshape(1, 3, 3, 1), output)
    assert (output_info.shape, output.ravel().tolist()) == ((1, 2, 2, 1), [-4, -3, 1, 2])


@pytest.mark.parametrize("mode", MODES)
def test_an_image_is_pooled_window_by_window(mode: str) -> None:
    """Each output by a loop of its own, in Python's integers."""
    image = np.frombuffer(np.random.default_rng(4).bytes(2 * 5 * 6 * 3), MODES[mode].dtype).reshape(2, 5, 6, 3)
    limits, operator = np.iinfo(MODES[mode].dtype), Pool2d()
    operator.configure(
        TensorInfo(image.shape, "QASYMM8" if limits.min == 0 else "QASYMM8_SIGNED"), TensorInfo(),
        PoolWindow(3, 2, Geometry(1, 2, 1, 1, 0, 0), int(limits.min), int(limits.max)), mode,
    )  # fmt: skip
    output = np.zeros((2, 5, 3, 3), MODES[mode].dtype)
    operator.run(image, output)
    for n, y, x, c in np.ndindex(output.shape):
        taken = [int(image[n, r, k, c]) for r in range(max(y - 1, 0), min(y + 2, 5)) for k in range(2 * x, 2 * x + 2)]
        wanted = half_away(Fraction(sum(taken), len(taken))) if MODES[mode].is_average else max(taken)
        assert output[n, y, x, c] == wanted


@pytest.mark.parametrize(
    ("size", "window", "status"),
    [
        ((256, 256), (256, 256), ""),
        ((256, 257), (256, 257), "a window has 65792 pixels of the image: give 65536 at most"),
        ((256, 256), (257, 257), ""),
        ((4, 4), (1, 1), "a window lies outside of the image: it has no pixels, and so no average"),
    ],
)
def test_what_is_validated_can_run(size: tuple[int, int], window: tuple[int, int], status: str) -> None:
    """Windows are as large as the pixels of the image that they have: padding counts for nothing."""
    image, output = TensorInfo((1, *size, 1), "QASYMM8"), TensorInfo()
    beyond = int(window != size)
    made = PoolWindow(*window, Geometry(1, 1, beyond, 0, beyond, 0), 0, 255)
    validated = validate(image, output, made, "average_u8")
    assert validated.description == status
    if validated:
        operator, average = Pool2d(), np.zeros((1, 1, 1, 1), np.uint8)
        operator.configure(image, output, made, "average_u8")
        operator.run(np.full((1, *size, 1), 255, np.uint8), average)
        assert average.item() == 255


def test_nothing_runs_before_it_is_configured() -> None:
    with pytest.raises(ConfigurationError, match="the operator is not configured"):
        Pool2d().run(np.zeros((1, 1, 1, 1), np.int8), np.zeros((1, 1, 1, 1), np.int8))
