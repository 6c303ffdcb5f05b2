"""What AArch64 instructions do: lane expressions, the instruction table, decoding, evaluation.

No machine, no kernel, no clock: see `sim` for running instructions.
"""
