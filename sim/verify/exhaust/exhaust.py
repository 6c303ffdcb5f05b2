"""Instructions on all values of their lanes, in several processes; what was compared is kept, so a run can go on."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from isa.decode import decode
from isa.encodings import plain_words, with_every_immediate
from isa.evaluate.c import NotInC
from isa.instruction import Form
from isa.table import UnknownInstruction
from sim.call.definitions import cannot_verify
from sim.machine.compiled.engine import semantics_digest
from sim.processes import spread
from sim.toolchain.kept import write_whole
from sim.verify.exhaust.loop import LaneResult, UnequalResults, ValueBench, bench_of
from sim.verify.exhaust.space import NotExhaustible, Space, space_of

SAMPLES: Final = 1000
"""Registers on which C is compared with the exact evaluator."""
SAVED_EVERY: Final = 5.0
"""Seconds."""


class LaneDisagreement(NamedTuple):
    """A lane of which the sides make different results; `lane` is None where only QC differs, which all lanes share."""

    between: str
    lane: int | None
    operands: dict[str, int]
    model: LaneResult
    emulator: LaneResult
    exact: LaneResult


@dataclass(frozen=True, kw_only=True)
class ExhaustedInstruction:
    """What became of an instruction: `compared` of its `values`, of them `kept` in runs before; what differs first."""

    text: str
    word: int
    operands: dict[str, int]
    values: int
    compared: int
    kept: int
    samples: int
    seed: int
    disagreement: LaneDisagreement | None = None


def words_of(form: Form, pattern: str | None = None) -> list[int]:
    """A word of the form for each immediate, or for that of a pattern's text, with different registers.

    Raises NotExhaustible, also for what the emulator lacks or is known to get wrong, and for what has no C.
    """
    if cannot_verify(form):
        raise NotExhaustible(f"the emulator lacks {form.name} or gets it wrong: there is nothing to compare it with")
    found: dict[str, int] = {}
    words = plain_words(form.name)
    for word in chain.from_iterable(map(with_every_immediate, words)) if "#" in form.name else words:
        with suppress(UnknownInstruction):
            instruction = decode(word.to_bytes(4, "little"))
            if instruction.form == form and len(set(instruction.registers)) == len(instruction.registers):
                found.setdefault(instruction.pattern.text, word)
    chosen = [word for text, word in found.items() if pattern in (None, text)]
    if not chosen:
        raise NotExhaustible(f"no word with different registers is known of {pattern or form.name}")
    for word in chosen:
        try:
            bench_of(word)
        except NotInC as error:
            raise NotExhaustible(f"{form.name} is not in C: {error}") from error
    return chosen


class Task(NamedTuple):
    """A chunk of the values of a word."""

    word: int
    chunk: int


class Attempt(NamedTuple):
    """What became of a chunk: the first difference, None where all agree; `crashed` where it ended its process."""

    task: Task
    difference: UnequalResults | None
    crashed: bool = False


class Exhaustion:
    """The run over all values of some words; what agreed is kept in files of the folder `cache`.

    `done` counts the values that were compared, in this run and, but for `anew`, in those before.
    """

    def __init__(self, words: Sequence[int], cache: Path, seed: int, anew: bool = False) -> None:
        self._spaces = {word: space_of(decode(word.to_bytes(4, "little"))) for word in words}
        self._files = {word: cache / f"exhausted-{_digest(space, word)}.json" for word, space in self._spaces.items()}
        self._done = {word: set[int]() for word in words}
        if not anew:
            self._done |= {word: _kept(self._files[word], len(space.chunks)) for word, space in self._spaces.items()}
        self._kept = {word: self._compared(word) for word in words}
        self._seed = seed
        self._found: LaneDisagreement | None = None
        self._wrong = 0

    @property
    def values(self) -> int:
        """All that are to be compared."""
        return sum(space.values for space in self._spaces.values())

    @property
    def done(self) -> int:
        return sum(map(self._compared, self._spaces))

    def run(self, jobs: int) -> Generator[int, None, None]:
        """Compare what is left, up to the first difference; yields `done` now and then.

        Raises OSError where results cannot be kept, and NotExhaustible where the emulator ends its process.
        """
        for word in self._spaces:
            if self._sampled(word):
                return
        tasks = [
            Task(word, number)
            for word, space in self._spaces.items()
            for number in range(len(space.chunks))
            if number not in self._done[word]
        ]
        saved = time.monotonic()
        try:
            for attempt in spread(_try, tasks, min(jobs, len(tasks)), partial(Attempt, difference=None, crashed=True)):
                word = attempt.task.word
                if attempt.crashed:
                    raise NotExhaustible(f"{self._spaces[word].instruction.text} ended the process that executed it")
                if attempt.difference is not None:
                    self._set_wrong(word, "model and emulator", attempt.difference)
                    return
                self._done[word].add(attempt.task.chunk)
                if time.monotonic() - saved > SAVED_EVERY:
                    self._save()
                    saved = time.monotonic()
                yield self.done
        finally:
            self._save()

    def results(self) -> list[ExhaustedInstruction]:
        """What was found out so far, of each word."""
        return [
            ExhaustedInstruction(
                text=space.instruction.text,
                word=word,
                operands={f"v{one.register}": one.bits for one in (space.inner, space.outer) if one},
                values=space.values,
                compared=self._compared(word),
                kept=self._kept[word],
                samples=SAMPLES,
                seed=self._seed,
                disagreement=self._found if word == self._wrong else None,
            )
            for word, space in self._spaces.items()
        ]

    def _compared(self, word: int) -> int:
        space = self._spaces[word]
        return len(self._done[word]) * space.values // len(space.chunks)

    def _sampled(self, word: int) -> bool:
        """Compare C with the exact evaluator on random registers; whether they differ somewhere."""
        bench, random = bench_of(word), Random(f"{self._seed} {word}")
        for _ in range(SAMPLES):
            outer, inner = random.getrandbits(128), random.getrandbits(128)
            if not bench.space.outer:
                outer = 0
            model, exact = bench.model(outer, inner), bench.exact(outer, inner)
            if model != exact:
                self._set_wrong(word, "C and the exact evaluator", UnequalResults(outer, inner, model, model, exact))
                return True
        return False

    def _set_wrong(self, word: int, between: str, found: UnequalResults) -> None:
        self._wrong, self._found = word, _disagreement(bench_of(word), between, found)

    def _save(self) -> None:
        for word, file in self._files.items():
            if self._done[word]:
                write_whole(file, json.dumps(ranges(self._done[word])).encode())


def _try(task: Task) -> Attempt:
    bench = bench_of(task.word)
    return Attempt(task, bench.compare(bench.space.chunks[task.chunk]))


def _disagreement(bench: ValueBench, between: str, found: UnequalResults) -> LaneDisagreement:
    """The first lane in which the results differ, with its operands."""
    space, other = bench.space, found.emulator if found.emulator != found.model else found.exact
    width, sides = space.write.bits, (found.model, found.emulator, found.exact)
    for at, lane in enumerate(space.lanes):
        if _bits(found.model.register ^ other.register, lane * width, width):
            operands = {}
            for operand, register in ((space.inner, found.inner), (space.outer, found.outer)):
                if operand is not None:
                    lsb = operand.lsbs[at % len(operand.lsbs)]
                    operands[f"v{operand.register}"] = _bits(register, lsb, operand.bits)
            lanes = [LaneResult(_bits(one.register, lane * width, width), one.saturates) for one in sides]
            return LaneDisagreement(between, lane, operands, *lanes)
    registers = ((space.inner, found.inner), (space.outer, found.outer))
    return LaneDisagreement(between, None, {f"v{one.register}": value for one, value in registers if one}, *sides)


def _bits(register: int, lsb: int, count: int) -> int:
    return register >> lsb & (1 << count) - 1


def _digest(space: Space, word: int) -> str:
    """Of all that a comparison depends on."""
    chunk = space.chunks[0]
    about = [word, chunk.rows, chunk.count, semantics_digest(), version("unicorn")]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def _kept(file: Path, count: int) -> set[int]:
    """Which of so many chunks were compared before; none where the file is not what this module writes."""
    with suppress(OSError, ValueError, TypeError):
        ranges = [(int(first), int(last)) for first, last in json.loads(file.read_bytes())]
        if all(0 <= first <= last < count for first, last in ranges):
            return {number for first, last in ranges for number in range(first, last + 1)}
    return set()


def ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers as ranges (first, last)."""
    ranges: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = ranges[-1][0], number
        else:
            ranges.append((number, number))
    return ranges
