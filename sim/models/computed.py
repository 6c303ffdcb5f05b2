"""What a layer computes, whatever file it is from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sim.models import onnx_layers, tflite_layers
from sim.models.layers import Computed, Inputs
from sim.models.network import Network, NetworkLayer, NotComputed

MOVES: Final = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS", "Reshape", "Flatten", "Squeeze", "Unsqueeze")
"""Layers that only give numbers another shape, of any type."""
OPERATORS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    **tflite_layers.OPERATORS,
    **onnx_layers.OPERATORS,
}


def computed(network: Network, layer: NetworkLayer, given: Inputs) -> Computed:
    """What a layer makes of its inputs, before its output stage; raises NotComputed."""
    compute = OPERATORS.get(layer.operator)
    if compute is None:
        raise NotComputed("the operator is not among those that are computed")
    for number in (*layer.inputs, layer.outputs[0]) if layer.outputs else ():
        tensor = network.tensors[number] if number >= 0 else None
        if tensor is not None and tensor.dtype.startswith("float") and layer.operator not in MOVES:
            raise NotComputed(f"{tensor.name or f'tensor {number}'} is {tensor.dtype}, not quantized")
    try:
        return compute(network, layer, given)
    except (ValueError, IndexError) as error:  # shapes that do not go together
        raise NotComputed(f"its tensors do not fit: {str(error).splitlines()[0]}") from None
