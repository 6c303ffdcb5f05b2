"""Arithmetics of layers that are more than sums and a scaling, as runtimes compute them in integers."""
