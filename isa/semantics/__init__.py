"""What each instruction does: small plain functions over lanes and operands, grouped as in Arm's manual.

A lane function (`arithmetic.saturating_add(to, a, b)`) states one lane of the result; `elementwise` lifts it over
the lanes of an instruction's operands.  Where an instruction is not lane by lane, its function takes the operands.
"""
