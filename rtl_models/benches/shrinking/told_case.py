"""A failing case as a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rtl_models.benches.frame import Frame
from rtl_models.benches.testbench import Wrong
from sim.view.cycles_sentences import counted

if TYPE_CHECKING:
    from rtl_models.benches.unit_case import Case

MOST_CYCLES: Final = 64
"""Whose decisions are told."""


def told(case: Case, problem: Wrong, stopped: bool) -> str:
    """What is sent, what goes wrong, and whether the search for smaller cases was `stopped` before its end."""
    beats = sum(frame.beats for frame in case.frames)
    size = "one beat" if beats == 1 else f"{counted(len(case.frames), 'frame')}, {beats} beats"
    inputs = "; then ".join(map(_told_frame, case.frames)) if beats <= 8 else "too long to be told here"
    early = ".  The search was stopped at its bound: there may be a smaller case" if stopped else ""
    before = f" after a reset in cycle {case.lost.cycles} of {_told_frame(case.lost.frame)}" if case.lost else ""
    return f"smallest case, {size} {_told_stalls(case)}{before}: {inputs}.  {problem}{early}"


def _told_stalls(case: Case) -> str:
    """By cycle whether a result is taken, and by free cycle whether a beat is offered; from the reset on."""
    offers, takes = map(_told_decisions, (case.offers, case.takes))
    stalls = f"(beats offered {offers}, results taken {takes})" if case.stalls else "without stalls"
    return f"{stalls}, settings written after the first beat of the frame before" if case.early else stalls


def _told_decisions(decisions: Sequence[bool]) -> str:
    """The first of them; behind the last it is always 1."""
    told = "".join("01"[one] for one in (*decisions, True))
    return f"{told[:MOST_CYCLES]}.."


def _told_frame(frame: Frame) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in frame.settings.items())
    words = {port: " | ".join(" ".join(map(str, row)) for row in rows) for port, rows in frame.operands.items()}
    return f"{settings}: {', '.join(f'{port} {numbers}' for port, numbers in words.items())}"
