"""Machine word -> Instruction."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from isa.decode.disassembly import disassemble
from isa.decode.encoding_classes import no_instruction
from isa.decode.unpredictable import UnpredictableInstruction, why_unpredictable
from isa.instruction import Instruction
from isa.rows import TABLE
from isa.table import Table, UnknownInstruction

MOST_KEPT: Final = 4096
"""Instructions that are not decoded again: machines by the hundred run the same code."""


@lru_cache(MOST_KEPT)
def decode(word: bytes, address: int = 0, table: Table = TABLE) -> Instruction:
    """The instruction in a 4-byte little-endian word at `address`.

    Raises UnpredictableInstruction where Arm leaves it open what the word does, else UnknownInstruction.
    """
    mnemonic, operands = disassemble(word, address)
    number = int.from_bytes(word, "little")
    reason = why_unpredictable(number)
    if reason:
        raise UnpredictableInstruction(f"{mnemonic} {operands}", reason)
    if mnemonic == ".word":
        raise UnknownInstruction(f"{mnemonic} {operands}", no_instruction(number))
    return table.instruction(mnemonic, operands)
