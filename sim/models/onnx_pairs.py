"""Floating-point operators between DequantizeLinear and QuantizeLinear, as the one quantized layer that they stand for.

    x -> DequantizeLinear -> Conv -> Relu -> QuantizeLinear -> y        is a Conv of x to y, bounded by its Relu

Such pairs are what most tools write.  A layer is one where every operand is dequantized and every output is quantized,
by constants, and used by nothing else; a bias may be real numbers.  Everything else stays as it is: the operators of
floating point, and the quantization or dequantization before and behind them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sim.golden.bounds import REALS
from sim.models.network import AnyArray

_BIASED: Final = ("Conv", "ConvTranspose", "Gemm")
"""Operators whose third input is a bias."""
OPERANDS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "Sub", "Mul", "Div", "PRelu"), 2),
    **dict.fromkeys(("GlobalAveragePool", "AveragePool", "Sigmoid", "Tanh", "Softmax", "LeakyRelu", "Concat"), 1),
    **dict.fromkeys(("MaxPool", "Resize", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Gather"), 1),
    **dict.fromkeys(("Split", "Slice", "Pad", "Expand", "Identity", "Dropout"), 1),
    **dict.fromkeys(("Relu", "Clip", "HardSigmoid", "HardSwish", "ReduceMean", "Max", "Min"), 1),
}
"""What may stand between, and how many of its inputs are quantized; of some all."""
_ALL: Final = ("Concat", "Max", "Min")
_PADDED_WITH: Final = 2
"""Which input of Pad is the number around, that some tools quantize too."""
PAIRED: Final = (
    "Conv", "Gemm", "MatMul", "Add", "Mul", "GlobalAveragePool", "Sigmoid", "Tanh", "AveragePool", "Softmax",
    "LeakyRelu", "Concat", "Sub", "PRelu", "ConvTranspose", "Resize", "Relu", "Clip", "HardSigmoid", "HardSwish",
    "ReduceMean", "Max", "Min", "Div",
)  # fmt: skip
"""Those that compute."""
EITHER: Final = ("Pad", "Relu", "Clip", "Max", "Min")
"""Those that take bytes as they are too, and make something else of them than between pairs."""


@dataclass(frozen=True)
class Scaled:
    """A tensor with the names of its scale and zero point ("": 0 of uint8), which lie along `axis`."""

    name: str
    scale: str
    zero: str
    axis: int


@dataclass(frozen=True)
class GraphStep:
    """An operator as it stands, or with what stands around it: `scaled` are the tensors whose scales that states."""

    operator: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    node: Any
    scaled: Sequence[Scaled] = ()
    activation: str = ""


@dataclass
class _Graph:
    """Who makes a value, and who uses it; and the names of what the file holds as numbers."""

    constants: Mapping[str, AnyArray]
    makers: dict[str, Any] = field(default_factory=dict)
    users: dict[str, list[Any]] = field(default_factory=dict)

    def is_scaled(self, node: Any, operator: str) -> bool:
        """Whether an operator is this one, by constants."""
        return node.op_type == operator and len(node.input) > 1 and all(one in self.constants for one in node.input[1:])

    def dequantized(self, name: str) -> Any | None:
        """The DequantizeLinear that makes a value."""
        maker = self.makers.get(name)
        return maker if maker is not None and self.is_scaled(maker, "DequantizeLinear") else None

    def only_user(self, name: str) -> Any | None:
        """The one operator that uses a value."""
        users = self.users.get(name, [])
        return users[0] if len(users) == 1 else None


def steps_of(graph: Any, constants: Mapping[str, AnyArray]) -> list[GraphStep]:
    """The operators of a graph in their order, those that a layer stands for as one; `constants` by name."""
    known = _Graph(constants)
    nodes = [node for node in graph.node if not is_constant(node)]
    for node in nodes:
        known.makers.update((name, node) for name in node.output)
        for name in node.input:
            known.users.setdefault(name, []).append(node)
    for value in graph.output:
        known.users.setdefault(value.name, []).append(None)
    layers = {id(layer.node): layer for node in nodes if (layer := _layer(node, known)) is not None}
    inside = {id(node) for layer in layers.values() for node in _around(layer, known)}
    used = {name for node in nodes if id(node) not in layers for name in node.input}
    used |= {value.name for value in graph.output}
    found = []
    for node in nodes:
        if id(node) in layers:
            found.append(layers[id(node)])
        elif node.op_type == "DequantizeLinear" and known.users.get(node.output[0]) and node.output[0] not in used:
            continue
        elif id(node) not in inside:
            found.append(_alone(node, known))
    return found


def is_constant(node: Any) -> bool:
    """Whether an operator is no more than the numbers of a tensor."""
    return node.op_type == "Constant" and len(node.output) == 1 and [one.name for one in node.attribute] == ["value"]


def _alone(node: Any, known: _Graph) -> GraphStep:
    """An operator of its own; quantization states the scale of its output, dequantization that of its input."""
    if known.is_scaled(node, "QuantizeLinear"):
        return GraphStep(node.op_type, node.input[:1], node.output, node, [_scaled(node, node.output[0])])
    if known.is_scaled(node, "DequantizeLinear"):
        return GraphStep(node.op_type, node.input[:1], node.output, node, [_scaled(node, node.input[0])])
    return GraphStep(node.op_type, node.input, node.output, node)


def _layer(node: Any, known: _Graph) -> GraphStep | None:
    """An operator with its pairs, or None."""
    if known.is_scaled(node, "QuantizeLinear"):  # of one scale to another
        before = known.dequantized(node.input[0])
        if before is None:
            return None
        scaled = [_scaled(before, before.input[0]), _scaled(node, node.output[0])]
        return GraphStep("QuantizeLinear", before.input[:1], node.output, node, scaled)
    count = len(node.input) if node.op_type in _ALL else OPERANDS.get(node.op_type)
    if count is None or len(node.input) < max(count, 1) or (len(node.output) != 1 and node.op_type != "Split"):
        return None
    before = [known.dequantized(name) for name in node.input[:count]]
    bounding, activation = _bounding(node, known)
    behind = [_quantizing(name, known) for name in (node if bounding is None else bounding).output]
    if any(one is None for one in (*before, *behind)):
        return None
    scaled = [_scaled(one, one.input[0]) for one in before if one is not None]
    further = list(node.input[count:])
    if node.op_type in _BIASED and further and (bias := known.dequantized(further[0])) is not None:
        further[0] = bias.input[0]
    inputs = [one.name for one in scaled] + further
    if node.op_type == "Pad" and len(inputs) > _PADDED_WITH and (around := known.dequantized(inputs[_PADDED_WITH])):
        inputs[_PADDED_WITH] = around.input[0]
        scaled.append(_scaled(around, around.input[0]))
    outputs = [one.output[0] for one in behind if one is not None]
    scaled += [_scaled(one, one.output[0]) for one in behind if one is not None]
    return GraphStep(node.op_type, inputs, outputs, node, scaled, activation)


def _quantizing(name: str, known: _Graph) -> Any | None:
    """The QuantizeLinear that alone uses a value."""
    user = known.only_user(name)
    return user if user is not None and known.is_scaled(user, "QuantizeLinear") else None


def _bounding(node: Any, known: _Graph) -> tuple[Any | None, str]:
    """The Relu or Clip that alone uses what an operator makes, and the name of its bounds."""
    user = known.only_user(node.output[0]) if len(node.output) == 1 else None
    if user is None:
        return None, ""
    if user.op_type == "Relu":
        return user, "RELU"
    name = _named_bounds(user, known.constants) if user.op_type == "Clip" else ""
    return (user, name) if name else (None, "")


def _named_bounds(clip: Any, constants: Mapping[str, AnyArray]) -> str:
    """The activation that has the bounds of a Clip, "" where they are of none, or no constants."""
    bounds: list[float | None] = [None, None]
    stated = {one.name: one.f for one in clip.attribute}  # in early versions of the operators
    for place, name in enumerate(("min", "max")):
        of_input = clip.input[place + 1] if len(clip.input) > place + 1 else ""
        if not of_input:
            bounds[place] = stated.get(name)
        elif of_input in constants and constants[of_input].size == 1:
            bounds[place] = float(constants[of_input].item())
        else:
            return ""
    return next((name for name, of in REALS.items() if name != "NONE" and of == tuple(bounds)), "")


def _around(layer: GraphStep, known: _Graph) -> Iterator[Any]:
    """What stands behind a layer's operator, and is in it."""
    if layer.operator == "QuantizeLinear":
        return
    if layer.activation:
        yield _bounding(layer.node, known)[0]
    for name in layer.outputs:
        yield known.makers[name]


def _scaled(node: Any, name: str) -> Scaled:
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
    return Scaled(name, node.input[1], node.input[2] if len(node.input) > 2 else "", axis)
