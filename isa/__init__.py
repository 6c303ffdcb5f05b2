"""What AArch64 instructions do: lane expressions, the instruction table, decoding, evaluation.

No machine, no kernel, no clock: see `sim` for running instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from isa.catalogue import UnknownForm, forms_matching, instruction_of
    from isa.decode import UnpredictableInstruction, disassemble
    from isa.decode import decode as decode_word
    from isa.instruction import FEATURES, Form, Instruction
    from isa.lane import S8, S16, S32, S64, U8, U16, U32, U64, Int, Lane, constant, divide, maximum, minimum, select
    from isa.rows import TABLE
    from isa.table import Table, UnknownInstruction

__all__ = [
    "FEATURES",
    "S8",
    "S16",
    "S32",
    "S64",
    "TABLE",
    "U8",
    "U16",
    "U32",
    "U64",
    "Form",
    "Instruction",
    "Int",
    "Lane",
    "Table",
    "UnknownForm",
    "UnknownInstruction",
    "UnpredictableInstruction",
    "constant",
    "decode_word",
    "disassemble",
    "divide",
    "forms_matching",
    "instruction_of",
    "maximum",
    "minimum",
    "select",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "FEATURES": "isa.instruction",
            "S16": "isa.lane",
            "S32": "isa.lane",
            "S64": "isa.lane",
            "S8": "isa.lane",
            "TABLE": "isa.rows",
            "U16": "isa.lane",
            "U32": "isa.lane",
            "U64": "isa.lane",
            "U8": "isa.lane",
            "Form": "isa.instruction",
            "Instruction": "isa.instruction",
            "Int": "isa.lane",
            "Lane": "isa.lane",
            "Table": "isa.table",
            "UnknownForm": "isa.catalogue",
            "UnknownInstruction": "isa.table",
            "UnpredictableInstruction": "isa.decode",
            "constant": "isa.lane",
            "decode_word": "isa.decode:decode",
            "disassemble": "isa.decode",
            "divide": "isa.lane",
            "forms_matching": "isa.catalogue",
            "instruction_of": "isa.catalogue",
            "maximum": "isa.lane",
            "minimum": "isa.lane",
            "select": "isa.lane",
        },
    )
