"""Nets of floating point with seeded weights, as .onnx files: what a quantizer of others is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

SHAPE, CLASSES = (1, 3, 16, 16), 10


class FloatNet:
    """Operators as they are added; each gives the name of what it makes."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, operator: str, inputs: list[str], **options: Any) -> str:
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **options))
        return name

    def weights(self, *shape: int) -> list[str]:
        """And a bias for each of the first axis."""
        drawn = self.rng.normal(0, 1.5 / np.prod(shape[1:]) ** 0.5, shape), self.rng.normal(0, 0.3, shape[0])
        names = [f"weights_{len(self.nodes)}", f"bias_{len(self.nodes)}"]
        for name, numbers in zip(names, drawn, strict=True):
            self.constants.append(numpy_helper.from_array(numbers.astype(np.float32), name))
        return names

    def conv(self, x: str, channels: int, of: int, size: int = 3, groups: int = 1, stride: int = 1) -> str:
        kernel = self.weights(channels, of // groups, size, size)
        return self.node("Conv", [x, *kernel], pads=[size // 2] * 4, group=groups, strides=[stride] * 2)

    def content(self, x: tuple[int, ...], output: str) -> bytes:
        graph = helper.make_graph(
            self.nodes, "made by the tests", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.constants,
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        content: bytes = model.SerializeToString()
        return content


def conv_net(seed: int) -> bytes:
    net = FloatNet(seed)
    first = net.node("Relu", [net.conv("x", 8, 3)])
    pooled = net.node("MaxPool", [net.conv(first, 16, 8, stride=2)], kernel_shape=[2, 2], strides=[2, 2])
    row = net.node("Flatten", [pooled])
    return net.content(SHAPE, net.node("Gemm", [row, *net.weights(CLASSES, 16 * 4 * 4)], transB=1))


def residual_net(seed: int) -> bytes:
    net = FloatNet(seed)
    first = net.node("Relu", [net.conv("x", 8, 3)])
    total = net.node("Add", [first, net.conv(first, 8, 8)])
    again = net.node("Add", [total, net.conv(total, 8, 8)])
    gated = net.node("Mul", [again, net.conv(again, 8, 8, 1)])
    row = net.node("Flatten", [net.node("GlobalAveragePool", [gated])])
    return net.content(SHAPE, net.node("Gemm", [row, *net.weights(CLASSES, 8)], transB=1))


def separable_net(seed: int) -> bytes:
    net = FloatNet(seed)
    first = net.conv("x", 8, 3, stride=2)
    depthwise = net.node("Relu", [net.conv(first, 8, 8, groups=8)])
    point = net.conv(depthwise, 16, 8, 1)
    again = net.conv(net.conv(point, 16, 16, groups=16, stride=2), 16, 16, 1)
    row = net.node("Flatten", [net.node("GlobalAveragePool", [again])])
    return net.content(SHAPE, net.node("Gemm", [row, *net.weights(CLASSES, 16)], transB=1))


def mlp(seed: int) -> bytes:
    net = FloatNet(seed)
    first = net.node("Relu", [net.node("Gemm", ["x", *net.weights(32, 24)], transB=1)])
    second = net.node("Relu", [net.node("Gemm", [first, *net.weights(32, 32)], transB=1)])
    total = net.node("Add", [first, second])
    return net.content((8, 24), net.node("Gemm", [total, *net.weights(CLASSES, 32)], transB=1))


FLOAT_NETS: dict[str, Callable[[int], bytes]] = {
    "conv": conv_net, "residual": residual_net, "separable": separable_net, "mlp": mlp
}  # fmt: skip
