"""`lanewise rtl list`: which hardware there is, with ports, latencies and configuration registers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from rtl_models.operators import OPERATORS, Operator
from rtl_models.register_map import REGISTERS, Register
from rtl_models.sources import LANES, module_names
from rtl_models.units import LANE_COUNTS, UNITS, Port, Unit
from sim.terminal import print_json, print_shown

Row = dict[str, Any]


def list_hardware(as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False) -> None:
    """The lanes, the streaming units, the modules that these are made of, and the configuration registers."""
    found = inventory()
    if as_json:
        print_json(found)
    else:
        print_shown(partial(_show, found))


def inventory() -> dict[str, list[Row]]:
    """By kind one row for each: `lanes`, `units`, `parts` and `registers`."""
    parts = [name for name in module_names() if name not in OPERATORS and name not in UNITS]
    return {
        "lanes": [_lane(operator) for operator in OPERATORS.values()],
        "units": [_unit(unit) for unit in UNITS.values()],
        "parts": [{"name": name, "does": _does(name)} for name in parts],
        "registers": [_register(register) for register in REGISTERS],
    }


def _lane(operator: Operator) -> Row:
    """The types by width, such as "s16"."""
    types = {
        str(width): [*(str(kind) for kind in operator.operand_types(width)), str(operator.result_of(width))]
        for width in operator.widths
    }
    ports = [*(operand.port for operand in operator.operands), "result_o"]
    return {
        "name": operator.name, "does": _does(operator.name), "widths": list(operator.widths),
        "ports": {port: {width: kinds[k] for width, kinds in types.items()} for k, port in enumerate(ports)},
    }  # fmt: skip


def _unit(unit: Unit) -> Row:
    return {
        "name": unit.name, "does": _does(unit.name), "lanes": list(LANE_COUNTS),
        "operands": [_port(port) for port in unit.operands], "results": [_port(port) for port in unit.results],
        "settings": list(unit.settings), "tables": list(unit.tables),
        "latency": {"shallow": unit.latency(deep=False), "deep": unit.latency(deep=True)},
    }  # fmt: skip


def _port(port: Port) -> Row:
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
    lanes = [(row["name"], _widths(row), _types(row), row["does"]) for row in found["lanes"]]
    units = [
        (row["name"], _latency(row), _ports(row), ", ".join(row["settings"] + row["tables"])) for row in found["units"]
    ]
    registers = [(row["name"], f"0x{row['address']:02X}", _fields(row)) for row in found["registers"]]
    console.print(_table(("lane", "widths", "at 32 bits", "computes"), lanes))
    console.print(_table(("unit", "latency", "ports", "settings"), units))
    console.print(f"A beat has Lanes numbers, {', '.join(map(str, LANE_COUNTS))}; latencies are shallow and deep.\n")
    console.print(_table(("part of units", "does"), [(row["name"], row["does"]) for row in found["parts"]]))
    console.print(_table(("register", "address", "settings"), registers))
    console.print("STATUS, the tables of the channels and what is illegal: rtl_models/REGISTERS.md")


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(columns[0], no_wrap=True)
    for name in columns[1:]:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _widths(row: Row) -> str:
    return " ".join(map(str, row["widths"]))


def _types(row: Row) -> str:
    """Such as "s32 s32 -> s32"."""
    *operands, result = (types["32"] for types in row["ports"].values())
    return f"{' '.join(operands)} -> {result}"


def _ports(row: Row) -> str:
    operands, results = (", ".join(map(_told, row[side])) for side in ("operands", "results"))
    return f"{operands} -> {results}"


def _told(port: Row) -> str:
    return f"{port['name']} {port['type']}" + (f" a {port['per']}" if port["per"] != "lane" else "")


def _latency(row: Row) -> str:
    return f"{row['latency']['shallow']} {row['latency']['deep']}"


def _fields(row: Row) -> str:
    return ", ".join(f"{field['setting']} {_bits(field)} {field['low']}..{field['high']}" for field in row["fields"])


def _bits(field: Row) -> str:
    """Such as "[15:8]"."""
    return f"[{field['lsb'] + field['bits'] - 1}:{field['lsb']}]"
