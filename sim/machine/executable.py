"""From a machine word to an instruction that a machine may execute, or to the error that stops it there."""

from __future__ import annotations

from collections.abc import Collection

from isa.decode import UnpredictableInstruction, decode
from isa.instruction import FEATURES, Instruction
from isa.refusals import TRAP_REASONS
from isa.rows import TABLE
from isa.table import Table, UnknownInstruction
from sim.machine.errors import Trap, Unpredictable, UnsupportedInstruction


def executable(
    word: bytes, pc: int, table: Table = TABLE, features: Collection[str] = frozenset(FEATURES)
) -> Instruction:
    """The instruction in a 4-byte little-endian word at `pc`.

    Raises UnsupportedInstruction, Unpredictable, and Trap where it would trap.
    """
    try:
        instruction = decode(word, pc, table)
    except UnpredictableInstruction as unpredictable:
        raise Unpredictable(pc, 4, unpredictable.reason, pc, unpredictable.text) from None
    except UnknownInstruction as unknown:
        raise UnsupportedInstruction(pc, 4, unknown.reason, pc, unknown.text) from None
    for feature in instruction.form.features:
        if feature not in features:
            reason = f"this machine lacks the feature {feature!r}"
            raise UnsupportedInstruction(pc, 4, reason, pc, instruction.text)
    if instruction.traps:
        raise Trap(pc, 4, TRAP_REASONS[instruction.form.mnemonic], pc, instruction.text)
    return instruction
