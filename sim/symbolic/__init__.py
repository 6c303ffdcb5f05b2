"""Kernels on all inputs at once: registers and memory hold lane expressions instead of numbers."""
