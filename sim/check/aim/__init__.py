"""Inputs aimed at a kernel: where its golden reference steps, and where a mistake in the compiled code would show."""
