"""The golden reference of offset_contribution against products of (A + a) and (B + b) in plain integers."""

from itertools import product

import numpy as np
import pytest

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array
from sim.kernels.offset_contribution.golden import Parameters, offset_contribution, steps

CL, NEON, NEON_20_11 = "acl_19_08_cl", "acl_19_08_neon", "acl_20_11_neon"
MODES = (CL, NEON, NEON_20_11)
SMALL = (
    (21, 1, 43, 0, 0), (21, 13, 33, 0, 0), (31, 3, 72, -2, 13), (52, 13, 33, 0, 4), (52, 26, 33, -2, 0),
    (31, 27, 23, 5, 13), (38, 43, 21, -3, -2), (32, 72, 17, -9, 1),
)  # fmt: skip
"""K, M, N, a, b of upstream's small list."""
AS_3D = (
    (21, 34, 7, 2, 1, 0, 0), (31, 23, 1, 1, 1, -2, 13), (38, 21, 4, 3, 1, 0, 4), (32, 17, 1, 1, 1, -2, 1),
    (16, 8, 8, 2, 1, 5, 9), (16, 8, 8, 2, 5, -7, 2),
)  # fmt: skip
"""K, N, H, D, batches, a, b of upstream's products that are written as 3-D."""


def s32(*numbers: object) -> Int32Array:
    return np.array(numbers, np.int32)


def wrapped(numbers: object) -> Int32Array:
    """Python integers modulo 2^32, however large."""
    return np.array((np.asarray(numbers, object) + 2**31) % 2**32 - 2**31, np.int64).astype(np.int32)


def operands(seed: int, *shape: int) -> np.ndarray:
    """Upstream's range; numpy's generator, so not upstream's numbers. Python integers, which nothing overflows."""
    return np.random.default_rng(seed).integers(1, 254, shape, endpoint=True).astype(object)


def contributed(a: np.ndarray, b: np.ndarray, shape: tuple[int, ...], parameters: Parameters, mode: str) -> Int32Array:
    """The product of a [batches, rows, K] and b [K, columns] or [batches, K, columns], its offsets contributed."""
    mm = wrapped(a @ b).reshape(shape)
    columns = wrapped(b.sum(axis=-2)) if parameters.a_offset else None
    rows = wrapped(a.sum(axis=-1)) if parameters.b_offset else None
    return offset_contribution(mm, columns, rows, None, parameters, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("k", "m", "n", "a_offset", "b_offset"), SMALL)
def test_upstreams_small_products(k: int, m: int, n: int, a_offset: int, b_offset: int, mode: str) -> None:
    a, b = operands(0, m, k), operands(1, k, n)
    found = contributed(a, b, (m, n), Parameters(k, a_offset, b_offset), mode)
    np.testing.assert_array_equal(found, wrapped((a + a_offset) @ (b + b_offset)))


@pytest.mark.parametrize(("k", "n", "h", "d", "batches", "a_offset", "b_offset"), AS_3D)
def test_upstreams_products_written_as_3d(
    k: int, n: int, h: int, d: int, batches: int, a_offset: int, b_offset: int
) -> None:
    a, b = operands(0, batches, d * h, k), operands(1, *((batches, k, n) if batches > 1 else (k, n)))
    shape = (batches, d, h, n)
    found = contributed(a, b, shape, Parameters(k, a_offset, b_offset), CL)
    np.testing.assert_array_equal(found, wrapped((a + a_offset) @ (b + b_offset)).reshape(shape))


@pytest.mark.parametrize(("a_offset", "b_offset"), list(product((0, 1, -1, INT32_MIN, INT32_MAX), repeat=2)))
@pytest.mark.parametrize("n", [5, 16, 17, 33])
def test_any_offsets_wrap_as_the_whole_product_does(n: int, a_offset: int, b_offset: int) -> None:
    a, b = operands(2, 3, 4), operands(3, 4, n)
    found = contributed(a, b, (3, n), Parameters(4, a_offset, b_offset), CL)
    np.testing.assert_array_equal(found, wrapped((a + a_offset) @ (b + b_offset)))


# Each wrap by itself.


@pytest.mark.parametrize(
    ("mm", "column", "row", "bias", "parameters", "expected"),
    [
        pytest.param(INT32_MAX, 1, 0, 0, Parameters(0, 1, 0), INT32_MIN, id="column term added"),
        pytest.param(INT32_MIN, 0, -1, 0, Parameters(0, 0, 1), INT32_MAX, id="row term added"),
        pytest.param(INT32_MAX, 0, 0, 1, Parameters(0, 0, 0), INT32_MIN, id="bias added"),
        pytest.param(INT32_MAX, 0, 0, 0, Parameters(1, 1, 1), INT32_MIN, id="k term added"),
        pytest.param(0, 2**16, 0, 0, Parameters(0, 2**15, 0), INT32_MIN, id="column product"),
        pytest.param(0, 0, 2**16, 0, Parameters(0, 0, 2**16), 0, id="row product"),
        pytest.param(0, 0, 0, 0, Parameters(2**11, 2**10, 2**10), INT32_MIN, id="k product"),
        pytest.param(0, 0, 0, 0, Parameters(INT32_MAX, INT32_MIN, -1), INT32_MIN, id="k product of extremes"),
        pytest.param(0, 2, 2, 0, Parameters(1, INT32_MIN, INT32_MIN), 0, id="least offsets"),
        pytest.param(0, 1, 1, 0, Parameters(1, INT32_MAX, INT32_MAX), -1, id="greatest offsets"),
    ],
)
def test_wraps(mm: int, column: int, row: int, bias: int, parameters: Parameters, expected: int) -> None:
    found = offset_contribution(s32([mm]), s32(column), s32(row), s32(bias), parameters)
    assert found.tolist() == [[expected]]


