"""Quantized nets of seeded weights in PyTorch, and the same nets as .onnx files: which is to be named layer by layer.

PyTorch is imported by whoever calls: `make test-pytorch` installs it.  Scales are fractions of small numbers, so that
ties occur; of each tensor PyTorch's integers are kept under the name that it has in the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper

AnyArray = npt.NDArray[Any]
SHORT = {"linear": "Gemm", "conv": "Conv", "add": "Add", "mul": "Mul", "average": "GlobalAveragePool"}
"""Of an operator its name in a file of pairs."""


@dataclass(frozen=True, eq=False)
class Weighted:
    """A layer with weights as it was made: what its sums are of, and how it is scaled."""

    kind: str
    weights: AnyArray
    scales: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float32]
    zero_point: int
    stride: int
    groups: int
    relu: bool


@dataclass
class PairedNet:
    """A net as it is run by PyTorch, and written down as pairs of DequantizeLinear and QuantizeLinear."""

    torch: Any
    seed: int
    is_exact: bool = True
    rng: np.random.Generator = field(init=False)
    tensors: dict[str, AnyArray] = field(default_factory=dict)
    held: dict[str, Any] = field(default_factory=dict)
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    scales: dict[str, tuple[np.float32, int]] = field(default_factory=dict)
    inputs: list[Any] = field(default_factory=list)
    layers: dict[str, Weighted] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def input(self, name: str, shape: tuple[int, ...], high: int = 256) -> str:
        """Bytes below `high`; low ones keep sums small, so that ties are frequent."""
        scale, zero = self.scale(), int(self.rng.integers(5, 15) if high < 256 else self.rng.integers(100, 140))
        numbers = self.rng.integers(0, high, shape).astype(np.uint8)
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.UINT8, shape))
        self._keep(name, self._quantized(numbers, scale, zero), scale, zero)
        return name

    def scale(self) -> np.float32:
        """A fraction of small numbers, or any."""
        if self.is_exact:
            return np.float32(self.rng.integers(1, 16) * 2.0**-8)
        return np.float32(self.rng.uniform(0.01, 0.06))

    def weighted(self, kind: str, x: str, channels: int, name: str, *, size: int = 1, stride: int = 1, groups: int = 1,
                 relu: bool = False, per_tensor: bool = False, bias: bool = True) -> str:  # fmt: skip
        """A linear layer or a convolution; of one output element of each channel the bias makes nearly a tie."""
        torch, numbers = self.torch, self.tensors[x]
        depth = numbers.shape[1] // groups
        shape = (channels, depth) if kind == "linear" else (channels, depth, size, size)
        weights = self.rng.integers(-5, 6, shape).astype(np.int8)
        of_x, zero_x = self.scales[x]
        of_weights = np.array([self.scale() for _ in range(1 if per_tensor else channels)], np.float32)
        scale, zero = np.float32(self.scale() * np.float32(8)), int(self.rng.integers(100, 140))
        held = self._weights(weights, of_weights)
        units = of_x.astype(np.float64) * of_weights.astype(np.float64)
        drawn = self.rng.integers(-80, 80, channels) + 0.5
        layer = Weighted(kind, weights, of_weights, np.zeros(channels, np.float32), zero_x, stride, groups, relu)
        sums = sums_of(numbers, layer)
        picked = sums.reshape(sums.shape[0], channels, -1)[0, :, int(self.rng.integers(sums[0, 0].size))]
        real = (drawn * float(scale) - picked * units).astype(np.float32) if bias else None
        self.layers[name] = layer if real is None else replace(layer, bias=real)
        operators, own = torch.ops.quantized, None if real is None else torch.from_numpy(real)
        if kind == "linear":
            run = operators.linear_relu if relu else operators.linear
            made = run(self.held[x], operators.linear_prepack(held, own), float(scale), zero)
        else:
            pad = size // 2
            packed = operators.conv2d_prepack(held, own, [stride] * 2, [pad] * 2, [1, 1], groups)
            made = (operators.conv2d_relu if relu else operators.conv2d)(self.held[x], packed, float(scale), zero)
        inputs = [self._dequantized(x), self._constant_pair(f"{name}_weights", weights, of_weights)]
        inputs += [] if real is None else [self._constant(f"{name}_bias", real)]
        options: dict[str, Any] = {"transB": 1}
        if kind == "conv":
            options = {"pads": [size // 2] * 4, "strides": [stride] * 2, "group": groups}
        self._layer(SHORT[kind], inputs, name, made, scale, zero, relu=relu, **options)
        return name

    def pair(self, kind: str, a: str, b: str, name: str, *, relu: bool = False) -> str:
        """A sum or a product of two tensors, which share some of their scales."""
        scale, zero = self.scale(), int(self.rng.integers(100, 140))
        run = getattr(self.torch.ops.quantized, f"{kind}_relu" if relu else kind)
        made = run(self.held[a], self.held[b], float(scale), zero)
        self._layer(SHORT[kind], [self._dequantized(a), self._dequantized(b)], name, made, scale, zero, relu=relu)
        return name

    def average(self, x: str, name: str) -> str:
        """Of each channel the average of all pixels, in the same scale."""
        scale, zero = self.scales[x]
        made = self.torch.nn.functional.adaptive_avg_pool2d(self.held[x], 1)
        self._layer("GlobalAveragePool", [self._dequantized(x)], name, made, scale, zero)
        return name

    def moved(self, operator: str, x: str, name: str, **options: Any) -> str:
        """The largest of windows of 2 x 2, or all numbers of an image in a row: no arithmetic."""
        scale, zero = self.scales[x]
        if operator == "MaxPool":
            made = self.torch.nn.functional.max_pool2d(self.held[x], 2)
            options = {"kernel_shape": [2, 2], "strides": [2, 2]}
        else:
            made = self.held[x].contiguous().reshape(self.held[x].shape[0], -1)
        self._layer(operator, [self._dequantized(x)], name, made, scale, zero, **options)
        return name

    def content(self, output: str) -> bytes:
        """The .onnx file."""
        shape = self.tensors[output].shape
        graph = helper.make_graph(
            self.nodes, "made by the tests", self.inputs,
            [helper.make_tensor_value_info(output, TensorProto.UINT8, shape)], self.constants,
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        content: bytes = model.SerializeToString()
        return content

    def _layer(self, operator: str, inputs: list[str], name: str, made: Any, scale: np.float32, zero: int,
               *, relu: bool = False, **options: Any) -> None:  # fmt: skip
        self.nodes.append(helper.make_node(operator, inputs, [f"{name}_real"], **options))
        if relu:
            self.nodes.append(helper.make_node("Relu", [f"{name}_real"], [f"{name}_relu"]))
        behind = f"{name}_relu" if relu else f"{name}_real"
        pair = [self._constant(f"{name}_scale", scale), self._constant(f"{name}_zero", np.uint8(zero))]
        self.nodes.append(helper.make_node("QuantizeLinear", [behind, *pair], [name]))
        self._keep(name, made, scale, zero)

    def _keep(self, name: str, held: Any, scale: np.float32, zero: int) -> None:
        self.held[name], self.scales[name] = held, (scale, zero)
        self.tensors[name] = held.int_repr().numpy().copy()

    def _dequantized(self, name: str) -> str:
        """A DequantizeLinear of its own for each use, as tools write them."""
        scale, zero = self.scales[name]
        real = f"{name}_real_{len(self.nodes)}"
        pair = [self._constant(f"{real}_scale", scale), self._constant(f"{real}_zero", np.uint8(zero))]
        self.nodes.append(helper.make_node("DequantizeLinear", [name, *pair], [real]))
        return real

    def _constant_pair(self, name: str, weights: AnyArray, scales: npt.NDArray[np.float32]) -> str:
        one = scales if scales.size > 1 else scales[0]
        zeros = np.zeros(scales.shape, np.int8) if scales.size > 1 else np.int8(0)
        pair = [self._constant(f"{name}_scale", one), self._constant(f"{name}_zero", zeros)]
        inputs = [self._constant(name, weights), *pair]
        self.nodes.append(helper.make_node("DequantizeLinear", inputs, [f"{name}_real"], axis=0))
        return f"{name}_real"

    def _constant(self, name: str, value: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def _quantized(self, numbers: AnyArray, scale: np.float32, zero: int) -> Any:
        return self.torch._make_per_tensor_quantized_tensor(self.torch.from_numpy(numbers), float(scale), zero)

    def _weights(self, numbers: AnyArray, scales: npt.NDArray[np.float32]) -> Any:
        if scales.size == 1:
            return self._quantized(numbers, scales[0], 0)
        zeros = self.torch.zeros(scales.size, dtype=self.torch.int64)
        of = self.torch.from_numpy(scales.astype(np.float64))
        return self.torch._make_per_channel_quantized_tensor(self.torch.from_numpy(numbers), of, zeros, 0)


def sums_of(x: AnyArray, layer: Weighted) -> AnyArray:
    """Of products without zero points, over the windows of a convolution: [N, O, ...]."""
    centred, weights = x.astype(np.int64) - layer.zero_point, layer.weights.astype(np.int64)
    if layer.kind == "linear":
        product: AnyArray = centred @ weights.T
        return product[:, :, None]
    size = weights.shape[2:]
    around = np.pad(centred, ((0, 0), (0, 0), *[(length // 2, length // 2) for length in size]))
    windows = np.lib.stride_tricks.sliding_window_view(around, size, axis=(2, 3))
    windows = windows[:, :, :: layer.stride, :: layer.stride]
    inside, outside = weights.shape[1], len(weights) // layer.groups
    return np.concatenate([
        np.einsum("nchwij,ocij->nohw", windows[:, g * inside : (g + 1) * inside],
                  weights[g * outside : (g + 1) * outside])
        for g in range(layer.groups)
    ], axis=1)  # fmt: skip
