"""Branches and expressions of the hardware that its benches execute."""
