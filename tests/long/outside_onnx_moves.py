"""Split, Slice, Pad, Expand, Identity, Dropout and Shape in ONNX Runtime, as pairs and of bytes: all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_models_onnx_moves import moving_net

from sim.models.compare import compared
from sim.models.network import Network
from sim.models.runtimes.onnxruntime import onnxruntime_tensors

NETS = 60
FAR = 2**62


def outcome_of(network: Network, folder: Path, rng: np.random.Generator) -> tuple[str, tuple[str, ...]]:
    (number,) = network.inputs
    tensor = network.tensors[number]
    limits = np.iinfo(tensor.dtype)
    x = rng.integers(limits.min, limits.max, tensor.shape, tensor.dtype, endpoint=True)
    (report,) = compared(network, onnxruntime_tensors(folder / "net.onnx", network, {number: x}))
    return f"{report.outcome} {report.reason}".strip(), report.conventions


def drawn_shape(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(int(length) for length in rng.integers(1, 7, rng.integers(1, 5)))


def split(rng: np.random.Generator, shape: tuple[int, ...]) -> dict[str, Any]:
    """Equal parts, a number of them, or their lengths, also none."""
    axis = int(rng.integers(-len(shape), len(shape)))
    length, count = shape[axis], int(rng.integers(1, 5))
    ends = np.sort(rng.integers(0, length + 1, count - 1))
    lengths = np.diff([0, *ends, length])
    match int(rng.integers(3)):
        case 0:
            return {"outputs": count, "inputs": [lengths], "axis": axis}
        case 1 if -(-length // count) * (count - 1) <= length:  # what is no part at all it refuses
            return {"outputs": count, "num_outputs": count, "axis": axis}
        case _:
            return {"outputs": count, "split": lengths.tolist(), "axis": axis, "versions": 11}


def cut(rng: np.random.Generator, shape: tuple[int, ...]) -> dict[str, Any]:
    axes = rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)]
    near = rng.integers(-9, 10, (2, len(axes)))
    starts, ends = np.where(rng.random(near.shape) < 0.1, rng.choice([-FAR, FAR], near.shape), near)
    steps = rng.choice([-3, -2, -1, 1, 2, 3], len(axes))
    return {"inputs": [starts, ends, axes - len(shape) * (rng.random(len(axes)) < 0.5), steps]}


def padded(rng: np.random.Generator, shape: tuple[int, ...]) -> dict[str, Any]:
    mode = str(rng.choice(["constant", "reflect", "edge", "wrap"]))
    least = -(min(shape) // 2) if mode == "constant" else 0
    most = {"reflect": min(shape), "wrap": min(shape) + 1}.get(mode, 5)
    return {"inputs": [rng.integers(least, most, 2 * len(shape))], "mode": mode, "versions": 19}


def expanded(rng: np.random.Generator, shape: tuple[int, ...]) -> dict[str, Any]:
    to = [int(rng.choice([1, length])) if length > 1 else int(rng.integers(1, 5)) for length in shape]
    return {"inputs": [np.array([*rng.integers(1, 4, rng.integers(0, 3)).tolist(), *to])]}


DRAWN: dict[str, Any] = {
    "Split": split,
    "Slice": cut,
    "Pad": padded,
    "Expand": expanded,
    "Identity": lambda rng, shape: {},
    "Dropout": lambda rng, shape: {},
    "Shape": lambda rng, shape: dict(zip(("start", "end"), rng.integers(-6, 7, 2).tolist(), strict=True)),
}


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize(("operator", "paired"), [
    *((operator, True) for operator in DRAWN if operator != "Shape"),
    *((operator, False) for operator in DRAWN if operator != "Dropout"),  # which takes no bytes
])  # fmt: skip
def test_numbers_that_are_moved_are_the_same(operator: str, paired: bool, dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(21)
    for _ in range(NETS):
        shape = drawn_shape(rng)
        options = DRAWN[operator](rng, shape)
        scale = (float(rng.uniform(0.001, 2)), int(rng.integers(*{"uint8": (0, 256), "int8": (-128, 128)}[dtype])))
        scales = [scale] * (options.get("outputs", 1) + 1)
        network = moving_net(tmp_path, operator, paired, shape=shape, scales=scales, dtype=dtype, **options)
        assert outcome_of(network, tmp_path, rng) == ("equal", ("exact",)), (shape, scale, options)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_another_number_around_is_quantized(dtype: str, tmp_path: Path) -> None:
    """Ties too, and of another scale; bytes as they are by a byte."""
    rng, alone = np.random.default_rng(22), 0
    for number in range(NETS):
        shape, scale = drawn_shape(rng), float(rng.uniform(0.01, 0.1))
        zeros = rng.integers(*{"uint8": (0, 256), "int8": (-128, 128)}[dtype], 2).tolist()
        to = scale * (1, 0.5, 2, float(rng.uniform(0.3, 3)))[number % 4]
        around = np.float32(to) * np.float32(int(rng.integers(-40, 41)) + 0.5)
        pads = rng.integers(0, 4, 2 * len(shape))
        scales = [(scale, zeros[0]), (to, zeros[1])]
        network = moving_net(tmp_path, "Pad", True, [pads, np.array(around)], shape=shape, scales=scales, dtype=dtype)
        outcome, conventions = outcome_of(network, tmp_path, rng)
        assert (outcome, "round_even_then_offset" in conventions) == ("equal", True), (shape, scales, around)
        alone += conventions == ("round_even_then_offset",)
        byte = np.array(zeros[0], dtype)
        network = moving_net(tmp_path, "Pad", False, [pads, byte], shape=shape, dtype=dtype)
        assert outcome_of(network, tmp_path, rng) == ("equal", ("exact",)), (shape, byte)
    assert alone > 0
