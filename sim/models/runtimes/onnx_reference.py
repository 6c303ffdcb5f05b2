"""The tensors that the reference evaluator of the package onnx computes, operator by operator, in numpy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten

import numpy as np

from isa.errors import pip_install
from sim.models.network import AnyArray, ModelError, Network, PackageMissing


def onnx_reference_tensors(path: Path, network: Network, inputs: Mapping[int, AnyArray]) -> dict[int, AnyArray]:
    """Every tensor that it computes of these inputs, by number; raises ModelError."""
    try:
        from onnx import ValueInfoProto, load_model_from_string
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        raise PackageMissing(f"the package onnx is not there: {pip_install('lanewise[models]')}") from None
    try:
        model = load_model_from_string(path.read_bytes())
        stated = {value.name for value in model.graph.output}
        names = [network.tensors[number].name for number in network.made]
        model.graph.output.extend(ValueInfoProto(name=name) for name in names if name not in stated)
        given = {network.tensors[number].name: array for number, array in inputs.items()}
        results = ReferenceEvaluator(model).run(names, given)
    except Exception as error:  # whatever its operators raise
        raise ModelError(f"onnx's reference evaluator refuses {path}: {shorten(str(error), 300)}") from None
    return {**inputs, **{number: np.asarray(result) for number, result in zip(network.made, results, strict=True)}}
