"""offset_contribution in windows that start behind row or batch 0: the ideal result, and what OpenCL launches."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from sim.golden.fixed_point import Int32Array
from sim.kernels import built_in_kernel
from sim.kernels.offset_contribution.configure import OffsetContribution
from sim.kernels.offset_contribution.golden import Box, Parameters, boxes, offset_contribution
from sim.kernels.operator import Shape, TensorInfo, Window

IDEAL, LAUNCHED, NEON = "acl_19_08_cl", "acl_19_08_cl_window", "acl_19_08_neon"
ALL = slice(None)


def s32(*numbers: object) -> Int32Array:
    return np.array(numbers, np.int32)


def info(array: Int32Array | None) -> TensorInfo | None:
    return None if array is None else TensorInfo(array.shape, "S32")


def contributed(
    shape: Shape, column_sums: Int32Array | None, row_sums: Int32Array | None, window: Window | None, mode: str,
    parameters: Parameters, bias: Int32Array | None = None,
) -> Int32Array:  # fmt: skip
    """What one run on a window adds to zeros; columns are whole steps, so that nothing is padded."""
    mm, operator = np.zeros(shape, np.int32), OffsetContribution()
    operator.configure(TensorInfo(shape, "S32"), info(column_sums), info(row_sums), info(bias), parameters, mode)
    operator.run(mm, column_sums, row_sums, bias, window)
    return mm


def fours(numbers: list[int]) -> Int32Array:
    """Each number for a row of four columns."""
    return np.repeat(s32(*numbers), 4).reshape(-1, 4)


@pytest.mark.parametrize(("mode", "expected"), [(IDEAL, [0, 20, 30]), (LAUNCHED, [0, 10, 20])])
def test_a_window_of_later_rows_takes_the_first_row_sums(mode: str, expected: list[int]) -> None:
    found = contributed((3, 4), None, s32(10, 20, 30), (slice(1, 3), ALL), mode, Parameters(0, 0, 1))
    np.testing.assert_array_equal(found, fours(expected))


@pytest.mark.parametrize(("mode", "expected"), [(IDEAL, [0, 2, 3]), (LAUNCHED, [0, 1, 2])])
def test_a_window_of_later_batches_takes_the_first_column_sums(mode: str, expected: list[int]) -> None:
    window = (slice(1, 3), ALL, ALL)
    found = contributed((3, 1, 4), fours([1, 2, 3]), None, window, mode, Parameters(0, 1, 0))
    np.testing.assert_array_equal(found.reshape(3, 4), fours(expected))


@pytest.mark.parametrize(("mode", "expected"), [(IDEAL, [0, 0, 0, 3, 0, 5]), (LAUNCHED, [0, 0, 0, 0, 0, 2])])
def test_a_window_of_a_3d_product_counts_depth_from_its_start(mode: str, expected: list[int]) -> None:
    """Planes 1 and 2, row 1: launched as z 0 and 1, y 0, so that the row sums are those at 0 and 0 + height 2."""
    window = (slice(1, 3), slice(1, 2), ALL)
    found = contributed((3, 2, 4), None, s32(*range(6)), window, mode, Parameters(0, 0, 1))
    np.testing.assert_array_equal(found.reshape(6, 4), fours(expected))


def test_k_and_bias_are_those_of_the_window() -> None:
    """The bias goes by columns alone, so a launch on later columns and rows takes the right one."""
    window, bias = (slice(1, 2), slice(4, 8)), s32(*range(8))
    found = contributed((2, 8), np.zeros(8, np.int32), s32(0, 0), window, LAUNCHED, Parameters(10, 2, 3), bias)
    assert found.tolist() == [[0] * 8, [0] * 4 + [64, 65, 66, 67]]


def test_the_whole_tensor_is_the_same_in_both() -> None:
    shape, rng = (2, 3, 2, 4), np.random.default_rng(0)
    sums, rows = rng.integers(-9, 9, (6, 4), np.int32), rng.integers(-9, 9, (6, 2), np.int32)
    ideal, found = (contributed(shape, sums, rows, None, mode, Parameters(3, 5, 7)) for mode in (IDEAL, LAUNCHED))
    np.testing.assert_array_equal(found, ideal)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ((ALL, slice(0, 1)), [Box(0, 2, 0, 1)]),  # ends before the last plane: planes 0 and 1 of the first outer one
        ((ALL, slice(1, 2)), [Box(1, 4, 0, 1)]),
        ((ALL, slice(2, 3)), [Box(2, 6, 0, 1)]),
        ((slice(1, 2), slice(0, 1)), [Box(3, 4, 0, 1)]),
        ((slice(0, 1), slice(1, 3)), [Box(1, 3, 0, 1)]),
    ],
)
def test_outer_dimensions_are_counted_through_only_where_the_window_has_all_of_them(
    window: Window, expected: list[Box]
) -> None:
    region = tuple(slice(*part.indices(size)) for part, size in zip(window, (2, 3), strict=True))
    assert list(boxes((*region, slice(0, 1), slice(0, 4)), (2, 3, 1, 4), LAUNCHED)) == expected


def test_the_ideal_boxes_are_the_window() -> None:
    found = boxes((slice(0, 2), slice(1, 2), slice(0, 1), slice(0, 4)), (2, 3, 1, 4), IDEAL)
    assert list(found) == [Box(1, 2, 0, 1), Box(4, 5, 0, 1)]


def launched(
    shape: Shape, column_sums: Int32Array, row_sums: Int32Array, window: Window, parameters: Parameters
) -> Int32Array:
    """The launches work item by work item, in Python integers; row sums [batches, depth * rows]."""
    *outer, planes, rows, columns = shape
    *outer_parts, z_part, y_part, x_part = window
    depth = planes if row_sums.shape[-1] != rows else 1
    mm: Any = np.zeros((int(np.prod(outer)) * planes, rows, columns), object)
    if all(part == slice(0, size) for part, size in zip(outer_parts, outer, strict=True)):
        starts, count = [z_part.start], z_part.stop * int(np.prod(outer)) - z_part.start
    else:
        strides = [int(np.prod(outer[axis + 1 :])) for axis in range(len(outer))]
        numbers = product(*(range(part.start, part.stop) for part in outer_parts))
        starts = [sum(n * s for n, s in zip(at, strides, strict=True)) * planes + z_part.start for at in numbers]
        count = z_part.stop - z_part.start
    for start in starts:
        for z, y, x in product(range(count), range(y_part.stop - y_part.start), range(x_part.start, x_part.stop)):
            column = int(column_sums[z // depth if len(column_sums) > 1 else 0, x])
            row = int(row_sums[z // depth, y + z % depth * rows])
            k_term = parameters.k * parameters.a_offset * parameters.b_offset
            mm[start + z, y_part.start + y, x] = column * parameters.a_offset + row * parameters.b_offset + k_term
    return np.array((mm + 2**31) % 2**32 - 2**31, np.int64).astype(np.int32).reshape(shape)


@pytest.mark.parametrize("seed", range(40))
def test_any_window_is_launched_work_item_by_work_item(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (*(int(size) for size in rng.integers(1, 4, rng.integers(3, 6))), 8)
    *outer, planes, rows, _ = shape
    depth = planes if rng.random() < 0.5 and planes > 1 else 1
    batches = int(np.prod(outer)) * planes // depth
    row_sums = rng.integers(-(2**31), 2**31, (batches, depth * rows)).astype(np.int32)
    column_sums = rng.integers(-(2**31), 2**31, (batches if rng.random() < 0.7 else 1, 8)).astype(np.int32)
    spans = [sorted(int(n) for n in rng.integers(0, size + 1, 2)) for size in shape[:-1]]
    whole = rng.random(len(spans)) < 0.3
    parts = [
        slice(0, size) if all_of else slice(*span) for size, all_of, span in zip(shape, whole, spans, strict=False)
    ]
    window = (*parts, slice(4, 8))
    parameters = Parameters(21, -7, 13)
    found = contributed(shape, column_sums, row_sums, window, LAUNCHED, parameters)
    np.testing.assert_array_equal(found, launched(shape, column_sums, row_sums, window, parameters))


@pytest.mark.parametrize("mode", [IDEAL, NEON])
def test_ideal_windows_are_cut_from_the_whole_result(mode: str) -> None:
    shape, rng = (2, 3, 2, 16), np.random.default_rng(0)
    sums, rows = rng.integers(-9, 9, (6, 16), np.int32), rng.integers(-9, 9, (6, 2), np.int32)
    window = (slice(1, 2), slice(1, 3), slice(1, 2), ALL)
    whole = offset_contribution(np.zeros(shape, np.int32), sums, rows, None, Parameters(1, 0, 7), mode)
    expected = np.zeros(shape, np.int32)
    expected[window] = whole[window]
    np.testing.assert_array_equal(contributed(shape, None, rows, window, mode, Parameters(1, 0, 7)), expected)


@pytest.mark.parametrize(
    ("column_sums", "row_sums", "sentence"),
    [
        ((2, 3, 4), (6, 1), r"column_sums has shape \(2, 3, 4\): mode acl_19_08_cl_window is modelled up to rank 2"),
        ((6, 4), (2, 3, 1), r"row_sums has shape \(2, 3, 1\): mode acl_19_08_cl_window is modelled up to rank 2"),
        ((6, 4), (2, 3, 2), r"row_sums has shape \(2, 3, 2\): mode acl_19_08_cl_window is modelled up to rank 2"),
    ],
)
def test_sums_with_a_z_stride_are_not_modelled(column_sums: Shape, row_sums: Shape, sentence: str) -> None:
    columns, rows = np.zeros(column_sums, np.int32), np.zeros(row_sums, np.int32)
    with pytest.raises(ValueError, match=sentence):
        contributed((2, 3, row_sums[-1], 4), columns, rows, None, LAUNCHED, Parameters(1, 1, 1))


def test_random_launches_separate_the_mode_from_the_ideal() -> None:
    kernel, rng = built_in_kernel("offset_contribution", LAUNCHED), np.random.default_rng(1)
    cases = [kernel.sample(rng) for _ in range(300)]
    ideal = kernel.conventions[IDEAL]
    assert sum(not np.array_equal(ideal(case)["mm"], kernel.golden(case)["mm"]) for case in cases) > 20


def test_the_steps_of_a_launch_end_in_its_result() -> None:
    kernel = built_in_kernel("offset_contribution", LAUNCHED)
    for seed in range(20):
        case = kernel.sample(np.random.default_rng(seed))
        np.testing.assert_array_equal(kernel.steps(case)["add to mm"], kernel.golden(case)["mm"])
