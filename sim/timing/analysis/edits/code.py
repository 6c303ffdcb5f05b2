"""Code that is tried with a change: its steps, and who writes and reads what of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from isa.instruction import Instruction
from isa.lane import Place
from sim.timing.loops.loop import Loop
from sim.timing.model.stream import Executed


class CodeStep(NamedTuple):
    """An instruction, and by how many bytes each of its accesses moves from one iteration to the next, in a loop."""

    executed: Executed
    strides: tuple[int, ...]

    @property
    def text(self) -> str:
        """Its assembly text."""
        return self.executed.instruction.text


@dataclass(frozen=True)
class TriedCode:
    """The steps of a loop body, or of a straight line."""

    steps: tuple[CodeStep, ...]
    repeats: bool

    @property
    def timed(self) -> Loop | list[Executed]:
        """What a pipeline takes.  Raises ValueError where nothing is left of a loop."""
        executed = [step.executed for step in self.steps]
        return Loop(tuple(executed), tuple(step.strides for step in self.steps)) if self.repeats else executed

    def without(self, place: int) -> TriedCode:
        """The same without one instruction."""
        return replace(self, steps=(*self.steps[:place], *self.steps[place + 1 :]))

    def with_instruction(self, place: int, instruction: Instruction) -> TriedCode:
        """Another instruction there, with the same accesses."""
        step = self.steps[place]
        changed = step._replace(executed=step.executed._replace(instruction=instruction))
        return replace(self, steps=(*self.steps[:place], changed, *self.steps[place + 1 :]))


class CodeEdit(NamedTuple):
    """Changed code: what was done, in words, and what must hold, "" if results stay the same."""

    what: str
    condition: str
    code: TriedCode


def code_of(timed: Loop | Sequence[Executed]) -> TriedCode:
    """The steps of a loop or of a stream."""
    if isinstance(timed, Loop):
        return TriedCode(tuple(map(CodeStep, timed.body, timed.strides)), True)
    return TriedCode(tuple(CodeStep(one, ()) for one in timed), False)


def places_of(step: CodeStep) -> set[Place]:
    """The registers that an instruction reads or writes."""
    return {*step.executed.instruction.places_read, *step.executed.instruction.places_written}


def written_by(step: CodeStep) -> set[Place]:
    """The registers that an instruction writes."""
    return set(step.executed.instruction.places_written)


def writer_of(code: TriedCode, reader: int, place: Place) -> int | None:
    """The place of the last instruction before the reader that writes a register; of a loop, maybe that before."""
    order = [*reversed(range(reader)), *(reversed(range(len(code.steps))) if code.repeats else ())]
    return next((at for at in order if place in code.steps[at].executed.instruction.places_written), None)


def readers_of(code: TriedCode, writer: int) -> list[int]:
    """The places of what reads what is written there."""
    (made,) = code.steps[writer].executed.instruction.places_written
    return [at for at, step in enumerate(code.steps)
            if made in step.executed.instruction.places_read and writer_of(code, at, made) == writer]  # fmt: skip
