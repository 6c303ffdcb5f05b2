"""Conventions, explanations and networks on the terminal: which rounding made what."""
