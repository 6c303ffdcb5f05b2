"""Arithmetics of layers as rules, beside those of `sim.explanation`: averages, real biases, real numbers to bytes."""
