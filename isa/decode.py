"""Machine word -> Instruction.  The only file that imports capstone; it takes mnemonic and operand text from it."""

from __future__ import annotations

from capstone import CS_ARCH_ARM64, CS_MODE_ARM, Cs

from isa.instruction import Instruction
from isa.refusals import NO_INSTRUCTION
from isa.rows import TABLE
from isa.table import Table, UnknownInstruction

_DISASSEMBLER = Cs(CS_ARCH_ARM64, CS_MODE_ARM)


def disassemble(word: bytes, address: int = 0) -> tuple[str, str]:
    """Mnemonic and operand text of a 4-byte little-endian word; (".word", its number) where it is none."""
    for _, _, mnemonic, operands in _DISASSEMBLER.disasm_lite(word, address, 1):
        # Two texts no assembler takes: DFB, which Armv8-A lacks, and a prefetch operation without a name.
        if mnemonic == "dfb":
            return "dsb", "#0xc"
        return mnemonic, f"#{word[0] & 31:#x}{operands}" if operands.startswith(",") else operands
    return ".word", f"0x{int.from_bytes(word, 'little'):08x}"


def decode(word: bytes, address: int = 0, table: Table = TABLE) -> Instruction:
    """The instruction in a 4-byte little-endian word at `address`.  Raises UnknownInstruction."""
    mnemonic, operands = disassemble(word, address)
    if mnemonic == ".word":
        raise UnknownInstruction(f"{mnemonic} {operands}", NO_INSTRUCTION)
    return table.instruction(mnemonic, operands)
