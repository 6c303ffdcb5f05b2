"""Networks from .onnx files, by the package onnx: operators that take scales and zero points, such as QLinearConv, and
operators of floating point between DequantizeLinear and QuantizeLinear.

Scales and zero points are constants of the file, inputs of an operator; here they are what they belong to, a tensor's.
Nothing outside of the file is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from isa.errors import pip_install
from sim.models.network import AnyArray, ModelError, Network, NetworkLayer, NetworkTensor, PackageMissing, TensorScale
from sim.models.onnx_pairs import EITHER, GraphStep, Scaled, is_constant, steps_of

MAX_BYTES: Final = (1 << 31) - 1
"""Of a file: what the format reaches."""
_QUANTIZED: Final[Mapping[str, Sequence[tuple[int, int, int]]]] = {
    "QLinearConv": ((0, 1, 2), (3, 4, 5), (-1, 6, 7)),
    "QLinearMatMul": ((0, 1, 2), (3, 4, 5), (-1, 6, 7)),
    "QGemm": ((0, 1, 2), (3, 4, 5), (-1, 7, 8)),
    "QLinearAdd": ((0, 1, 2), (3, 4, 5), (-1, 6, 7)),
    "QLinearMul": ((0, 1, 2), (3, 4, 5), (-1, 6, 7)),
    **dict.fromkeys(
        ("QLinearGlobalAveragePool", "QLinearSigmoid", "QLinearAveragePool", "QLinearSoftmax", "QLinearLeakyRelu"),
        ((0, 1, 2), (-1, 3, 4)),
    ),
}
"""Of an operator, where an operand, its scale and its zero point are among the inputs; -1 is the output."""
_FURTHER: Final = {"QLinearConv": (8,), "QGemm": (6,)}
"""Inputs besides, such as a bias."""


def read_onnx(path: Path) -> Network:
    """The graph of a file, as a network; raises ModelError."""
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError:
        raise PackageMissing(f"an .onnx file needs the package onnx: {pip_install('lanewise[models]')}") from None
    if path.stat().st_size > MAX_BYTES:
        raise ModelError(f"{path} has more than {MAX_BYTES:,} bytes")
    try:
        model = onnx.load_model_from_string(path.read_bytes())
        if not model.graph.node:
            raise ModelError(f"{path} is no ONNX model: it has no operators")
        model = onnx.shape_inference.infer_shapes(model)
        constants = {}
        for name, constant in _stated(model.graph):
            if constant.data_location == onnx.TensorProto.EXTERNAL:
                raise ModelError(f"{path} keeps {name} in another file, which is not read")
            constants[name] = np.asarray(numpy_helper.to_array(constant))
        version = max((one.version for one in model.opset_import if not one.domain), default=1)
        return _GraphReader(onnx, model.graph, constants, version).network(path.name)
    except ModelError:
        raise
    except Exception:  # protobuf and onnx raise whatever they met first
        raise ModelError(f"{path} is no ONNX model, or damaged") from None


def _stated(graph: Any) -> Iterator[tuple[str, Any]]:
    """The tensors whose numbers the file holds, by name: of its own, and those that an operator Constant makes."""
    for constant in graph.initializer:
        yield constant.name, constant
    for node in graph.node:
        if is_constant(node):
            yield node.output[0], node.attribute[0].t


class _GraphReader:
    """A graph's values as tensors by number, in the order in which they are met."""

    def __init__(self, onnx: Any, graph: Any, constants: Mapping[str, AnyArray], version: int) -> None:
        self._onnx, self._graph, self._constants, self._version = onnx, graph, constants, version
        self._types = {value.name: value.type.tensor_type for value in (*graph.input, *graph.value_info, *graph.output)}
        self._scales: dict[str, TensorScale] = {}
        self._dtypes: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def network(self, name: str) -> Network:
        layers = []
        for number, step in enumerate(steps_of(self._graph, self._constants)):
            for one in step.scaled:
                self._note_pair(one)
            operands = self._operands(step)
            options = {a.name: _plain(self._onnx.helper.get_attribute_value(a)) for a in step.node.attribute}
            if step.operator == "Softmax":  # what its axis means depends on it
                options["opset"] = self._version
            if step.operator in EITHER and step.scaled:
                options["pairs"] = 1
            layers.append(
                NetworkLayer(
                    number=number, operator=step.operator,
                    inputs=tuple(self._number(each) if each else -1 for each in operands),
                    outputs=tuple(self._number(each) for each in step.outputs if each),
                    options=options | ({"FusedActivationFunction": step.activation} if step.activation else {}),
                )
            )  # fmt: skip
        inputs = tuple(self._number(value.name) for value in self._graph.input if value.name not in self._constants)
        outputs = tuple(self._number(value.name) for value in self._graph.output)
        tensors = [self._tensor(each, number) for each, number in self._numbers.items()]
        return Network(name=name, tensors=tensors, layers=layers, inputs=inputs, outputs=outputs)

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def _operands(self, step: GraphStep) -> list[str]:
        """The inputs of an operator, without the scales and zero points that are noted of what they belong to."""
        node = step.node
        places = _QUANTIZED.get(node.op_type)
        if node.op_type == "QLinearConcat":  # the output's first, then those of each input
            places = [(-1, 0, 1), *((at, at + 1, at + 2) for at in range(2, len(node.input) - 2, 3))]
        if places is None:
            return list(step.inputs)
        operands = []
        for operand, scale, zero in places:
            name = node.input[operand] if operand >= 0 else node.output[0]
            if operand >= 0:
                operands.append(name)
            if max(scale, zero) >= len(node.input):  # a product that stays real
                continue
            is_turned = any(one.name == "transB" and one.i for one in node.attribute)
            axis = 1 if node.op_type in ("QLinearMatMul", "QGemm") and operand == 3 and not is_turned else 0
            self._note(name, self._constant(node.input[scale]), self._constant(node.input[zero]), axis)
        return [*operands, *(node.input[k] for k in _FURTHER.get(node.op_type, ()) if k < len(node.input))]

    def _note_pair(self, one: Scaled) -> None:
        """The scale and zero point of a tensor that is quantized or dequantized."""
        scales = self._constant(one.scale)
        zeros = self._constant(one.zero) if one.zero else np.zeros(scales.shape, np.uint8)
        rank = len(self._constants[one.name].shape) if one.name in self._constants else 0
        self._note(one.name, scales, zeros, one.axis + rank if one.axis < 0 else one.axis)

    def _constant(self, name: str) -> AnyArray:
        if name not in self._constants:
            raise ModelError(f"the scale or zero point {name!r} is computed by the network: it has to be a constant")
        return self._constants[name]

    def _note(self, name: str, scales: AnyArray, zeros: AnyArray, axis: int) -> None:
        self._dtypes[name] = str(zeros.dtype)
        scales, zeros = np.asarray(scales, np.float32).reshape(-1), np.asarray(zeros, np.int64).reshape(-1)
        if (bad := scales[~(np.isfinite(scales) & (scales > 0))]).size:
            raise ModelError(f"{name} has the scale {bad[0]:g}: it must be finite and above 0")
        if not scales.size or zeros.size not in (1, scales.size):
            raise ModelError(f"{name} has not as many scales as zero points: {scales.size} and {zeros.size}")
        zeros = np.broadcast_to(zeros, scales.shape)
        before = self._scales.setdefault(name, TensorScale(scales, zeros, axis))
        if not (np.array_equal(before.scales, scales) and np.array_equal(before.zero_points, zeros)):
            raise ModelError(f"{name} has one scale where it is made and another where it is used")

    def _tensor(self, name: str, number: int) -> NetworkTensor:
        """What the file states of it: of an operator of its own, inference of shapes knows nothing."""
        data, kind, shape = self._constants.get(name), self._types.get(name), None
        dtype = self._dtypes.get(name, "other")
        if data is not None:
            shape, dtype = data.shape, str(data.dtype)
        elif kind is not None and kind.elem_type:
            dtype = str(self._onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
            if kind.HasField("shape") and all(size.HasField("dim_value") for size in kind.shape.dim):
                shape = tuple(size.dim_value for size in kind.shape.dim)
        return NetworkTensor(
            number=number,
            name=name or f"tensor {number}",
            shape=shape,
            dtype=dtype,
            scale=self._scales.get(name),
            data=data,
        )


def _plain(value: Any) -> Any:
    """An attribute as what JSON has."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, int | float | str | list) else str(type(value).__name__)
