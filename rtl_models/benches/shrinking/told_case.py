"""A failing case as a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.driving.testbench import Wrong
from sim.view.sentences import counted

if TYPE_CHECKING:
    from rtl_models.benches.driving.unit_case import Case

MOST_CYCLES: Final = 64
"""Whose decisions are told."""


def told(case: Case, problem: Wrong, stopped: bool) -> str:
    """What is sent, what goes wrong, and whether the search for smaller cases was `stopped` before its end."""
    beats = sum(frame.beats for frame in case.frames)
    size = "one beat" if beats == 1 else f"{counted(len(case.frames), 'frame')}, {beats} beats"
    inputs = "; then ".join(map(_told_frame, case.frames)) if beats <= 8 else "too long to be told here"
    early = ".  The search was stopped at its bound: there may be a smaller case" if stopped else ""
    # by free cycle whether a beat is offered, by cycle whether a result is taken; behind the last it is always 1
    digits = ("".join("01"[one] for one in (*decisions, True)) for decisions in (case.offers, case.takes))
    offers, takes = (f"{told[:MOST_CYCLES]}.." for told in digits)
    stalls = f"(beats offered {offers}, results taken {takes})" if case.stalls else "without stalls"
    stalls += ", settings written after the first beat of the frame before" if case.early else ""
    before = f" after a reset in cycle {case.lost.cycles} of {_told_frame(case.lost.frame)}" if case.lost else ""
    return f"smallest case, {size} {stalls}{before}: {inputs}.  {problem}{early}"


def _told_frame(frame: UnitFrame) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in frame.settings.items())
    words = {port: " | ".join(" ".join(map(str, row)) for row in rows) for port, rows in frame.operands.items()}
    return f"{settings}: {', '.join(f'{port} {numbers}' for port, numbers in words.items())}"
