"""The base instruction set."""
