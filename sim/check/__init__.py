"""Comparing implementations of a kernel: lockstep, vectors, blame, reports."""
