"""Theorems about cores and what only these are made of."""
