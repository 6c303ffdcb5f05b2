"""The tensors that TensorFlow Lite Micro computes, with the kernels of its reference, as its wheel has them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from textwrap import shorten
from typing import Final

import numpy as np

from isa.errors import pip_install
from sim.models.network import AnyArray, ModelError, Network, PackageMissing, require_size

_WIDEST: Final = 8
"""Bytes of a number, at most."""
_BESIDE: Final = 1 << 12
"""Bytes that a tensor or a layer takes besides its numbers: some hundred, more with a multiplier for each channel."""


def tflite_micro_tensors(path: Path, network: Network, inputs: Mapping[int, AnyArray]) -> dict[int, AnyArray]:
    """Every tensor that TensorFlow Lite Micro computes of these inputs, by number; raises ModelError.

    It runs the file as native code of its own: give it files that you trust.
    """
    try:
        from tflite_micro import runtime
    except ImportError:
        raise PackageMissing(f"TensorFlow Lite Micro is not there: {pip_install('lanewise[outside]')}") from None
    numbers = sum(prod(tensor.shape or ()) for tensor in network.tensors)  # of weights too: their multipliers
    require_size((numbers,))
    arena = _WIDEST * numbers + _BESIDE * (1 + len(network.tensors) + len(network.layers))
    try:
        engine = runtime.Interpreter.from_bytes(
            path.read_bytes(), arena_size=arena, intrepreter_config=runtime.InterpreterConfig.kPreserveAllTensors
        )
        for place, number in enumerate(network.inputs):
            engine.set_input(inputs[number], place)
        engine.invoke()
        return {**inputs, **{number: np.array(engine.GetTensor(number, 0)["tensor_data"]) for number in network.made}}
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"TensorFlow Lite Micro refuses {path}: {shorten(str(error), 300)}") from None
