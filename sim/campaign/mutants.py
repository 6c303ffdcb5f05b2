"""Mutants of modules, as jobs: who plants and judges them comes from another package.

It is registered as an entry point of the group `lanewise.mutants`: a module, or an object, with two functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Protocol

from isa.errors import MISSING, LanewiseError, pip_install
from sim.campaign.result import JobResult


class MutantsMissing(LanewiseError):
    """Nothing is installed that plants mutants: one sentence."""

    exit_code = MISSING


class Mutation(Protocol):
    """What plants mistakes in modules, and judges whether the benches and proofs of these notice them."""

    def modules(self) -> Sequence[str]:
        """What can be mutated, by name."""
        ...

    def judged(self, module: str, count: int, seed: int, seconds: float) -> JobResult:
        """So many mutants of a module, drawn by the seed; a solver has so many seconds for each question."""
        ...


def mutation() -> Mutation:
    """The one that is installed.  Raises MutantsMissing."""
    found = next(iter(entry_points(group="lanewise.mutants")), None)
    if found is None:
        raise MutantsMissing("no installed package plants mutants; install lanewise anew")
    try:
        loaded: Mutation = found.load()
    except ModuleNotFoundError as missing:
        wheel = str(missing.name).partition(".")[0]
        raise MutantsMissing(
            f"mutants need {wheel}, which is not installed; run: {pip_install(f'lanewise[{found.name}]')}"
        ) from missing
    return loaded
