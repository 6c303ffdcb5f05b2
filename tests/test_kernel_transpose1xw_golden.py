"""The golden reference of transpose1xw, element by element, and upstream's helpers for its shape."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from sim.golden import completed_by_padding, completed_by_zeros
from sim.kernels.operator import AnyArray, Shape
from sim.kernels.transpose1xw.golden import chunk_width, transpose1xw
from sim.kernels.transpose1xw.shapes import transpose1xw_shape, transpose1xw_with_element_size_shape

MODES = ("acl_19_08", "acl_20_11")
DTYPES = ("uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32", "int64")
WIDTHS = {1: 16, 2: 8, 4: 4, 8: 2}


def any_bits(seed: int, shape: Shape, dtype: str) -> AnyArray:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(np.random.default_rng(seed).bytes(size), dtype).reshape(shape)


def stacked(plane: Sequence[bytes], missing: Sequence[bytes]) -> list[bytes]:
    """The definition on rows of raw bytes, `missing` completing each."""
    whole = [row + rest for row, rest in zip(plane, missing, strict=True)]
    return [b"".join(row[start : start + 16] for row in whole) for start in range(0, len(whole[0]), 16)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fill", [0x00, 0x5A])
@pytest.mark.parametrize("shape", [(1, 1), (2, 17), (13, 12), (7, 8), (1, 64), (5, 33), (3, 15), (16, 16)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_byte_is_where_the_definition_says(dtype: str, shape: Shape, fill: int, mode: str) -> None:
    values = any_bits(0, shape, dtype)
    missing = -shape[1] % WIDTHS[values.itemsize]
    padding = np.full((shape[0], missing * values.itemsize), fill, np.uint8).view(dtype)
    tail = padding if mode == "acl_19_08" else np.zeros_like(padding)
    expected = stacked([row.tobytes() for row in values], [row.tobytes() for row in tail])
    assert [row.tobytes() for row in transpose1xw(values, padding, mode)] == expected


@pytest.mark.parametrize(("complete", "tails"), [(completed_by_padding, [[7], [8]]), (completed_by_zeros, [[0], [0]])])
def test_each_row_is_completed_by_what_it_lacks(complete: Callable[..., AnyArray], tails: list[list[int]]) -> None:
    rows, padding = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[7], [8]])
    assert complete(rows, padding, 4)[:, :3].tolist() == rows.tolist()
    assert complete(rows, padding, 4)[:, 3:].tolist() == tails
    for lanes, lacks in ((3, 0), (5, 2)):
        with pytest.raises(ValueError, match=f"padding has 1 elements: a row of 3 lacks {lacks} to {lanes} lanes"):
            complete(rows, padding, lanes)


@pytest.mark.parametrize(("mode", "edge"), [("acl_19_08", "P"), ("acl_20_11", "\0")])
def test_the_worked_example(mode: str, edge: str) -> None:
    """u8, w 17, h 2 (docs/spec/transpose1xw.md section 2)."""
    values = np.frombuffer(b"ABCDEFGHIJKLMNOPQabcdefghijklmnopq", np.uint8).reshape(2, 17)
    found = transpose1xw(values, np.full((2, 15), ord("P"), np.uint8), mode)
    expected = ["ABCDEFGHIJKLMNOPabcdefghijklmnop", "Q" + edge * 15 + "q" + edge * 15]
    assert [row.tobytes().decode() for row in found] == expected


@pytest.mark.parametrize(("mode", "lane"), [("acl_19_08", 0x5A), ("acl_20_11", 0)])
def test_row_18_lane_17_of_width_17(mode: str, lane: int) -> None:
    found = transpose1xw(np.ones((1, 17), np.uint8), np.full((1, 15), 0x5A, np.uint8), mode)
    assert found.reshape(-1)[17] == lane


@pytest.mark.parametrize("columns", range(8, 13))
@pytest.mark.parametrize("rows", range(7, 13))
def test_upstream_grid(columns: int, rows: int) -> None:
    """Upstream's shapes, F32 in -1..1, padding zeroed; every element at its own index."""
    values = np.random.default_rng(0).uniform(-1, 1, (rows, columns)).astype(np.float32)
    expected = np.zeros((-(-columns // 4), rows * 4), np.float32)
    for y in range(rows):
        for x in range(columns):
            expected[x // 4, y * 4 + x % 4] = values[y, x]
    np.testing.assert_array_equal(transpose1xw(values), expected)


def test_planes_are_separate() -> None:
    values = any_bits(1, (2, 3, 5, 9), "int16")
    expected = [[transpose1xw(plane) for plane in planes] for planes in values]
    np.testing.assert_array_equal(transpose1xw(values), expected)


def test_a_vector_is_one_row() -> None:
    assert transpose1xw(np.arange(5, dtype=np.int32)).tolist() == [[0, 1, 2, 3], [4, 0, 0, 0]]


def test_nan_payloads_survive() -> None:
    bits = np.array([[0x7F800001, 0xFFC12345, 0x80000000, 0x7FC00000]], np.uint32)
    assert transpose1xw(bits.view(np.float32)).view(np.uint32).tolist() == bits.tolist()


def test_more_padding_than_needed_is_not_looked_at() -> None:
    found = transpose1xw(np.array([[1, 2, 3]], np.int32), np.array([[7, 8, 9]], np.int32))
    assert found.tolist() == [[1, 2, 3, 7]]


@pytest.mark.parametrize(("shape", "expected"), [((0, 5), (2, 0)), ((3, 0), (0, 12)), ((0, 3, 5), (0, 2, 12))])
def test_empty_arrays(shape: Shape, expected: Shape) -> None:
    assert transpose1xw(np.zeros(shape, np.int32)).shape == expected


@pytest.mark.parametrize(
    ("padding", "error", "sentence"),
    [
        (
            np.zeros((1, 2), np.int32),
            ValueError,
            r"padding has shape \(1, 2\): give \(1, 3\), or more on the last axis",
        ),
        (np.zeros((2, 3), np.int32), ValueError, r"padding has shape \(2, 3\)"),
        (np.zeros((1, 3), np.float32), TypeError, "padding has dtype float32: it must be that of the values, int32"),
    ],
)
def test_padding_that_does_not_fit_is_refused(padding: AnyArray, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        transpose1xw(np.zeros((1, 5), np.int32), padding)


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown mode 'acl': give one of acl_19_08, acl_20_11"):
        transpose1xw(np.zeros((1, 5), np.int32), mode="acl")


def test_elements_of_16_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="elements have 16 bytes: give 1, 2, 4 or 8"):
        transpose1xw(np.zeros((1, 5), np.complex128))


@pytest.mark.parametrize(("size", "width"), WIDTHS.items())
def test_a_chunk_fills_a_register(size: int, width: int) -> None:
    assert chunk_width(size) == width


# Shape helpers


def test_the_trap_one_helper_takes_16_for_every_size() -> None:
    shapes = transpose1xw_shape((2, 17)), *(transpose1xw_with_element_size_shape((2, 17), size) for size in (1, 2, 4))
    assert shapes == ((2, 32), (2, 32), (3, 16), (5, 8))


def test_the_shape_of_b_of_a_u8_product() -> None:
    """B [N, K] becomes [16 * K, ceil(N / 16)]: 33 columns, 21 rows."""
    assert transpose1xw_shape((21, 33)) == (3, 16 * 21)


def test_wider_chunks() -> None:
    assert transpose1xw_with_element_size_shape((5, 2, 17), 4, 2) == (5, 3, 16)


@pytest.mark.parametrize(("width", "blocks"), [(2**24 - 1, 2**20), (2**24, 2**20), (2**24 + 1, 2**20)])
def test_the_division_is_one_of_float32(width: int, blocks: int) -> None:
    """2^24 + 1 is no float32: the last block of the exact 2^20 + 1 is lost."""
    assert transpose1xw_shape((1, width)) == (blocks, 16)


def test_a_multiple_below_1_is_refused() -> None:
    with pytest.raises(ValueError, match="multiple is 0: give 1 or more chunks"):
        transpose1xw_with_element_size_shape((1, 1), 1, 0)
