"""Compilers and linkers, and the ELF images that they make."""
