"""Networks from .tflite files, by the classes that the package tflite generates from TensorFlow Lite's schema.

A file may say anything: every number that is used as a place or a size is checked against what is there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from isa.errors import pip_install
from sim.models.network import ModelError, Network, NetworkLayer, NetworkTensor, PackageMissing, TensorScale

MAX_BYTES: Final = 1 << 31
"""Of a file: what its own 32-bit offsets reach."""
_DTYPES: Final = {
    "FLOAT32": "float32", "FLOAT16": "float16", "INT32": "int32", "UINT8": "uint8", "INT64": "int64", "INT16": "int16",
    "INT8": "int8", "BOOL": "bool", "FLOAT64": "float64", "UINT32": "uint32", "UINT16": "uint16", "UINT64": "uint64",
}  # fmt: skip
_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "Conv2DOptions": ("Padding", "StrideH", "StrideW", "DilationHFactor", "DilationWFactor", "FusedActivationFunction"),
    "DepthwiseConv2DOptions": (
        "Padding", "StrideH", "StrideW", "DilationHFactor", "DilationWFactor", "DepthMultiplier",
        "FusedActivationFunction",
    ),
    "TransposeConvOptions": ("Padding", "StrideH", "StrideW", "FusedActivationFunction"),
    "BatchMatMulOptions": ("AdjX", "AdjY"),
    "FullyConnectedOptions": ("FusedActivationFunction", "KeepNumDims", "WeightsFormat"),
    "MulOptions": ("FusedActivationFunction",),
    "LeakyReluOptions": ("Alpha",),
    "L2NormOptions": ("FusedActivationFunction",),
    "ReducerOptions": ("KeepDims",),
    "SoftmaxOptions": ("Beta",),
    "AddOptions": ("FusedActivationFunction", "PotScaleInt16"),
    "SubOptions": ("FusedActivationFunction", "PotScaleInt16"),
    "StridedSliceOptions": ("BeginMask", "EndMask", "EllipsisMask", "NewAxisMask", "ShrinkAxisMask", "Offset"),
    "PackOptions": ("Axis",),
    "UnpackOptions": ("Axis",),
    "GatherOptions": ("Axis", "BatchDims"),
    "ResizeNearestNeighborOptions": ("AlignCorners", "HalfPixelCenters"),
    "ResizeBilinearOptions": ("AlignCorners", "HalfPixelCenters"),
    "ConcatenationOptions": ("Axis", "FusedActivationFunction"),
    "Pool2DOptions": ("Padding", "StrideH", "StrideW", "FilterHeight", "FilterWidth", "FusedActivationFunction"),
}  # fmt: skip
"""Of an operator's options what its arithmetic depends on."""
_LEFT_OUT: Final = 24
"""Inputs of an operator that may be no tensors: an LSTM has so many, most of which may be left out."""
_MALFORMED: Final = (struct.error, IndexError, TypeError, ValueError, OverflowError, AttributeError, RecursionError)
"""What the generated classes raise where an offset or a length points outside of the file."""


def read_tflite(path: Path) -> Network:
    """The first subgraph of a file, as a network; raises ModelError."""
    try:
        import tflite
    except ImportError:
        raise PackageMissing(f"a .tflite file needs the package tflite: {pip_install('lanewise[models]')}") from None
    if path.stat().st_size > MAX_BYTES:
        raise ModelError(f"{path} has more than {MAX_BYTES:,} bytes")
    content = path.read_bytes()
    if content[4:8] != b"TFL3":
        raise ModelError(f"{path} is no TensorFlow Lite model: it lacks the mark TFL3")
    try:
        return _network(tflite, tflite.Model.GetRootAsModel(content, 0), path, len(content))
    except _MALFORMED as error:
        found = "an offset points outside of it" if isinstance(error, struct.error) else type(error).__name__
        raise ModelError(f"{path} is damaged: {found}") from None


