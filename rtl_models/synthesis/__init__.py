"""Synthesis for an FPGA, Lattice's ECP5: how large the lanes and units are, and how fast."""
