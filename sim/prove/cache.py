"""Answers kept by content: the terms of a claim as text, and the version of the solver."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from isa.evaluate.smt import Solver, solver_version
from isa.evaluate.smt_terms import Untranslatable
from sim.prove.claim import Finding, Sides, tells_apart


def entry_of(sides: Sides, directory: Path) -> Path | None:
    """The file that keeps the answer; None for a claim that has no terms.  Raises SolverMissing."""
    terms = Solver(time.monotonic())
    try:
        texts = [solver_version(), terms.text(sides.given), terms.text(sides.differ)]
    except Untranslatable:
        return None
    return directory / f"proof-{hashlib.sha256(json.dumps(texts).encode()).hexdigest()}.json"


def answered(entry: Path | None, sides: Sides, find: Callable[[], Finding]) -> Finding:
    """The answer that the file keeps, else a new one, which is kept there; None keeps nothing."""
    found = kept(entry, sides) if entry is not None else None
    if found is not None:
        return found
    finding = find()
    if entry is not None:
        keep(entry, finding)
    return finding


def kept(entry: Path, sides: Sides) -> Finding | None:
    """The answer of an earlier run; None where there is none, or it is damaged.

    A counter-example is evaluated again: one that does not tell the sides apart is none.
    """
    try:
        finding = replace(Finding(**json.loads(entry.read_bytes())), cached=True)
        sound = finding.outcome == "proved" or tells_apart(sides, finding.values)
    except (OSError, ValueError, TypeError, KeyError, AssertionError):
        return None
    return finding if sound else None


def keep(entry: Path, finding: Finding) -> None:
    """Write an answer, unless it is unknown or not the smallest, whole or not at all.

    A cache that cannot be written is no fault of the proof: the answer is only not kept.
    """
    if finding.outcome == "unknown" or not finding.smallest:
        return
    written = entry.with_name(f"{entry.name}.{os.getpid()}")
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(json.dumps(asdict(finding)))
        written.replace(entry)
    except OSError:
        with suppress(OSError):
            written.unlink()
