"""Kernels: one folder each, and the record that describes one."""

from sim.kernels.domain import Domain
from sim.kernels.kernel import Inputs, Kernel, KernelError, Outputs, built_in_kernel, kernel_modes, kernel_names
from sim.kernels.prototype import parse_prototype
from sim.kernels.signature import Pointer, Scalar, Signature
from sim.kernels.tolerance import Tolerance

__all__ = [
    "Domain",
    "Inputs",
    "Kernel",
    "KernelError",
    "Outputs",
    "Pointer",
    "Scalar",
    "Signature",
    "Tolerance",
    "built_in_kernel",
    "kernel_modes",
    "kernel_names",
    "parse_prototype",
]
