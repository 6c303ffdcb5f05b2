"""Lockstep: what either side writes is compared, where it writes as well; and mistakes in the comparing are noticed.

The emulator has other code than the machine where it shall write something else.  Each mistake is an edit of
`sim/call/lockstep.py`, with which the verdict on a planted difference is another.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

import pytest

from sim import Emulator, MemoryFault
from sim.call import lockstep as genuine
from sim.machine.memory import _has_pagemap
from support.lockstep_pairs import (
    BR_X1,
    BRK,
    CODE,
    DATA,
    LARGE,
    MSR_FPCR_X4,
    NOP,
    NOWHERE,
    OTHER,
    READ_ONLY,
    SAME,
    STP_Q0_Q1_X1,
    STR_W4_X1,
    STR_X4_X1,
    STR_X4_X2,
    STR_X5_X2,
    WRITES,
    prepared,
    verdict,
)  # fmt: skip


class Careless(Emulator):
    """Before its second instruction a byte changes that no hook tells of."""

    def __init__(self, address: int) -> None:
        self.address = address
        super().__init__()

    def _on_instruction(self, engine: object, pc: int, size: int, data: object) -> None:
        if pc == CODE + 4:
            self.memory.write(self.address, b"\7")
        super()._on_instruction(engine, pc, size, data)


@pytest.mark.parametrize(("_what", "machine", "emulator", "where"), WRITES, ids=[name for name, *_ in WRITES])
def test_a_write_of_one_side_is_named_at_its_instruction(
    _what: str, machine: list[int], emulator: list[int], where: str
) -> None:
    assert verdict(prepared(genuine, machine, emulator)) == where


def test_bytes_that_one_side_wrote_and_the_other_did_not_are_said_to_be_so() -> None:
    found = prepared(genuine, [STR_W4_X1], [STR_X4_X1]).run(CODE + 4, 1)
    assert found is not None
    assert (found.machine, found.emulator, found.form) == ("not written", "written", "str w,[x]")


@pytest.mark.parametrize("address", [DATA, DATA + 0xFFF, OTHER + 8])
def test_a_byte_that_changes_behind_the_hook_is_found_at_the_end_of_the_run(address: int) -> None:
    found = prepared(genuine, SAME, SAME, Careless(address)).run(CODE + 12, 3)
    assert found is not None
    assert (found.where, found.form) == (f"memory byte {address:#x}", "")


@pytest.mark.parametrize("before", [8, 16, 24])
def test_the_part_of_a_store_that_the_emulator_did_before_it_faulted_is_put_back(before: int) -> None:
    code = [NOP, STP_Q0_Q1_X1]
    lockstep = prepared(genuine, code, code, x1=OTHER + 0x1000 - before)
    lockstep.machine.v[0] = lockstep.machine.v[1] = (1 << 128) - 1
    with pytest.raises(MemoryFault):
        lockstep.run(CODE + 12, 3)
    assert lockstep.emulator.memory.read(OTHER, 0x1000) == bytes(0x1000)


def test_what_the_emulator_wrote_beside_the_store_that_faulted_is_found() -> None:
    """str q0, [x1] over the end of memory; the emulator begins 16 bytes earlier with stp q0, q1, [x2]."""
    begin = OTHER + 0x1000 - 8
    lockstep = prepared(genuine, [NOP, 0x3D800020], [NOP, 0xAD000440], x1=begin, x2=begin - 16)
    lockstep.machine.v[0] = lockstep.machine.v[1] = (1 << 128) - 1
    assert verdict(lockstep) == f"1 memory byte {begin - 16:#x}"


def test_a_byte_that_changes_behind_the_hook_is_found_where_both_fault() -> None:
    code = [NOP, NOP, STP_Q0_Q1_X1]
    lockstep = prepared(genuine, code, code, Careless(DATA + 8), x1=READ_ONLY)
    assert verdict(lockstep) == f"2 memory byte {DATA + 8:#x}"


@pytest.mark.skipif(not _has_pagemap(), reason="this computer does not say which pages are there")
def test_of_a_large_region_only_what_is_touched_is_there_after_a_run() -> None:
    lockstep = prepared(genuine, [STR_X4_X1, STR_X4_X2], [STR_X4_X1, STR_X4_X2], x1=LARGE, x2=LARGE + (800 << 20))
    memories = lockstep.machine.memory, lockstep.emulator.memory
    for memory in memories:
        memory.map(LARGE, 900 << 20, "rw")
    assert verdict(lockstep, 2) == "agree"
    pieces = [list(memory.regions[-1].pieces()) for memory in memories]
    assert pieces == [[(0, 0x1000), (800 << 20, (800 << 20) + 0x1000)]] * 2


def edited(old: str, new: str) -> ModuleType:
    """The module of lockstep with a mistake in it."""
    source = inspect.getsource(genuine)
    assert source.count(old) == 1, f"the mistake is nowhere, or not in one place: {old}"
    module = ModuleType(genuine.__name__)
    exec(compile(source.replace(old, new), "mistaken lockstep", "exec"), module.__dict__)
    return module


class Mistake(NamedTuple):
    """A mistake in the comparing, and a difference that only what it takes away can see."""

    name: str
    old: str
    new: str
    planted: Callable[[ModuleType], genuine.Lockstep]
    verdict: str
    mistaken: str


MISTAKES = (
    Mistake(
        "nothing compared at the end", "None if self._divergence else self.machine", "None and self.machine",
        lambda m: prepared(m, SAME, SAME, Careless(DATA)), f"3 memory byte {DATA:#x}", "agree",
    ),
    Mistake(
        "where the emulator writes not compared", "if mine != theirs and", "if False and",
        lambda m: prepared(m, SAME, [STR_X4_X2, STR_X5_X2, NOP]), f"0 memory byte {OTHER:#x}", "agree",
    ),
    Mistake(
        "the last byte of each store not compared", "if other != new:", "if other[:-1] != new[:-1]:",
        lambda m: prepared(m, [STR_X4_X1, NOP, NOP], [STR_X4_X1, NOP, NOP], Careless(DATA + 7)),
        f"0 memory byte {DATA + 7:#x}", f"3 memory byte {DATA + 7:#x}",
    ),
    Mistake(
        "FPCR not compared", "registers, FPSR_STICKY, MODES)", "registers, FPSR_STICKY, 0)",
        lambda m: prepared(m, [MSR_FPCR_X4, NOP, NOP], SAME, x4=2 << 22), "0 fpcr", "agree",
    ),
    Mistake(
        "a fault's address not compared", "mine.pc == theirs.pc and inside", "mine.pc == theirs.pc",
        lambda m: prepared(m, [NOP, STR_X4_X1], [NOP, STR_X4_X2], x1=READ_ONLY, x2=NOWHERE), "1 fault", "MemoryFault",
    ),
    Mistake(
        "a fault's class not compared", "if type(mine) is type(theirs) and mine", "if mine",
        lambda m: prepared(m, [NOP, BRK], [NOP, STR_X4_X1], x1=CODE + 4), "1 fault", "Trap",
    ),
    Mistake(
        "a fault's instruction not compared", "mine.pc == theirs.pc and inside", "inside",
        lambda m: prepared(m, [STR_X4_X1], [BR_X1], x1=NOWHERE), "0 fault", "MemoryFault",
    ),
)  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_planted_difference_is_found(mistake: Mistake) -> None:
    assert verdict(mistake.planted(genuine)) == mistake.verdict


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_in_the_comparing_changes_the_verdict(mistake: Mistake) -> None:
    assert verdict(mistake.planted(edited(mistake.old, mistake.new))) == mistake.mistaken
