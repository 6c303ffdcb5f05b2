"""matrix_product: products by Python's integers, the operator, every way to run it, and faults that are noticed."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest

from sim.call.call import CompiledKernel
from sim.call.kernel_image import open_kernel
from sim.check.check import Job, check_job, jobs_of
from sim.check.vectors import make_vectors
from sim.golden.gemm_lowp import interleave4x4, multiply_blocks
from sim.kernels import Kernel, built_in_kernel, kernel_modes
from sim.kernels.matrix_product import golden
from sim.kernels.matrix_product.configure import MatrixProduct
from sim.kernels.matrix_product.golden import MODES, in_16_bits, matrix_of, matrix_product, panels_of
from sim.kernels.operator import ConfigurationError, TensorInfo
from sim.kernels.transpose1xw.golden import transpose1xw
from support.planted_source import wrong_lanes

NAME = "matrix_product"
KERNELS = [built_in_kernel(NAME, mode) for mode in kernel_modes(NAME)]
CASES = [
    pytest.param(kernel, job, id=f"{kernel.mode} {job.name}") for kernel in KERNELS for job in jobs_of(kernel, ["O2"])
]


def bytes_of(shape: tuple[int, ...], mode: str, seed: int) -> np.ndarray:
    return np.frombuffer(np.random.default_rng(seed).bytes(int(np.prod(shape))), MODES[mode].dtype).reshape(shape)


def test_every_docstring_example_runs() -> None:
    result = doctest.testmod(golden)
    assert (result.failed, result.attempted) == (0, 3)


@pytest.mark.parametrize("mode", MODES)
def test_each_element_is_the_sum_of_its_products(mode: str) -> None:
    """Rows, columns and depth that no panel divides; by Python's integers."""
    rule, a, b = MODES[mode], bytes_of((9, 21), mode, 1), bytes_of((21, 17), mode, 2)
    written = matrix_product(
        panels_of(a, rule.rows, rule.depth), panels_of(b.T, rule.columns, rule.depth), mode
    )  # fmt: skip
    columns = list(zip(*b.tolist(), strict=True))
    wanted = [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in a.tolist()]
    assert matrix_of(written, rule)[:9, :17].tolist() == wanted


@pytest.mark.parametrize("mode", ["umlal_u8", "smlal_s8"])
def test_panels_of_four_rows_and_sixteen_columns_are_those_of_the_kernels_that_reshape(mode: str) -> None:
    a, b = bytes_of((7, 5), mode, 3), bytes_of((5, 16), mode, 4)
    reshaped = interleave4x4(a), transpose1xw(b)
    assert [panels.tolist() for panels in reshaped] == [panels_of(a, 4, 1).tolist(), panels_of(b.T, 16, 1).tolist()]
    assert matrix_product(*reshaped, mode).tolist() == multiply_blocks(*reshaped).tolist()


def test_four_bytes_of_a_row_lie_behind_each_other() -> None:
    """docs/spec/neighbours.md section 22: rows 0 and 1 of the first panel, bytes 0 to 3 and 4 to 7."""
    rows = np.arange(16, dtype=np.uint8).reshape(2, 8)
    panel = panels_of(rows, 8, 4).reshape(2, 8, 4)
    assert panel[:, :2].tolist() == [[[0, 1, 2, 3], [8, 9, 10, 11]], [[4, 5, 6, 7], [12, 13, 14, 15]]]


@pytest.mark.parametrize(
    ("mode", "byte", "whole", "narrow"),
    [
        ("umlal_u8", 255, 2 * 255 * 255, 2 * 255 * 255 - 2**16),
        ("sdot_s8", -128, 2**16, 0),
        ("smmla_s8", -128, 2**17, 0),
    ],
)
def test_some_products_of_extreme_bytes_need_more_than_16_bits(mode: str, byte: int, whole: int, narrow: int) -> None:
    rule, steps = MODES[mode], 2 if MODES[mode].depth == 1 else 1
    a = np.full((1, rule.rows * rule.depth * steps), byte, rule.dtype)
    b = np.full((1, rule.columns * rule.depth * steps), byte, rule.dtype)
    assert {int(x) for x in matrix_product(a, b, mode).ravel()} == {whole}
    assert {int(x) for x in in_16_bits(a, b, mode).ravel()} == {narrow}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["udot_u8", "ummla_u8"])
