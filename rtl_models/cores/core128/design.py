"""`core128` as a simulator: its text, and programs that are run on it."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtl_models.cores.core128.configuration import Core128
from rtl_models.cores.core128.decoder import decoder_text, package_text
from rtl_models.cores.core128.rows import all_rows
from rtl_models.cores.core128.units import UNITS, numbered, unit_text
from rtl_models.tools.build_cache import OPTIMISATION, Purpose, TopModule, kept, linked, unity, verilate
from rtl_models.tools.environment import SimulationUnavailable, execute

FOLDER: Final = Path(__file__).parent / "rtl"
"""Of the module that is written by hand."""
_DRIVER: Final = Path(__file__).parent / "driver.cpp"
TOP: Final = "built_core128"
ERRORS: Final = ("", "word", "unaligned", "unmapped", "fetch")
"""Why it stops, by `error_o`; "" for no reason but the address to stop at."""
NO_REGISTER: Final = 127
FLAGS_REGISTER: Final = 64
PC_REGISTER: Final = 65

COMMIT: Final = np.dtype([
    ("pc", "<u8"), ("word", "<u4"), ("issue", "<u4"), ("ready", "<u4"), ("first_register", "u1"),
    ("second_register", "u1"), ("base_register", "u1"), ("flags", "u1"), ("first", "<u8"), ("first_high", "<u8"),
    ("second", "<u8"), ("second_high", "<u8"), ("base", "<u8"),
])  # fmt: skip
"""One instruction that is done: of `flags` bit 4 says that NZCV is written, bit 5 that it sets QC."""
_HEAD: Final = struct.Struct("<IIIIQQ")
_REGION: Final = struct.Struct("<QQ")
_END: Final = struct.Struct("<IIII")


@dataclass(frozen=True)
class Core128Program:
    """Code from its base on, data by address, registers by number, and where and after how many cycles it stops.

    The window of data goes from the first address to the last one.
    """

    code_base: int
    code: bytes
    data: Mapping[int, bytes]
    registers: Mapping[int, int]
    stop: int
    cycles: int


@dataclass(frozen=True)
class Core128Run:
    """What a program did: `commits` of the type `COMMIT`, the data, why it stopped, whether it was done."""

    commits: NDArray[np.void]
    data: Mapping[int, bytes]
    error: str
    done: bool


@cache
def generated() -> Mapping[str, str]:
    """By file name the text that is written from the instruction table."""
    rows = all_rows()
    texts = {f"{unit.module}.sv": unit_text(unit, numbered(rows, unit.name)) for unit in UNITS.values()}
    return {"core128_pkg.sv": package_text(rows), "core128_decode.sv": decoder_text(rows), **texts}


def design(core: Core128, changed: Mapping[str, str] | None = None) -> TopModule:
    """The core with its parameters; `changed` are texts by file name that go before those there are."""
    texts = {"core128.sv": (FOLDER / "core128.sv").read_text(), **generated(), **(changed or {})}
    parameters = ", ".join(f".{name}({value})" for name, value in core.parameters(all_rows()).items())
    ports = _ports(texts["core128.sv"])
    declared = ",\n".join(f"  {direction} logic {bits} {name}" for name, (direction, bits) in ports.items())
    wires = ", ".join(f".{name}({name})" for name in ports)
    texts[f"{TOP}.sv"] = f"module {TOP} (\n{declared}\n);\n  core128 #({parameters}) u_core128 ({wires});\nendmodule\n"
    # packages first: files are read in this order
    order = sorted(texts, key=lambda name: not name.endswith("_pkg.sv"))
    return TopModule(TOP, {name: texts[name] for name in order}, ())


def _ports(text: str) -> dict[str, tuple[str, str]]:
    found = {}
    for line in text.partition(") (")[2].partition(");")[0].splitlines():
        words = line.strip().rstrip(",").split()
        if words[:1] in (["input"], ["output"]):
            found[words[-1]] = (words[0], words[2] if len(words) == 4 else "")
    return found


def simulator(core: Core128, changed: Mapping[str, str] | None = None, purpose: Purpose = "bulk") -> Path:
    """The program that runs programs; a "bench" is built sooner and runs slower than "bulk".

    Raises BuildError, and SimulationUnavailable where something is missing.
    """
    made = design(core, changed)
    made = replace(made, texts={**made.texts, _DRIVER.name: _DRIVER.read_text()})
    return kept(purpose, made, ".core128", lambda scratch: _make(made, purpose, scratch))


def _make(made: TopModule, purpose: Purpose, scratch: Path) -> tuple[Path, list[Path]]:
    inputs = verilate(made, scratch)
    unity(scratch / "all.cpp", scratch / _DRIVER.name)
    return linked(scratch, OPTIMISATION[purpose]), inputs


def simulate(program: Path, programs: Sequence[Core128Program], *arguments: str) -> list[Core128Run]:
    """Run programs, one after the other; `arguments` are those of the simulator, such as "+fault=3".

    Raises SimulationUnavailable where the simulator does not end well, NeverEnds where it does not end.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "programs").write_bytes(b"".join(map(_written, programs)))
        done = execute([program, *arguments], folder, called="the simulator of core128")
        if done.status or done.output.split()[:2] != ["ran", str(len(programs))]:
            raise SimulationUnavailable(f"the simulator of core128 ended with {done.status}: {done.output.strip()}")
        commits = np.fromfile(folder / "commits", COMMIT)
        ends = (folder / "ends").read_bytes()
    runs, at, first = [], 0, 0
    for one in programs:
        count, error, is_done, _ = _END.unpack_from(ends, at)
        at += _END.size
        data = {}
        for address, content in one.data.items():
            data[address] = ends[at : at + len(content)]
            at += len(content)
        runs.append(Core128Run(commits[first : first + count], data, ERRORS[error], bool(is_done)))
        first += count
    return runs


def _written(program: Core128Program) -> bytes:
    registers = b"".join(
        struct.pack("<I", number) + value.to_bytes(16, "little") for number, value in program.registers.items()
    )
    head = _HEAD.pack(
        len(program.registers), len(program.code), program.cycles, len(program.data), program.stop, program.code_base
    )
    data = b"".join(_REGION.pack(address, len(content)) + content for address, content in program.data.items())
    return head + registers + program.code + data
