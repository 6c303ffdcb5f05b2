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

    def numbers(self, *stated: int) -> str:
        """As an operator Constant, as exporters write them."""
        return self.node("Constant", [], value=numpy_helper.from_array(np.array(stated, np.int64)))

    def content(self, x: tuple[int, ...], output: str, version: int = 13) -> bytes:
        graph = helper.make_graph(
            self.nodes, "made by the tests", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.constants,
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)
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


def mobile_net(seed: int) -> bytes:
    """Rows apart, ReLU6, hard swish, squeeze and excitation by a mean, split, padded, resized, the larger of two."""
    net = FloatNet(seed)
    for name, of in (("low", 0.0), ("high", 6.0)):
        net.constants.append(numpy_helper.from_array(np.array(of, np.float32), name))
    net.constants.append(numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "twice"))
    rows = [
        net.node("Slice", ["x", net.numbers(at), net.numbers(2**62), net.numbers(2), net.numbers(2)]) for at in (0, 1)
    ]
    bounded = net.node("Clip", [net.conv(net.node("Concat", rows, axis=1), 8, 6), "low", "high"])
    swish = net.node("HardSwish", [net.conv(bounded, 8, 8, groups=8)])
    mean = net.node("ReduceMean", [swish, net.numbers(2, 3)], keepdims=1)
    gate = net.conv(net.node("Relu", [net.conv(mean, 4, 8, 1)]), 8, 4, 1)
    excited = net.node("Mul", [swish, net.node("HardSigmoid", [gate], alpha=1 / 6)])
    net.nodes.append(helper.make_node("Split", [excited], ["left", "right"], num_outputs=2, axis=1))
    inner = net.conv("left", 4, 4)
    total = net.node("Add", [net.node("Mul", [inner, net.node("Sigmoid", [inner])]), "left"])
    joined = net.node("Concat", [total, "right"], axis=1)
    padded = net.node("Pad", [joined, net.numbers(0, 0, 0, 0, 0, 0, 1, 1)])
    behind = net.node("Relu", [net.node("Conv", [padded, *net.weights(8, 8, 3, 3)], strides=[1, 2])])
    pooled = net.node("MaxPool", [behind], kernel_shape=[1, 2], strides=[1, 2])
    grown = net.node("Resize", [pooled, "", net.node("Identity", ["twice"])], mode="nearest")
    larger = net.node("Max", [net.node("Slice", [grown, *map(net.numbers, (0, 7, 2))]), behind])
    row = net.node("Flatten", [net.node("GlobalAveragePool", [larger])])
    return net.content(SHAPE, net.node("Gemm", [row, *net.weights(CLASSES, 8)], transB=1), 18)


FLOAT_NETS: dict[str, Callable[[int], bytes]] = {
    "conv": conv_net, "residual": residual_net, "separable": separable_net, "mlp": mlp
}  # fmt: skip