# Batches, and what NEON makes of them.


@pytest.mark.parametrize(("mode", "expected"), [(CL, [1, 2]), (NEON, [1, 1]), (NEON_20_11, [1, 1])])
@pytest.mark.parametrize("b_offset", [0, 1])
def test_row_15_column_sums_of_batches(mode: str, expected: list[int], b_offset: int) -> None:
    zeros, rows = np.zeros((2, 1, 1), np.int32), np.zeros((2, 1), np.int32)
    found = offset_contribution(zeros, s32([1], [2]), rows, None, Parameters(0, 1, b_offset), mode)
    assert found.ravel().tolist() == expected


@pytest.mark.parametrize(
    ("mode", "a_offset", "expected"),
    [(CL, 0, [1, 2, 3, 4]), (NEON, 0, [1, 2, 1, 2]), (NEON, 1, [1, 2, 3, 4]), (NEON_20_11, 0, [1, 2, 3, 4])],
)
def test_neon_takes_row_sums_of_batch_0_in_3d_when_a_is_0(mode: str, a_offset: int, expected: list[int]) -> None:
    zeros, rows, columns = np.zeros((2, 2, 1, 1), np.int32), s32([1, 2], [3, 4]), s32(0)
    found = offset_contribution(zeros, columns, rows, None, Parameters(0, a_offset, 1), mode)
    assert found.ravel().tolist() == expected


@pytest.mark.parametrize(
    ("mode", "a_offset", "expected"),
    [(CL, 0, [1, 2, 3, 4]), (NEON, 0, [1, 2, 1, 2]), (NEON, 1, [1, 2, 3, 4]), (NEON_20_11, 0, [1, 2, 3, 4])],
)
def test_neon_ignores_dimension_3_when_a_is_0(mode: str, a_offset: int, expected: list[int]) -> None:
    zeros, rows, columns = np.zeros((2, 2, 1, 1), np.int32), s32([[1], [2]], [[3], [4]]), s32(0)
    found = offset_contribution(zeros, columns, rows, None, Parameters(0, a_offset, 1), mode)
    assert found.ravel().tolist() == expected


def test_a_3d_product_takes_the_row_sum_of_its_depth_and_height() -> None:
    found = offset_contribution(np.zeros((3, 2, 1), np.int32), None, s32(*range(6)), None, Parameters(0, 0, 1))
    assert found.ravel().tolist() == list(range(6))


def test_without_row_sums_every_plane_is_a_batch() -> None:
    with pytest.raises(ValueError, match="column sums have 2 batches, 6 are needed"):
        offset_contribution(np.zeros((2, 3, 1, 1), np.int32), s32([1], [2]), None, None, Parameters(0, 1, 0))


def test_column_sums_whose_offset_is_0_are_not_used() -> None:
    assert offset_contribution(s32([0]), s32(9), s32(9), None, Parameters(5, 0, 0), NEON).tolist() == [[0]]


def test_steps_name_every_term() -> None:
    found = steps(s32([7]), s32(2), s32(3), s32(4), Parameters(10, 5, 6))
    assert {name: int(term[0, 0]) for name, term in found.items()} == {
        "mm": 7, "column term": 10, "row term": 18, "k term": 300, "bias term": 4, "result": 339,
    }  # fmt: skip


def test_the_input_is_left_alone() -> None:
    mm = s32([7])
    offset_contribution(mm, s32(2), None, None, Parameters(1, 1, 0))
    assert mm.tolist() == [[7]]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 2, 3), (2, 0, 2, 3), (0,)])
def test_empty_products_stay_empty(shape: tuple[int, ...]) -> None:
    rows = np.zeros(shape[:-1] or (1,), np.int32)
    found = offset_contribution(
        np.zeros(shape, np.int32), np.zeros(shape[-1], np.int32), rows, None, Parameters(1, 1, 1)
    )
    assert found.shape == shape


@pytest.mark.parametrize(
    ("column", "row", "bias", "mode", "sentence"),
    [
        (None, s32(1), None, CL, "column_sums is missing"),
        (s32(1), None, None, CL, "row_sums is missing"),
        (s32(1, 2), s32(1), None, CL, r"column_sums has shape \(2,\): its last axis must be the columns of mm, 1"),
        (s32(1), s32(1, 2), None, CL, r"row_sums has shape \(2,\): give one sum for each row of mm, \(1, 1\)"),
        (s32(1), s32(1), s32([1]), CL, "bias has rank 2"),
        (s32(1), s32(1), s32(1), NEON, "bias was given: this mode has none"),
        (s32(1), s32(1), None, "acl", "unknown mode 'acl': give one of acl_19_08_cl"),
    ],
)
def test_operands_that_do_not_fit_are_refused(
    column: Int32Array | None, row: Int32Array | None, bias: Int32Array | None, mode: str, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        offset_contribution(s32([0]), column, row, bias, Parameters(1, 1, 1), mode)


def test_another_dtype_is_refused() -> None:
    with pytest.raises(TypeError, match="mm is not a numpy array of int32"):
        offset_contribution(np.zeros((1, 1), np.int64), None, None, None, Parameters(1, 0, 0))


@pytest.mark.parametrize(("number", "error"), [(2**31, ValueError), (1.0, TypeError), (True, TypeError)])
def test_parameters_lie_in_int32(number: int, error: type[Exception]) -> None:
    with pytest.raises(error, match="a_offset is"):
        Parameters(1, number, 0)
