"""What the bits of registers are called, in equations that have other names for them, by the netlist they are of."""

from __future__ import annotations

import re
from typing import Final

from rtl_models.formal.equations.smt2 import Equations

_IN_EQUATIONS: Final = re.compile(r"next_state\)\) ; (\S+) ")
"""The cell of a register, in the order of `Equations.registers`; a backslash within its name is written as a slash."""
_IN_NETLIST: Final = re.compile(r"^  cell \$\w*dff\w* \\?(\S+)$(?:\n    .+)*?\n    connect \\Q (.+)$", re.MULTILINE)
_SIGNAL: Final = re.compile(r"\\(\S+)(?: \[(?:\d+:)?(\d+)\])?$")


def register_bits(equations: Equations, netlist: str) -> dict[int, str]:
    """By the number of a bit of the state its name, for all bits of registers: such as "u_shift.data_q[5]".

    The netlist is the RTLIL without mutants.  Where several signals make up a register, its bits are those of the port
    of its cell: "$procdff$93.Q[5]".
    """
    signals = {cell.replace("\\", "/"): signal for cell, signal in _IN_NETLIST.findall(netlist)}
    cells = _IN_EQUATIONS.findall(equations.text)
    names: dict[int, str] = {}
    for cell, (_, places) in zip(cells, equations.registers, strict=True):
        named = _SIGNAL.match(signals.get(cell, ""))
        name, low = (named[1], int(named[2] or 0)) if named else (f"{cell}.Q", 0)
        names |= {place: f"{name}[{low + bit}]" for bit, place in enumerate(places)}
    return names
