"""The scenarios of every streaming unit, behind its configuration registers.

`rtl_models.unit_run` says in the environment which unit; its stimulus and its coverpoints are in `<unit>_bench`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import islice, repeat
from pathlib import Path
from typing import Any, Final

import cocotb

from rtl_models.benches.coverage.stimulus import seeded
from rtl_models.benches.coverage.unit import UnitCoverage
from rtl_models.benches.coverage.unit_stimulus import wrapped
from rtl_models.benches.demand import demand, demand_met
from rtl_models.benches.driving.frame import UNKNOWN, UnitFrame, numbers_of
from rtl_models.benches.driving.illegal_writes import Illegal, illegal_writes
from rtl_models.benches.driving.stream import Different, Stream, StreamDecisions
from rtl_models.benches.driving.testbench import Testbench, Wrong
from rtl_models.benches.driving.traffic import STALLS, Decisions, Noted
from rtl_models.benches.driving.unit_case import Case, Lost, testbench
from rtl_models.benches.driving.unit_settings import BENCH, BUILT_IN, CHANNELS, LANES, PROFILE, STRICT
from rtl_models.benches.driving.written import coverpoints_of_writes
from rtl_models.register_map import STATUS, TABLES
from rtl_models.tools.protocol import COVERPOINTS, FAILURE, REPORT, SEEN

LONG_BEATS: Final = 4_000
FEW: Final = 40
"""Frames where coverpoints are not what the scenario is for."""
REFUSED: Final = 100
"""Cycles in which no beat is accepted until a unit counts as full."""
LATENCY: Final = BENCH.unit.latency(PROFILE)
COVERAGE: Final = UnitCoverage(BENCH.coverpoints, LANES, tuple(STALLS))
RATES: Final[dict[str, float]] = {}
COMPARED: Final = {"lanes_compared": 0, "beats": 0, "frames": 0}


class StreamScenario:
    """A stream under a pattern of stalls, noted so that a failure can be done again."""

    def __init__(
        self,
        dut: Any,
        pattern: str,
        early: bool = False,
        lost: Lost | None = None,
        takes: Callable[[Testbench], Decisions] | None = None,
    ) -> None:
        """`takes`: results are not taken as the pattern has it, but by what is seen of the unit."""
        self.pattern, self._early, self._lost, rng = pattern, early, lost, seeded()
        stalls, self.bench = STALLS[pattern], testbench(dut)
        self._offers = Noted(stalls.offers(rng), [])
        self._takes = Noted(takes(self.bench) if takes else stalls.takes(rng), [])
        self.stream = self._fresh()

    def _fresh(self) -> Stream:
        return Stream(self.bench, BENCH.unit, LANES, StreamDecisions(self._offers, self._takes), CHANNELS)

    async def run(self, frames: Iterable[UnitFrame]) -> None:
        """Send the frames from a reset on, compare all results, and count what was covered."""
        async with self:
            await self.stream.send_all(list(frames), self._early)

    async def __aenter__(self) -> Stream:
        """Reset; what is then sent is compared at the end.  What is lost to the reset comes before it."""
        if self._lost is not None:
            await self.bench.reset()
            try:
                await self._lost.send(self._fresh())
            except Wrong:
                self._note((self._lost.frame,), None)
                raise
        await self.bench.reset()
        return self.stream

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                await self.stream.finish()
                for frame in self.stream.frames:
                    COVERAGE.look(self.pattern, frame)
                for coverpoint, times in coverpoints_of_writes(BENCH.unit, self.bench.written_with_a_beat).items():
                    COVERAGE.note(coverpoint, times)
                COMPARED["lanes_compared"] += LANES * len(self.bench.monitor.results)
                COMPARED["beats"] += len(self.bench.monitor.results)
                COMPARED["frames"] += len(self.stream.frames)
        except Wrong:
            self._note(self.stream.frames, self._lost)
            raise
        if kind is not None and issubclass(kind, Wrong):
            self._note(self.stream.frames, self._lost)

    def _note(self, frames: Iterable[UnitFrame], lost: Lost | None) -> None:
        """Leave the first failure of the run to be shrunk."""
        if not Path(FAILURE).exists():
            decisions = tuple(self._offers.noted), tuple(self._takes.noted)
            case = Case(tuple(frames), *decisions, self._early, lost)
            Path(FAILURE).write_text(json.dumps(case.as_json()))


def some_frames(count: int) -> list[UnitFrame]:
    """So many frames of the unit's own stimulus, beginning at any of a round."""
    rng = seeded()
    first = rng.randrange(BENCH.round)
    return list(islice(BENCH.frames(rng, LANES), first, first + count))


