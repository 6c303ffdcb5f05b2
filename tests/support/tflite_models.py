"""Small .tflite files made here, of seeded weights: layers one after the other, as the tests want them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import flatbuffers
import numpy as np
import numpy.typing as npt
import tflite

TYPES = {name.lower(): value for name, value in vars(tflite.TensorType).items() if isinstance(value, int)}
VERSIONS = {"CONV_2D": 3, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 4}
VERSIONS |= dict.fromkeys(("ADD", "MAX_POOL_2D", "LOGISTIC", "TANH", "LEAKY_RELU", "SOFTMAX", "MEAN"), 2)
VERSIONS |= dict.fromkeys(("PAD", "CONCATENATION", "TRANSPOSE", "SLICE", "STRIDED_SLICE", "MAXIMUM", "MINIMUM"), 2)
VERSIONS |= dict.fromkeys(("SUB", "SPLIT", "SPLIT_V", "RESIZE_BILINEAR", "TRANSPOSE_CONV", "BATCH_MATMUL", "UNPACK"), 3)
VERSIONS |= {"GATHER": 5}
VERSIONS |= dict.fromkeys(("ABS", "L2_NORMALIZATION"), 2)
VERSIONS |= dict.fromkeys(("RELU", "RELU6", "PACK", "RESIZE_NEAREST_NEIGHBOR"), 2)
"""Of an operator, from which on it takes int8."""


@dataclass
class ModelWriter:
    """Tensors and layers as they are added; `content()` is the file."""

    tensors: list[dict[str, Any]] = field(default_factory=list)
    layers: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def tensor(
        self, name: str, dtype: str, shape: Sequence[int], scale: npt.ArrayLike = (), zero: int = 0,
        data: npt.NDArray[Any] | None = None, axis: int = 0,
    ) -> int:  # fmt: skip
        scales = np.atleast_1d(np.asarray(scale, np.float32))
        self.tensors.append(
            {
                "name": name,
                "dtype": dtype,
                "shape": list(shape),
                "scales": scales,
                "zero": zero,
                "data": data,
                "axis": axis,
            }
        )
        return len(self.tensors) - 1

    def layer(
        self, operator: str, inputs: Sequence[int], outputs: Sequence[int], kind: str = "", **options: float
    ) -> None:
        self.layers.append(
            {"operator": operator, "inputs": inputs, "outputs": outputs, "kind": kind, "options": options}
        )

    def content(self) -> bytes:
        builder = flatbuffers.Builder(1 << 16)
        buffers, tensors = [self._buffer(builder, b"")], []
        for tensor in self.tensors:
            number = 0
            if tensor["data"] is not None:
                number = len(buffers)
                buffers.append(self._buffer(builder, tensor["data"].tobytes()))
            tensors.append(self._tensor(builder, tensor, number))
        names = list(dict.fromkeys(layer["operator"] for layer in self.layers))
        codes = [self._code(builder, name) for name in names]
        layers = [self._layer(builder, layer, names.index(layer["operator"])) for layer in self.layers]
        tensor_list, layer_list = self._tables(builder, tensors), self._tables(builder, layers)
        inputs, outputs = (builder.CreateNumpyVector(np.array(of, np.int32)) for of in (self.inputs, self.outputs))
        tflite.SubGraphStart(builder)
        tflite.SubGraphAddTensors(builder, tensor_list)
        tflite.SubGraphAddInputs(builder, inputs)
        tflite.SubGraphAddOutputs(builder, outputs)
        tflite.SubGraphAddOperators(builder, layer_list)
        graphs = self._tables(builder, [tflite.SubGraphEnd(builder)])
        code_list, buffer_list = self._tables(builder, codes), self._tables(builder, buffers)
        description = builder.CreateString("made by the tests")
        tflite.ModelStart(builder)
        tflite.ModelAddVersion(builder, 3)
        tflite.ModelAddOperatorCodes(builder, code_list)
        tflite.ModelAddSubgraphs(builder, graphs)
        tflite.ModelAddDescription(builder, description)
        tflite.ModelAddBuffers(builder, buffer_list)
        builder.Finish(tflite.ModelEnd(builder), file_identifier=b"TFL3")
        return bytes(builder.Output())

    @staticmethod
    def _tables(builder: Any, offsets: Sequence[int]) -> int:
        builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            builder.PrependUOffsetTRelative(offset)
        return int(builder.EndVector())

    @staticmethod
    def _buffer(builder: Any, content: bytes) -> int:
        data = None
        if content:
            builder.StartVector(1, len(content), 16)
            builder.head -= len(content)
            builder.Bytes[builder.head : builder.head + len(content)] = content
            data = builder.EndVector()
        tflite.BufferStart(builder)
        if data is not None:
            tflite.BufferAddData(builder, data)
        return int(tflite.BufferEnd(builder))

    @staticmethod
    def _tensor(builder: Any, tensor: dict[str, Any], number: int) -> int:
        name = builder.CreateString(tensor["name"])
        shape = builder.CreateNumpyVector(np.array(tensor["shape"], np.int32))
        quantization = None
        if tensor["scales"].size:
            scales = builder.CreateNumpyVector(tensor["scales"])
            zeros = builder.CreateNumpyVector(np.full(tensor["scales"].size, tensor["zero"], np.int64))
            tflite.QuantizationParametersStart(builder)
            tflite.QuantizationParametersAddScale(builder, scales)
            tflite.QuantizationParametersAddZeroPoint(builder, zeros)
            tflite.QuantizationParametersAddQuantizedDimension(builder, tensor["axis"])
            quantization = tflite.QuantizationParametersEnd(builder)
        tflite.TensorStart(builder)
        tflite.TensorAddShape(builder, shape)
        tflite.TensorAddType(builder, TYPES[tensor["dtype"]])
        tflite.TensorAddBuffer(builder, number)
        tflite.TensorAddName(builder, name)
        if quantization is not None:
            tflite.TensorAddQuantization(builder, quantization)
        return int(tflite.TensorEnd(builder))

    @staticmethod
    def _code(builder: Any, name: str) -> int:
        value = getattr(tflite.BuiltinOperator, name)
        tflite.OperatorCodeStart(builder)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(builder, min(value, 127))
        tflite.OperatorCodeAddBuiltinCode(builder, value)
        tflite.OperatorCodeAddVersion(
            builder,
            VERSIONS.get(name, 1),
        )
        return int(tflite.OperatorCodeEnd(builder))

    @staticmethod
    def _layer(builder: Any, layer: dict[str, Any], code: int) -> int:
        kind, options = layer["kind"], None
        if kind:
            getattr(tflite, f"{kind}Start")(builder)
            for name, value in layer["options"].items():
                getattr(tflite, f"{kind}Add{name}")(builder, value)
            options = getattr(tflite, f"{kind}End")(builder)
        inputs, outputs = (builder.CreateNumpyVector(np.array(layer[of], np.int32)) for of in ("inputs", "outputs"))
        tflite.OperatorStart(builder)
        tflite.OperatorAddOpcodeIndex(builder, code)
        tflite.OperatorAddInputs(builder, inputs)
        tflite.OperatorAddOutputs(builder, outputs)
        if options is not None:
            tflite.OperatorAddBuiltinOptionsType(builder, getattr(tflite.BuiltinOptions, kind))
            tflite.OperatorAddBuiltinOptions(builder, options)
        return int(tflite.OperatorEnd(builder))


def small_net(seed: int = 1, size: int = 8) -> ModelWriter:
    """conv 3x3 with RELU, depthwise 3x3, an addition of both, a maximum of 2x2, fully connected: int8."""
    rng, made = np.random.default_rng(seed), ModelWriter()
    x = made.tensor("x", "int8", (1, size, size, 4), 0.02, -3)
    same = tflite.Padding.SAME

    def weights(name: str, shape: Sequence[int], axis: int, of_input: float) -> tuple[int, int]:
        """And the bias that goes with them: its scales are the products of both."""
        data, channels = rng.integers(-127, 128, size=shape).astype(np.int8), shape[axis]
        scales = (rng.uniform(0.5, 1.5, channels) / 127 / (data.size // channels) ** 0.5).astype(np.float32)
        added = rng.integers(-500, 501, size=channels).astype(np.int32)
        kernel = made.tensor(f"{name}_weights", "int8", shape, scales, 0, data, axis)
        return kernel, made.tensor(f"{name}_bias", "int32", (channels,), np.float32(of_input) * scales, 0, added)

    conv = made.tensor("conv", "int8", (1, size, size, 8), 0.031, -11)
    made.layer(
        "CONV_2D", (x, *weights("conv", (8, 3, 3, 4), 0, 0.02)), (conv,), "Conv2DOptions",
        Padding=same, StrideH=1, StrideW=1, DilationHFactor=1, DilationWFactor=1,
        FusedActivationFunction=tflite.ActivationFunctionType.RELU,
    )  # fmt: skip
    depthwise = made.tensor("depthwise", "int8", (1, size, size, 8), 0.027, 4)
    made.layer(
        "DEPTHWISE_CONV_2D", (conv, *weights("depthwise", (1, 3, 3, 8), 3, 0.031)), (depthwise,),
        "DepthwiseConv2DOptions", Padding=same, StrideH=1, StrideW=1, DilationHFactor=1, DilationWFactor=1,
        DepthMultiplier=1,
    )  # fmt: skip
    total = made.tensor("sum", "int8", (1, size, size, 8), 0.043, -7)
    made.layer("ADD", (conv, depthwise), (total,), "AddOptions")
    pooled = made.tensor("pooled", "int8", (1, size // 2, size // 2, 8), 0.043, -7)
    made.layer(
        "MAX_POOL_2D", (total,), (pooled,), "Pool2DOptions", Padding=tflite.Padding.VALID, StrideH=2, StrideW=2,
        FilterHeight=2, FilterWidth=2,
    )  # fmt: skip
    flat = 8 * (size // 2) ** 2
    kernel = rng.integers(-127, 128, (10, flat)).astype(np.int8)
    of_kernel = np.float32(0.7 / 127 / flat**0.5)
    fc_weights = made.tensor("fc_weights", "int8", (10, flat), of_kernel, 0, kernel)
    shape = made.tensor("shape", "int32", (2,), data=np.array([1, flat], np.int32))
    row = made.tensor("row", "int8", (1, flat), 0.043, -7)
    made.layer("RESHAPE", (pooled, shape), (row,))
    added = rng.integers(-500, 501, 10).astype(np.int32)
    fc_bias = made.tensor("fc_bias", "int32", (10,), np.float32(0.043) * of_kernel, 0, added)
    output = made.tensor("output", "int8", (1, 10), 0.019, 6)
    made.layer("FULLY_CONNECTED", (row, fc_weights, fc_bias), (output,), "FullyConnectedOptions")
    made.inputs, made.outputs = [x], [output]
    return made


def quantizing_net(seed: int, first: str = "int8", second: str = "int8") -> ModelWriter:
    """Real numbers to bytes, these to others, and back; scales that make ties, or any."""
    rng, made, shape = np.random.default_rng(seed), ModelWriter(), (1, 8, 8, 16)
    scales = [np.float32(rng.choice([2.0**-5, 3 * 2.0**-7, 5 * 2.0**-7, rng.uniform(0.01, 0.1)])) for _ in "ab"]
    x = made.tensor("x", "float32", shape)
    a, b = (made.tensor(name, dtype, shape, scale, int(rng.integers(0, 100)))
            for name, dtype, scale in zip("ab", (first, second), scales, strict=True))  # fmt: skip
    y = made.tensor("y", "float32", shape)
    for source, target in ((x, a), (a, b)):
        made.layer("QUANTIZE", (source,), (target,))
    made.layer("DEQUANTIZE", (b,), (y,))
    made.inputs, made.outputs = [x], [y]
    return made


def moving_net(seed: int = 1) -> ModelWriter:
    """A padded image, joined with itself, its axes turned, and a convolution 1x1 of that: int8."""
    rng, made = np.random.default_rng(seed), ModelWriter()
    zero = int(rng.integers(-100, 100))
    shapes = {"x": (2, 4, 5, 3), "padded": (2, 7, 6, 3), "joined": (2, 7, 6, 6), "turned": (2, 6, 7, 6)}
    x, padded, joined, turned = (made.tensor(name, "int8", shape, 0.05, zero) for name, shape in shapes.items())
    pads = made.tensor("pads", "int32", (4, 2), data=np.array([[0, 0], [1, 2], [0, 1], [0, 0]], np.int32))
    order = made.tensor("order", "int32", (4,), data=np.array([0, 2, 1, 3], np.int32))
    made.layer("PAD", (x, pads), (padded,), "PadOptions")
    made.layer("CONCATENATION", (padded, padded), (joined,), "ConcatenationOptions", Axis=3)
    made.layer("TRANSPOSE", (joined, order), (turned,), "TransposeOptions")
    weights = made.tensor(
        "weights", "int8", (4, 1, 1, 6), 0.01, 0, rng.integers(-127, 128, (4, 1, 1, 6)).astype(np.int8)
    )
    bias = made.tensor("bias", "int32", (4,), np.float32(0.05) * np.float32(0.01), 0, np.zeros(4, np.int32))
    output = made.tensor("output", "int8", (2, 6, 7, 4), 0.1, 3)
    made.layer("CONV_2D", (turned, weights, bias), (output,), "Conv2DOptions", Padding=tflite.Padding.SAME, StrideH=1,
               StrideW=1, DilationHFactor=1, DilationWFactor=1)  # fmt: skip
    made.inputs, made.outputs = [x], [output]
    return made


def cutting_net(seed: int = 1, dtype: str = "int8") -> ModelWriter:
    """Parts of an image, the larger and the smaller of both, these as one tensor, its shape, and the image resized."""
    rng, made, shape = np.random.default_rng(seed), ModelWriter(), (2, 7, 5, 3)
    zero = 0 if dtype == "int16" else int(rng.integers(0, 100))

    def tensor(name: str, of: Sequence[int]) -> int:
        return made.tensor(name, dtype, of, 0.05, zero)

    def numbers(name: str, *values: int) -> int:
        return made.tensor(name, "int32", (len(values),), data=np.array(values, np.int32))

    x, part, stepped = tensor("x", shape), tensor("part", (2, 3, 2, 3)), tensor("stepped", (2, 3, 2, 3))
    larger, smaller, stacked = tensor("larger", (2, 3, 2, 3)), tensor("smaller", (2, 3, 2, 3)), (2, 3, 2, 2, 3)
    both, resized = tensor("both", stacked), tensor("resized", (2, 5, 11, 3))
    lengths, row = made.tensor("lengths", "int32", (5,)), tensor("row", (7, 3))
    made.layer("SLICE", (x, numbers("begin", 0, 2, 1, 0), numbers("size", 2, 3, 2, -1)), (part,), "SliceOptions")
    steps = (numbers("from", 0, -1, 1, 0), numbers("to", 9, -8, 4, 1), numbers("by", -1, -3, 2, 1))
    made.layer("STRIDED_SLICE", (x, *steps), (stepped,), "StridedSliceOptions", BeginMask=1, EndMask=1 + 8)
    made.layer("MAXIMUM", (part, stepped), (larger,), "MaximumMinimumOptions")
    made.layer("MINIMUM", (part, stepped), (smaller,), "MaximumMinimumOptions")
    made.layer("PACK", (larger, smaller), (both,), "PackOptions", ValuesCount=2, Axis=2)
    made.layer("SHAPE", (both,), (lengths,), "ShapeOptions", OutType=TYPES["int32"])
    made.layer(
        "RESIZE_NEAREST_NEIGHBOR", (x, numbers("lengths of resized", 5, 11)), (resized,),
        "ResizeNearestNeighborOptions", AlignCorners=seed % 3 == 1, HalfPixelCenters=seed % 3 == 2,
    )  # fmt: skip
    ones = (numbers("one", 0, 0, 3, 0), numbers("one end", 0, 9, 0, 3), numbers("each", 1, 1, 1, 1))
    made.layer("STRIDED_SLICE", (x, *ones), (row,), "StridedSliceOptions", ShrinkAxisMask=1 + 4)
    made.inputs, made.outputs = [x], [both, lengths, resized, row]
    return made


def splitting_net(seed: int = 1, dtype: str = "int8") -> ModelWriter:
    """An image in three equal parts, in two of several lengths, one of which says what is left, and row by row."""
    rng, made, shape = np.random.default_rng(seed), ModelWriter(), (2, 3, 5, 6)
    zero = 0 if dtype == "int16" else int(rng.integers(0, 100))

    def tensors(name: str, *shapes: Sequence[int]) -> list[int]:
        return [made.tensor(f"{name}_{number}", dtype, of, 0.05, zero) for number, of in enumerate(shapes)]

    def numbers(name: str, *values: int, shape: Sequence[int] | None = None) -> int:
        of = (len(values),) if shape is None else shape
        return made.tensor(name, "int32", of, data=np.array(values, np.int32).reshape(of))

    (x,) = tensors("x", shape)
    thirds, lengths = tensors("third", *[(2, 3, 5, 2)] * 3), tensors("part", (2, 3, 1, 6), (2, 3, 4, 6))
    rows = tensors("row", *[(2, 5, 6)] * 3)
    made.layer("SPLIT", (numbers("axis", -1, shape=()), x), thirds, "SplitOptions", NumSplits=3)
    by = (numbers("lengths", 1, -1), numbers("other axis", 2, shape=()))
    made.layer("SPLIT_V", (x, *by), lengths, "SplitVOptions", NumSplits=2)
    made.layer("UNPACK", (x,), rows, "UnpackOptions", Num=3, Axis=1)
    made.inputs, made.outputs = [x], [*thirds, *lengths, *rows]
    return made


def gathering_net(seed: int = 1, dtype: str = "int8", of_places: str = "int32") -> ModelWriter:
    """Rows of a table, columns of an image, of each row the ones that are named for it, and a single one."""
    rng, made = np.random.default_rng(seed), ModelWriter()
    zero = 0 if dtype == "int16" else int(rng.integers(0, 100))

    def tensor(name: str, of: Sequence[int], data: npt.NDArray[Any] | None = None) -> int:
        return made.tensor(name, dtype, of, 0.05, zero, data)

    def places(name: str, of: Any) -> int:
        numbers = np.array(of, of_places)
        return made.tensor(name, of_places, numbers.shape, data=numbers)

    limits = np.iinfo(dtype)
    table = tensor("table", (7, 2, 5), rng.integers(limits.min, limits.max, (7, 2, 5)).astype(dtype))
    x, rows, columns = tensor("x", (2, 2, 5)), tensor("rows", (2, 3, 2, 5)), tensor("columns", (2, 2, 4))
    each, one = tensor("each", (2, 2, 3)), tensor("one", (2, 2))
    named = places("named", ((6, 0, 3), (3, 3, 1)))
    made.layer("GATHER", (table, named), (rows,), "GatherOptions")
    made.layer("GATHER", (x, places("turned", (4, 0, 2, 2))), (columns,), "GatherOptions", Axis=-1)
    by_row = places("by row", ((0, 4, 1), (3, 3, 2)))
    made.layer("GATHER", (x, by_row), (each,), "GatherOptions", Axis=2, BatchDims=1)
    made.layer("GATHER", (x, places("single", 3)), (one,), "GatherOptions", Axis=2)
    made.inputs, made.outputs = [x], [rows, columns, each, one]
    return made


def activating_net(seed: int = 1, dtype: str = "int8") -> ModelWriter:
    """HARD_SWISH, LEAKY_RELU, TANH and LOGISTIC of an image, its MEAN, and the SOFTMAX of that."""
    rng, made, lowest = np.random.default_rng(seed), ModelWriter(), int(np.iinfo(dtype).min)
    shape, small = (2, 5, 4, 20), (2, 1, 1, 20)

    def tensor(name: str, of: Sequence[int] = shape) -> int:
        zero = lowest + 128 + int(rng.integers(-60, 60))
        return made.tensor(name, dtype, of, np.float32(rng.uniform(0.01, 0.03)), zero)

    x, swished, leaked = (tensor(name) for name in ("x", "swished", "leaked"))
    made.layer("HARD_SWISH", (x,), (swished,))
    made.layer("LEAKY_RELU", (swished,), (leaked,), "LeakyReluOptions", Alpha=0.2)
    bounded = made.tensor("tanh", dtype, shape, 1 / 128, lowest + 128)
    made.layer("TANH", (leaked,), (bounded,))
    share = made.tensor("logistic", dtype, shape, 1 / 256, lowest)
    made.layer("LOGISTIC", (leaked,), (share,))
    mean = tensor("mean", small)
    axes = made.tensor("axes", "int32", (2,), data=np.array([1, 2], np.int32))
    made.layer("MEAN", (leaked, axes), (mean,), "ReducerOptions", KeepDims=True)
    softmax = made.tensor("softmax", dtype, small, 1 / 256, lowest)
    made.layer("SOFTMAX", (mean,), (softmax,), "SoftmaxOptions", Beta=1.0)
    made.inputs, made.outputs = [x], [bounded, share, softmax]
    return made


def mlp_of_16_bits(seed: int = 1) -> bytes:
    """Three fully connected layers of int16 by int8, the second with RELU, and the sum of the first and the last."""
    rng, made, widths, rows = np.random.default_rng(seed), ModelWriter(), (24, 32, 32, 32), 16
    scales = (0.0003, 0.00031, 0.00043, 0.00029)
    layers = [made.tensor("x", "int16", (rows, widths[0]), scales[0], 0)]
    for number, (depth, width) in enumerate(pairwise(widths)):
        kernel, of_kernel = rng.integers(-127, 128, (width, depth)).astype(np.int8), np.float32(0.7 / 127 / depth**0.5)
        weights = made.tensor(f"weights_{number}", "int8", (width, depth), of_kernel, 0, kernel)
        added = rng.integers(-50_000, 50_001, width).astype(np.int64)
        bias = made.tensor(f"bias_{number}", "int64", (width,), np.float32(scales[number]) * of_kernel, 0, added)
        output = made.tensor(f"layer_{number}", "int16", (rows, width), scales[number + 1], 0)
        made.layer("FULLY_CONNECTED", (layers[-1], weights, bias), (output,), "FullyConnectedOptions",
                   FusedActivationFunction=number % 2)  # fmt: skip
        layers.append(output)
    total = made.tensor("sum", "int16", (rows, widths[-1]), 0.00061, 0)
    made.layer("ADD", (layers[1], layers[-1]), (total,), "AddOptions", PotScaleInt16=False)
    made.inputs, made.outputs = [layers[0]], [total]
    return made.content()
