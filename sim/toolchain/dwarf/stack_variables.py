"""Where unoptimized code keeps its variables on the stack, from the debug information of its image.

Source: DWARF 5, sections 2.5 (DW_OP_regN, DW_OP_bregN, DW_OP_fbreg), 3.3.5 (frame base) and 4.1 (variables).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sim.toolchain.image import Image

_REGISTERS: Final = range(0x50, 0x70)
_FROM_REGISTERS: Final = range(0x70, 0x90)
_FROM_FRAME: Final = 0x91
"""DW_OP_reg0 and those behind, DW_OP_breg0 and those behind, DW_OP_fbreg."""
_VARIABLES: Final = ("DW_TAG_variable", "DW_TAG_formal_parameter")
_SCOPES: Final = ("DW_TAG_lexical_block", "DW_TAG_inlined_subroutine")
_ORIGIN: Final = "DW_AT_abstract_origin"
"""Of a variable of what was inlined, the one that it is."""
_OF_COMPILER: Final = "__"
"""What names begin with that C keeps for compilers and their headers, such as arm_neon.h."""
_DEEPEST: Final = 64


class StackVariable(NamedTuple):
    """A variable that lies `offset` bytes from what the register of that number holds, 31 for sp, in all of a function
    that begins at `function`.
    """

    function: int
    name: str
    register: int
    offset: int


def stack_variables(image: Image) -> list[StackVariable]:
    """Those that have one place for as long as their function runs; ImageError where it is malformed.

    The frame of a function must be told by a register, as clang does.
    """
    return image.from_debug_information(lambda dwarf: list(_variables(dwarf)))


def _variables(dwarf: Any) -> Iterator[StackVariable]:
    for unit in dwarf.iter_CUs():
        for function in (die for die in unit.iter_DIEs() if die.tag == "DW_TAG_subprogram"):
            said = function.attributes
            base = said["DW_AT_frame_base"].value if {"DW_AT_low_pc", "DW_AT_frame_base"} <= said.keys() else None
            if isinstance(base, list) and len(base) == 1 and base[0] in _REGISTERS:
                frame = _REGISTERS.index(base[0])
                yield from (each._replace(function=said["DW_AT_low_pc"].value) for each in _in_scope(function, frame))


def _in_scope(scope: Any, frame: int, depth: int = 0) -> Iterator[StackVariable]:
    """The variables of a scope, those of inner blocks and of what was inlined too; `frame` is the register of it."""
    for die in scope.iter_children() if depth < _DEEPEST else ():
        if die.tag in _SCOPES:
            yield from _in_scope(die, frame, depth + 1)
        elif die.tag in _VARIABLES and "DW_AT_location" in die.attributes:
            place = die.attributes["DW_AT_location"].value
            said = (die.get_DIE_from_attribute(_ORIGIN) if _ORIGIN in die.attributes else die).attributes
            name = said["DW_AT_name"].value.decode(errors="replace") if "DW_AT_name" in said else ""
            register = _register(place[0], frame) if isinstance(place, list) and place else None
            offset = _signed(place[1:]) if register is not None else None
            if name and not name.startswith(_OF_COMPILER) and register is not None and offset is not None:
                yield StackVariable(0, name, register, offset)


def _register(operation: int, frame: int) -> int | None:
    """The number of the register that an operation counts from; None where it does something else."""
    if operation in _FROM_REGISTERS:
        return _FROM_REGISTERS.index(operation)
    return frame if operation == _FROM_FRAME else None


def _signed(encoded: list[int]) -> int | None:
    """The number in SLEB128 (DWARF 5, section 7.6); None where there is more than one."""
    if not encoded or encoded[-1] & 0x80 or not all(byte & 0x80 for byte in encoded[:-1]):
        return None
    number = sum((byte & 0x7F) << 7 * at for at, byte in enumerate(encoded))
    return number - (1 << 7 * len(encoded)) if encoded[-1] & 0x40 else number
