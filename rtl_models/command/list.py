"""`lanewise rtl list`: which hardware there is, with ports, latencies and configuration registers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Final

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from isa.errors import USAGE, did_you_mean
from rtl_models.cores.names import CORES
from rtl_models.latencies import PROFILES
from rtl_models.operators import OPERATORS, Operator
from rtl_models.register_map import REGISTERS, Register
from rtl_models.tools.sources import LANES, module_names, sources_of
from rtl_models.units import LANE_COUNTS, UNITS, Unit, UnitPort
from sim.terminal.output import fail, print_json, print_shown, print_text

Row = dict[str, Any]
_REGISTERS_NOTE: Final = "STATUS, the tables of the channels and what is illegal: rtl_models/REGISTERS.md"


def list_hardware(
    name: Annotated[str, typer.Argument(help="A lane, a unit or a part of one; default: everything.")] = "",
    files: Annotated[bool, typer.Option("--files", help="What a tool must read for it: -I and the sources.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """The lanes, the streaming units, the cores, what these are made of, and the configuration registers.

    With --files as arguments for a simulator: iverilog -g2012 $(lanewise rtl list quantize_down --files).  Exit code 2
    for a name that no module has.
    """
    if files and not name:
        fail("--files needs the name of a module, one of those that lanewise rtl list names", USAGE)
    if name and name not in module_names():
        fail(f"there is no module {name!r}{did_you_mean(name, module_names())}: see lanewise rtl list", USAGE)
    if files:
        words = arguments(name)
        if as_json:
            print_json("rtl-list-files", words)
        else:
            print_text("\n".join(words))
        return
    found = {kind: [row for row in rows if name in ("", row["name"])] for kind, rows in inventory().items()}
    if as_json:
        print_json("rtl-list", found)
    else:
        print_shown(partial(_show, found))


def arguments(name: str) -> list[str]:
    """What a tool must be given for a module: where included files are, then all files in the order to read them."""
    return [f"-I{LANES}", *(str(LANES / file) for file in sources_of(name))]


def inventory() -> dict[str, list[Row]]:
    """By kind one row for each: `lanes`, `units`, `cores`, `parts` and `registers`."""
    parts = [name for name in module_names() if name not in {*OPERATORS, *UNITS, *CORES}]
    return {
        "lanes": [_lane(operator) for operator in OPERATORS.values()],
        "units": [_unit(unit) for unit in UNITS.values()],
        "cores": [{"name": name, "does": _does(name)} for name in CORES],
        "parts": [{"name": name, "does": _does(name)} for name in parts],
        "registers": [_register(register) for register in REGISTERS],
    }


def _lane(operator: Operator) -> Row:
    """The types by width, such as "s16"."""
    types = {
        str(width): [*(str(kind) for kind in operator.operand_types(width)), str(operator.result_of(width)), "u1"]
        for width in operator.widths
    }
    ports = [*(operand.port for operand in operator.operands), "result_o", "saturated_o"]
    return {
        "name": operator.name, "does": _does(operator.name), "widths": list(operator.widths),
        "ports": {port: {width: kinds[k] for width, kinds in types.items()} for k, port in enumerate(ports)},
    }  # fmt: skip


def _unit(unit: Unit) -> Row:
    return {
        "name": unit.name, "does": _does(unit.name), "lanes": list(LANE_COUNTS),
        "operands": [_port(port) for port in unit.operands], "results": [_port(port) for port in unit.results],
        "settings": list(unit.settings), "tables": list(unit.tables),
        "latency": {profile: unit.latency(profile) for profile in PROFILES},
        "depths": [unit.latency(profile) for profile in unit.profiles],
    }  # fmt: skip


def _port(port: UnitPort) -> Row:
    return {"name": port.name, "type": f"{'s' if port.signed else 'u'}{port.bits}", "per": port.per}


def _register(register: Register) -> Row:
    fields = [
        {"setting": field.setting, "lsb": field.lsb, "bits": field.bits, "low": field.low, "high": field.high}
        for field in register.fields
    ]
    return {"name": register.name, "address": register.address, "fields": fields}


def _does(module: str) -> str:
    """The first sentence of the module's header."""
    lines = (LANES / f"{module}.sv").read_text().partition("\n//\n")[0].splitlines()
    return " ".join(line.removeprefix("//").strip() for line in lines).partition(". ")[0].rstrip(".") + "."


def _show(found: dict[str, list[Row]], console: Console) -> None:
    lanes, is_one = [], len(found["lanes"]) == 1
    for row in found["lanes"]:
        named = [f"{port} {kinds['32']}" if is_one else kinds["32"] for port, kinds in row["ports"].items()]
        *operands, result, saturated = named
        types = f"{', '.join(operands)} -> {result}, {saturated}" if is_one else f"{' '.join(operands)} -> {result}"
        lanes.append((row["name"], " ".join(map(str, row["widths"])), types, row["does"]))
    units = []
    for row in found["units"]:
        sides = []
        for side in ("operands", "results"):
            ports = ((port, "" if port["per"] == "lane" else f" a {port['per']}") for port in row[side])
            sides.append(", ".join(f"{port['name']} {port['type']}{per}" for port, per in ports))
        settings = ", ".join(row["settings"] + row["tables"])
        units.append((row["name"], " ".join(map(str, row["depths"])), " -> ".join(sides), settings))
    registers = []
    for row in found["registers"]:
        fields = (
            f"{field['setting']} [{field['lsb'] + field['bits'] - 1}:{field['lsb']}] {field['low']}..{field['high']}"
            for field in row["fields"]
        )
        registers.append((row["name"], f"0x{row['address']:02X}", ", ".join(fields)))
    cores, parts = ([(row["name"], row["does"]) for row in found[kind]] for kind in ("cores", "parts"))
    beats = f"A beat has Lanes numbers, {', '.join(map(str, LANE_COUNTS))}; latencies go from shallow to deep.\n"
    by_name = "" if is_one else "lanewise rtl list LANE has the ports by name.\n"
    _show_table(console, ("lane", "widths", "at 32 bits", "computes"), lanes, by_name)
    _show_table(console, ("unit", "latency", "ports", "settings"), units, beats)
    _show_table(console, ("core", "does"), cores)
    _show_table(console, ("part of units", "does"), parts)
    _show_table(console, ("register", "address", "settings"), registers, _REGISTERS_NOTE)


def _show_table(console: Console, columns: Sequence[str], rows: Sequence[tuple[str, ...]], note: str = "") -> None:
    """With the note below it, unless it would be empty."""
    if not rows:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(columns[0], no_wrap=True)
    for name in columns[1:]:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)
    console.print(note, end="\n" if note else "")
