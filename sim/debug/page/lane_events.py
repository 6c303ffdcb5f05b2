"""What was lost in the lanes of executed instructions, all executions of one instruction at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from isa.evaluate.batch import bind
from isa.instruction import Form, Instruction, Pattern
from isa.lane import Load as LoadNode
from isa.lane import Place, Write, constant, walk
from isa.semantics.elementwise import Writes
from sim.call.native.recorder import Array
from sim.debug.events import EVENTS, event_conditions
from sim.debug.page.window import Window
from sim.machine.registers import register_number


class LaneEvents(NamedTuple):
    """Of each of a window's code, its writes that can lose something; and of every execution of these, in order, a byte
    for each lane of these writes, with a bit for each of `EVENTS`.
    """

    writes: tuple[tuple[int, ...], ...]
    bits: Array


def lane_events(window: Window) -> LaneEvents:
    """What was lost in the lanes of a window."""
    writes = tuple(_losing(instruction.pattern) for _, instruction in window.code)
    lanes = [
        sum(len(instruction.writes[at].lanes) for at in losing)
        for (_, instruction), losing in zip(window.code, writes, strict=True)
    ]
    first = np.concatenate([[0], np.cumsum(np.array(lanes, np.int64)[window.path])])
    bits = np.zeros(first[-1], np.uint8)
    for number, (_, instruction) in enumerate(window.code):
        executions = np.flatnonzero(window.path == number)
        if not lanes[number] or not len(executions):
            continue
        frame = _Executions(window, instruction, executions)
        bind(Instruction(_observed(instruction.pattern), instruction.registers))(frame)
        count = lanes[number] * len(EVENTS)
        met = np.concatenate(frame.vectors[: -(-count // 16)], axis=1)[:, :count].reshape(
            -1, lanes[number], len(EVENTS)
        )
        found = (met << np.arange(len(EVENTS), dtype=np.uint8)).sum(axis=2, dtype=np.uint8)
        bits[first[executions][:, None] + np.arange(lanes[number])] = found
    return LaneEvents(writes, bits)


@cache
def _losing(pattern: Pattern) -> tuple[int, ...]:
    """The writes of registers, by number, of which a lane can lose something; of what loads none is looked at."""
    writes = pattern.open_writes()
    if any(isinstance(node, LoadNode) for write in writes for node in walk(write.lanes)):
        return ()
    found = []
    for at, write in enumerate(writes):
        if isinstance(write.place, Place) and write.place.file in ("v", "x", "sp"):
            is_vector = write.place.file == "v"
            if any(event_conditions(lane, is_vector) for lane in write.lanes):
                found.append(at)
    return tuple(found)


@cache
def _observed(pattern: Pattern) -> Pattern:
    """An instruction that writes to v0, v1, ... which events the lanes of another one meet, a byte each."""

    def body(*operands: object) -> Writes:
        writes, losing = pattern.form.body(*operands), _losing(pattern)
        conditions = []
        for write in (writes[at] for at in losing):
            is_vector = isinstance(write.place, Place) and write.place.file == "v"
            for lane in write.lanes:
                met = event_conditions(lane, is_vector)
                conditions += [met.get(name, constant(0)) for name in EVENTS]
        parts = [conditions[at : at + 16] for at in range(0, len(conditions), 16)]
        return tuple(Write(Place("v", number), 8, part) for number, part in enumerate(parts))

    form = Form(pattern.form.mnemonic, pattern.form.shape, body, pattern.form.features)
    return Pattern(form, pattern.text, pattern.operand_text, pattern.register_count)


class _Executions:
    """The executions of one instruction as a frame of `isa.evaluate.batch`, each a member."""

    def __init__(self, window: Window, instruction: Instruction, numbers: Array) -> None:
        self.members = len(numbers)
        nothing = np.zeros((self.members, 16), np.uint8)
        self.vectors: list[Array] = [nothing] * 32
        self.general: list[Array] = [nothing[:, :8].copy().view("u8")] * 32
        flags = [Place(name) for name in ("nzcv", "fpsr", "fpcr", "monitor", "tpidr")]
        self.flags: list[Array] = [
            window.before(place, numbers)[:, : np.dtype(kind).itemsize].copy().view(kind)
            for place, kind in zip(flags, ("u1", "u4", "u4", "u8", "u8"), strict=True)
        ]
        self.pc = np.full((self.members, 1), window.code[window.path[numbers[0]]][0], "u8")
        for place in instruction.places_read:
            if place.file in ("v", "x", "sp"):
                held = window.before(place, numbers)
                if place.file == "v":
                    self.vectors[register_number(place)] = held
                else:
                    self.general[register_number(place)] = held[:, :8].copy().view("u8")

    def load(self, addresses: Array, size: int) -> Array:
        raise AssertionError("of what loads no events are looked at")

    def writable(self, addresses: Array, size: int) -> Callable[[Array], None]:
        raise AssertionError("what observes stores nothing")
