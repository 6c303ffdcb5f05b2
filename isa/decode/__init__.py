"""Machine word -> Instruction, and why a word is none."""

from isa.decode.decoding import decode
from isa.decode.disassembly import disassemble
from isa.decode.encoding_classes import no_instruction
from isa.decode.unpredictable import UnpredictableInstruction, why_unpredictable

__all__ = ["UnpredictableInstruction", "decode", "disassemble", "no_instruction", "why_unpredictable"]
