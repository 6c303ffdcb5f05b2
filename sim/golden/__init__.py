"""Fixed-point and quantization arithmetic from its definition: every rounding convention under its own name."""
