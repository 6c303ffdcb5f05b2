"""What a layer computes, whatever file it is from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sim.models import onnx_layers, tflite_layers
from sim.models.layers import Computed, Inputs, moved
from sim.models.network import Network, NetworkLayer, NotComputed

_MOVES: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    **dict.fromkeys((*tflite_layers.MOVES, *onnx_layers.MOVES), moved),
    "Flatten": onnx_layers.flattened,
}
_OPERATORS: Final = {**tflite_layers.OPERATORS, **onnx_layers.OPERATORS, **_MOVES}


def computed(network: Network, layer: NetworkLayer, given: Inputs) -> Computed:
    """What a layer makes of its inputs, before its output stage; raises NotComputed."""
    compute = _OPERATORS.get(layer.operator)
    if compute is None:
        raise NotComputed("the operator is not among those that are computed")
    for number in (*layer.inputs, layer.outputs[0]) if layer.outputs else ():
        tensor = network.tensors[number] if number >= 0 else None
        if tensor is not None and tensor.dtype.startswith("float") and layer.operator not in _MOVES:
            raise NotComputed(f"{tensor.name or f'tensor {number}'} is {tensor.dtype}, not quantized")
    try:
        return compute(network, layer, given)
    except (ValueError, IndexError, TypeError) as error:  # shapes that do not go together, attributes of other types
        raise NotComputed(f"its tensors do not fit: {str(error).splitlines()[0]}") from None
