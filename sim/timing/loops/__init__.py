"""Loops: found in a stream, given by their body, run to their steady state."""
