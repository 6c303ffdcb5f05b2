"""Exclusive loads and stores: machine and emulator in lockstep, and where the two differ within Arm's rules."""

from __future__ import annotations

import pytest

from isa.decode import decode
from sim import Emulator, Machine
from sim.call.lockstep import Lockstep
from support.engines import CODE, DATA, FAR, PAGE, fault_of, loaded

WORDS = {
    "ldxr x0, [x1]": 0xC85F7C20,
    "ldxr w0, [x1]": 0x885F7C20,
    "ldxrb w0, [x1]": 0x085F7C20,
    "ldaxp x4, x5, [x1]": 0xC87F9424,
    "ldxr x0, [x2]": 0xC85F7C40,
    "stxr w3, x4, [x1]": 0xC8037C24,
    "stlxr w3, w4, [x1]": 0x8803FC24,
    "stxrb w3, w4, [x1]": 0x08037C24,
    "stlxp w3, x6, x7, [x1]": 0xC8239C26,
    "stxr wzr, x4, [x1]": 0xC81F7C24,
    "clrex": 0xD5033F5F,
    "str x4, [x1]": 0xF9000024,
    "str x4, [x2]": 0xF9000044,
    "add x4, x0, #5": 0x91001404,
    "cbnz w3, #0xfffffffffffffff4": 0x35FFFFA3,
    "nop": 0xD503201F,
}
OLD = bytes(range(16))
LDXR, STXR = "ldxr x0, [x1]", "stxr w3, x4, [x1]"


@pytest.mark.parametrize("text", WORDS)
def test_the_words_here_are_what_their_texts_say(text: str) -> None:
    assert decode(WORDS[text].to_bytes(4, "little")).text == text


def prepared(engine: Machine | Emulator, *texts: str) -> int:
    """Load a program, and data that x1 points to, with more at x2; returns the program's end."""
    loaded(engine, b"".join(WORDS[text].to_bytes(4, "little") for text in texts))
    engine.memory.write(DATA, OLD)
    engine.x[2], engine.x[3], engine.x[4] = DATA + 64, 0x1234, 0xABCDEF0123456789
    engine.x[6], engine.x[7] = 6, 7
    return CODE + 4 * len(texts)


def in_lockstep(*texts: str) -> Machine:
    """The machine after the program, which emulator and machine agree on."""
    machine, emulator = Machine(), Emulator()
    prepared(emulator, *texts)
    end = prepared(machine, *texts)
    divergence = Lockstep(machine, emulator).run(end, 100)
    assert divergence is None, divergence
    return machine


PROGRAMS = [
    ((LDXR, STXR), 0),
    ((LDXR, "add x4, x0, #5", STXR, "cbnz w3, #0xfffffffffffffff4"), 0),
    ((LDXR, LDXR, STXR), 0),
    (("ldxr w0, [x1]", "stlxr w3, w4, [x1]"), 0),
    (("ldxrb w0, [x1]", "stxrb w3, w4, [x1]"), 0),
    (("ldaxp x4, x5, [x1]", "stlxp w3, x6, x7, [x1]"), 0),
    ((LDXR, "str x4, [x2]", STXR), 0),
    ((STXR,), 1),
    ((LDXR, STXR, STXR), 1),
    ((LDXR, "clrex", STXR), 1),
    (("ldxr x0, [x2]", STXR), 1),
    ((LDXR, "ldxr x0, [x2]", STXR), 1),
]


@pytest.mark.parametrize(("texts", "status"), PROGRAMS)
def test_the_status_says_whether_the_monitor_was_open(texts: tuple[str, ...], status: int) -> None:
    assert in_lockstep(*texts).x[3] == status


STORED = [
    ((LDXR, STXR), (0xABCDEF0123456789).to_bytes(8, "little") + OLD[8:]),
    (("ldxr w0, [x1]", "stlxr w3, w4, [x1]"), (0x23456789).to_bytes(4, "little") + OLD[4:]),
    (("ldxrb w0, [x1]", "stxrb w3, w4, [x1]"), b"\x89" + OLD[1:]),
    (("ldaxp x4, x5, [x1]", "stlxp w3, x6, x7, [x1]"), (6).to_bytes(8, "little") + (7).to_bytes(8, "little")),
    ((LDXR, "stxr wzr, x4, [x1]"), (0xABCDEF0123456789).to_bytes(8, "little") + OLD[8:]),
    ((STXR,), OLD),
    ((LDXR, "clrex", STXR), OLD),
    (("ldxr x0, [x2]", STXR), OLD),
]


@pytest.mark.parametrize(("texts", "data"), STORED)
def test_memory_changes_only_where_the_monitor_was_open(texts: tuple[str, ...], data: bytes) -> None:
    assert in_lockstep(*texts).memory.read(DATA, 16) == data


@pytest.mark.parametrize("texts", [(LDXR, STXR), (STXR,), ("clrex",), (LDXR, "clrex")])
def test_the_monitor_is_closed_afterwards(texts: tuple[str, ...]) -> None:
    assert in_lockstep(*texts).registers.flags[3] == 0


def test_a_load_exclusive_opens_the_monitor_for_its_address() -> None:
    assert in_lockstep(LDXR).registers.flags[3] == 1 << 64 | DATA


def test_a_load_exclusive_that_faults_leaves_the_monitor_as_it_was() -> None:
    machine = Machine()
    prepared(machine, "ldxr x0, [x2]", LDXR)
    machine.x[1] = FAR
    fault_of(machine)
    assert machine.registers.flags[3] == 1 << 64 | DATA + 64


def test_a_store_exclusive_that_faults_leaves_the_status_and_the_monitor() -> None:
    machine = Machine()
    prepared(machine, LDXR, STXR)
    machine.memory.map(FAR, PAGE, "r")
    machine.x[1] = FAR
    fault_of(machine)
    assert (machine.x[3], machine.registers.flags[3]) == (0x1234, 1 << 64 | FAR)


# Where Arm leaves the choice and the two choose differently (isa/semantics/base/exclusive.py)


@pytest.mark.parametrize(("kind", "status"), [(Machine, 0), (Emulator, 1)])
def test_only_the_emulator_minds_a_store_of_the_same_thread_in_between(
    kind: type[Machine | Emulator], status: int
) -> None:
    engine = kind()
    engine.run(until=prepared(engine, LDXR, "str x4, [x1]", STXR))
    assert engine.x[3] == status


def test_a_store_exclusive_that_fails_faults_in_the_machine_where_memory_cannot_be_written() -> None:
    machine = Machine()
    prepared(machine, STXR)
    machine.x[1] = FAR
    assert fault_of(machine).address == FAR


def test_a_store_exclusive_that_fails_does_not_fault_in_the_emulator() -> None:
    emulator = Emulator()
    end = prepared(emulator, STXR)
    emulator.x[1] = FAR
    emulator.run(until=end)
    assert emulator.x[3] == 1
