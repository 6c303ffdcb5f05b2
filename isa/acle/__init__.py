"""ACLE intrinsics and the programs that they record."""
