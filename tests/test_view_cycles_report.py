"""All views of what the pipelines of the cores make of one loop."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from rich.console import Console

from isa.rows import TABLE
from sim.timing.analysis.report import CyclesReport
from sim.timing.analysis.reporting import report
from sim.timing.model.core_file import load_core
from sim.timing.model.pipeline import schedule
from sim.timing.model.schedule import Schedule
from sim.timing.model.stream import Executed
from sim.view.cycles import details
from sim.view.cycles.html import Section, render_page
from sim.view.cycles.html_report import section_of
from sim.view.cycles.kanata import render_kanata
from sim.view.cycles.timeline import show_timeline
from sim.view.cycles.tracks import tracks
from sim.view.cycles.window import steady_window, window
from support.kanata_reader import read_kanata

CORES = ("cortex-a55", "cortex-a72", "neoverse-n1")
LOOP = (
    "ldr q0, [x0], #16",
    "ld4 {v4.16b, v5.16b, v6.16b, v7.16b}, [x1], #64",
    "smull v1.8h, v0.8b, v4.8b",
    "smlal2 v1.8h, v0.16b, v5.16b",
    "sqrshrun v2.8b, v1.8h, #7",
    "str d2, [x2], #8",
    "subs x3, x3, #16",
    "b.ne #0x1000",
)
ITERATIONS = 12


@cache
def _stream() -> tuple[Executed, ...]:
    body = [TABLE.instruction(*text.split(" ", 1)) for text in LOOP]
    end = 0x1000 + 4 * len(body)
    accesses = {0: (((0x2000, 16),), ()), 1: (((0x3000, 64),), ()), 5: ((), ((0x4000, 8),))}
    stream = []
    for iteration in range(ITERATIONS):
        for place, instruction in enumerate(body):
            pc, loads_stores = 0x1000 + 4 * place, accesses.get(place, ((), ()))
            taken = pc + 4 == end and iteration + 1 < ITERATIONS
            stream.append(Executed(pc, instruction, *loads_stores, taken, 0x1000 if taken else pc + 4))
    return tuple(stream)


@cache
def _schedule(core: str) -> Schedule:
    return schedule(_stream(), load_core(core))


def _lines(pc: int) -> tuple[str, int]:
    """Two instructions a line."""
    return "gemm.c", 10 + (pc - 0x1000) // 8


def _report(core: str) -> CyclesReport:
    return report("gemm", _schedule(core), _lines, elements=8 * ITERATIONS)


def _section(core: str) -> Section:
    return section_of(_report(core), _schedule(core), lambda place: f"text of {place}")


@pytest.mark.parametrize("core", CORES)
def test_the_log_of_every_core_is_a_kanata_log_of_all_instructions(core: str) -> None:
    assert [one.retired for one in read_kanata(render_kanata(_schedule(core)))] == list(_schedule(core).retired)


@pytest.mark.parametrize("core", CORES)
def test_slices_of_no_track_overlap(core: str) -> None:
    for slices in tracks(_schedule(core)).values():
        assert all(before.end <= after.start for before, after in pairwise(slices))


@pytest.mark.parametrize("core", CORES)
def test_the_timeline_shows_every_instruction_of_its_window(core: str) -> None:
    text = io.StringIO()
    show_timeline(_schedule(core), Console(file=text, width=100), first=16, rows=20)

    numbers = [line.split("]")[0].strip(" [") for line in text.getvalue().splitlines() if "] " in line[:6]]
    assert numbers == [str(number) for number in range(16, 36)]


@pytest.mark.parametrize("core", CORES)
def test_the_steady_window_starts_with_an_iteration_in_the_middle(core: str) -> None:
    shown = steady_window(_schedule(core), rows=16)

    assert (_stream()[shown.start].pc, len(shown)) == (0x1000, 16)
    assert shown.start // len(LOOP) == ITERATIONS // 2


def test_without_a_loop_the_window_starts_with_the_stream() -> None:
    straight = schedule(_stream()[:5], load_core("neoverse-n1"))

    assert steady_window(straight) == range(5)


def test_a_window_behind_the_end_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="there is nothing to show of 4 instructions from number 96 on: there are 96"):
        window(_schedule("cortex-a55"), 96, 4)


@pytest.mark.parametrize("core", CORES)
def test_the_stalls_of_a_page_are_all_cycles(core: str) -> None:
    assert sum(row.cycles for row in _section(core).stalls) == _schedule(core).cycles


@pytest.mark.parametrize("core", CORES)
def test_the_pipes_of_a_page_are_those_that_work(core: str) -> None:
    busy = {pipe for uses in _schedule(core).pipes for pipe, start, end in uses if end > start}

    assert {row.name for row in _section(core).pipes} == busy


@pytest.mark.parametrize("core", CORES)
def test_the_listing_of_a_page_has_every_instruction_below_its_source_line(core: str) -> None:
    shown = [(line.source, line.text) for line in _section(core).listing]

    texts = [one.instruction.text for one in _stream()[: len(LOOP)]]
    lines = [f"text of gemm.c:{number}" for number in range(10, 14)]
    expected = [
        row
        for line, pair in zip(lines, zip(texts[::2], texts[1::2], strict=True), strict=True)
        for row in (line, *pair)
    ]
    assert shown == [(text in lines, text) for text in expected]


@pytest.mark.parametrize("core", CORES)
def test_the_cycles_of_a_source_line_are_those_of_its_instructions(core: str) -> None:
    listing = _section(core).listing

    of_lines = [line.cycles for line in listing if line.source]
    of_pairs = [a.cycles + b.cycles for a, b in zip(listing[1::3], listing[2::3], strict=True)]
    assert of_lines == of_pairs


@pytest.mark.parametrize("core", CORES)
def test_the_first_figures_of_a_page_are_those_of_the_report(core: str) -> None:
    figures, told = dict(_section(core).figures), _report(core)

    assert figures["cycles"] == f"{told.cycles:,}"
    assert float(figures["cycles per element"]) == pytest.approx(told.cycles / (8 * ITERATIONS), abs=0.005)


def test_a_page_of_all_cores_is_complete() -> None:
    text = render_page("gemm", "", [_section(core) for core in CORES])

    assert all(f"<h2>{load_core(core).title}</h2>" in text for core in CORES)
    assert text.count('<svg xmlns="http://www.w3.org/2000/svg" class="timeline"') == len(CORES)


@pytest.mark.parametrize(
    ("instructions", "listed"), [(details.LISTED + details.LEFT - 1, 44), (details.LISTED + details.LEFT, 40)]
)
def test_fewer_than_five_instructions_are_not_left_out(instructions: int, listed: int) -> None:
    row = replace(_report("neoverse-n1").instructions[0], cycles=1)

    assert len(details.costliest([(row,)] * instructions)) == listed
