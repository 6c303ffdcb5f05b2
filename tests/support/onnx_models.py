"""A small quantized .onnx file made here, of seeded weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper


class OnnxWriter:
    """Constants and operators as they are added."""

    def __init__(self) -> None:
        self.constants: list[Any] = []
        self.nodes: list[Any] = []

    def constant(self, name: str, value: npt.NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def scale(self, name: str, scale: npt.ArrayLike, zero: npt.ArrayLike, dtype: str = "uint8") -> list[str]:
        """The names of a tensor and of its scale and zero point."""
        return [
            name,
            self.constant(f"{name}_scale", np.asarray(scale, np.float32)),
            self.constant(f"{name}_zero", np.asarray(zero, dtype)),
        ]

    def content(self, x: tuple[int, ...], output: str) -> bytes:
        graph = helper.make_graph(
            self.nodes, "made by the tests", [helper.make_tensor_value_info("x", TensorProto.UINT8, x)],
            [helper.make_tensor_value_info(output, TensorProto.UINT8, None)], self.constants,
        )  # fmt: skip
        imports = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=8)
        content: bytes = model.SerializeToString()
        return content


def small_onnx_net(seed: int = 1, size: int = 12) -> bytes:
    """conv 3x3, depthwise 3x3, an addition, a maximum of 2x2, flattened, a matrix product: uint8 by int8."""
    rng, made = np.random.default_rng(seed), OnnxWriter()

    def weights(name: str, shape: tuple[int, ...]) -> list[str]:
        data, fan = rng.integers(-127, 128, shape).astype(np.int8), int(np.prod(shape[1:]))
        made.constant(name, data)
        scales = (rng.uniform(0.5, 1.5, shape[0]) / 127 / fan**0.5).astype(np.float32)
        return made.scale(name, scales, np.zeros(shape[0]), "int8")

    def bias(name: str, channels: int) -> str:
        return made.constant(name, rng.integers(-500, 501, channels).astype(np.int32))

    x, conv = made.scale("x", 0.02, 120), made.scale("conv", 0.031, 117)
    made.nodes.append(
        helper.make_node(
            "QLinearConv", [*x, *weights("conv_w", (8, 3, 3, 3)), *conv[1:], bias("conv_b", 8)], ["conv"],
            pads=[1, 1, 1, 1],
        )
    )  # fmt: skip
    depthwise = made.scale("depthwise", 0.027, 132)
    made.nodes.append(
        helper.make_node(
            "QLinearConv", [*conv, *weights("depthwise_w", (8, 1, 3, 3)), *depthwise[1:], bias("depthwise_b", 8)],
            ["depthwise"], pads=[1, 1, 1, 1], group=8,
        )
    )  # fmt: skip
    total = made.scale("sum", 0.043, 121)
    made.nodes.append(helper.make_node("QLinearAdd", [*conv, *depthwise, *total[1:]], ["sum"], domain="com.microsoft"))
    made.nodes.append(helper.make_node("MaxPool", ["sum"], ["pooled"], kernel_shape=[2, 2], strides=[2, 2]))
    made.nodes.append(helper.make_node("Flatten", ["pooled"], ["row"]))
    columns = 8 * (size // 2) ** 2
    row = ["row", *total[1:]]
    matrix = made.constant("matrix", rng.integers(-127, 128, (columns, 10)).astype(np.int8))
    of_matrix = made.scale(matrix, 0.7 / 127 / columns**0.5, 0, "int8")
    output = made.scale("output", 0.019, 134)
    made.nodes.append(helper.make_node("QLinearMatMul", [*row, *of_matrix, *output[1:]], ["output"]))
    return made.content((1, 3, size, size), "output")


def gated_onnx_net(seed: int = 1, size: int = 12) -> bytes:
    """Two convolutions of one image, their product, and the average of each channel: uint8 by int8."""
    rng, made = np.random.default_rng(seed), OnnxWriter()
    x, product, average = made.scale("x", 0.02, 120), made.scale("product", 0.05, 128), made.scale("average", 0.01, 99)
    branches = []
    for name, zero in (("left", 117), ("right", 131)):
        made.constant(f"{name}_w", rng.integers(-127, 128, (8, 3, 3, 3)).astype(np.int8))
        weights = made.scale(f"{name}_w", np.full(8, 0.0015), np.zeros(8), "int8")
        branch = made.scale(name, 0.031, zero)
        made.nodes.append(helper.make_node("QLinearConv", [*x, *weights, *branch[1:]], [name], pads=[1, 1, 1, 1]))
        branches += branch
    own = {"domain": "com.microsoft"}
    made.nodes.append(helper.make_node("QLinearMul", [*branches, *product[1:]], ["product"], **own))
    made.nodes.append(
        helper.make_node("QLinearGlobalAveragePool", [*product, *average[1:]], ["average"], channels_last=0, **own)
    )
    return made.content((1, 3, size, size), "average")
