"""Commands that answer from what is known: of kernels, conventions, instructions, this machine."""
