"""The parts of a quantized matrix product, and a whole layer made of them, against the direct definition."""

import numpy as np
import numpy.typing as npt
import pytest

from sim.golden.gemm_lowp import interleave4x4, multiply_blocks, sums_of_columns, sums_of_rows
from sim.kernels.offset_contribution.golden import Parameters as Offsets
from sim.kernels.offset_contribution.golden import offset_contribution
from sim.kernels.quantize_down.golden import Parameters as Scale
from sim.kernels.quantize_down.golden import quantize_down
from sim.kernels.transpose1xw.golden import transpose1xw

LAYERS = (
    (21, 13, 33, 0, 0, -1, 254601600), (31, 3, 72, -2, 13, 0, 254601600), (52, 13, 33, 0, 4, 1, 254601600),
    (52, 26, 33, -2, 0, 2, 254601602), (31, 27, 23, 5, 13, -2, 254601602), (38, 43, 21, -3, -2, -1, 254601602),
)  # fmt: skip
"""K, M, N, a, b, then offset and multiplier of the fixed-point stage, whose shift is 10 and bounds 10..210."""


def matrix(seed: int, *shape: int) -> npt.NDArray[np.uint8]:
    """Upstream's range; numpy's generator, so not upstream's numbers."""
    return np.random.default_rng(seed).integers(1, 254, shape, np.uint8, endpoint=True)


