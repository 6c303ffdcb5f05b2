"""Simulators built from SystemVerilog, kept by the content of everything they are made of.

Verilator writes C++, of which one call of the compiler makes a program; its runtime, and with GCC its headers, are
compiled once for all designs.
Icarus compiles to a file that its own program runs.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from isa.errors import LanewiseError
from rtl_models.tools.environment import (
    Finished,
    SimulationUnavailable,
    SimulatorName,
    cocotb_folder,
    cpp_compiler,
    cpp_version,
    execute,
    icarus_program,
    tool_versions,
    verilator_program,
    verilator_root,
)
from rtl_models.tools.locks import alone
from rtl_models.tools.sources import LANES
from sim.toolchain.kept import Make, kept_or_made
from sim.toolchain.tools import CacheUnusable, cache_directory

_DEFINES: Final = (
    "-DVM_SC=0", "-DVM_TIMING=0", "-DVM_TRACE=1", "-DVM_TRACE_VCD=1", "-DVM_TRACE_FST=0", "-DVM_TRACE_SAIF=0",
)  # fmt: skip
_COMPILE: Final = ("-std=c++17", "-w", *_DEFINES)
_RUNTIME: Final = (
    "verilated", "verilated_cov", "verilated_dpi", "verilated_vpi", "verilated_vcd_c", "verilated_threads",
)  # fmt: skip
_HEADERS: Final = ("verilated", "verilated_vcd_c", "verilated_vpi", "verilated_dpi")
"""Reading them, and what they include, is three quarters of the time that a bench takes to compile."""
Purpose = Literal["bench", "bulk", "coverage"]
"""What a simulator is for: cycles decided in Python, many cycles without it, or counts of what was executed."""
OPTIMISATION: Final = {"bench": "-O0", "bulk": "-O1", "coverage": "-O1", "exhaustive": "-O3"}
"""By kind of program.  Benches wait for Python: optimised lanes would cost them more than they gain; counters gain."""
_COUNTING: Final = ("--coverage-line", "--coverage-user", "--coverage-expr", "--coverage-expr-max", "4096")
"""What Verilator counts for coverage, cover properties too; without the last option it silently leaves out expressions
of many bits."""
_AS_IT_IS: Final = "-Wno-UNOPTFLAT"
"""Counters keep Verilator from splitting vectors of which later parts are made of earlier ones: slower, and no loop."""
COUNTS: Final = "coverage.dat"
"""The file that a simulator for coverage writes where it runs."""
BUILDS: Final = "building a simulator, which may take a minute; it is kept, so that the next run begins at once"
HELD: Final = "waiting for another process that builds the same program, which will then be used here too"
_PREFIX: Final = "Vtop"
"""Of the classes that Verilator writes: the name that cocotb's own main program includes."""
_READ: Final = re.compile(r'^S [^"]*(?:"[^"]*" )?"(.+)"$', re.MULTILINE)
"""A file that Verilator has read, in its list of these: what it writes for make does not tell a blank from the next."""


class BuildError(LanewiseError):
    """A design that cannot be built: one sentence with the file, then the simulator's own message."""


@dataclass(frozen=True)
class TopModule:
    """A top module: its texts by file name, and the folders that have the modules it instantiates, one a file.

    Of modules of one name, the first folder's is taken.
    """

    top: str
    texts: Mapping[str, str]
    folders: tuple[Path, ...]

    def write(self, folder: Path, *suffixes: str) -> list[str]:
        """Write the texts; returns the names of those with the suffixes."""
        for name, text in self.texts.items():
            (folder / name).write_text(text)
        return [name for name in self.texts if name.endswith(suffixes)]

    @property
    def search(self) -> list[str]:
        """The options of both simulators that name the folders, and the packages in them, which go first."""
        options = [word for folder in self.folders for word in ("-y", str(folder), f"-I{folder}")]
        return [*options, *map(str, self.files("*_pkg.sv"))]

    def files(self, pattern: str) -> list[Path]:
        """The files of the folders, of one name the first folder's."""
        found = {file.name: file for folder in reversed(self.folders) for file in sorted(folder.glob(pattern))}
        return list(found.values())

    @property
    def leniency(self) -> list[str]:
        """The option of Verilator by which its warnings do not end the build, where modules are not of the package."""
        return ["-Wno-fatal"] if any(folder != LANES for folder in self.folders) else []

    @property
    def key(self) -> list[object]:
        """What it is, apart from the content of the folders."""
        return [self.top, dict(self.texts), [str(folder) for folder in self.folders]]


