"""Kernels: one folder each, and the record that describes one (`sim.kernels.kernel.Kernel`)."""
