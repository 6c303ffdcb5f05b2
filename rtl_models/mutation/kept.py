"""Judgements kept for as long as everything that they follow from is the same."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Final

import isa
import rtl_models
import sim
from isa.evaluate.smt import solver_version
from rtl_models.mutation.judgement import Judgement, judge
from rtl_models.mutation.mutants import Mutant
from rtl_models.mutation.netlist import PASSES, NetlistOrigin
from rtl_models.mutation.targets import Target
from rtl_models.mutation.verdict import MutantVerdict
from rtl_models.tools.environment import tool_versions
from rtl_models.tools.yosys import yosys_version
from sim.toolchain.kept import write_whole

_PACKAGES: Final = (isa, rtl_models, sim)
_CODE: Final = (".py", ".cpp")


def keep_or_judge(target: Target, count: int, seed: int, seconds: float, directory: Path) -> Judgement:
    """`judge`, unless that was asked before; what is undecided is asked again.

    What is kept belongs to the module, with the numbers that a user's has built in, the tools, and all code of the
    three packages: stimuli, semantics, golden references, theorems.
    """
    own = None if target.own is None else sorted(target.own.built_in.items())
    module = [str(target.subject), sorted(target.design.sources.items()), own]
    key = json.dumps([[*tools(), PASSES], module, count, seed, _code()])
    file = directory / f"mutation-{hashlib.sha256(key.encode()).hexdigest()}.json"
    if file.is_file():
        found, verdicts = json.loads(file.read_text()), []
        for value in found["verdicts"]:
            mutant = value.pop("mutant")
            mutant["places"] = tuple(mutant["places"])
            verdicts.append(MutantVerdict(Mutant(**mutant), **value))
        sources = target.own.design.sources if target.own else {}
        return Judgement(target.subject, found["rows"], tuple(verdicts), NetlistOrigin(*found["origin"]), sources)
    judgement = judge(target, count, seed, seconds)
    if judgement.passed:
        told = [asdict(verdict) for verdict in judgement.verdicts]
        content = {"rows": judgement.rows, "verdicts": told, "origin": judgement.origin}
        write_whole(file, json.dumps(content).encode())
    return judgement


def tools() -> list[str]:
    """The versions of what judges.  Raises YosysMissing, SolverMissing, SimulationUnavailable."""
    return [yosys_version(), solver_version(), *tool_versions("verilator")]


@cache
def _code() -> str:
    """A digest of the code, once a process."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for file in sorted(Path(package.__path__[0]).rglob("*")):
            if file.suffix in _CODE:
                digest.update(file.read_bytes())
    return digest.hexdigest()
