"""Modules as equations: written by yosys, read, unrolled over time, replayed."""
