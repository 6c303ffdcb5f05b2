"""Simulators, yosys and what is kept of their work."""
