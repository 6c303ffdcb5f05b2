"""Machine word -> text.  The only file that imports capstone; it takes mnemonic and operand text from it."""

from __future__ import annotations

from capstone import CS_ARCH_ARM64, CS_MODE_ARM, Cs

_DISASSEMBLER = Cs(CS_ARCH_ARM64, CS_MODE_ARM)
_REGISTER, _BASE = 31, 31 << 5


def disassemble(word: bytes, address: int = 0) -> tuple[str, str]:
    """Mnemonic and operand text of a 4-byte little-endian word; (".word", its number) where it is none.

    What Arm calls unpredictable has a text here where Capstone or a repair gives one: see `isa.decode.unpredictable`.
    """
    for _, _, mnemonic, operands in _DISASSEMBLER.disasm_lite(word, address, 1):
        # Two texts no assembler takes: DFB, which Armv8-A lacks, and a prefetch operation without a name.
        if mnemonic == "dfb":
            return "dsb", "#0xc"
        return mnemonic, f"#{word[0] & 31:#x}{operands}" if operands.startswith(",") else operands
    number = int.from_bytes(word, "little")
    if number & 0x3F200400 == 0x38000400 or number & 0x3F200C00 == 0x38000800:  # C4.1.94: post, pre, unprivileged
        # Capstone takes no load into its own base register, although LDTR may do that: read it with SP as the base.
        register = number & _REGISTER
        if register == number >> 5 & _REGISTER != 31:
            mnemonic, operands = disassemble((number | _BASE).to_bytes(4, "little"))
            if mnemonic != ".word":
                return mnemonic, operands.replace("[sp", f"[x{register}")
    return ".word", f"0x{number:08x}"
