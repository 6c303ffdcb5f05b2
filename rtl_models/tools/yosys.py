"""Yosys, a wheel, else the program of the PATH: the only file that runs it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from isa.errors import MISSING, LanewiseError, pip_install
from rtl_models.tools.environment import UNSTARTED, execute, wheel_command
from rtl_models.tools.plainer_verilog import in_words
from rtl_models.tools.sources import MODULE_ENDINGS

_RUN: Final = """
import signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
libyosys.run_pass("script script")
"""
"""In a process of its own, which an error of yosys ends."""


class YosysMissing(LanewiseError):
    """There is neither the wheel nor a program: one sentence that says how to get it."""

    exit_code = MISSING


class Refused(LanewiseError):
    """Yosys refuses a script: its own message, with the file and the line, or with what its `check` warns of.

    Of what it does not take of SystemVerilog, what to write in its place.
    """


def yosys_version() -> str:
    """Such as "yosys 0.70"; of a program of the PATH what it says of itself.  Raises YosysMissing."""
    try:
        return f"yosys {version('pyosys')}"
    except PackageNotFoundError:
        return _version_of(_program())


def _program() -> str:
    """The program of the PATH.  Raises YosysMissing."""
    found = shutil.which("yosys")
    if found is None:
        raise YosysMissing(f"yosys is not installed; run: {pip_install('lanewise[rtl]')}")
    return found


@cache
def _version_of(program: str) -> str:
    words = execute([program, "-V"], Path.cwd()).output.split()
    return f"yosys {words[1] if len(words) > 1 else 'unknown'} of the PATH"


def _command() -> list[str]:
    """What runs the file `script`.  Raises YosysMissing."""
    try:
        version("pyosys")
    except PackageNotFoundError:
        return [_program(), "-s", "script"]
    return wheel_command("from pyosys import libyosys", _RUN)


def reading(sources: Mapping[str, str], module: str, parameters: Mapping[str, int], directory: Path) -> str:
    """The commands that read a module at its parameters, as the top, from files of these texts in the directory.

    Writes the files: may raise OSError.
    """
    for name, text in sources.items():
        (directory / name).write_text(text)
    files = " ".join(f'"{name}"' for name in sources if name.endswith(MODULE_ENDINGS))
    values = "".join(f" -chparam {name} {value}" for name, value in parameters.items())
    return f"read_verilog -sv {files}; hierarchy -check -top {module}{values}"


def run_script(script: str, directory: Path) -> str:
    """Run a script in a directory; returns what yosys printed.

    Raises YosysMissing, Refused, NeverEnds, KeyboardInterrupt, and OSError where the directory cannot be used.
    """
    command = _command()
    (directory / "script").write_text(f"{script}\n")
    done = execute(command, directory, called="yosys")
    if done.output.startswith(UNSTARTED):
        raise YosysMissing(f"yosys {done.output.strip()}; run: {pip_install('--force-reinstall pyosys')}")
    if done.status != 0:
        raise Refused(in_words(_message(done.output), directory))
    return done.output


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
