"""Floating-point operators between DequantizeLinear and QuantizeLinear, as the one quantized layer that they stand for.

    x -> DequantizeLinear -> Conv -> Relu -> QuantizeLinear -> y        is a Conv of x to y, bounded by its Relu

Such pairs are what most tools write.  A layer is one where every operand is dequantized and the output is quantized,
by constants, and used by nothing else; a bias may be real numbers.  Everything else stays as it is: the operators of
floating point, and the quantization or dequantization before and behind them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_BIASED: Final = ("Conv", "ConvTranspose", "Gemm")
"""Operators whose third input is a bias."""
OPERANDS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "Sub", "Mul", "PRelu"), 2),
    **dict.fromkeys(("GlobalAveragePool", "AveragePool", "Sigmoid", "Tanh", "Softmax", "LeakyRelu", "Concat"), 1),
    **dict.fromkeys(("MaxPool", "Resize", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Gather"), 1),
}
"""What may stand between, and how many of its inputs are quantized; of Concat all."""
PAIRED: Final = (
    "Conv", "Gemm", "MatMul", "Add", "Mul", "GlobalAveragePool", "Sigmoid", "Tanh", "AveragePool", "Softmax",
    "LeakyRelu", "Concat", "Sub", "PRelu", "ConvTranspose", "Resize",
)  # fmt: skip
"""Those that compute."""


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

    constants: Collection[str]
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


def steps_of(graph: Any, constants: Collection[str]) -> list[GraphStep]:
    """The operators of a graph in their order, those that a layer stands for as one; `constants` by name."""
    known = _Graph(constants)
    for node in graph.node:
        known.makers.update((name, node) for name in node.output)
        for name in node.input:
            known.users.setdefault(name, []).append(node)
    for value in graph.output:
        known.users.setdefault(value.name, []).append(None)
    layers = {id(layer.node): layer for node in graph.node if (layer := _layer(node, known)) is not None}
    inside = {id(node) for layer in layers.values() for node in _around(layer, known)}
    used = {name for node in graph.node if id(node) not in layers for name in node.input}
    used |= {value.name for value in graph.output}
    found = []
    for node in graph.node:
        if id(node) in layers:
            found.append(layers[id(node)])
        elif node.op_type == "DequantizeLinear" and known.users.get(node.output[0]) and node.output[0] not in used:
            continue
        elif id(node) not in inside:
            found.append(_alone(node, known))
    return found


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
    count = len(node.input) if node.op_type == "Concat" else OPERANDS.get(node.op_type)
    if count is None or len(node.input) < count or len(node.output) != 1:
        return None
    before = [known.dequantized(name) for name in node.input[:count]]
    behind, activation = _behind(node, known)
    if behind is None or any(one is None for one in before):
        return None
    scaled = [_scaled(one, one.input[0]) for one in before if one is not None]
    further = list(node.input[count:])
    if node.op_type in _BIASED and further and (bias := known.dequantized(further[0])) is not None:
        further[0] = bias.input[0]
    inputs = [one.name for one in scaled] + further
    return GraphStep(
        node.op_type, inputs, behind.output, node, [*scaled, _scaled(behind, behind.output[0])], activation
    )


def _behind(node: Any, known: _Graph) -> tuple[Any | None, str]:
    """The QuantizeLinear behind an operator, and the activation between them."""
    relu = _relu(node, known)
    user = known.only_user((node if relu is None else relu).output[0])
    if user is None or not known.is_scaled(user, "QuantizeLinear"):
        return None, ""
    return user, "" if relu is None else "RELU"


def _relu(node: Any, known: _Graph) -> Any | None:
    user = known.only_user(node.output[0])
    return user if user is not None and user.op_type == "Relu" else None


def _around(layer: GraphStep, known: _Graph) -> Iterator[Any]:
    """What stands behind a layer's operator, and is in it."""
    if layer.operator == "QuantizeLinear":
        return
    relu = _relu(layer.node, known)
    if relu is not None:
        yield relu
    yield known.makers[layer.outputs[0]]


def _scaled(node: Any, name: str) -> Scaled:
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
    return Scaled(name, node.input[1], node.input[2] if len(node.input) > 2 else "", axis)
