"""TRANSPOSE_CONV and BATCH_MATMUL: their sums one by one, what scales them, what is told of a change, refusals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sim.golden.derivation import derive_tflite
from sim.models.compare import compared
from sim.models.computed import computed
from sim.models.forward import drawn_inputs, forward
from sim.models.layers import ByRules, Requantized
from sim.models.network import Network, NetworkTensor, NotComputed
from sim.models.tflite_file import read_tflite
from support.exact_rounding import half_away, half_up
from support.tflite_models import ModelWriter
from support.tflite_products import stacked_net, transposed_net

SEEDS = range(12)


def read(made: ModelWriter, folder: Path) -> Network:
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


def named(network: Network) -> dict[str, NetworkTensor]:
    return {tensor.name: tensor for tensor in network.tensors}


def zero_of(tensor: NetworkTensor) -> int:
    assert tensor.scale is not None
    return tensor.scale.zero_point


def transposed_sums(network: Network, x: np.ndarray) -> np.ndarray:
    """Where each number of the image goes, one after the other."""
    tensors, options = named(network), network.layers[0].options
    weights, shape = tensors["weights"].data, tensors["y"].shape
    assert weights is not None
    assert shape is not None
    strides = options["StrideH"], options["StrideW"]
    before = [0, 0]
    if options["Padding"] == "SAME":
        each = zip(x.shape[1:3], strides, weights.shape[1:3], shape[1:3], strict=True)
        before = [max((of - 1) * stride + width - length, 0) // 2 for of, stride, width, length in each]
    bias = tensors["bias"].data if "bias" in tensors else None
    sums = np.zeros(shape, np.int64) + (0 if bias is None else bias)
    for n, row, place in np.ndindex(x.shape[:3]):
        for i, j in np.ndindex(weights.shape[1:3]):
            y, right = row * strides[0] + i - before[0], place * strides[1] + j - before[1]
            if 0 <= y < shape[1] and 0 <= right < shape[2]:
                sums[n, y, right] += weights[:, i, j].astype(int) @ (
                    x[n, row, place].astype(int) - zero_of(tensors["x"])
                )
    return sums


@pytest.mark.parametrize("seed", SEEDS)
def test_transposed_convolutions_have_the_sums_of_their_definition(seed: int, tmp_path: Path) -> None:
    network = read(transposed_net(seed, "int16" if seed % 5 == 4 else "int8"), tmp_path)
    given = drawn_inputs(network, seed)
    made = computed(network, network.layers[0], {**network.constants, **given})
    assert isinstance(made, Requantized)
    np.testing.assert_array_equal(made.accumulators, transposed_sums(network, given[network.inputs[0]]))


def test_a_transposed_convolution_is_scaled_and_told(tmp_path: Path) -> None:
    """By double rounding of a factor for each channel; without its bias it is told that this was left out."""
    network = read(transposed_net(1), tmp_path)
    given = drawn_inputs(network, 1)
    (layer,), tensors = network.layers, named(network)
    sums = transposed_sums(network, given[network.inputs[0]])
    x, weights, y = (tensors[name].scale for name in ("x", "weights", "y"))
    bias = tensors["bias"].data
    assert x is not None
    assert weights is not None
    assert y is not None
    assert bias is not None

    def scaled(sums: np.ndarray) -> np.ndarray:
        output = np.zeros(sums.shape, np.int8)
        for at in np.ndindex(sums.shape):
            of = float(weights.scales[at[-1]])
            multiplier, left_shift = derive_tflite(float(x.scales[0]) * of / float(y.scales[0]))
            doubled = half_away(Fraction(half_up(Fraction(int(sums[at]) * multiplier, 2**31)), 2**-left_shift))
            output[at] = max(-128, min(127, doubled + y.zero_point))
        return output

    made = forward(network, given, "double_rounding")[layer.outputs[0]]
    np.testing.assert_array_equal(made, scaled(sums))
    without = scaled(sums - bias)
    assert (without != made).any()
    (report,) = compared(network, {**given, layer.outputs[0]: without})
    assert (report.outcome, report.kind) == ("differs", "transposed convolution")
    assert ("bias", "with the bias left out") in {(cause.kind, cause.told.split(",")[0]) for cause in report.causes}


def stacked_sums(network: Network, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    tensors, options = named(network), network.layers[0].options
    a, b = a.astype(int) - zero_of(tensors["a"]), b.astype(int) - zero_of(tensors["b"])
    shape = tensors["y"].shape
    assert shape is not None
    sums = np.zeros(shape, np.int64)
    of_a, of_b = (np.broadcast_to(one, (*shape[:-2], *one.shape[-2:])) for one in (a, b))
    for *at, row, column in np.ndindex(shape):
        left = of_a[(*at, slice(None), row) if options["AdjX"] else (*at, row)]
        sums[(*at, row, column)] = left @ of_b[(*at, column) if options["AdjY"] else (*at, slice(None), column)]
    return sums


@pytest.mark.parametrize("seed", [*SEEDS, 19])
def test_stacks_of_matrices_are_multiplied_as_numbers(seed: int, tmp_path: Path) -> None:
    network = read(stacked_net(seed), tmp_path)
    given = drawn_inputs(network, seed)
    made = computed(network, network.layers[0], given)
    assert isinstance(made, Requantized)
    np.testing.assert_array_equal(made.accumulators, stacked_sums(network, given[0], given[1]))
    assert compared(network, forward(network, given, "fp32"))[0].outcome == "equal"


def test_sums_of_64_bits_are_scaled_by_15(tmp_path: Path) -> None:
    """Of int16 by int16 what leaves 32 bits is no error: upstream adds in 64."""
    network = read(stacked_net(5, "int16"), tmp_path)
    given = {k: np.full(network.tensors[k].shape or (), 30_000 - k, np.int16) for k in (0, 1)}
    made = computed(network, network.layers[0], given)
    assert isinstance(made, ByRules)
    assert set(made.operands["sum"].ravel().tolist()) == {32 * 30_000 * 29_999}
    a, b, y = (float(np.float32(network.tensors[k].scale.scales[0])) for k in range(3))  # type: ignore[union-attr]
    by = derive_tflite(float(np.float32(a) * np.float32(b)) / y)
    expected = half_up(Fraction(32 * 30_000 * 29_999 * ((by.multiplier + (1 << 15)) >> 16), 2 ** (15 - by.left_shift)))
    output = np.full(network.tensors[2].shape or (), min(expected, 32767), np.int16)
    np.testing.assert_array_equal(forward(network, given, "double_rounding")[2], output)
    (report,) = compared(network, {**given, 2: output})
    assert report.conventions[0] == "single_rounding_of_long of derive_tflite"
    output[0, 3, 4] -= 1
    (report,) = compared(network, {**given, 2: output})
    assert (report.outcome, report.differing, report.first) == ("differs", 1, (0, 3, 4))


def refused(made: ModelWriter, folder: Path, reason: str, given: dict[int, np.ndarray] | None = None) -> None:
    network = read(made, folder)
    numbers = given or {k: np.zeros(network.tensors[k].shape or (), np.int8) for k in network.inputs}
    with pytest.raises(NotComputed, match=reason):
        computed(network, network.layers[0], {**network.constants, **numbers})


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ((2, 7, 9, 4), "its windows and strides do not make its input"),
        ((2, 9, 9, 5), "its windows and strides do not make its input"),
        ((2, 7, 9), "its first input is not how large its output is"),
        ((2, 0, 9, 5), "its first input is not how large its output is"),
        ((2, 2**30, 9, 5), "its windows and strides do not make its input"),
    ],
)
def test_shapes_of_transposed_convolutions_that_do_not_fit(shape: Sequence[int], reason: str, tmp_path: Path) -> None:
    made = transposed_net(0)
    made.tensors[0] |= {"shape": [len(shape)], "data": np.array(shape, np.int32)}
    refused(made, tmp_path, reason)


def test_what_is_not_transposed_or_stacked_is_named(tmp_path: Path) -> None:
    made = transposed_net(0)
    made.tensors[2]["scales"] = np.zeros(0, np.float32)
    refused(made, tmp_path, "x has no scale")
    made = transposed_net(0)
    made.layers[0]["inputs"] = made.layers[0]["inputs"][:2]
    refused(made, tmp_path, "input 2 is not there")
    made = transposed_net(0)
    made.layers[0]["options"] |= {"StrideH": 0}
    refused(made, tmp_path, "do not make its input")
    made = stacked_net(1)
    made.tensors[1]["scales"] = np.array([0.5] * 7, np.float32)
    made.tensors[1]["axis"] = 1
    refused(made, tmp_path, "BATCH_MATMUL with a scale for each channel is not computed")
    refused(
        stacked_net(1),
        tmp_path,
        "its tensors do not fit",
        {0: np.zeros((2, 5, 7), np.int8), 1: np.zeros((2, 6, 3), np.int8)},
    )
    refused(
        stacked_net(1), tmp_path, "it is not of two matrices", {0: np.zeros(7, np.int8), 1: np.zeros((7, 3), np.int8)}
    )
    wide = {0: np.full((1, 1, 2**17), -32768, np.int16), 1: np.full((1, 2**17, 1), -32768, np.int16)}
    refused(stacked_net(5, "int16"), tmp_path, r"a sum is 140,737,488,355,328: below 2\^47 they are computed", wide)
