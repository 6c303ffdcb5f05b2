"""Evaluators of the same expressions: plain integers (the arbiter), generated Python."""
