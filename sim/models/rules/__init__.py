"""Arithmetics of layers as rules, beside those of `sim.explanation`: sums, averages, what lies between real numbers and
integers; `functions` of numbers."""
