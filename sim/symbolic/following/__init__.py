"""Compiled code followed on symbols: a machine that holds expressions, and where branches on data come together."""
