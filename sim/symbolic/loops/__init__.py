"""Kernels on arrays of any length: loops taken by induction, the golden reference on one element of any index."""
