"""Whether a streaming module gives what is due, for all data, under all schedules; and what shows that it does not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from isa.evaluate.exact import Evaluation
from isa.lane import S8, U8, Int, Read
from rtl_models.formal.claims import Signals
from rtl_models.formal.equations.replay import Replay, placed
from rtl_models.formal.equations.smt2 import Equations, parsed
from rtl_models.formal.equations.unrolling import WireBits
from rtl_models.formal.schedules.cuts import answered, drawn_number
from rtl_models.formal.schedules.exploration import (
    RESET_EDGES,
    BrokenRule,
    Explored,
    ScheduleStep,
    UnfollowedStream,
    explored,
)
from rtl_models.formal.schedules.module import SymbolicModule
from rtl_models.formal.schedules.named import read_cuts
from rtl_models.formal.schedules.question import Answered, Due, WordQuestion
from rtl_models.formal.schedules.symbols import Word, cut, symbol
from rtl_models.formal.theorem import NOT_ASKED
from rtl_models.formal.units.pipelines import OutputBits
from sim.prove.claim import Claim, ClaimInputs, Finding, Outcome, sides_of

Data = Mapping[int, Mapping[str, int]]
"""By beat the numbers on the ports."""


class StreamFinding(NamedTuple):
    """What is found of a module, how often of the false claim, and of a counter-example what shows it, line by line."""

    finding: Finding
    false_claim: Finding
    told: tuple[str, ...]


def proved_at_once(equations: str, claim: Claim, seconds: float, cut_points: Path) -> Finding | None:
    """As `proved`, for a combinational module; None for a claim that does not say what its outputs are."""
    started, of, sides = time.monotonic(), parsed(equations), sides_of(claim)
    named = read_cuts(cut_points, of.inputs)
    moment = SymbolicModule(of).moment((), {port: symbol((port, 0), bits) for port, bits in of.inputs.items()})
    meant = {cut: [moment.wire(cut.wire)] for cut in named}
    kinds = {name: kind for name, kind in claim.inputs.items() if isinstance(kind, Int) and name in of.inputs}
    for name, left in sides.left.items():
        if not isinstance(left, Read):
            return None
        due = Due(sides.right[name], sides.given, kinds)
        answer = answered(moment.wire(left.place.file), due, of.inputs, seconds, meant)
        if answer.outcome != "proved":
            reason = answer.reason or "it is wrong if what is cut may be anything: the cut points do not suffice"
            return Finding("unknown", time.monotonic() - started, reason=f"{name}: {reason}")
    return Finding("proved", time.monotonic() - started)


@dataclass(frozen=True)
class _Seen:
    """Some bits of a result, a word that is seen there, and the steps after which it is."""

    bits: OutputBits
    word: Word
    steps: tuple[ScheduleStep, ...]


def proved(
    equations: str, results: Sequence[OutputBits], seconds: float, cut_points: Path | None = None
) -> StreamFinding:
    """Follow the module, then ask of every word that it shows; each question may take so many seconds.

    `cut_points` is a file of wires that a user names.  The false claim is that the numbers are one higher.  Raises
    MalformedCuts, NoSuchSignal, UnreadableEquations, SolverMissing.
    """
    started, of = time.monotonic(), parsed(equations)
    ports = list(dict.fromkeys(bits.port for bits in results))
    named = read_cuts(cut_points, of.inputs) if cut_points else []
    try:
        found = explored(SymbolicModule(of), ports, [cut.wire for cut in named])
    except UnfollowedStream as reason:
        return _unknown(str(reason))
    if found.broken is not None:
        return _broken(found.broken, time.monotonic() - started)
    seen = list(_seen(found, results))
    if not seen:
        return _unknown("no schedule makes it show a result")
    meant = {cut: list(found.wires[cut.wire]) for cut in named}
    for one in seen:
        answer = answered(one.word, _due(one.bits, 0), of.inputs, seconds, meant)
        if answer.outcome == "counter-example":
            return _refuted(of, one, answer, time.monotonic() - started, found.mixed)
        if answer.outcome == "unknown":
            return _unknown(f"{one.bits.port} from bit {one.bits.lsb}: {answer.reason}")
    if found.unfinished:
        return _unknown(found.unfinished)
    between = time.monotonic()
    false = [_of_false_claim(one, of, seconds) for one in seen]
    outcome: Outcome = "counter-example" if all(outcome == "counter-example" for outcome in false) else "unknown"
    taken = time.monotonic() - between
    return StreamFinding(Finding("proved", between - started), Finding(outcome, taken), (_extent(found),))


def _of_false_claim(one: _Seen, of: Equations, seconds: float) -> str:
    return WordQuestion(one.word, _due(one.bits, 1), of.inputs, time.monotonic() + seconds).answer().outcome


def _extent(found: Explored) -> str:
    words = sum(map(len, found.results.values()))
    return f"{found.states} states, {words} different words on its results"


def _seen(found: Explored, results: Sequence[OutputBits]) -> Iterator[_Seen]:
    for bits in results:
        words: dict[Word, tuple[ScheduleStep, ...]] = {}
        for word, steps in found.results[bits.port].items():
            words.setdefault(cut(word, bits.lsb, bits.kind.bits), steps)
        yield from (_Seen(bits, word, steps) for word, steps in words.items())


def _due(bits: OutputBits, error: int) -> Due:
    read = Signals()
    return Due(bits.kind.wrap(bits.meaning(read) + error), bits.given(read), read.kinds)


def _unknown(reason: str) -> StreamFinding:
    return StreamFinding(Finding("unknown", 0, reason=reason), NOT_ASKED, ())


def _broken(broken: BrokenRule, seconds: float) -> StreamFinding:
    return StreamFinding(
        Finding("counter-example", seconds, reason=broken.rule), NOT_ASKED, (broken.rule, *_schedule(broken.steps))
    )


def _schedule(steps: Sequence[ScheduleStep]) -> Iterator[str]:
    yield f"after {RESET_EDGES} edges of reset, cycle by cycle:"
    yield f"  valid_i {''.join(str(step.valid) for step in steps)}"
    yield f"  ready_i {''.join(str(step.ready) for step in steps)}"


_PLAYS: Final = 64
"""Of a schedule, with other data each time: where bubbles decide, the data that the solver says of beats do not."""


def _refuted(of: Equations, one: _Seen, answer: Answered, seconds: float, mixed: str) -> StreamFinding:
    """A counter-example, if the equations evaluated as numbers come to it too; `mixed` says where beats meet others."""
    due, where = _due(one.bits, 0), f"{one.bits.port} from bit {one.bits.lsb}"
    for seed in range(_PLAYS):
        played = _Played(of, one.steps, {} if seed % 2 else answer.data, seed)
        signals = {name: played.signal(name, kind.wrapped) for name, kind in due.kinds.items()}
        expected = Evaluation(ClaimInputs(signals)).value(due.lane)
        got = one.bits.kind.wrapped(played.result(one.bits))
        if got != expected and Evaluation(ClaimInputs(signals)).value(due.given):
            byte = S8 if signals.get("signed_i") else U8
            data = (
                f"{name} = {byte.wrapped(value) if due.kinds[name] == U8 else value}" for name, value in signals.items()
            )
            given, meant = (byte.wrapped(n) if one.bits.kind == U8 else n for n in (got, expected))
            told = (
                f"{where} is {given} for beat {played.beat}, the first being beat 0; expected {meant}",
                f"its data: {', '.join(data)}",
                *_schedule(one.steps),
                *([mixed] if mixed else []),
            )
            return StreamFinding(Finding("counter-example", seconds, signals, smallest=False), NOT_ASKED, told)
    return _unknown(mixed or f"{where}: wrong only from a state that was not found to be reached from a reset")


class _Played:
    """A schedule, evaluated as numbers; `beat` is the number of the one whose turn it is in the last step."""

    def __init__(self, equations: Equations, steps: Sequence[ScheduleStep], data: Data, seed: int) -> None:
        self._seed = seed
        self._equations, self._last = equations, RESET_EDGES + len(steps) - 1
        self._data: dict[int, dict[str, int]] = {}
        self.beat = self._run(steps, {})[1]
        self._data = {}
        self._replay, _ = self._run(steps, {self.beat + later: numbers for later, numbers in data.items()})

    def signal(self, name: str, wrapped: Callable[[int], int]) -> int:
        """What is on a signal with the beat whose turn it is."""
        signal = WireBits.named(name)
        return wrapped(self._data[self.beat][signal.wire] >> signal.lsb)

    def result(self, bits: OutputBits) -> int:
        """Some bits of a port in the last step."""
        return self._replay.value(WireBits(bits.port, bits.lsb, bits.kind.bits, self._last))

    def _run(self, steps: Sequence[ScheduleStep], data: Data) -> tuple[Replay, int]:
        """With these data of beats, others drawn; and how many were delivered before the last step."""
        rng, given, accepted, delivered = Random(self._seed), dict[int, int](), 0, 0
        replay = Replay(self._equations, given)
        for edge in range(RESET_EDGES):
            given[edge] = self._inputs({"rst_ni": 0})
        for edge, step in enumerate(steps, RESET_EDGES):
            if accepted not in self._data:
                self._data[accepted] = self._drawn(rng) | dict(data.get(accepted, {}))
            handshake = {"rst_ni": 1, "valid_i": step.valid, "ready_i": step.ready}
            given[edge] = self._inputs((self._data[accepted] if step.valid else self._drawn(rng)) | handshake)
            accepted += step.valid and replay.value(WireBits("ready_o", edge=edge))
            if edge < self._last:
                delivered += step.ready and replay.value(WireBits("valid_o", edge=edge))
        return replay, delivered

    def _drawn(self, rng: Random) -> dict[str, int]:
        return {port: drawn_number(rng, bits) for port, bits in self._equations.inputs.items()}

    def _inputs(self, numbers: Mapping[str, int]) -> int:
        state = 0
        for port, value in numbers.items():
            state = placed(state, self._equations.bits_of(self._equations.wire(port)) or [], value)
        return state
