"""matrix_reduction: sums by Python's integers, the operator, every way to run it, and faults that are noticed."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job, check_job, jobs_of
from sim.check.vectors import Vectors, make_vectors
from sim.kernels import Kernel, built_in_kernel, kernel_modes
from sim.kernels.matrix_reduction import golden
from sim.kernels.matrix_reduction.configure import MatrixReduction
from sim.kernels.matrix_reduction.golden import MODES, in_16_bits, matrix_reduction
from sim.kernels.operator import ConfigurationError, TensorInfo
from support.planted_source import wrong_lanes

NAME = "matrix_reduction"
KERNELS = [built_in_kernel(NAME, mode) for mode in kernel_modes(NAME)]
CASES = [
    pytest.param(kernel, job, id=f"{kernel.mode} {job.name}") for kernel in KERNELS for job in jobs_of(kernel, ["O2"])
]


def test_every_docstring_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted) == (0, 1)


@pytest.mark.parametrize("mode", MODES)
def test_each_sum_is_that_of_its_numbers(mode: str) -> None:
    rule, rng = MODES[mode], np.random.default_rng(1)
    matrix = np.frombuffer(rng.bytes(3 * 5 * 301), rule.dtype).reshape(3, 5, 301)
    planes = [plane if rule.of_rows else zip(*plane, strict=True) for plane in matrix.tolist()]
    assert matrix_reduction(matrix, mode).tolist() == [[sum(line) for line in plane] for plane in planes]


@pytest.mark.parametrize(
    ("mode", "byte", "whole", "narrow"),
    [("rows_u8", 255, 255 * 300, 255 * 300 - 2**16), ("columns_s8", -128, -128 * 300, -128 * 300 + 2**16)],
)
def test_sums_of_300_extreme_bytes_need_more_than_16_bits(mode: str, byte: int, whole: int, narrow: int) -> None:
    shape = (1, 300) if MODES[mode].of_rows else (300, 1)
    matrix = np.full(shape, byte, MODES[mode].dtype)
    assert (matrix_reduction(matrix, mode).tolist(), in_16_bits(matrix, mode).tolist()) == ([whole], [narrow])


def test_what_is_no_matrix_of_the_mode_is_refused() -> None:
    with pytest.raises(TypeError, match="matrix is not a numpy array of uint8"):
        matrix_reduction(np.zeros((2, 2), np.int8))
    with pytest.raises(ValueError, match=r"matrix has shape \(2,\): give rows and columns"):
        matrix_reduction(np.zeros(2, np.uint8))
    with pytest.raises(ValueError, match="unknown mode 'rows': give one of rows_u8, columns_u8"):
        matrix_reduction(np.zeros((2, 2), np.uint8), "rows")


@pytest.mark.parametrize(("kernel", "job"), CASES)
def test_every_implementation_agrees_on_all_corners(kernel: Kernel, job: Job) -> None:
    vectors = make_vectors(kernel, 0, seed=2)
    outcome = check_job(kernel, job, vectors, lambda _: None, engine="machine")
    assert (outcome.failure, outcome.vectors) == ("", vectors.count)


@pytest.mark.parametrize(("kernel", "job"), CASES)
def test_machine_and_emulator_stay_together(kernel: Kernel, job: Job) -> None:
    inputs = [kernel.sample(np.random.default_rng(seed)) for seed in range(2)]
    vectors = Vectors(inputs, [kernel.golden(case) for case in inputs], seed=0)
    assert check_job(kernel, job, vectors, lambda _: None).failure == ""


PLANTED = [
    ("rows_u8", 0, "vpaddlq_u16(vaddl_u8(", "vpaddlq_u16(vmull_u8("),
    ("rows_u8", 0, "for (; k < columns; ++k)", "for (; k + 1 < columns; ++k)"),
    ("rows_s8", 0, "vget_high_s8(part))));", "vget_low_s8(part))));"),
    ("columns_u8", 0, "vaddw_u16(total[3], vget_high_u16(high))", "vaddw_u16(total[3], vget_high_u16(low))"),
    ("columns_s8", 0, "4 * part, total[part])", "4 * part, total[3 - part])"),
    ("columns_s8", 1, "(uint32_t)(int32_t)matrix[k * columns + j]", "(uint8_t)matrix[k * columns + j]"),
]


@pytest.mark.parametrize(("mode", "source", "right", "wrong"), PLANTED)
def test_a_planted_fault_is_found(tmp_path: Path, mode: str, source: int, right: str, wrong: str) -> None:
    assert wrong_lanes(built_in_kernel(NAME, mode), source, right, wrong, tmp_path, random=5) > 0


# The operator.


@pytest.mark.parametrize(
    ("mode", "kind", "shape", "name", "window"),
    [
        ("rows_u8", "QASYMM8", (2, 3), "NEGEMMLowpMatrixAReductionKernel", (slice(0, 2, 1), slice(0, 3, 1))),
        (
            "columns_s8",
            "QASYMM8_SIGNED",
            (2, 21),
            "NEGEMMLowpMatrixBReductionKernel",
            (slice(0, 2, 1), slice(0, 32, 16)),
        ),
    ],
)
def test_the_operator_sums_as_much_as_it_is_told(
    mode: str, kind: str, shape: tuple[int, ...], name: str, window: tuple[slice, ...]
) -> None:
    operator, matrix = MatrixReduction(), np.ones((2, 3, 21), MODES[mode].dtype)
    operator.configure(TensorInfo((2, 3, 21), kind), TensorInfo(shape, "S32"), 2, mode)
    sums = np.full(shape, 99, np.int32)
    operator.run(matrix, sums, (slice(1, 2), slice(0, shape[1])))
    assert (operator.name(), operator.window(), sums.tolist()) == (name, window, [[99] * shape[1], [2] * shape[1]])
    operator.run(matrix, sums, operator.window())
    assert sums.tolist() == [[2] * shape[1]] * 2


@pytest.mark.parametrize(
    ("shape", "length", "sentence"),
    [((3,), 22, "length is 22: a matrix of shape"), ((2,), 21, r"sums have shape \(2,\): they must have \(3,\)")],
)
def test_what_upstream_takes_as_given_is_refused_where_it_does_not_fit(
    shape: tuple[int, ...], length: int, sentence: str
) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        MatrixReduction().configure(TensorInfo((3, 21), "QASYMM8"), TensorInfo(shape, "S32"), length)


def test_nothing_runs_before_it_is_configured() -> None:
    with pytest.raises(ConfigurationError, match="the operator is not configured"):
        MatrixReduction().run(np.zeros((1, 1), np.uint8), np.zeros(1, np.int32))
