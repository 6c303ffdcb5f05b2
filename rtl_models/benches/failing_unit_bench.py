"""Frames that fail, made small in the simulator and shown alone for a waveform.

A beat that fails alone is kept, else the shortest run of frames found; then their numbers are shrunk.  Hypothesis
chooses what to try, in a thread (cocotb's `bridge`) that comes back to the simulator for every trial (`resume`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import cocotb
import numpy as np
from cocotb.task import bridge, resume

from rtl_models.benches.frame import Frame
from rtl_models.benches.protocol import FAILURE, SMALLEST
from rtl_models.benches.simpler import simpler
from rtl_models.benches.stream import Different
from rtl_models.benches.testbench import Testbench, Wrong
from rtl_models.benches.unit_case import Case, case_of_json, testbench
from rtl_models.benches.unit_settings import BENCH, LANES
from rtl_models.register_map import writes
from sim.check.shrink_hypothesis import smallest_indices, smallest_window
from sim.golden.fixed_point import Int64Array

Problem = Callable[[Case], Wrong | None]
MOST_NUMBERS: Final = 250
"""Of a case whose numbers are shrunk; for more of them Hypothesis would take minutes."""
_PERIODS: Final = 400


@cocotb.test()
async def shrink(dut: Any) -> None:
    """Write the smallest case found."""
    case, bench = case_of_json(json.loads(Path(FAILURE).read_text())), testbench(dut)
    assert await case.problem(bench), "the frames do not fail by themselves"
    smallest = await bridge(_smallest)(case, bench)
    problem = await smallest.problem(bench)
    assert problem, "the smallest case fails only among others"
    Path(SMALLEST).write_text(json.dumps(smallest.as_json() | {"told": told(smallest, problem)}))


@cocotb.test()
async def show(dut: Any) -> None:
    """The smallest case alone, after a reset."""
    assert await case_of_json(json.loads(Path(SMALLEST).read_text())).problem(testbench(dut))


def told(case: Case, problem: Wrong) -> str:
    """The case as a sentence."""
    beats = sum(frame.beats for frame in case.frames)
    size = "one beat" if beats == 1 else f"{len(case.frames)} frame(s), {beats} beats"
    inputs = "; then ".join(map(_told_frame, case.frames)) if beats <= 8 else "too long to be told here"
    return f"smallest case, {size} {_told_stalls(case)}: {inputs}.  {problem}"


def _told_stalls(case: Case) -> str:
    """By cycle whether a result is taken, and by free cycle whether a beat is offered; from the reset on."""
    told = ["".join("01"[one] for one in decisions) for decisions in (case.offers, case.takes)]
    stalls = f"(beats offered {told[0]}1.., results taken {told[1]}1..)" if case.stalls else "without stalls"
    return f"{stalls}, settings written after the first beat of the frame before" if case.early else stalls


def _told_frame(frame: Frame) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in frame.settings.items())
    words = {port: " | ".join(" ".join(map(str, row)) for row in rows) for port, rows in frame.operands.items()}
    return f"{settings}: {', '.join(f'{port} {numbers}' for port, numbers in words.items())}"


def _smallest(case: Case, bench: Testbench) -> Case:
    """Runs in a thread beside the simulation."""
    problem: Problem = resume(partial(Case.problem, bench=bench))
    case = next((calmer for calmer in _calmer(case) if problem(calmer)), case)
    alone = _failing_alone(case, problem)
    case = alone or _with_fewer_stalls(_shortest(case, problem), problem)
    return _simplest(case, problem) if sum(map(len, map(_numbers, case.frames))) <= MOST_NUMBERS else case


def _calmer(case: Case) -> Iterator[Case]:
    """The frames without stalls, and with regular ones, which meet a part of the frames as they met all."""
    yield replace(case, offers=(), takes=())
    seldom = ((False, True), (False,) * 20 + (True,) * 5)
    yield from (replace(case, offers=(), takes=takes * _PERIODS) for takes in seldom)
    yield replace(case, offers=(False, True) * _PERIODS, takes=())


def _with_fewer_stalls(case: Case, problem: Problem) -> Case:
    """The decisions cut off where the rest makes no difference."""
    lengths = [1 << k for k in range(max(map(len, (case.offers, case.takes))).bit_length())]
    shorter = (replace(case, offers=case.offers[:length], takes=case.takes[:length]) for length in (0, *lengths))
    return next((some for some in shorter if problem(some)), case)


def _failing_alone(case: Case, problem: Problem) -> Case | None:
    """The beat that differs, or its frame, if it fails without the others."""
    wrong = problem(case)
    if not isinstance(wrong, Different):
        return None
    frame = case.frames[wrong.frame]
    single = BENCH.fitted(frame.cut(wrong.difference.beat, 1), LANES)
    candidates = [Case((some,)) for some in (single, frame) if some is not None]
    return next((candidate for candidate in candidates if problem(candidate)), None)


def _shortest(case: Case, problem: Problem) -> Case:
    """Some successive frames, cut to as few beats as fail."""
    case = _without_what_follows(case, problem)

    def window(bounds: tuple[int, int]) -> Case:
        return replace(case, frames=case.frames[bounds[1] : bounds[1] + bounds[0]])

    found = smallest_window(len(case.frames), lambda bounds: bool(problem(window(bounds))))
    frames = window(found).frames if found else case.frames
    counts = [range(1, frame.beats + 1) for frame in frames]

    def cut(at: Sequence[int]) -> Case | None:
        return _whole(case, [frame.cut(0, count[k]) for frame, count, k in zip(frames, counts, at, strict=True)])

    indices = smallest_indices([len(count) for count in counts], lambda at: _fails(cut(at), problem))
    return (cut(indices) if indices else None) or replace(case, frames=frames)


def _without_what_follows(case: Case, problem: Problem) -> Case:
    """The frames up to the one after the first that differs, which may push on its last beats."""
    wrong = problem(case)
    ended = replace(case, frames=case.frames[: wrong.frame + 2]) if isinstance(wrong, Different) else case
    return ended if problem(ended) else case


def _simplest(case: Case, problem: Problem) -> Case:
    """Simpler numbers in the frames, until nothing simpler fails."""
    numbers, before = [number for frame in case.frames for number in _numbers(frame)], None
    while numbers != before:
        before, pools = numbers, [simpler(number) for number in numbers]

        def at(indices: Sequence[int], pools: Sequence[Sequence[int]] = pools) -> Case | None:
            return _with(case, [pool[index] for pool, index in zip(pools, indices, strict=True)])

        found = smallest_indices(list(map(len, pools)), lambda indices: _fails(at(indices), problem))
        numbers = [pool[index] for pool, index in zip(pools, found, strict=True)] if found else numbers
    return _with(case, numbers) or case


def _fails(case: Case | None, problem: Problem) -> bool:
    return case is not None and problem(case) is not None


def _whole(case: Case, frames: Sequence[Frame]) -> Case | None:
    """The case with other frames, if all are whole and their settings legal."""
    fitted = [whole for frame in frames if (whole := BENCH.fitted(frame, LANES)) and _is_legal(whole)]
    return replace(case, frames=tuple(fitted)) if len(fitted) == len(frames) else None


def _is_legal(frame: Frame) -> bool:
    try:
        return bool(writes(frame.settings))
    except ValueError:
        return False


def _numbers(frame: Frame) -> list[int]:
    return [*frame.settings.values(), *(int(number) for rows in frame.operands.values() for number in rows.flat)]


def _with(case: Case, numbers: Sequence[int]) -> Case | None:
    """The case with these numbers in the place of its own, if it can be."""
    ends = np.cumsum([len(_numbers(frame)) for frame in case.frames])[:-1]
    parts = zip(case.frames, np.split(np.array(numbers, np.int64), ends), strict=True)
    return _whole(case, [_frame_with(frame, part) for frame, part in parts])


def _frame_with(frame: Frame, numbers: Int64Array) -> Frame:
    settings = dict(zip(frame.settings, map(int, numbers), strict=False))
    ends = np.cumsum([len(settings), *(rows.size for rows in frame.operands.values())])[:-1]
    parts = zip(frame.operands.items(), np.split(numbers, ends)[1:], strict=True)
    return Frame(settings, {port: part.reshape(rows.shape) for (port, rows), part in parts})
