"""Driving a module in the simulator: frames, beats, bus, pauses."""
