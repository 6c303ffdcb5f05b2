"""Readers of the same expressions: plain integers (the arbiter), generated Python, numpy, C, terms of a solver."""