def scaled(accumulator: int, scale: Scale) -> int:
    """The stage in Python integers: ties up in the multiply, ties away in the shift, then the bounds."""
    high = (accumulator * scale.multiplier + 2**30) // 2**31
    nearest = (abs(high) + (1 << scale.shift) // 2) >> scale.shift
    return min(max((nearest if high >= 0 else -nearest) + scale.offset, scale.minimum), scale.maximum)


@pytest.mark.parametrize("cut_by", ["zeros", "undefined"])
@pytest.mark.parametrize(("k", "m", "n", "a_offset", "b_offset", "offset", "multiplier"), LAYERS)
def test_a_whole_layer_is_the_clamped_definition(
    k: int, m: int, n: int, a_offset: int, b_offset: int, offset: int, multiplier: int, cut_by: str
) -> None:
    """Whatever the padding of A and B holds: it only reaches rows and columns that are not kept."""
    a, b, bias = matrix(0, m, k), matrix(1, k, n), matrix(2, n).astype(np.int32)
    below, behind = (None, None) if cut_by == "zeros" else (matrix(3, -m % 4, k), matrix(4, k, -n % 16))
    product = multiply_blocks(interleave4x4(a, below), transpose1xw(b, behind))[:m, :n]
    offsets, scale = Offsets(k, a_offset, b_offset), Scale(multiplier, 10, offset, 10, 210)
    contributed = offset_contribution(product, sums_of_columns(b), sums_of_rows(a), None, offsets, "acl_19_08_neon")
    exact = (a.astype(object) + a_offset) @ (b.astype(object) + b_offset) + bias
    expected = [[scaled(int(number), scale) for number in row] for row in exact]
    assert quantize_down(contributed, bias, scale).tolist() == expected


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "float32"])
@pytest.mark.parametrize(("m", "k"), [(m, k) for m in range(8, 12) for k in range(8, 12)])
def test_interleaving_on_upstreams_shapes(m: int, k: int, dtype: str) -> None:
    a = np.frombuffer(np.random.default_rng(0).bytes(m * k * np.dtype(dtype).itemsize), dtype).reshape(m, k)
    expected = np.zeros((-(-m // 4), 4 * k), dtype)
    for i in range(m):
        for j in range(k):
            expected[i // 4, 4 * j + i % 4] = a[i, j]
    assert interleave4x4(a).tobytes() == expected.tobytes()


def test_rows_below_come_from_the_padding() -> None:
    found = interleave4x4(np.array([[1], [2], [3]], np.uint8), np.array([[90]], np.uint8))
    assert found.tolist() == [[1, 2, 3, 90]]


def test_one_row_is_refused() -> None:
    with pytest.raises(ValueError, match="with m other than 1"):
        interleave4x4(np.zeros((1, 4), np.uint8))


@pytest.mark.parametrize(("fill", "dtype"), [(255, "uint8"), (-128, "int8")])
def test_the_largest_products(fill: int, dtype: str) -> None:
    found = multiply_blocks(np.full((1, 4 * 7), fill, dtype), np.full((1, 16 * 7), fill, dtype))
    assert set(found.reshape(-1).tolist()) == {7 * fill * fill}


@pytest.mark.parametrize(("k", "negative"), [(33025, False), (33026, True)])
def test_a_product_of_bytes_is_exact_up_to_k_33025(k: int, negative: bool) -> None:
    found = multiply_blocks(np.full((1, 4 * k), 255, np.uint8), np.full((1, 16 * k), 255, np.uint8))
    assert int(found[0, 0]) == 255 * 255 * k - (2**32 if negative else 0)


def test_batches_share_b_or_have_their_own() -> None:
    a, b = matrix(0, 2, 5, 6), matrix(1, 2, 6, 7)
    cut_a = np.stack([interleave4x4(plane) for plane in a])
    own, shared = (multiply_blocks(cut_a, transpose1xw(part))[:, :5, :7] for part in (b, b[0]))
    wide = a.astype(np.int32) @ b.astype(np.int32), a.astype(np.int32) @ b[0].astype(np.int32)
    np.testing.assert_array_equal([own, shared], wide)


def test_interleaving_keeps_planes_apart() -> None:
    a = matrix(0, 2, 5, 6)
    np.testing.assert_array_equal(interleave4x4(a), [interleave4x4(plane) for plane in a])


def test_sums_of_a_batch() -> None:
    values = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    assert (sums_of_rows(values).tolist(), sums_of_columns(values).tolist()) == (
        [[3, 12], [21, 30]],
        [[3, 5, 7], [15, 17, 19]],
    )


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (np.zeros((1, 8), np.uint8), np.zeros((1, 16), np.uint8), "give the same k and the same dtype"),
        (np.zeros((1, 4), np.uint8), np.zeros((1, 16), np.int8), "give the same k and the same dtype"),
        (np.zeros((1, 6), np.uint8), np.zeros((1, 16), np.uint8), "interleaved has shape .* a multiple of 4"),
        (np.zeros((1, 4), np.uint8), np.zeros((1, 17), np.uint8), "transposed has shape .* a multiple of 16"),
    ],
)
def test_operands_that_do_not_fit_are_refused(
    a: npt.NDArray[np.uint8], b: npt.NDArray[np.uint8], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        multiply_blocks(a, b)


def test_what_is_no_matrix_is_refused() -> None:
    with pytest.raises(ValueError, match=r"interleaved has shape \(4,\)"):
        multiply_blocks(np.zeros(4, np.uint8), np.zeros((1, 16), np.uint8))
    for shape in ((), (4,)):
        with pytest.raises(ValueError, match="a has shape"):
            interleave4x4(np.zeros(shape, np.uint8))


def test_only_bytes_are_multiplied_and_summed() -> None:
    with pytest.raises(TypeError, match="transposed has dtype int16: give uint8 or int8"):
        multiply_blocks(np.zeros((1, 4), np.uint8), np.zeros((1, 16), np.int16))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="b has dtype int16: give uint8 or int8"):
        sums_of_columns(np.zeros((1, 4), np.int16))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="interleaved has dtype int16: give uint8 or int8"):
        multiply_blocks(np.zeros((1, 4), np.int16), np.zeros((1, 16), np.int16))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a has dtype int16: give uint8 or int8"):
        sums_of_rows(np.zeros((1, 4), np.int16))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("padding", "error"), [(np.zeros((2, 1), np.uint8), ValueError), (np.zeros((1, 1), np.int8), TypeError)]
)
def test_padding_that_does_not_fit_is_refused(padding: npt.NDArray[np.uint8], error: type[Exception]) -> None:
    with pytest.raises(error, match="padding has"):
        interleave4x4(np.zeros((3, 1), np.uint8), padding)
