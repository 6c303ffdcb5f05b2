"""Signs of offsets, sums of batches, and wrapping terms: docs/spec/known_differences.md rows 14 and 15."""

import doctest
from types import ModuleType

import numpy as np
import pytest

from sim.golden import gemm_lowp, gemm_offsets
from sim.golden.fixed_point import INT32_MAX, INT32_MIN
from sim.golden.gemm_offsets import (
    column_sums_by_batch,
    column_sums_of_first_batch,
    offsets_added,
    wrapped_product,
    zero_points_subtracted,
)
from sim.kernels.offset_contribution import golden as offset_contribution
from sim.kernels.transpose1xw import golden as transpose1xw
from sim.kernels.transpose1xw import shapes
from support.exact_rounding import wrapped

SUMS = np.array([[1], [2]], np.int32)


def test_row_14_offsets_are_added_by_acl_and_gemmlowp() -> None:
    assert int(offsets_added(5, 7, 2, 3)) == 70


def test_row_14_zero_points_are_subtracted_by_armnn_and_onnx() -> None:
    assert int(zero_points_subtracted(5, 7, 2, 3)) == 12


def test_a_negated_zero_point_is_the_offset() -> None:
    assert int(offsets_added(5, 7, -2, -3)) == 12


def test_row_15_each_batch_has_its_own_column_sums_on_opencl() -> None:
    assert column_sums_by_batch(SUMS, 2).tolist() == [[1], [2]]


def test_row_15_each_batch_has_those_of_batch_0_on_neon() -> None:
    assert column_sums_of_first_batch(SUMS, 2).tolist() == [[1], [1]]


@pytest.mark.parametrize("sums", [np.array([4, 5], np.int32), np.array([[4, 5]], np.int32)])
def test_column_sums_of_one_batch_are_shared(sums: np.ndarray) -> None:
    assert column_sums_by_batch(sums, 3).tolist() == [[4, 5]] * 3


def test_more_batches_of_column_sums_than_needed_pass() -> None:
    assert column_sums_by_batch(SUMS, 1).tolist() == [[1]]


def test_fewer_batches_of_column_sums_than_needed_are_refused() -> None:
    with pytest.raises(ValueError, match="column sums have 2 batches, 3 are needed"):
        column_sums_by_batch(SUMS, 3)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1, 3)])
def test_column_sums_of_another_rank_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"give \[columns\] or \[batches, columns\]"):
        column_sums_of_first_batch(np.zeros(shape, np.int32), 1)


@pytest.mark.parametrize("a", [INT32_MIN, -5, INT32_MAX])
@pytest.mark.parametrize("b_offset", [INT32_MIN, 3, INT32_MAX])
def test_offsets_and_products_wrap(a: int, b_offset: int) -> None:
    assert int(offsets_added(a, 7, -1, b_offset)) == wrapped((a - 1) * (7 + b_offset))


@pytest.mark.parametrize("a", [INT32_MIN, -5, INT32_MAX])
@pytest.mark.parametrize("b_zero", [INT32_MIN, 3, INT32_MAX])
def test_differences_and_products_wrap(a: int, b_zero: int) -> None:
    assert int(zero_points_subtracted(a, 7, -1, b_zero)) == wrapped((a + 1) * (7 - b_zero))


def test_the_product_of_the_extremes_wraps_to_zero() -> None:
    assert wrapped_product(np.array([INT32_MIN, INT32_MIN]), np.array([INT32_MIN, INT32_MAX])).tolist() == [
        0,
        wrapped(INT32_MIN * INT32_MAX),
    ]


def test_a_float_operand_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="dtype float64"):
        offsets_added(np.array([1.0]), 1, 1, 1)


def test_a_number_outside_int32_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="every number must lie in int32"):
        offsets_added(2**31, 1, 1, 1)


@pytest.mark.parametrize("module", [gemm_offsets, gemm_lowp, offset_contribution, transpose1xw, shapes])
def test_every_example_in_the_docstrings_holds(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert (result.failed, result.attempted > 0) == (0, True)
