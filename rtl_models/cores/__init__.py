"""Cores made of the lanes and units: what they must give, in which cycle, and their runs in a simulator."""
