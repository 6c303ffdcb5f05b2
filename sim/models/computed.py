"""What a layer computes, whatever file it is from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from sim.models.layers import Computed, Inputs, moved
from sim.models.network import Network, NetworkLayer, NotComputed
from sim.models.operators import onnx as onnx_layers
from sim.models.operators import onnx_elements, onnx_functions, onnx_moves, onnx_reals, tflite_elements, tflite_products
from sim.models.operators import tflite as tflite_layers
from sim.models.operators.tflite_moves import TURNS

_MOVES: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    **dict.fromkeys((*tflite_layers.MOVES, *onnx_layers.MOVES), moved),
    "Flatten": onnx_layers.flattened,
    "Reshape": onnx_layers.reshaped,
    **TURNS,
    **onnx_moves.TURNS,
}
_OF_ONE: Final = ("Resize", "Clip")
"""Whose second input is a part of the image, or a bound: a real number."""
_OF_REAL_NUMBERS: Final = ("QUANTIZE", "DEQUANTIZE", "QuantizeLinear", "DequantizeLinear")
OPERATORS: Final = {
    **tflite_layers.OPERATORS,
    **tflite_elements.OPERATORS,
    **tflite_products.OPERATORS,
    **onnx_layers.OPERATORS,
    **onnx_functions.OPERATORS,
    **onnx_elements.OPERATORS,
    **onnx_reals.OPERATORS,
    **_MOVES,
}
"""By the name that either format has for it."""


def computed(network: Network, layer: NetworkLayer, given: Inputs) -> Computed:
    """What a layer makes of its inputs, before its output stage; raises NotComputed."""
    compute = OPERATORS.get(layer.operator)
    if compute is None:
        raise NotComputed("the operator is not among those that are computed")
    if not layer.outputs:
        raise NotComputed("it has no output")
    operands = layer.inputs[: 1 if layer.operator in _OF_ONE else 2]
    whole = () if layer.operator in (*_MOVES, *_OF_REAL_NUMBERS) else (*operands, *layer.outputs[:1])
    for number in whole:  # a bias may be a real number
        tensor = network.tensors[number] if number >= 0 else None
        if tensor is not None and tensor.dtype.startswith("float"):
            raise NotComputed(f"{tensor.name} is {tensor.dtype}, not quantized")
    try:
        made = compute(network, layer, given)
        if isinstance(made, np.ndarray) and layer.options.get("FusedActivationFunction", "NONE") != "NONE":
            return onnx_functions.rectified_move(network, layer, made)
        return made
    except (ValueError, IndexError, TypeError, OverflowError) as error:  # shapes that do not fit, other attributes
        raise NotComputed(f"its tensors do not fit: {str(error).splitlines()[0]}") from None