def test_sums_of_unsigned_products_go_on_from_2_31_as_negative_numbers(mode: str) -> None:
    """docs/spec/neighbours.md section 2: 33,025 products of 255 and 255 are below 2^31, 33,026 are not."""
    kernel, rule = built_in_kernel(NAME, mode), MODES[mode]
    steps = -(-33_026 // rule.depth)
    panels = {name: np.zeros((1, width * rule.depth * steps), np.uint8) for name, width in (("a", 8), ("b", 12))}
    for name, width in (("a", 8), ("b", 12)):
        panels[name].reshape(steps, width, rule.depth)[:, -1] = 255
    inputs = {**panels, "row_blocks": 1, "column_blocks": 1, "steps": steps}
    compiled = CompiledKernel(open_kernel(kernel, kernel.sources[0], "-O2", *kernel.flags), kernel, engine="machine")
    written = compiled.call(kernel.arguments(inputs), 1).outputs["machine"]["output"]
    assert written[0, 0, -1].tolist() == [*[0] * 11, 255 * 255 * steps * rule.depth - 2**32]


def test_what_are_no_panels_of_the_mode_is_refused() -> None:
    a, b = np.zeros((1, 32), np.uint8), np.zeros((1, 48), np.uint8)
    with pytest.raises(TypeError, match="b is not a numpy array of uint8"):
        matrix_product(a, b.view(np.int8), "udot_u8")
    with pytest.raises(ValueError, match=r"a has shape \(1, 31\): give panels of a multiple of 32 bytes"):
        matrix_product(a[:, 1:], b, "udot_u8")
    with pytest.raises(ValueError, match="their rows and columns have not the same length"):
        matrix_product(np.resize(a, (1, 64)), b, "udot_u8")
    with pytest.raises(ValueError, match="unknown mode 'sdot': give one of umlal_u8, smlal_s8"):
        matrix_product(a, b, "sdot")


@pytest.mark.parametrize(("kernel", "job"), CASES)
def test_every_implementation_agrees_in_lockstep_on_all_corners(kernel: Kernel, job: Job) -> None:
    vectors = make_vectors(kernel, 0, seed=2)
    outcome = check_job(kernel, job, vectors, lambda _: None)
    assert (outcome.failure, outcome.vectors) == ("", vectors.count)


PLANTED = [
    ("umlal_u8", 0, "vmovl_##bytes(vld1_##bytes(own + 8))", "vmovl_##bytes(vld1_##bytes(own))"),
    ("smlal_s8", 0, "row * 16 * column_blocks + 4 * part", "row * 16 + 4 * part"),
    ("udot_u8", 0, "vdotq_laneq_##suffix(sums[row + 4][part], columns[part], second, row)",
     "vdotq_laneq_##suffix(sums[row + 4][part], columns[part], first, row)"),
    ("sdot_s8", 1, "FUNCTION(sdot_s8, s8, int8_t, 8, 12, 4,", "FUNCTION(sdot_s8, s8, int8_t, 8, 12, 1,"),
    ("ummla_u8", 0, "vreinterpretq_s32_s64(vuzp2q_s64(left, right))", "vreinterpretq_s32_s64(vuzp2q_s64(right, left))"),
    ("smmla_s8", 1, "FUNCTION(smmla_s8, s8, int8_t", "FUNCTION(smmla_s8, u8, uint8_t"),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "source", "right", "wrong"), PLANTED)
def test_a_planted_fault_is_found(tmp_path: Path, mode: str, source: int, right: str, wrong: str) -> None:
    assert wrong_lanes(built_in_kernel(NAME, mode), source, right, wrong, tmp_path, random=2) > 0


# The operator.


@pytest.mark.parametrize(
    ("mode", "kind", "name", "window"),
    [
        ("umlal_u8", "U8", "NEGEMMLowpMatrixMultiplyKernel", (slice(0, 8, 4), slice(0, 16, 16))),
        ("smmla_s8", "S8", "a64_interleaved_s8s32_mmla_8x12", (slice(0, 8, 8), slice(0, 24, 12))),
    ],
)
def test_the_operator_writes_whole_blocks(mode: str, kind: str, name: str, window: tuple[slice, ...]) -> None:
    """Of two matrices with one B; the last rows and columns are in the output's padding."""
    rule, a, b = MODES[mode], bytes_of((2, 6, 9), mode, 5), bytes_of((9, 13), mode, 6)
    panels = np.stack([panels_of(plane, rule.rows, rule.depth) for plane in a])
    columns, output_info = panels_of(b.T, rule.columns, rule.depth), TensorInfo((2, 6, 13), "S32")
    operator = MatrixProduct()
    operator.configure(TensorInfo(panels.shape, kind), TensorInfo(columns.shape, kind), output_info, mode)
    shape = 2, 6 + output_info.bottom_padding, 13 + output_info.right_padding
    output = np.full(shape, 99, np.int32)
    operator.run(panels, columns, output)
    wanted = np.zeros(shape, np.int64)
    wanted[:, :6, :13] = a.astype(np.int64) @ b.astype(np.int64)
    assert (operator.name(), operator.window()[1:], output.tolist()) == (name, window, wanted.tolist())


def test_nothing_runs_before_it_is_configured() -> None:
    with pytest.raises(ConfigurationError, match="the operator is not configured"):
        MatrixProduct().run(np.zeros((1, 4), np.uint8), np.zeros((1, 16), np.uint8), np.zeros((4, 16), np.int32))
