"""A small quantized .onnx file made here, of seeded weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    def content(
        self, x: tuple[int, ...], output: str, dtype: int = TensorProto.UINT8, versions: tuple[int, int] = (13, 8),
        output_dtype: int | None = None,
    ) -> bytes:  # fmt: skip
        """`versions` are those of ONNX's operators and of the format; the output is of the input's type, or its own."""
        graph = helper.make_graph(
            self.nodes, "made by the tests", [helper.make_tensor_value_info("x", dtype, x)],
            [helper.make_tensor_value_info(output, output_dtype or dtype, None)], self.constants,
        )  # fmt: skip
        imports = [helper.make_opsetid("", versions[0]), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=versions[1])
        content: bytes = model.SerializeToString()
        return content


class PairedWriter(OnnxWriter):
    """Operators of floating point between pairs; `scales` are those of every tensor, with the zero points."""

    def __init__(self, scales: Mapping[str, tuple[float, int]], dtype: str = "uint8") -> None:
        super().__init__()
        self.pairs = {name: self.scale(name, *of, dtype)[1:] for name, of in scales.items()}

    def layer(
        self, operator: str, sources: Sequence[str], outputs: str | Sequence[str], *constants: str, **options: Any
    ) -> None:
        """Of tensors with scales, and `constants` behind them, to one of that name, or to several."""
        names = [outputs] if isinstance(outputs, str) else outputs
        real = [f"{names[0]}_{place}" for place in range(len(sources))]
        for source, each in zip(sources, real, strict=True):
            self.nodes.append(helper.make_node("DequantizeLinear", [source, *self.pairs[source]], [each]))
        made = [f"{name}_made" for name in names]
        self.nodes.append(helper.make_node(operator, [*real, *constants], made, **options))
        for name in names:
            self.nodes.append(helper.make_node("QuantizeLinear", [f"{name}_made", *self.pairs[name]], [name]))


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


def reference_net(seed: int = 1, size: int = 8) -> bytes:
    """Of operators that ONNX itself defines: quantized, conv 3x3, a maximum, a matrix product, and real again."""
    rng, made = np.random.default_rng(seed), OnnxWriter()
    image, conv, output = made.scale("image", 0.02, 120), made.scale("conv", 0.031, 117), made.scale("output", 0.05, 99)
    made.nodes.append(helper.make_node("QuantizeLinear", ["x", *image[1:]], ["image"]))
    made.constant("conv_w", rng.integers(-127, 128, (8, 3, 3, 3)).astype(np.int8))
    weights = made.scale("conv_w", rng.uniform(0.001, 0.003, 8), np.zeros(8), "int8")
    made.nodes.append(helper.make_node("QLinearConv", [*image, *weights, *conv[1:]], ["conv"], pads=[1, 1, 1, 1]))
    made.nodes.append(helper.make_node("MaxPool", ["conv"], ["pooled"], kernel_shape=[2, 2], strides=[2, 2]))
    made.nodes.append(helper.make_node("Flatten", ["pooled"], ["row"]))
    matrix = made.constant("matrix", rng.integers(-127, 128, (8 * (size // 2) ** 2, 10)).astype(np.int8))
    of_matrix = made.scale(matrix, 0.002, 0, "int8")
    made.nodes.append(helper.make_node("QLinearMatMul", ["row", *conv[1:], *of_matrix, *output[1:]], ["output"]))
    made.nodes.append(helper.make_node("DequantizeLinear", output, ["real"]))
    return made.content((1, 3, size, size), "real", TensorProto.FLOAT, (21, 10))


def paired_net(seed: int = 1, size: int = 6, weights_type: str = "int8") -> bytes:
    """Pairs of DequantizeLinear and QuantizeLinear: two convolutions, one with a Relu, one with a bias of integers, the
    sum of both, that in another scale, a row, a Gemm with a bias of real numbers."""
    rng, made = np.random.default_rng(seed), OnnxWriter()
    scaled = {"x": (0.02, 120), "conv": (0.031, 117), "turned": (0.04, 99), "sum": (0.05, 128), "other": (0.07, 3),
              "row": (0.07, 3), "output": (0.09, 130)}  # fmt: skip
    pairs = {name: made.scale(name, *of)[1:] for name, of in scaled.items()}

    def real(name: str) -> str:
        """A tensor dequantized, for one use."""
        made.nodes.append(helper.make_node("DequantizeLinear", [name, *pairs[name]], [f"{name}_{len(made.nodes)}"]))
        return str(made.nodes[-1].output[0])

    def weights(name: str, shape: tuple[int, ...]) -> str:
        made.constant(name, rng.integers(-127, 128, shape).astype(weights_type))
        scales = rng.uniform(0.001, 0.003, shape[0])
        operands = made.scale(name, scales, np.zeros(shape[0]), weights_type)
        made.nodes.append(helper.make_node("DequantizeLinear", operands, [f"{name}_real"], axis=0))
        return f"{name}_real"

    def layer(operator: str, inputs: list[str], name: str, relu: bool = False, **options: Any) -> None:
        made.nodes.append(helper.make_node(operator, inputs, [f"{name}_made"], **options))
        if relu:
            made.nodes.append(helper.make_node("Relu", [f"{name}_made"], [f"{name}_relu"]))
        behind = f"{name}_relu" if relu else f"{name}_made"
        made.nodes.append(helper.make_node("QuantizeLinear", [behind, *pairs[name]], [name]))

    layer("Conv", [real("x"), weights("conv_w", (8, 3, 3, 3))], "conv", relu=True, pads=[1, 1, 1, 1])
    of_sums = np.float32(0.031) * made_scales(made, "turned_w", rng)
    made.constant("turned_b", rng.integers(-500, 501, 8).astype(np.int32))
    bias = made.scale("turned_b", of_sums, np.zeros(8), "int32")
    made.constant("turned_w", rng.integers(-127, 128, (8, 1, 3, 3)).astype(weights_type))
    operands = ["turned_w", "turned_w_scale", made.constant("turned_w_zero", np.zeros(8, weights_type))]
    made.nodes.append(helper.make_node("DequantizeLinear", operands, ["turned_w_real"], axis=0))
    made.nodes.append(helper.make_node("DequantizeLinear", bias, ["turned_b_real"], axis=0))
    inputs = [real("conv"), "turned_w_real", "turned_b_real"]
    layer("Conv", inputs, "turned", pads=[1, 1, 1, 1], group=8)
    layer("Add", [real("conv"), real("turned")], "sum")
    made.nodes.append(helper.make_node("QuantizeLinear", [real("sum"), *pairs["other"]], ["other"]))
    layer("Flatten", [real("other")], "row")
    real_bias = made.constant("output_b", rng.normal(size=5).astype(np.float32))
    layer("Gemm", [real("row"), weights("output_w", (5, 8 * size * size)), real_bias], "output", transB=1)
    return made.content((1, 3, size, size), "output")


def functional_net(seed: int = 1, dtype: str = "uint8") -> bytes:
    """Pairs again: a leaky ReLU, an average of windows with padding, its axes turned, joined with itself in another
    scale, and a softmax along the channels."""
    rng, lowest = np.random.default_rng(seed), int(np.iinfo(dtype).min)
    names = ("x", "leaky", "average", "turned", "joined", "softmax")
    scales = {name: (float(rng.uniform(0.01, 0.03)), lowest + int(rng.integers(90, 160))) for name in names}
    scales |= {"turned": scales["average"], "softmax": (1 / 256, lowest)}
    made = PairedWriter(scales, dtype)
    made.layer("LeakyRelu", ("x",), "leaky", alpha=0.1)
    made.layer("AveragePool", ("leaky",), "average", kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    made.layer("Transpose", ("average",), "turned", perm=[0, 2, 3, 1])
    made.layer("Concat", ("turned", "turned"), "joined", axis=3)
    made.layer("Softmax", ("joined",), "softmax", axis=-1)
    kind = TensorProto.UINT8 if dtype == "uint8" else TensorProto.INT8
    return made.content((2, 5, 7, 6), "softmax", kind)


def made_scales(made: OnnxWriter, name: str, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Eight scales of weights, kept under the name that they have."""
    scales = rng.uniform(0.001, 0.003, 8).astype(np.float32)
    made.constant(f"{name}_scale", scales)
    return scales


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
