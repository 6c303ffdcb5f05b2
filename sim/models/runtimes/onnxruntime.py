"""The tensors that ONNX Runtime computes, as the file has its operators: nothing is fused.

But where quantization stands around operators of floating point: these it has to fuse, to compute them by integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten

import numpy as np

from isa.errors import pip_install
from sim.models.network import AnyArray, ModelError, Network, PackageMissing
from sim.models.onnx_pairs import PAIRED


def onnxruntime_tensors(path: Path, network: Network, inputs: Mapping[int, AnyArray]) -> dict[int, AnyArray]:
    """Every tensor that ONNX Runtime computes of these inputs, by number; raises ModelError.

    It runs the file as native code of its own: give it files that you trust.
    """
    try:
        import onnxruntime
        from onnx import ValueInfoProto, load_model_from_string
    except ImportError:
        raise PackageMissing(f"ONNX Runtime is not there: {pip_install('lanewise[outside]')}") from None
    try:
        model = load_model_from_string(path.read_bytes())
        stated = {value.name for value in model.graph.output}
        names = [network.tensors[number].name for number in network.made]
        model.graph.output.extend(ValueInfoProto(name=name) for name in names if name not in stated)
        options = onnxruntime.SessionOptions()
        level = onnxruntime.GraphOptimizationLevel
        has_pairs = any(layer.operator in PAIRED for layer in network.layers)
        options.graph_optimization_level = level.ORT_ENABLE_EXTENDED if has_pairs else level.ORT_DISABLE_ALL
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        results = session.run(names, {network.tensors[number].name: array for number, array in inputs.items()})
    except Exception as error:  # its own exceptions have no common base
        raise ModelError(f"ONNX Runtime refuses {path}: {shorten(str(error), 300)}") from None
    return {**inputs, **{number: np.asarray(result) for number, result in zip(network.made, results, strict=True)}}