def _network(schema: Any, model: Any, path: Path, size: int) -> Network:
    if model.SubgraphsLength() < 1:
        raise ModelError(f"{path} has no subgraph")
    graph = model.Subgraphs(0)
    count = _at_most(graph.TensorsLength(), size // 4)
    tensors, known = list[NetworkTensor](), set[str]()
    for number in range(count):
        tensor = _tensor(schema, model, graph.Tensors(number), number)
        if tensor.name in known:  # what is recorded by name could be either
            tensor = replace(tensor, name=f"{tensor.name} (tensor {number})")
        known.add(tensor.name)
        tensors.append(tensor)
    layers = []
    for number in range(_at_most(graph.OperatorsLength(), size // 4)):
        operator = graph.Operators(number)
        layers.append(
            NetworkLayer(
                number=number,
                operator=_operator(schema, model.OperatorCodes(operator.OpcodeIndex())),
                inputs=_places(operator.InputsLength(), operator.Inputs, -1, count),
                outputs=_places(operator.OutputsLength(), operator.Outputs, 0, count),
                options=_options(schema, operator),
            )
        )
    inputs = _places(graph.InputsLength(), graph.Inputs, 0, count)
    outputs = _places(graph.OutputsLength(), graph.Outputs, 0, count)
    return Network(name=path.name, tensors=tensors, layers=layers, inputs=inputs, outputs=outputs)


def _at_most(length: int, most: int) -> int:
    if length > most:
        raise IndexError(length)
    return length


def _places(length: int, item: Callable[[int], int], least: int, count: int) -> tuple[int, ...]:
    """Numbers of tensors that exist."""
    found = tuple(item(k) for k in range(_at_most(length, count + _LEFT_OUT)))
    if not all(least <= number < count for number in found):
        raise IndexError(found)
    return found


def _names(enumeration: Any) -> dict[int, str]:
    return {value: name for name, value in vars(enumeration).items() if isinstance(value, int)}


def _operator(schema: Any, code: Any) -> str:
    """The name of a built-in operator, or that of a custom one."""
    builtin = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
    name = _names(schema.BuiltinOperator).get(builtin, f"operator {builtin}")
    return name if name != "CUSTOM" else f"custom {(code.CustomCode() or b'').decode('utf-8', 'replace')}"


def _options(schema: Any, operator: Any) -> dict[str, Any]:
    kind, table = _names(schema.BuiltinOptions).get(operator.BuiltinOptionsType(), ""), operator.BuiltinOptions()
    if kind not in _OPTIONS or table is None:
        return {}
    options = getattr(schema, kind)()
    options.Init(table.Bytes, table.Pos)
    found = {name: getattr(options, name)() for name in _OPTIONS[kind]}
    for name, enumeration in (("Padding", schema.Padding), ("FusedActivationFunction", schema.ActivationFunctionType)):
        if name in found:
            found[name] = _names(enumeration).get(found[name], f"{name} {found[name]}")
    return found


def _tensor(schema: Any, model: Any, tensor: Any, number: int) -> NetworkTensor:
    dtype = _DTYPES.get(_names(schema.TensorType).get(tensor.Type(), ""), "other")
    shape = tuple(int(size) for size in np.atleast_1d(tensor.ShapeAsNumpy())) if tensor.ShapeLength() else ()
    if any(size < 0 for size in shape):
        raise ModelError(f"tensor {number} has a size that is not known")
    data = model.Buffers(tensor.Buffer()).DataAsNumpy() if tensor.Buffer() else 0
    held = None
    if isinstance(data, np.ndarray) and data.size and dtype != "other":
        held = np.frombuffer(data.tobytes(), np.dtype(dtype).newbyteorder("<")).reshape(shape).astype(dtype)
    name = (tensor.Name() or b"").decode("utf-8", "replace") or f"tensor {number}"
    return NetworkTensor(
        number=number, name=name, shape=shape, dtype=dtype,
        scale=_scale(name, tensor.Quantization(), shape, dtype), data=held,
    )  # fmt: skip


def _scale(name: str, quantization: Any, shape: tuple[int, ...], dtype: str) -> TensorScale | None:
    if quantization is None or not quantization.ScaleLength():
        return None
    scales, axis = np.asarray(quantization.ScaleAsNumpy(), np.float32), quantization.QuantizedDimension()
    zeros = np.asarray(quantization.ZeroPointAsNumpy() if quantization.ZeroPointLength() else [0], np.int64)
    zeros = np.broadcast_to(zeros, scales.shape) if zeros.size == 1 else zeros
    if (bad := scales[~(np.isfinite(scales) & (scales > 0))]).size:
        raise ModelError(f"{name} has the scale {bad[0]:g}: it must be finite and above 0")
    if zeros.shape != scales.shape:
        raise ModelError(f"{name} has not as many scales as zero points: {scales.size} and {zeros.size}")
    limits = np.iinfo(dtype if dtype in ("int8", "uint8", "int16") else "int32")
    if zeros.min() < limits.min or zeros.max() > limits.max:
        raise ModelError(f"a tensor of {dtype} has a zero point that is not from {limits.min:,} to {limits.max:,}")
    if shape == scales.shape:  # of a bias some converters state the axis of the weights
        axis = 0
    if scales.size > 1 and not (0 <= axis < len(shape) and shape[axis] == scales.size):
        raise ModelError(f"{name} has {scales.size} scales, and not as many channels: it is {list(shape)}, axis {axis}")
    return TensorScale(scales, zeros, axis)
