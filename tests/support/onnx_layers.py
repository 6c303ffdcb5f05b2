"""Small .onnx files of operators one behind the other, as pairs and as those of ONNX Runtime's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from support.onnx_models import OnnxWriter, PairedWriter


def elements_onnx_net(seed: int = 1) -> bytes:
    """Pairs: differences, slopes, functions, products, shapes, stacks, averages, images that grow or are cut."""
    rng = np.random.default_rng(seed)
    names = ("x", "row", "slopes", "matrix", "difference", "sloped", "tanh", "product", "stacks", "sigmoid", "average",
             "windows", "turned", "resized", "cubic", "cut")  # fmt: skip
    scales = {name: (float(rng.uniform(0.01, 0.05)), int(rng.integers(90, 160))) for name in names}
    scales |= dict.fromkeys(("shaped", "squeezed", "longer"), scales["product"]) | {"gathered": scales["cubic"]}
    made = PairedWriter(scales)
    for name, shape in {"row": (6,), "slopes": (3, 1, 1), "matrix": (3, 6, 4)}.items():
        made.constant(name, rng.integers(0, 256, shape).astype(np.uint8))
    made.layer("Sub", ("x", "row"), "difference")
    made.layer("PRelu", ("difference", "slopes"), "sloped")
    made.layer("Tanh", ("sloped",), "tanh")
    made.layer("Mul", ("tanh", "sloped"), "product")
    made.layer("Reshape", ("product",), "shaped", made.constant("shape", np.array([1, 2, 3, 5, 6])))
    axes = made.constant("axes", np.array([0]))
    made.layer("Squeeze", ("shaped",), "squeezed", axes)
    made.layer("MatMul", ("squeezed", "matrix"), "stacks")
    made.layer("Sigmoid", ("stacks",), "sigmoid")
    made.layer("GlobalAveragePool", ("sigmoid",), "average")
    made.layer("Unsqueeze", ("squeezed",), "longer", axes)
    made.constant("windows", rng.integers(0, 256, (3, 2, 2, 3)).astype(np.uint8))
    made.layer("ConvTranspose", ("product", "windows"), "turned", strides=[2, 1])
    made.layer("Resize", ("turned",), "resized", "", "", made.constant("sizes", np.array([2, 2, 7, 9])), mode="linear")
    sizes = made.constant("other sizes", np.array([2, 2, 5, 4]))
    made.layer("Resize", ("resized",), "cubic", "", "", sizes, mode="cubic", exclude_outside=1)
    part = made.constant("part", np.array([0, 0, 0.25, -0.1, 1, 1, 0.75, 1.1], np.float32))
    made.layer("Resize", ("cubic",), "cut", part, "", made.constant("cut sizes", np.array([2, 2, 3, 6])), mode="linear",
               coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=0.1)  # fmt: skip
    made.layer("Gather", ("cubic",), "gathered", made.constant("places", np.array([[3, -1], [0, 2]])), axis=2)
    return made.content((2, 3, 5, 6), "average", versions=(16, 8))


def mobile_onnx_net(seed: int = 1, dtype: str = "uint8") -> bytes:
    """Pairs of what exports of mobile nets hold: cut, padded, hard functions, split, bounds, a quotient, means, and
    numbers of an operator Constant."""
    rng, limits = np.random.default_rng(seed), np.iinfo(dtype)
    names = ("x", "swish", "larger", "smaller", "clipped", "rectified", "share", "quotient", "mean")
    scales = {
        name: (float(rng.uniform(0.01, 0.05)), int(limits.min) + int(rng.integers(90, 160)))
        for name in names
    }  # fmt: skip
    scales |= dict.fromkeys(("cut", "padded"), scales["x"]) | dict.fromkeys(("left", "right"), scales["swish"])
    scales |= dict.fromkeys(("repeated", "same", "kept"), scales["mean"])
    made = PairedWriter(scales, dtype)

    def numbers(name: str, *stated: int) -> str:
        of_node = numpy_helper.from_array(np.array(stated, np.int64))
        made.nodes.append(helper.make_node("Constant", [], [name], value=of_node))
        return name

    starts, ends, axes = numbers("starts", 1, 5), numbers("ends", 9, -9), numbers("axes", 2, 3)
    made.layer("Slice", ("x",), "cut", starts, ends, axes, numbers("steps", 2, -1))
    made.layer("Pad", ("cut",), "padded", numbers("around", 0, 0, 1, 0, 0, 0, 0, 2))
    made.layer("HardSwish", ("padded",), "swish")
    made.layer("Split", ("swish",), ("left", "right"), numbers("parts", 3, 3), axis=1)
    made.layer("Max", ("left", "right"), "larger")
    made.layer("Min", ("larger", "right"), "smaller")
    bounds = (made.constant(name, np.array(of, np.float32)) for name, of in (("least", 0.1), ("most", 1.5)))
    made.layer("Clip", ("smaller",), "clipped", *bounds)
    made.layer("Relu", ("clipped",), "rectified")
    made.layer("HardSigmoid", ("rectified",), "share", alpha=0.25)
    made.pairs["six"] = made.scale("constant six", 1.5, 0, dtype)[1:]
    made.constant("six", np.array(4, dtype))
    made.layer("Div", ("share", "six"), "quotient")
    made.layer("ReduceMean", ("quotient",), "mean", numbers("last", 2, 3))
    made.layer("Expand", ("mean",), "repeated", numbers("shape", 1, 1, 2, 3))
    made.layer("Identity", ("repeated",), "same")
    made.layer("Dropout", ("same",), "kept")
    made.nodes.append(helper.make_node("Shape", ["kept"], ["sizes"], start=1))
    return made.content((2, 6, 6, 6), "kept", TensorProto.UINT8 if dtype == "uint8" else TensorProto.INT8, (18, 8))


def own_onnx_net(seed: int = 1) -> bytes:
    """ONNX Runtime's own operators: averages of windows, leaky ReLU, joined, logistic, a product with bias, softmax."""
    rng, made = np.random.default_rng(seed), OnnxWriter()
    names = ("x", "average", "leaky", "joined", "share", "product")
    scales = {name: made.scale(name, rng.uniform(0.01, 0.05), rng.integers(90, 160)) for name in names}
    softmax = made.scale("softmax", 1 / 256, 0)

    def layer(operator: str, source: str, output: list[str], **options: Any) -> None:
        inputs = [*scales[source], *output[1:]]
        made.nodes.append(helper.make_node(operator, inputs, output[:1], domain="com.microsoft", **options))

    layer("QLinearAveragePool", "x", scales["average"], kernel_shape=[2, 2])
    layer("QLinearLeakyRelu", "average", scales["leaky"], alpha=0.1)
    both = [*scales["joined"][1:], *scales["average"], *scales["leaky"]]
    made.nodes.append(helper.make_node("QLinearConcat", both, ["joined"], domain="com.microsoft", axis=3))
    layer("QLinearSigmoid", "joined", scales["share"])
    made.nodes.append(helper.make_node("Flatten", ["share"], ["row"]))
    matrix = made.constant("matrix", rng.integers(-127, 128, (3 * 4 * 10, 5)).astype(np.int8))
    operands = ["row", *scales["share"][1:], *made.scale(matrix, 0.002, 0, "int8")]
    bias = made.constant("bias", rng.integers(-500, 501, 5).astype(np.int32))
    operands += [bias, *scales["product"][1:]]
    made.nodes.append(helper.make_node("QGemm", operands, ["product"], domain="com.microsoft"))
    layer("QLinearSoftmax", "product", softmax, axis=-1, opset=13)
    return made.content((2, 3, 5, 6), "softmax")
