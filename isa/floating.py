"""Floating-point formats, and the one node that computes with them (`isa.lane.Floating`).

A floating-point lane is the unsigned number of its bits.  A node names an operation on such lanes; its value is the
exact result rounded once, by the rules of Arm's FPCR, which is always its last operand.  Like QC, the cumulative
exception bits of FPSR are declared nowhere: they are what the nodes of an instruction raise.
"""

from __future__ import annotations

from isa.lane import FPCR, Float, FloatOperation, Operation, Rounding

__all__ = ["BF16", "F16", "F32", "F64", "FLOATS", "FPCR", "Float", "FloatOperation", "Operation", "Rounding"]

F16, BF16, F32, F64 = Float(16, 10), Float(16, 7), Float(32, 23), Float(64, 52)
FLOATS = {16: F16, 32: F32, 64: F64}
"""The format of a lane of so many bits."""
