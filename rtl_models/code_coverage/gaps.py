"""What no bench executes, each with its reason: the table `gaps.toml`, and whether it is right."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtl_models.code_coverage.points import Counts, Point

GAPS: Final = Path(__file__).parent / "gaps.toml"


@dataclass(frozen=True)
class Gap:
    """Points of a module on lines with this text, those with this `what`, that are not executed for a reason."""

    module: str
    line: str
    what: str
    reason: str

    def explains(self, point: Point) -> bool:
        """Whether it is about the point."""
        return (self.module, self.line, self.what) == (point.module, point.line, point.what)


def read_gaps(file: Path) -> list[Gap]:
    """The gaps of the table.  Raises TypeError where one lacks a field or has one that there is not."""
    return [Gap(**entry) for entry in tomllib.loads(file.read_text())["gap"]]


def unexplained(counts: Counts, gaps: Sequence[Gap]) -> Iterator[str]:
    """The points that were never executed and are in no gap, each as a sentence."""
    for point in sorted(counts, key=str):
        if not counts[point] and not any(gap.explains(point) for gap in gaps):
            yield f"never executed, and gaps.toml has no reason: {point}"


def never_executed(counts: Counts) -> list[str]:
    """The points that were never executed, each as a sentence."""
    return [f"never executed: {point}" for point in sorted(counts, key=str) if not counts[point]]


def dead(counts: Counts, gaps: Sequence[Gap], modules: Collection[str]) -> Iterator[str]:
    """The gaps of these modules without any point that was never executed, each as a sentence."""
    for gap in gaps:
        if gap.module in modules and not any(gap.explains(point) for point in counts if not counts[point]):
            yield f"gaps.toml has a reason that is not needed: {gap.module}.sv: {gap.what}: {gap.line}"