@cocotb.test()
async def no_stalls(dut: Any) -> None:
    """Without stalls every cycle takes a beat and gives a result, each the latency of the package after its beat.

    By the rules of AXI-Stream both are free, and only measured.
    """
    scenario = StreamScenario(dut, "never")
    frame = BENCH.long_frame(seeded(), LANES, LONG_BEATS)
    try:
        await scenario.run([frame])
    except Different:
        _note_seen(frame, scenario.bench)
        raise
    accepted, taken = scenario.bench.accepted, scenario.bench.monitor.cycles
    latencies = {last - first for first, last in zip(accepted, taken, strict=True)}
    RATES["latency"], RATES["beats_per_cycle"] = max(latencies), len(taken) / (taken[-1] - taken[0] + 1)
    if STRICT:
        demand(latencies == {LATENCY}, f"the latency is {sorted(latencies)} cycles, the package says {LATENCY}")
        demand(RATES["beats_per_cycle"] >= 0.999, f"{RATES['beats_per_cycle']:.4f} beats a cycle, 0.999 are due")


def _note_seen(frame: UnitFrame, bench: Testbench) -> None:
    """Leave what came of accumulators, if all came: some convention may give it."""
    if BENCH.unit.name == "quantize_down":  # whose settings are those of the conventions
        came = numbers_of(BENCH.unit, bench.monitor.results, LANES)["result_o"]
        if came.shape == frame.operands["accumulator_i"].shape and (came != UNKNOWN).all():
            sums = wrapped(frame.operands["accumulator_i"] + frame.operands["bias_i"])
            seen = {"settings": dict(frame.settings), "accumulators": sums.tolist(), "results": came.tolist()}
            Path(SEEN).write_text(json.dumps(seen))


@cocotb.test()
@cocotb.parametrize(pattern=list(STALLS))
async def frames(dut: Any, pattern: str) -> None:
    """Frames of many settings, which change while older beats are inside."""
    scenario = StreamScenario(dut, pattern)
    await scenario.run(some_frames(BENCH.round))
    COVERAGE.note("settings that change while an older beat is inside", scenario.stream.most_inside_at_change > 0)
    COVERAGE.note("a full pipeline", scenario.stream.most_inside >= LATENCY if STRICT else scenario.bench.refused > 0)


@cocotb.test()
@cocotb.parametrize(pattern=("sometimes", "bursts"))
async def one_beat_frames(dut: Any, pattern: str) -> None:
    """Every beat with settings of its own."""
    await StreamScenario(dut, pattern).run(one_beat(frame) for frame in some_frames(FEW))


def one_beat(frame: UnitFrame) -> UnitFrame:
    """The frame with one beat, where that is one."""
    return BENCH.fitted(frame.cut(0, 1), LANES) or frame


if BENCH.samples_settings:

    @cocotb.test()
    async def settings_of_the_next_frame_come_early(dut: Any) -> None:
        """Settings that are written after the first beat of a frame are those of the next."""
        await StreamScenario(dut, "sometimes", early=True).run(some_frames(FEW))


@cocotb.test()
async def rare_frames(dut: Any) -> None:
    """Numbers and shapes that hardly any other frame has."""
    await StreamScenario(dut, "sometimes", early=BENCH.samples_settings).run(BENCH.rare_frames(seeded(), LANES))


