"""A design as a netlist of the cells of an ECP5, written by yosys."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from rtl_models.synthesis.designs import Design
from rtl_models.synthesis.wrapper import TOP, Port, registered
from rtl_models.yosys import run_script, seen_by_yosys

NETLIST: Final = "netlist.json"
_PORTS: Final = "ports.json"
_LUTS: Final = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}
"""How many LUTs of 4 inputs a cell takes: a pair of carries, and 16 words of 4 bits with what writes them."""


class Size(NamedTuple):
    """What a design takes of the part, without the registers around it.

    `cells` are LUTs of 4 inputs, those that carry and those that are memory among them; `multipliers` MULT18X18D;
    `block_rams` DP16KD.
    """

    cells: int
    multipliers: int
    flip_flops: int
    block_rams: int


def synthesize(design: Design, directory: Path) -> Size:
    """Write `NETLIST` into the directory: the design between registers.  Raises YosysMissing, Refused, OSError."""
    for name, text in design.sources.items():
        (directory / name).write_text(text)
    ports = _ports(design, directory)
    (directory / f"{TOP}.sv").write_text(registered(design.name, design.parameters, ports, design.copies))
    read = _read([*design.sources, f"{TOP}.sv"], directory)
    run_script(f'{read}; synth_ecp5 -top {TOP} -json "{seen_by_yosys(directory) / NETLIST}"', directory)
    return size_of(json.loads((directory / NETLIST).read_text()))


def _ports(design: Design, directory: Path) -> list[Port]:
    values = " ".join(f"-chparam {name} {value}" for name, value in design.parameters.items())
    top = f"hierarchy -check -top {design.name} {values}; rename -top {TOP}; proc"
    write = f'write_json "{seen_by_yosys(directory) / _PORTS}"'
    run_script(f"{_read(design.sources, directory)}; {top}; {write}", directory)
    return ports_of(json.loads((directory / _PORTS).read_text()))


def _read(names: Iterable[str], directory: Path) -> str:
    scratch = seen_by_yosys(directory)
    files = " ".join(f'"{scratch / name}"' for name in names if name.endswith(".sv"))
    return f'read_verilog -sv -I"{scratch}" {files}'


def ports_of(netlist: Mapping[str, Any]) -> list[Port]:
    """The ports of the module `TOP` of a netlist as yosys writes it."""
    ports = netlist["modules"][TOP]["ports"]
    return [Port(name, port["direction"], len(port["bits"])) for name, port in ports.items()]


def size_of(netlist: Mapping[str, Any]) -> Size:
    """What the cells of the module `TOP` are, as yosys writes them; its own registers do not count."""
    cells = netlist["modules"][TOP]["cells"].values()
    kinds = Counter(cell["type"] for cell in cells if not _around(cell))
    luts = sum(each * kinds[kind] for kind, each in _LUTS.items())
    return Size(luts, kinds["MULT18X18D"], kinds["TRELLIS_FF"], kinds["DP16KD"])


def _around(cell: Mapping[str, Any]) -> bool:
    """Whether it is a register of the file of `TOP`."""
    return cell["type"] == "TRELLIS_FF" and f"{TOP}.sv:" in cell["attributes"].get("src", "")
