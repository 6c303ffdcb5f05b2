"""The arithmetic of `core128` as SystemVerilog: a module for each unit, a function for each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from isa.lane import Lane, Memory, Place, Write
from rtl_models.cores.core128.emission import Emission, LaneFunctions
from rtl_models.cores.core128.rows import FURTHER, CoreRow
from sim.timing.model.core import Core
from sim.timing.model.core_file import load_core

UnitName = Literal["scalar", "vector", "mla", "accumulate", "access", "align"]
GROUPS: Final = ("mla", "accumulate")
"""Of timing classes: what adds to an accumulator that it takes late, a unit for each."""
WIDE: Final = 128


@dataclass(frozen=True)
class ArithmeticUnit:
    """A module: what it does, its operands with their bits, its results with theirs."""

    name: UnitName
    does: str
    operands: Mapping[str, int]
    results: Mapping[str, int]

    @property
    def module(self) -> str:
        """The name of the module."""
        return f"core128_{self.name}"


_REGISTERS: Final = {"d_i": WIDE, "n_i": WIDE, "m_i": WIDE, "a_i": WIDE}
_LISTED: Final = {f"further_{k}_i": WIDE for k in range(1, FURTHER + 1)}
_CHOSEN: Final = {"immediate_i": 64, "index_i": 9}
_SUMMED: Final = {"d_i": WIDE, "n_i": WIDE, "m_i": WIDE, "index_i": 9}
UNITS: Final = {
    unit.name: unit
    for unit in (
        ArithmeticUnit(
            "scalar", "general registers, flags and branches", {**_REGISTERS, **_CHOSEN, "flags_i": 4, "pc_i": 64},
            {"first_o": 64, "flags_o": 4, "next_pc_o": 64},
        ),
        ArithmeticUnit("vector", "lanes", {**_REGISTERS, **_LISTED, **_CHOSEN}, {"first_o": WIDE, "saturated_o": 1}),
        ArithmeticUnit("mla", "products that are added to an accumulator", _SUMMED, {"first_o": WIDE}),
        ArithmeticUnit("accumulate", "other lanes that are added to an accumulator", _SUMMED, {"first_o": WIDE}),
        ArithmeticUnit(
            "access", "addresses, moved bases and stored bytes", {**_REGISTERS, **_LISTED, **_CHOSEN},
            {"address_o": 64, "base_o": 64, "data_o": 2 * WIDE},
        ),
        ArithmeticUnit(
            "align", "registers from loaded bytes", {"loaded_i": 2 * WIDE, "d_i": WIDE, "index_i": 9},
            {"first_o": WIDE, "second_o": WIDE},
        ),
    )
}  # fmt: skip
"""By name."""


@cache
def lane128() -> Core:
    """The core of `sim.timing` that it is built after."""
    return load_core("lane128")


@cache
def units_of(row: CoreRow) -> tuple[UnitName, ...]:
    """The units that a row needs."""
    if row.load is not None:
        return ("access", "align")
    if row.store is not None:
        return ("access",)
    timing = lane128().timing(row.timing)
    pipes = {pipe for use in timing.uses for pipe in use.pipes}
    if pipes != {"LANE"}:
        return ("scalar",)
    match timing.group:
        case "mla" | "accumulate" as group:
            return (group,)
        case _:
            return ("vector",)


def result_lanes(
    row: CoreRow, unit: UnitName, writes: Sequence[Write], address: Lane | None
) -> dict[str, tuple[list[Lane], int]]:
    """What each result of a unit is for a row that writes this: elements, the first in the low bits; bits of each."""
    of_file = {write.place.file: write for write in writes if isinstance(write.place, Place)}
    of_field = {row.field_of(write.place): write for write in writes if isinstance(write.place, Place)}
    stored = next((write for write in writes if isinstance(write.place, Memory)), None)
    if unit == "access":
        due = {"data_o": stored, "base_o": of_field.get("n")}
    else:
        due = {"first_o": of_field.get("d"), "flags_o": of_file.get("nzcv"), "next_pc_o": of_file.get("pc")}
        due |= {"second_o": of_field.get("a")} if unit == "align" else {}
    found = {name: (list(write.lanes), write.bits) for name, write in due.items() if write is not None}
    if unit == "access" and address is not None:
        found["address_o"] = ([address], 64)
    return found


def ports_of(row: CoreRow) -> dict[Place, str]:
    """The operand that holds each place that a row reads."""
    named = {"nzcv": "flags", "pc": "pc", "imm": "immediate", "index": "index"}
    found = {}
    of, count = row.further
    first = row.numbers[of]
    for k in range(1, count + 1):
        found[Place("v", first + k)] = f"further_{k}"
    for place in row.reads:
        field = row.field_of(place)
        if field is not None or place not in found:
            found[place] = field if field is not None else named[place.file]
    return found


def unit_text(unit: ArithmeticUnit, rows: Sequence[tuple[int, CoreRow]]) -> str:
    """The module; `rows` are those that need it, with their numbers."""
    ports = [f"  input  logic [{bits - 1}:0] {name}" for name, bits in {"row_i": 11, **unit.operands}.items()]
    ports += [f"  output logic [{bits - 1}:0] {name}" for name, bits in unit.results.items()]
    total = sum(unit.results.values())
    call = ", ".join(unit.operands)
    cases = [f"      11'd{number}: results = row_{number}({call});" for number, _ in rows]
    return "\n".join([
        f"// {unit.does.capitalize()}: a function for each row of the decoder.",
        "// Written by rtl_models/cores/core128 from the table of instructions; a variable is as wide as its numbers.",
        "",
        "// verilator lint_off UNUSEDSIGNAL",
        f"module {unit.module} (", ",\n".join(ports), ");", "",
        *_functions(unit, rows),
        f"  logic [{total - 1}:0] results;", "",
        "  always_comb begin", "    case (row_i)", *cases, "      default: results = '0;", "    endcase", "  end", "",
        f"  assign {{{', '.join(unit.results)}}} = results;", "",
        "endmodule", "// verilator lint_on UNUSEDSIGNAL", "",
    ])  # fmt: skip


def rows_text(name: str, unit: ArithmeticUnit, rows: Sequence[tuple[int, CoreRow]]) -> str:
    """A module of that name that computes each of the rows to a port of its own, all results side by side."""
    total = sum(unit.results.values())
    ports = [f"  input  logic [{bits - 1}:0] {operand}" for operand, bits in unit.operands.items()]
    ports += [f"  output logic [{total - 1}:0] row_{number}_o" for number, _ in rows]
    call = ", ".join(unit.operands)
    assigned = [f"  assign row_{number}_o = row_{number}({call});" for number, _ in rows]
    return "\n".join([f"module {name} (", ",\n".join(ports), ");", *_functions(unit, rows), *assigned, "endmodule", ""])


def _functions(unit: ArithmeticUnit, rows: Sequence[tuple[int, CoreRow]]) -> list[str]:
    """Those of lanes, then one for each row."""
    given = ",\n".join(
        f"    input logic [{bits - 1}:0] {operand.removesuffix('_i')}" for operand, bits in unit.operands.items()
    )
    lanes = LaneFunctions()
    of_rows = [_function(unit, number, row, given, lanes) for number, row in rows]
    return [*lanes.texts, *of_rows]


def _function(unit: ArithmeticUnit, number: int, row: CoreRow, given: str, functions: LaneFunctions) -> str:
    emission = Emission(ports_of(row))
    lanes = result_lanes(row, unit.name, row.writes, row.address)
    parts = []
    for name, bits in unit.results.items():
        if name in lanes:
            elements, each = lanes[name]
            if unit.name in ("vector", "mla", "accumulate"):
                for lane in elements:
                    emission.call(lane, functions)
            parts.append(emission.bits(elements, each, bits))
        elif name != "saturated_o":
            parts.append(f"{bits}'h0")
    if "saturated_o" in unit.results:
        parts.append(" | ".join(f"({each})" for each in emission.saturations) or "1'b0")
    total = sum(unit.results.values())
    return "\n".join([
        f"  // {row.form}",
        f"  function automatic logic [{total - 1}:0] row_{number}(", given, "  );", "    // verilator no_inline_task",
        *(f"    {line}" for line in (*emission.declarations, *emission.statements)),
        f"    row_{number} = {{{', '.join(parts)}}};",
        "  endfunction", "",
    ])  # fmt: skip


def numbered(rows: Sequence[CoreRow], unit: UnitName) -> list[tuple[int, CoreRow]]:
    """The rows that need a unit, with their numbers among all."""
    return [(number, row) for number, row in enumerate(rows) if unit in units_of(row)]
