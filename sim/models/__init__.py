"""Quantized networks from files: what a layer computes, and which convention made what somebody's runtime gave.

`compare_network` does all of it; `read_network` and `run_network` are what it begins with.  Files are read with the
optional packages of the extra `lanewise[models]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from sim.explanation.tensor_file import TensorError
    from sim.models.by_file import compare_network, read_network, run_network
    from sim.models.causes.causes import Cause
    from sim.models.compare import LayerReport
    from sim.models.network import (
        ModelError,
        Network,
        NetworkLayer,
        NetworkTensor,
        PackageMissing,
        RuntimeLost,
        TensorScale,
    )
    from sim.models.report import ModelReport

__all__ = [
    "Cause",
    "LayerReport",
    "ModelError",
    "ModelReport",
    "Network",
    "NetworkLayer",
    "NetworkTensor",
    "PackageMissing",
    "RuntimeLost",
    "TensorError",
    "TensorScale",
    "compare_network",
    "read_network",
    "run_network",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "Cause": "sim.models.causes.causes",
            "LayerReport": "sim.models.compare",
            "ModelError": "sim.models.network",
            "ModelReport": "sim.models.report",
            "Network": "sim.models.network",
            "NetworkLayer": "sim.models.network",
            "NetworkTensor": "sim.models.network",
            "PackageMissing": "sim.models.network",
            "RuntimeLost": "sim.models.network",
            "TensorError": "sim.explanation.tensor_file",
            "TensorScale": "sim.models.network",
            "compare_network": "sim.models.by_file",
            "read_network": "sim.models.by_file",
            "run_network": "sim.models.by_file",
        },
    )
