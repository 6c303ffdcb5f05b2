"""Kernels: one folder each, and the record that describes one.

`Channels` and `QuantizeDownParameters` are what an input set of `requantize` and of `quantize_down` has besides arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from sim.kernels.domain import Domain
    from sim.kernels.kernel import (
        Inputs,
        Kernel,
        KernelError,
        Outputs,
        built_in_kernel,
        kernel_modes,
        operator_interface,
    )
    from sim.kernels.kernel_file import load_kernel
    from sim.kernels.names import kernel_names
    from sim.kernels.prototype import Prototype, PrototypeError, parse_prototype
    from sim.kernels.quantize_down.golden import Parameters as QuantizeDownParameters
    from sim.kernels.requantize.golden import Channels
    from sim.kernels.signature import Pointer, ScalarArgument, Signature, Struct, VectorArgument
    from sim.kernels.tolerance import Tolerance

__all__ = [
    "Channels",
    "Domain",
    "Inputs",
    "Kernel",
    "KernelError",
    "Outputs",
    "Pointer",
    "Prototype",
    "PrototypeError",
    "QuantizeDownParameters",
    "ScalarArgument",
    "Signature",
    "Struct",
    "Tolerance",
    "VectorArgument",
    "built_in_kernel",
    "kernel_modes",
    "kernel_names",
    "load_kernel",
    "operator_interface",
    "parse_prototype",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "Channels": "sim.kernels.requantize.golden",
            "Domain": "sim.kernels.domain",
            "Inputs": "sim.kernels.kernel",
            "Kernel": "sim.kernels.kernel",
            "KernelError": "sim.kernels.kernel",
            "Outputs": "sim.kernels.kernel",
            "Pointer": "sim.kernels.signature",
            "Prototype": "sim.kernels.prototype",
            "PrototypeError": "sim.kernels.prototype",
            "QuantizeDownParameters": "sim.kernels.quantize_down.golden:Parameters",
            "ScalarArgument": "sim.kernels.signature",
            "Signature": "sim.kernels.signature",
            "Struct": "sim.kernels.signature",
            "Tolerance": "sim.kernels.tolerance",
            "VectorArgument": "sim.kernels.signature",
            "built_in_kernel": "sim.kernels.kernel",
            "kernel_modes": "sim.kernels.kernel",
            "kernel_names": "sim.kernels.names",
            "load_kernel": "sim.kernels.kernel_file",
            "operator_interface": "sim.kernels.kernel",
            "parse_prototype": "sim.kernels.prototype",
        },
    )
