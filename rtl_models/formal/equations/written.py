"""Modules as equations in SMT-LIB, written by yosys and kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtl_models.tools.scratch import scratch_folder
from rtl_models.tools.sources import sources_of
from rtl_models.tools.yosys import reading, run_script, yosys_version
from sim.toolchain.kept import write_whole

_OF_SOURCES: Final = "t:$*dff* w:$* %ci1:+[Q] t:$*dff* %i %d"
READ: Final = f"proc; flatten; setattr -set keep 1 {_OF_SOURCES}; opt_clean; check -assert; memory_map; opt_clean"
"""From sources to a flat netlist: the solver can do without yosys's optimizations.

A loop or a wire with two drivers is refused, and one without driver that is read.  It is asked before memories become
registers: what then is read beyond the end of one has no driver either.

Registers that have a name in the sources stay, even if nothing reads them: theorems speak of those that a fault
disconnects.  A memory that nothing reads goes.
"""
_LOOPS: Final = "setundef -undriven -anyconst; check -assert"
"""A loop that goes through a memory is refused too."""
_ON_THE_EDGE: Final = "i:clk_i %co1:+[CLK] r:CLK_POLARITY=1 r:CLK_POLARITY=1'1 %u %i"
WRITE: Final = (
    f"delete t:$*dff* {_ON_THE_EDGE} %d; async2sync; dffunmap; setundef -undriven -anyconst; write_smt2 -stbv -wires"
)
"""From that netlist to equations, in a file that follows.

Equations have one clock, and do not say which: a register that does not move with the rising edge of `clk_i` is taken
out, so that its value is unknown.
A reset that acts at once becomes one that masks its register.  What nothing drives, and what is unknown in
SystemVerilog, such as a bit beyond the end of a vector or a word beyond that of a memory, becomes a free value: left to
itself, yosys would choose 0.
"""


@dataclass(frozen=True)
class Subject:
    """What a theorem is about: a module at parameters, such as ("sqadd", (("Width", 8),))."""

    module: str
    parameters: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        at = ", ".join(f"{name} {value}" for name, value in self.parameters)
        return f"{self.module} at {at}" if at else self.module


@dataclass(frozen=True)
class SubjectSources:
    """A subject with the text of every file that it needs, by file name."""

    subject: Subject
    sources: Mapping[str, str]


def at_width(module: str, width: int) -> Subject:
    """An operator, which has one parameter."""
    return Subject(module, (("Width", width),))


def design_of(subject: Subject, *before: Path) -> SubjectSources:
    """A lane module of this package, or of a folder that goes before.  Raises as `sources_of`."""
    return SubjectSources(subject, sources_of(subject.module, before))


def derive_equations(design: SubjectSources, cache: Path) -> str:
    """What `write_smt2 -stbv` says of the module; kept in the directory for as long as the sources are the same.

    Raises YosysMissing, Refused, ScratchUnusable, and OSError where the directory cannot be used.
    """
    asked = [design.subject.module, design.subject.parameters, sorted(design.sources.items())]
    key = hashlib.sha256(json.dumps([yosys_version(), READ, _LOOPS, WRITE, asked]).encode()).hexdigest()
    kept = cache / f"equations-{key}.smt2"
    if not kept.is_file():
        write_whole(kept, _written(design).encode())
    return kept.read_text()


def _written(design: SubjectSources) -> str:
    with scratch_folder() as scratch:
        read = reading(design.sources, design.subject.module, dict(design.subject.parameters), scratch)
        run_script(f"{read}; {READ}; {_LOOPS}; {WRITE} equations.smt2", scratch)
        return (scratch / "equations.smt2").read_text()
