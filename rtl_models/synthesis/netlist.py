"""A design as a netlist of the cells of an ECP5, written by yosys."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from rtl_models.formal.equations.written import READ
from rtl_models.synthesis.designs import Design
from rtl_models.synthesis.multipliers import move_registers
from rtl_models.synthesis.wrapper import TOP, WrapperPort, registered
from rtl_models.tools.scratch import ScratchUnusable
from rtl_models.tools.yosys import reading, run_script

NETLIST: Final = "netlist.json"
_PORTS: Final = "ports.json"
_LUTS: Final = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}
"""How many LUTs of 4 inputs a cell takes: a pair of carries, and 16 words of 4 bits with what writes them."""


class Size(NamedTuple):
    """What a design takes of the part, without the registers around it.

    `cells` are LUTs of 4 inputs, those that carry and those that are memory among them; `multipliers` MULT18X18D, whose
    registers are no `flip_flops`; `block_rams` DP16KD.
    """

    cells: int
    multipliers: int
    flip_flops: int
    block_rams: int


def synthesize(design: Design, directory: Path) -> Size:
    """Write `NETLIST` into the directory: the design between registers.

    Raises YosysMissing, Refused, ScratchUnusable, OSError.
    """
    sources = design.sources
    read = reading(sources, design.top, design.parameters, directory)
    # refused is what proofs refuse: synthesis takes a wire without a driver for 0
    run_script(f"{read}; rename -top {TOP}; {READ}; write_json {_PORTS}", directory)
    ports = ports_of(_written(directory / _PORTS))
    top = registered(design.top, design.parameters, ports, design.copies)
    read = reading({**sources, f"{TOP}.sv": top}, TOP, {}, directory)
    run_script(f"{read}; synth_ecp5 -top {TOP} -json {NETLIST}", directory)
    netlist = _written(directory / NETLIST)
    move_registers(netlist["modules"][TOP], f"{TOP}.sv")
    (directory / NETLIST).write_text(json.dumps(netlist))
    return size_of(netlist)


def _written(file: Path) -> Mapping[str, Any]:
    """A netlist; yosys does not say where it could not write all of it."""
    try:
        netlist: Mapping[str, Any] = json.loads(file.read_bytes())
    except ValueError as error:
        said = f"yosys wrote no whole netlist to {file.parent}; name another folder in TMPDIR"
        raise ScratchUnusable(said) from error
    return netlist


def ports_of(netlist: Mapping[str, Any]) -> list[WrapperPort]:
    """The ports of the module `TOP` of a netlist as yosys writes it."""
    ports = netlist["modules"][TOP]["ports"]
    return [WrapperPort(name, port["direction"], len(port["bits"])) for name, port in ports.items()]


def size_of(netlist: Mapping[str, Any]) -> Size:
    """What the cells of the module `TOP` are, as yosys writes them; its own registers do not count."""
    cells = netlist["modules"][TOP]["cells"].values()
    kinds = Counter(
        cell["type"]
        for cell in cells
        if not (cell["type"] == "TRELLIS_FF" and f"{TOP}.sv:" in cell["attributes"].get("src", ""))
    )
    luts = sum(each * kinds[kind] for kind, each in _LUTS.items())
    return Size(luts, kinds["MULT18X18D"], kinds["TRELLIS_FF"], kinds["DP16KD"])