@dataclass(frozen=True)
class Simulator:
    """A built design: what runs it, and what makes it write the lanes as variables to a VCD file."""

    command: tuple[str, ...]
    tracing: tuple[str, ...]


def visible(top: str, ports: Iterable[tuple[str, str]]) -> str:
    """Verilator's control file that lets cocotb see these ports only: to show every signal costs minutes of build.

    Each has its direction, "input" or "output", and its name.
    """
    access = {"input": "public_flat_rw", "output": "public_flat_rd"}
    lines = [f'{access[direction.strip()]} -module "{top}" -var "{name}"' for direction, name in ports]
    return "\n".join(["`verilator_config", *lines, ""])


def built(design: TopModule, simulator: SimulatorName = "verilator", purpose: Purpose = "bench") -> Simulator:
    """The simulator of a design, built unless one from the same sources, tools and flags is kept.

    Raises BuildError, and SimulationUnavailable where the environment lacks something; Icarus counts no coverage.
    """
    if simulator == "verilator":
        program = kept(purpose, design, ".sim", lambda scratch: _verilator_make(design, purpose, scratch))
        return Simulator((str(program),), ("--trace", "--trace-file"))
    compiler = icarus_program("iverilog")
    version = execute([compiler, "-V"], Path.cwd()).output.splitlines()[0]
    key = ["icarus", *design.key, version, *tool_versions("cocotb")]
    file = _kept(key, ".vvp", lambda scratch: _icarus_make(design, compiler, scratch))
    library = cocotb_folder() / "libs" / "libcocotbvpi_icarus.so"
    return Simulator((icarus_program("vvp"), "-m", str(library), str(file)), ())


def kept(kind: str, design: TopModule, suffix: str, make: Make) -> Path:
    """What `make` makes of the design, kept under `kind` (of `OPTIMISATION`), the design, tools and flags."""
    compiler = cpp_compiler()
    tools = (*tool_versions("cocotb", "verilator"), cpp_version(compiler), *_COMPILE, OPTIMISATION[kind], *_COUNTING)
    return _kept([kind, *design.key, tools, compiler], suffix, make)


def _kept(key: object, suffix: str, make: Make) -> Path:
    """One process at a time makes what belongs to a key; the others wait and find it."""
    try:
        directory = cache_directory()
        name = f"rtl/{hashlib.sha256(json.dumps(key).encode()).hexdigest()}"
        with alone(directory / f"{name}.lock", HELD):
            return kept_or_made(directory, name, suffix, make)
    except CacheUnusable as error:
        raise SimulationUnavailable(str(error)) from error
    except OSError as error:
        raise SimulationUnavailable(f"cannot keep a simulator in {directory}: {error}; set LANEWISE_CACHE") from error


@cache
def _announce() -> None:
    """Say once a process that something is built: nothing else is seen of it where no terminal is."""
    print(BUILDS, file=sys.stderr, flush=True)


