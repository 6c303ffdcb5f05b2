"""Registers right before and right behind a multiplier of an ECP5, moved into it: yosys leaves them beside it.

A MULT18X18D has registers at both inputs and at its output, with a clock and an enable: no wires lead between these
and it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

_MULTIPLIER: Final = "MULT18X18D"
_FLIP_FLOP: Final = "TRELLIS_FF"
_OPERANDS: Final = tuple(f"{side}{bit}" for side in "AB" for bit in range(18))
_PRODUCT: Final = tuple(f"P{bit}" for bit in range(36))
_CONTROL: Final = ("CLK0", "CE0", "RST0")
Cell = dict[str, Any]


class _Control(NamedTuple):
    """What moves a register: the clock's rising edge, where the enable is 1, a net or a constant."""

    clock: object
    enable: object


def move_registers(module: Cell, around: str) -> None:
    """Change a flat module of yosys's JSON: into each multiplier go the registers at its inputs, then its output's.

    Registers of the source file `around` stay. One that other cells read stays for them; one that nothing reads any
    more is removed. Only registers without reset move, of one clock and enable for all bits of a multiplier.
    """
    cells: dict[str, Cell] = module["cells"]
    drivers = {bit: cell for cell in cells.values() for bit in _bits(cell, "output")}
    multipliers = [cell for cell in cells.values() if cell["type"] == _MULTIPLIER]
    control = {id(cell): _move_inputs(cell, drivers, around) for cell in multipliers}
    _remove_unread(module)
    readers = defaultdict(list)
    for name, cell in cells.items():
        for bit in _bits(cell, "input"):
            readers[bit].append(name)
    for port in module["ports"].values():
        for bit in port["bits"]:
            readers[bit].append("")
    for cell in multipliers:
        if moved := control[id(cell)]:
            _move_output(cell, cells, readers, moved, around)


def _bits(cell: Cell, direction: str) -> list[object]:
    """The nets on ports of a direction; constants are none."""
    ports = cell["port_directions"].items()
    return [bit for port, way in ports if way == direction for bit in cell["connections"][port] if isinstance(bit, int)]


def _control(cell: Cell | None, around: str) -> _Control | None:
    """Of a register that can be one of a multiplier; else None."""
    if cell is None or cell["type"] != _FLIP_FLOP or f"{around}:" in cell["attributes"].get("src", ""):
        return None
    connections, parameters = cell["connections"], cell["parameters"]
    if connections["LSR"] != ["0"] or parameters.get("CLKMUX", "CLK") != "CLK":
        return None
    if parameters.get("CEMUX", "").strip() == "1":
        return _Control(connections["CLK"][0], "1")
    return _Control(connections["CLK"][0], connections["CE"][0]) if parameters.get("CEMUX") == "CE" else None


def _move_inputs(cell: Cell, drivers: dict[object, Cell], around: str) -> _Control | None:
    """Takes the operands from before their registers, if all bits have one; returns what moves these."""
    connections = cell["connections"]
    operands = [port for port in _OPERANDS if isinstance(connections[port][0], int)]
    registers = [drivers.get(connections[port][0]) for port in operands]
    found = {_control(register, around) for register in registers}
    others = {connections[port][0] for port in _OPERANDS if port not in operands}
    if len(found) != 1 or None in found or others - {"0"}:
        return None
    (control,) = found
    for port, register in zip(operands, registers, strict=True):
        connections[port] = register["connections"]["DI"] if register else []
    for port, value in zip(_CONTROL, (*(control or ()), "0"), strict=True):
        connections[port], cell["port_directions"][port] = [value], "input"
    _set(cell, ("INPUTA", "INPUTB"))
    return control


def _move_output(
    cell: Cell, cells: dict[str, Cell], readers: dict[object, list[str]], control: _Control, around: str
) -> None:
    """Gives the product from behind its registers, if each of its bits that is read has one and no other reader."""
    connections = cell["connections"]
    read = {port: readers[connections[port][0]] for port in _PRODUCT if connections.get(port)}
    read = {port: names for port, names in read.items() if names}
    if all(len(names) == 1 and _control(cells.get(names[0]), around) == control for names in read.values()):
        for port, (name,) in read.items():
            connections[port] = cells.pop(name)["connections"]["Q"]
        _set(cell, ("OUTPUT",))


def _set(cell: Cell, registers: Iterable[str]) -> None:
    """Says that a multiplier has these registers."""
    for register in registers:
        for what, port in zip(("CLK", "CE", "RST"), _CONTROL, strict=True):
            cell["parameters"][f"REG_{register}_{what}"] = port


def _remove_unread(module: Cell) -> None:
    """Removes registers that nothing reads, those that only these read too."""
    cells: dict[str, Cell] = module["cells"]
    registers = {name: cell["connections"]["Q"][0] for name, cell in cells.items() if cell["type"] == _FLIP_FLOP}
    outside = [bit for port in module["ports"].values() for bit in port["bits"]]
    unread = list(registers)
    while unread:
        read = {*outside, *(bit for cell in cells.values() for bit in _bits(cell, "input"))}
        unread = [name for name, bit in registers.items() if bit not in read]
        for name in unread:
            del cells[name], registers[name]
