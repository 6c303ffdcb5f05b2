"""Functional coverage and the stimulus that reaches it."""
