"""What the outputs of a wrong implementation of a kernel come from."""
