"""Reasons, bounds and critical paths of a schedule."""