def _verilator_make(design: TopModule, purpose: Purpose, scratch: Path) -> tuple[Path, list[Path]]:
    """The program that runs cocotb's tests."""
    counts, compiler = purpose == "coverage", cpp_compiler()
    inputs = verilate(design, scratch, "--vpi", "--trace-vcd", *((*_COUNTING, _AS_IT_IS) if counts else ()))
    main = cocotb_folder() / "share" / "lib" / "verilator" / "verilator.cpp"
    libraries = cocotb_folder() / "libs"
    unity(scratch / "all.cpp", main)
    link = [str(runtime(compiler)), f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lcocotbvpi_verilator"]
    flags = [OPTIMISATION[purpose], f"-DVM_COVERAGE={int(counts)}", "-pthread"]
    if "clang" not in cpp_version(compiler):  # which takes such a file only where it was made
        (scratch / "headers.h").write_text(_including(_HEADERS, ".h"))  # for where GCC finds that its file does not fit
        (scratch / "headers.h.gch").symlink_to(_headers(compiler, tuple(flags)))
        flags += ["-include", "headers.h"]
    return compiled(compiler, scratch, flags, [*link, "-ldl"]), inputs


def verilate(design: TopModule, scratch: Path, *flags: str) -> list[Path]:
    """Write the design as C++ into the directory; returns the source files read.  Raises BuildError."""
    program = str(verilator_program())
    _announce()  # before Verilator, which takes seconds itself
    texts = design.write(scratch, ".sv", ".vlt")
    names = ["--top-module", design.top, "--prefix", _PREFIX, "-Mdir", ".", *design.search]
    command = [program, "-cc", *design.leniency, *flags, *names, *texts]
    _demand(execute(command, scratch, VERILATOR_ROOT=str(verilator_root())), f"Verilator refuses {design.top}")
    read = _READ.findall((scratch / f"{_PREFIX}__verFiles.dat").read_text())
    return [Path(file) for file in read if Path(file).is_absolute()]


def unity(file: Path, *more: Path) -> None:
    """One C++ file that includes all that Verilator has written beside it, and others."""
    written = sorted(file.parent.glob(f"{_PREFIX}*.cpp"))
    file.write_text("".join(f'#include "{source}"\n' for source in (*(s.name for s in written), *more)))


def compiled(compiler: tuple[str, ...], scratch: Path, flags: list[str], link: list[str]) -> Path:
    """The program made of `all.cpp`.  Raises SimulationUnavailable: the C++ is not the user's."""
    _announce()
    command = [*compiler, *_COMPILE, *include_flags(), *flags, "all.cpp", *link, "-o", "simulator"]
    _demand(execute(command, scratch), "the C++ compiler refuses what Verilator wrote", SimulationUnavailable)
    return scratch / "simulator"


def linked(scratch: Path, optimisation: str) -> Path:
    """As `compiled`, with Verilator's runtime: a program that needs no cocotb."""
    compiler = cpp_compiler()
    return compiled(compiler, scratch, [optimisation], [str(runtime(compiler)), "-pthread"])


def include_flags() -> list[str]:
    """The folders of what Verilator wrote and of its headers."""
    headers = verilator_root() / "include"
    return ["-I.", f"-I{headers}", f"-I{headers / 'vltstd'}"]


@cache
def runtime(compiler: tuple[str, ...]) -> Path:
    """Verilator's runtime as one object file, looked up once a process."""
    key = ["runtime", *tool_versions("verilator"), cpp_version(compiler), *_COMPILE, compiler]
    return _kept(key, ".o", lambda scratch: _runtime_make(compiler, scratch))


def _runtime_make(compiler: tuple[str, ...], scratch: Path) -> tuple[Path, list[Path]]:
    (scratch / "all.cpp").write_text(_including(_RUNTIME, ".cpp"))
    return compiled(compiler, scratch, ["-O1", "-c"], []), []


@cache
def _headers(compiler: tuple[str, ...], flags: tuple[str, ...]) -> Path:
    """Verilator's headers, read and written down by GCC for compilations with the same flags."""
    key = ["headers", *tool_versions("verilator"), cpp_version(compiler), *_COMPILE, compiler, flags]
    return _kept(key, ".gch", lambda scratch: _headers_make(compiler, flags, scratch))


def _headers_make(compiler: tuple[str, ...], flags: tuple[str, ...], scratch: Path) -> tuple[Path, list[Path]]:
    (scratch / "all.cpp").write_text(_including(_HEADERS, ".h"))
    return compiled(compiler, scratch, [*flags, "-x", "c++-header"], []), []


def _including(names: tuple[str, ...], suffix: str) -> str:
    return "".join(f'#include "{name}{suffix}"\n' for name in names)


def _icarus_make(design: TopModule, program: str, scratch: Path) -> tuple[Path, list[Path]]:
    texts = design.write(scratch, ".sv")
    folders = [f"-I{folder}" for folder in design.folders]  # it crashes where a file that it found itself includes one
    files = sorted(design.files("*.sv"), key=lambda file: not file.stem.endswith("_pkg"))
    command = [program, "-g2012", "-Mall=read", "-o", "simulator", "-s", design.top, *folders, *map(str, files)]
    _demand(execute([*command, *texts], scratch), f"Icarus refuses {design.top}")
    read = [Path(line) for line in (scratch / "read").read_text().splitlines()]
    return scratch / "simulator", sorted({file for file in read if file.is_absolute()})


def _demand(done: Finished, refusal: str, kind: Callable[[str], Exception] = BuildError) -> None:
    if done.status:
        once = dict.fromkeys(done.output.strip().splitlines())  # what is wrong with a module is said of each lane
        raise kind("\n".join([f"{refusal}:", *once]))
