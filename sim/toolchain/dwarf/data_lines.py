"""Which source line the data of a program were written on, from the debug information of its image.

Source: DWARF 5, sections 2.14 (declaration coordinates), 4.1 (variables) and 2.5.1.1 (DW_OP_addr, DW_OP_addrx).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sim.toolchain.dwarf.code_lines import SourceLine
from sim.toolchain.image import Image

_ADDR: Final = 0x03
_ADDRX: Final = 0xA1


def data_lines(image: Image) -> dict[int, SourceLine]:
    """The line of each variable that has an address of its own, by that address; ImageError where it is malformed."""
    return dict(image.from_debug_information(lambda dwarf: list(_lines(dwarf))))


def _lines(dwarf: Any) -> Iterator[tuple[int, SourceLine]]:
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        files = [file["name"].decode(errors="replace") for file in program["file_entry"]] if program else []
        first = 0 if program and program["version"] >= 5 else 1
        for die in unit.iter_DIEs():
            attributes = die.attributes
            if die.tag == "DW_TAG_variable" and {"DW_AT_location", "DW_AT_decl_file", "DW_AT_decl_line"} <= {
                *attributes
            }:
                address = _address(dwarf, unit, attributes["DW_AT_location"].value)
                number = attributes["DW_AT_decl_file"].value - first
                if address is not None and 0 <= number < len(files):
                    yield address, SourceLine(files[number], attributes["DW_AT_decl_line"].value)


def _address(dwarf: Any, unit: Any, location: Any) -> int | None:
    """That of an expression which is an address and nothing else."""
    if not isinstance(location, list) or not location:
        return None
    operation, operand = location[0], bytes(location[1:])
    if operation == _ADDR:
        return int.from_bytes(operand, "little")
    if operation == _ADDRX and all(byte & 0x80 for byte in operand[:-1]) and operand and not operand[-1] & 0x80:
        return int(dwarf.get_addr(unit, sum((byte & 0x7F) << 7 * at for at, byte in enumerate(operand))))
    return None
