"""Modules as equations in SMT-LIB, written by yosys and kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rtl_models.sources import sources_of
from rtl_models.yosys import alone, run_script, seen_by_yosys, yosys_version
from sim.kept import write_whole

_PASSES = "proc; flatten; check -assert; setundef -undriven -anyconst; opt_clean; write_smt2 -stbv"
"""Processes and instances resolved, then the equations: the solver can do without yosys's optimizations.

A loop or a wire with two drivers is refused.  What nothing drives, and what is unknown in SystemVerilog, such as a bit
beyond the end of a vector, becomes a free value: left to itself, yosys would choose 0 for it.
"""


@dataclass(frozen=True)
class Design:
    """A module at a width, with the text of every file that it needs, by file name."""

    module: str
    width: int
    sources: Mapping[str, str]


def design_of(module: str, width: int) -> Design:
    """A lane module of this package.  Raises ValueError where there is none of that name."""
    return Design(module, width, sources_of(module))


def equations(design: Design, cache: Path) -> str:
    """What `write_smt2 -stbv` says of the module; kept in the directory for as long as the sources are the same.

    Raises YosysMissing, Refused, and OSError where the directory cannot be used.
    """
    kept = cache / f"equations-{_key(design)}.smt2"
    with alone(cache):
        if not kept.is_file():
            write_whole(kept, _written(design).encode())
    return kept.read_text()


def _key(design: Design) -> str:
    content = [yosys_version(), _PASSES, design.module, design.width, sorted(design.sources.items())]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _written(design: Design) -> str:
    with TemporaryDirectory() as scratch:
        for name, text in design.sources.items():
            Path(scratch, name).write_text(text)
        _run(design, Path(scratch))
        return Path(scratch, "equations.smt2").read_text()


def _run(design: Design, directory: Path) -> None:
    scratch = seen_by_yosys(directory)
    files = " ".join(f'"{scratch / name}"' for name in design.sources if name.endswith(".sv"))
    top = f"hierarchy -check -top {design.module} -chparam Width {design.width}"
    run_script(f'read_verilog -sv {files}; {top}; {_PASSES} "{scratch}/equations.smt2"', directory)
