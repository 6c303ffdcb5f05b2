"""Where unoptimized code keeps its variables on the stack, from the debug information of its image.

Source: DWARF 5, sections 2.5 (DW_OP_regN, DW_OP_bregN, DW_OP_fbreg, DW_OP_call_frame_cfa), 3.3.5 (frame base), 4.1
(variables) and 6.4 (call frame information).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sim.toolchain.image import Image

_REGISTERS: Final = range(0x50, 0x70)
_FROM_REGISTERS: Final = range(0x70, 0x90)
_FROM_FRAME: Final = 0x91
"""DW_OP_reg0 and those behind, DW_OP_breg0 and those behind, DW_OP_fbreg."""
_OF_CALL: Final = 0x9C
"""DW_OP_call_frame_cfa: where the stack pointer was at the call."""
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


class _Frame(NamedTuple):
    """What variables of a function are counted from: so many bytes from what a register holds."""

    register: int
    offset: int = 0


def stack_variables(image: Image) -> list[StackVariable]:
    """Those that have one place for as long as their function runs; ImageError where it is malformed.

    The frame of a function must be told by a register, as clang does, or be that of the call, as of GCC.
    """
    return image.from_debug_information(lambda dwarf: list(_variables(dwarf)))


def _variables(dwarf: Any) -> Iterator[StackVariable]:
    of_calls = _frames_of_calls(dwarf)
    for unit in dwarf.iter_CUs():
        for function in (die for die in unit.iter_DIEs() if die.tag == "DW_TAG_subprogram"):
            said, frame = function.attributes, None
            base = said["DW_AT_frame_base"].value if {"DW_AT_low_pc", "DW_AT_frame_base"} <= said.keys() else None
            if base == [_OF_CALL]:
                frame = of_calls.get(said["DW_AT_low_pc"].value)
            elif isinstance(base, list) and len(base) == 1 and base[0] in _REGISTERS:
                frame = _Frame(_REGISTERS.index(base[0]))
            if frame is not None:
                yield from (each._replace(function=said["DW_AT_low_pc"].value) for each in _in_scope(function, frame))


def _frames_of_calls(dwarf: Any) -> dict[int, _Frame]:
    """By function where the stack pointer was at its call, by the rule that holds in most of it: not before its frame
    is laid out, nor when it is left.
    """
    found = dict[int, _Frame]()
    entries = [
        *(dwarf.CFI_entries() if dwarf.has_CFI() else ()),
        *(dwarf.EH_CFI_entries() if dwarf.has_EH_CFI() else ()),
    ]
    for entry in (entry for entry in entries if getattr(entry, "cie", None) is not None):
        start, rows = entry["initial_location"], entry.get_decoded().table
        ends = [*(row["pc"] for row in rows[1:]), start + entry["address_range"]]
        longest = max(zip(rows, ends, strict=True), key=lambda each: each[1] - each[0]["pc"], default=None)
        if longest is not None and longest[0]["cfa"].reg is not None:
            found[start] = _Frame(longest[0]["cfa"].reg, longest[0]["cfa"].offset)
    return found


def _in_scope(scope: Any, frame: _Frame, depth: int = 0) -> Iterator[StackVariable]:
    """The variables of a scope, those of inner blocks and of what was inlined too."""
    for die in scope.iter_children() if depth < _DEEPEST else ():
        if die.tag in _SCOPES:
            yield from _in_scope(die, frame, depth + 1)
        elif die.tag in _VARIABLES and "DW_AT_location" in die.attributes:
            place = die.attributes["DW_AT_location"].value
            said = (die.get_DIE_from_attribute(_ORIGIN) if _ORIGIN in die.attributes else die).attributes
            name = said["DW_AT_name"].value.decode(errors="replace") if "DW_AT_name" in said else ""
            base = _base(place[0], frame) if isinstance(place, list) and place else None
            offset = _signed(place[1:]) if base is not None else None
            if name and not name.startswith(_OF_COMPILER) and base is not None and offset is not None:
                yield StackVariable(0, name, base.register, base.offset + offset)


def _base(operation: int, frame: _Frame) -> _Frame | None:
    """What an operation counts from; None where it does something else."""
    if operation in _FROM_REGISTERS:
        return _Frame(_FROM_REGISTERS.index(operation))
    return frame if operation == _FROM_FRAME else None


def _signed(encoded: list[int]) -> int | None:
    """The number in SLEB128 (DWARF 5, section 7.6); None where there is more than one."""
    if not encoded or encoded[-1] & 0x80 or not all(byte & 0x80 for byte in encoded[:-1]):
        return None
    number = sum((byte & 0x7F) << 7 * at for at, byte in enumerate(encoded))
    return number - (1 << 7 * len(encoded)) if encoded[-1] & 0x40 else number
