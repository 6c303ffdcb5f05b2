"""A failing case as a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rtl_models.benches.driving.frame import UnitFrame, as_number
from rtl_models.benches.driving.testbench import Wrong
from rtl_models.unit_values import read_bytes
from rtl_models.units import Unit
from sim.view.sentences import counted

if TYPE_CHECKING:
    from rtl_models.benches.driving.unit_case import Case

MOST_CYCLES: Final = 64
"""Whose decisions are told."""


def told(unit: Unit, case: Case, problem: Wrong, stopped: bool) -> str:
    """What a unit is sent, what goes wrong, and whether the search for smaller cases was `stopped` before its end."""
    beats = sum(frame.beats for frame in case.frames)
    size = "one beat" if beats == 1 else f"{counted(len(case.frames), 'frame')}, {beats} beats"
    inputs = (
        "; then ".join(_told_frame(unit, frame) for frame in case.frames) if beats <= 8 else "too long to be told here"
    )
    early = ". The search was stopped at its bound: there may be a smaller case" if stopped else ""
    # by free cycle whether a beat is offered, by cycle whether a result is taken; behind the last it is always 1
    digits = ("".join("01"[one] for one in (*decisions, True)) for decisions in (case.offers, case.takes))
    offers, takes = (f"{told[:MOST_CYCLES]}.." for told in digits)
    stalls = f"(beats offered {offers}, results taken {takes})" if case.stalls else "without stalls"
    stalls += ", settings written after the first beat of the frame before" if case.early else ""
    before = f" after a reset in cycle {case.lost.cycles} of {_told_frame(unit, case.lost.frame)}" if case.lost else ""
    return f"smallest case, {size} {stalls}{before}: {inputs}: {problem}{early}"


def _told_frame(unit: Unit, frame: UnitFrame) -> str:
    """Settings and operands; bounds and other bytes are the numbers that the setting `signed` says."""
    own = {name: value for name, value in frame.settings.items() if name not in ("minimum", "maximum")}
    bounds = {name: int(read_bytes(frame.settings[name], frame.settings)) for name in frame.settings if name not in own}
    settings = ", ".join(f"{name} {value}" for name, value in {**frame.settings, **bounds}.items())
    ports = {port.name: port for port in unit.operands}
    words = {
        port: " | ".join(" ".join(str(as_number(ports[port], int(n), frame.settings)) for n in row) for row in rows)
        for port, rows in frame.operands.items()
    }
    return f"{settings}: {', '.join(f'{port} {numbers}' for port, numbers in words.items())}"