@cocotb.test()
@cocotb.parametrize(pattern=("sometimes", "bursts", "long_stall"))
async def reset_inside(dut: Any, pattern: str) -> None:
    """A reset at any cycle of a frame loses all that is inside, and the next frame is good."""
    rng = seeded()
    for frame, good in zip(some_frames(FEW), some_frames(FEW), strict=True):
        lost = Lost(frame, rng.randrange(3 * int(RATES.get("latency", LATENCY))))
        await StreamScenario(dut, pattern, lost=lost).run([BENCH.fitted(good.cut(0, 3), LANES) or good])


@cocotb.test()
async def illegal_settings(dut: Any) -> None:
    """A write that is refused sets its sticky error and nothing else: the beats inside and those after it are good."""
    scenario, frames = StreamScenario(dut, "sometimes"), some_frames(FEW)
    async with scenario as stream:
        for number, illegal in enumerate(illegal_writes(CHANNELS)):
            whole = frames[number % len(frames)]
            frame = whole if illegal.address >= TABLES else one_beat(whole)  # tables show in the results alone
            await stream.send(frame)
            await stream.begin(frame)
            COVERAGE.note("a refused write while a beat is inside", scenario.bench.beats_inside > 0)
            await refused(stream, illegal)
            await stream.empty()


async def refused(stream: Stream, illegal: Illegal) -> None:
    """The write sets its bit of STATUS, which stays until a 1 is written to it, and changes no register."""
    bench, place = stream.bench, illegal.address & ~3
    before = await bench.read(place)
    await stream.write(illegal.address, illegal.data)
    demand((await bench.read(STATUS), bench.error) == (illegal.cause, True), f"{illegal} is not noted in STATUS")
    demand(await bench.read(place) == before, f"{illegal} is refused and changes the register")
    await stream.cycle()
    await stream.write(STATUS, ~illegal.cause & 0b111)
    demand(await bench.read(STATUS) == illegal.cause, f"the error of {illegal} goes without being cleared")
    await stream.write(STATUS, illegal.cause)
    demand((await bench.read(STATUS), bench.error) == (0, False), f"the error of {illegal} stays when cleared")


if not STRICT:

    @cocotb.test()
    async def valid_without_ready(dut: Any) -> None:
        """A receiver that is ready only when it sees a valid result gets them all."""
        await StreamScenario(dut, "never", takes=lambda bench: iter(lambda: bench.valid, None)).run(some_frames(FEW))

    @cocotb.test()
    async def filled_up(dut: Any) -> None:
        """A receiver that takes nothing until no beat was accepted for a while, and then all."""
        scenario = StreamScenario(dut, "never", takes=_late)
        await scenario.run([BENCH.long_frame(seeded(), LANES, LONG_BEATS)])
        COVERAGE.note("a full pipeline", scenario.bench.refused > 0)


def _late(bench: Testbench) -> Decisions:
    while bench.refused < REFUSED and not (bench.accepted and not bench.driver.waiting):
        yield False
    yield from repeat(True)


@cocotb.test(stage=1)
async def functional_coverage(dut: Any) -> None:
    """Every coverpoint was met under every pattern of stalls; not asked for where something already failed.

    Nor with numbers that a module has built in, of which hardly any coverpoint is met: they are counted and told.
    """
    demand_met([] if Path(FAILURE).exists() or BUILT_IN else COVERAGE.unmet())


@cocotb.test(stage=2)
async def report(dut: Any) -> None:
    """Write what was compared; nothing at all is a failure, but where what came was found to be wrong."""
    Path(REPORT).write_text(json.dumps(COMPARED | ({"latency": LATENCY} if STRICT else {}) | RATES))
    Path(COVERPOINTS).write_text(json.dumps(COVERAGE.hits()))
    demand(bool(COMPARED["beats"]) or Path(FAILURE).exists(), "nothing was compared")
