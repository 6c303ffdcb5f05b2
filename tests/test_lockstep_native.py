"""Lockstep in native code: what Python finds it finds, in the same words; and mistakes in its C are noticed.

Each mistake is an edit of a file of `sim/call/native/`, or of generated C, with which a verdict is another, or what is
found is said to be a fault of lanewise.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from ctypes import c_uint8
from pathlib import Path
from struct import pack
from typing import NamedTuple

import pytest

from isa.evaluate.exact import QC
from isa.evaluate.floating.formats import FZ
from isa.rows import TABLE
from isa.semantics.base import integer as base_integer
from isa.semantics.elementwise import SIGNED, each
from isa.table import Table
from sim.call import lockstep as genuine
from sim.call.lockstep import Divergence, Lockstep
from sim.call.native import in_place, steps
from sim.call.native import lockstep as native
from sim.call.native.code import PATIENCE
from sim.call.native.lockstep import CompiledFault
from sim.emulator import Emulator
from sim.machine import host_compiler
from sim.machine.errors import ExecutionError
from sim.toolchain import host
from sim.toolchain.host import engine_library
from sim.toolchain.tools import ToolMissing
from support.lockstep_pairs import (
    CODE,
    MSR_FPCR_X4,
    NO_COMPILER,
    NOP,
    NOWHERE,
    READ_ONLY,
    SAME,
    STR_W4_X1,
    STR_X4_X1,
    STR_X4_X2,
    WRITES,
    prepared,
    verdict,
)  # fmt: skip
from support.native_lockstep import NativeTwins

SQADD_V0_V0_V0, MOVI_V31, SMMLA_V0_V1_V2, FADD_H0_H1_H0 = 0x4EA00C00, 0x4F00043F, 0x4E82A420, 0x1EE02820
ADD_X3_X4_1, SUBS_X3_X4_5, CMP_X4_5, MOV_X30_X4 = 0x91000483, 0xF1001483, 0xF100149F, 0xAA0403FE
ADD_V31_V31_V31, ADD_X4_X4_1 = 0x4EBF87FF, 0x91000484
WRITABLE, B_NEXT = 0x60000, 0x14000001
MSR_TPIDR_X4, MSR_FPSR_X4, LDR_X3_X1, B_8, B_SELF, BRK = (
    0xD51BD044,
    0xD51B4424,
    0xF9400023,
    0x14000002,
    0x14000000,
    0xD4200000,
)


class Case(NamedTuple):
    """Codes of machine and emulator that differ, or semantics that do, and where that is found."""

    name: str
    machine: list[int]
    emulator: list[int]
    where: str
    table: Table = TABLE
    x: Mapping[str, int] = {}


ADDS_ONE_MORE = TABLE.replacing("add x,x,#", lambda d, n, m: d.write(n.value + m.value + 1))
WRAPS = TABLE.replacing("sqadd .4s,.4s,.4s", each(SIGNED, lambda to, a, b: to.wrap(a + b)))
LEAVES_FLAGS = TABLE.replacing("subs x,x,#", lambda *operands: base_integer.subtract_setting_flags(*operands)[:-1])
CASES = (
    *(Case(*each) for each in WRITES),
    Case("v31", [NOP, MOVI_V31, NOP], SAME, "1 v31"),
    Case("what a vector is added to", [MOVI_V31, ADD_V31_V31_V31], [MOVI_V31, NOP], "1 v31"),
    Case("what a register is added to", [NOP, ADD_X4_X4_1, NOP], SAME, "1 x4"),
    Case("x30", [NOP, MOV_X30_X4, NOP], SAME, "1 x30"),
    Case("flags", [NOP, CMP_X4_5, NOP], SAME, "1 nzcv"),
    Case("flags of the emulator", SAME, [NOP, CMP_X4_5, NOP], "1 nzcv"),
    Case("FPSR", [NOP, MSR_FPSR_X4, NOP], SAME, "1 fpsr", x={"x4": QC}),
    Case("thread pointer", [NOP, MSR_TPIDR_X4, NOP], SAME, "1 tpidr", x={"x4": 1 << 40}),
    Case("FPCR", [NOP, MSR_FPCR_X4, NOP], SAME, "1 fpcr", x={"x4": FZ}),
    Case("where a branch goes", [B_8, NOP, NOP], SAME, "0 pc"),
    Case("a fault of the emulator", [NOP, STR_X4_X1], [NOP, STR_X4_X2], "2 fault", x={"x2": NOWHERE}),
    Case("a fault of the machine", [NOP, STR_X4_X2], [NOP, STR_X4_X1], "1 fault", x={"x2": READ_ONLY}),
    Case("a fault of both", [NOP, STR_X4_X2], [NOP, STR_X4_X2], "MemoryFault", x={"x2": READ_ONLY}),
    Case("a trap of the emulator", SAME, [NOP, BRK, NOP], "2 fault"),
    Case("a store of both", [STR_X4_X1, NOP, NOP], [STR_X4_X1, NOP, NOP], "agree"),
    Case("a sum", [NOP, ADD_X3_X4_1, NOP], [NOP, ADD_X3_X4_1, NOP], "1 x3", ADDS_ONE_MORE),
    Case("flags that are left", [SUBS_X3_X4_5, NOP, NOP], [SUBS_X3_X4_5, NOP, NOP], "0 nzcv", LEAVES_FLAGS),
)  # fmt: skip


def run(case: Case, patience: int) -> tuple[Lockstep, str, Divergence | None]:
    """The lockstep, its verdict, and what it says."""
    made = [prepared(genuine, case.machine, case.emulator, patience=patience, table=case.table) for _ in "12"]
    for lockstep in made:
        for name, value in case.x.items():
            lockstep.machine.x[int(name[1:])] = value
    divergence = None
    with suppress(ExecutionError):
        divergence = made[0].run(CODE + 4 * len(case.machine), len(case.machine))
    return made[1], verdict(made[1], len(case.machine)), divergence


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_python_finds_native_code_finds_in_the_same_words(case: Case) -> None:
    lockstep, found, said = run(case, patience=0)
    assert (found, lockstep.without_native) == (case.where, "")
    assert (found, said) == run(case, NO_COMPILER)[1:]


@pytest.mark.parametrize("case", CASES[::5], ids=lambda case: case.name)
def test_registers_that_are_not_found_in_memory_are_read_through_unicorn(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "registers_in_place", lambda _: None)
    assert run(case, patience=0)[1:] == run(case, NO_COMPILER)[1:]


@pytest.mark.parametrize("name", ["flags", "FPSR", "FPCR", "thread pointer", "flags that are left"])
def test_status_that_is_not_found_in_memory_is_read_through_unicorn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "pieces_of_status", lambda *_: ())
    assert run(named(name), patience=0)[1:] == run(named(name), NO_COMPILER)[1:]


@pytest.mark.parametrize("case", CASES[1::5], ids=lambda case: case.name)
def test_without_the_flag_of_a_known_program_counter_the_same_is_found(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "flag_of_known_pc", lambda _: None)
    assert run(case, patience=0)[1:] == run(case, NO_COMPILER)[1:]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "fpcr"), [(1, 0), (2, FZ | 1 << 22)])
def test_random_code_with_faults_comes_to_the_same(seed: int, fpcr: int) -> None:
    twins = NativeTwins(seed, 120, fpcr)
    assert twins.differences(runs=2) == []
    assert sum(twins.fast.fallbacks.values()) < twins.fast.machine.instructions_executed // 2


def test_a_saturation_is_counted_each_time() -> None:
    lockstep = prepared(genuine, [SQADD_V0_V0_V0] * 3, [SQADD_V0_V0_V0] * 3, patience=0)
    lockstep.machine.v[0] = 0x4000_0000
    assert (verdict(lockstep), lockstep.qc_events, lockstep.machine.fpsr) == ("agree", 3, QC)


def loop(emulator_compares: int) -> Lockstep:
    """x0 from a million down to zero, compared each time with zero, or with another number in the emulator."""
    code = [0xEB05001F, 0xF1000400, 0xB5FFFFC0]  # cmp x0, x5; subs x0, x0, #1; cbnz x0, the first
    other = [0xEB06001F, *code[1:]]  # cmp x0, x6
    return prepared(genuine, code, other, patience=0, x0=1_000_000, x6=emulator_compares)


def test_a_million_times_the_same_agree() -> None:
    lockstep = loop(0)
    assert lockstep.run(CODE + 12, 10**7) is None
    assert (lockstep.machine.instructions_executed, lockstep.fallbacks) == (3_000_000, {})


def test_a_wrong_flag_after_one_instruction_in_a_million_is_found_there() -> None:
    lockstep = loop(1)
    found = lockstep.run(CODE + 12, 10**7)
    assert found is not None
    assert (found.index, found.pc, found.where) == (3 * 999_999, CODE, "nzcv")
    assert (found.inputs[0].value, lockstep.fallbacks) == (1, {})


Edit = Callable[[str, str, str], None]


@pytest.fixture
def edit(monkeypatch: pytest.MonkeyPatch) -> Edit:
    """Puts a mistake into a file of C."""

    def make(file: str, old: str, new: str) -> None:
        genuinely = steps.source
        assert genuinely(file).count(old) == 1, f"the mistake is nowhere, or not in one place: {old}"
        edited = genuinely(file).replace(old, new)
        monkeypatch.setattr(steps, "source", lambda name: edited if name == file else genuinely(name))

    return make


BEGIN = "  Lockstep *L = data;\n  if (L->pc_is_known)"
BYTE_7 = "*emulated(L, 0x20007, 1) = 7;"
"""A byte of the emulator's memory, of those that a store wrote, becomes another."""
AFTER_STORE = ("driver.c", BEGIN, BEGIN.replace("data;", f"data;\n  if (pc == 0x10004) {BYTE_7}"))
LATER = ("driver.c", BEGIN, BEGIN.replace("data;", f"data;\n  if (pc == 0x10008) {BYTE_7}"))
STORED = Case("", [STR_X4_X1, NOP, NOP], [STR_X4_X1, NOP, NOP], "")


@pytest.mark.parametrize(("planted", "where"), [(AFTER_STORE, "0"), (LATER, "3")])
def test_a_wrong_byte_in_the_emulator_is_found_after_the_store_or_at_the_end(
    planted: tuple[str, str, str], where: str, edit: Edit
) -> None:
    edit(*planted)
    assert run(STORED, patience=0)[1] == f"{where} memory byte 0x20007"


def named(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


class Mistake(NamedTuple):
    """An edit of driver.c, and the case of which the verdict is another with it."""

    name: str
    old: str
    new: str
    case: str


VECTORS, GENERAL, NEXT = "i < V; i++) pairs |=", "i < X; i += 2) pairs |=", "&L->theirs.stores[L->theirs.count++]"
SIZE, CHANGED = "store->size = (uint64_t)size;", "L->flags_read && !(changed[0] | changed[1])"
MISTAKES = (
    Mistake("the last vector not compared", VECTORS, VECTORS.replace("V;", "V - 1;"), "v31"),
    Mistake("x30 not compared", GENERAL, GENERAL.replace("X;", "X - 2;"), "x30"),
    Mistake("flags not compared", "other |= S->nzcv ^ L->flags[0] >> 28;", "", "flags"),
    Mistake("flags taken for what they were", CHANGED, "L->flags_read", "flags of the emulator"),
    Mistake("the thread pointer not compared", "other |= S->tpidr ^ L->flags[3];", "", "thread pointer"),
    Mistake("FPSR not compared", "(S->fpsr ^ L->flags[1]) & L->fpsr_mask", "0", "FPSR"),
    Mistake("FPCR not compared", "(S->fpcr ^ L->flags[2]) & L->fpcr_mask", "0", "FPCR"),
    Mistake("pc not compared", "if (pc != L->state.pc || ", "if (", "where a branch goes"),
    Mistake(
        "where the emulator writes not compared", "return L->overflowed || count", "return 0 && count", "and restores"
    ),
    Mistake("nothing noted of the emulator", NEXT, "&L->theirs.stores[0]", "and restores"),
    Mistake("a write noted too long", SIZE, SIZE.replace(";", " + 1;"), "a store of both"),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_in_the_comparing_changes_a_verdict(mistake: Mistake, edit: Edit) -> None:
    edit("driver.c", mistake.old, mistake.new)
    case = named(mistake.case)
    assert run(case, patience=0)[1] != case.where


def test_without_the_last_byte_of_a_store_compared_it_is_found_at_the_end_alone(edit: Edit) -> None:
    edit(*AFTER_STORE)
    edit("driver.c", "memcmp(other, store->bytes, store->size)", "memcmp(other, store->bytes, store->size - 1)")
    assert run(STORED, patience=0)[1] == "3 memory byte 0x20007"


FALSE_ALARMS = (
    ("access.c", "store->size = size;", "store->size = size - 1;", STR_X4_X1),
    ("driver.c", "v + i * stride", "v + (i ^ 1) * stride", MOVI_V31),
)


@pytest.mark.parametrize(("file", "old", "new", "word"), FALSE_ALARMS, ids=["a store", "a register"])
def test_a_difference_that_python_does_not_see_is_said_to_be_a_fault_of_lanewise(
    file: str, old: str, new: str, word: int, edit: Edit
) -> None:
    edit(file, old, new)
    with pytest.raises(CompiledFault, match=r"at 0x10000, .* lockstep in native code sees a difference"):
        run(Case("", [word, NOP, NOP], [word, NOP, NOP], ""), patience=0)


def test_a_mistake_in_generated_c_is_found_at_its_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(key: str, whole: Callable[[], str]) -> Path:
        return engine_library(key + "planted", lambda: re.sub(r"S->x\[r0\] = (\w+);", r"S->x[r0] = \1 + 1;", whole()))

    monkeypatch.setattr(host_compiler, "compiler_handed_over", lambda: planted)
    with pytest.raises(CompiledFault, match=r"at 0x10004, add x3, x4, #1: lockstep in native code"):
        run(Case("", [NOP, ADD_X3_X4_1], [NOP, ADD_X3_X4_1], ""), patience=0)


def test_what_the_emulator_lacks_and_what_is_not_in_c_is_left_to_python_and_counted() -> None:
    code = [SMMLA_V0_V1_V2, NOP, FADD_H0_H1_H0]
    lockstep = prepared(genuine, code, code, patience=0)
    assert (verdict(lockstep), lockstep.unverified) == ("agree", {"smmla .4s,.16b,.16b": 1})
    assert lockstep.fallbacks == {
        ("smmla .4s,.16b,.16b", "the emulator cannot check it"): 1,
        ("fadd h,h,h", "floating point has no C yet: of the format f16"): 1,
    }


def test_without_a_compiler_python_goes_on_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> list[str]:
        raise ToolMissing("no AArch64 compiler: the package ziglang is not installed")

    monkeypatch.setattr(host, "_host_clang", missing)
    monkeypatch.setattr("shutil.which", lambda name: None)
    lockstep, found, _ = run(named("x30"), patience=0)
    assert (found, lockstep.fallbacks) == ("1 x30", {})
    assert lockstep.without_native == "no AArch64 compiler: the package ziglang is not installed"


def test_a_short_run_needs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(genuine, "NativeLockstep", lambda *_: pytest.fail("a compiler was asked for"))
    assert run(named("x30"), PATIENCE)[1] == "1 x30"


def test_code_that_is_written_is_noticed() -> None:
    lockstep = prepared(genuine, [ADD_X3_X4_1, NOP], [ADD_X3_X4_1, NOP], patience=0)
    assert verdict(lockstep, 2) == "agree"
    for engine in (lockstep.machine, lockstep.emulator):
        engine.memory.write(CODE, MOV_X30_X4.to_bytes(4, "little"))
    lockstep.machine.pc = CODE
    assert (verdict(lockstep, 2), lockstep.machine.x[3], lockstep.machine.x[30]) == ("agree", 6, 5)


def test_code_that_a_program_writes_is_noticed_on_both_sides() -> None:
    """str w4, [x1]; b to the next; that is written over; b far on, for the emulator keeps no code before an end."""
    code, end = pack("<4I", STR_W4_X1, B_NEXT, ADD_X3_X4_1, B_NEXT + 63), WRITABLE + 0x10C
    lockstep = prepared(genuine, SAME, SAME, patience=0)
    for engine in (lockstep.machine, lockstep.emulator):
        engine.memory.map(WRITABLE, 0x1000, "rwx")
        engine.memory.write(WRITABLE, code)
        engine.memory.write(end, pack("<I", NOP))
    machine = lockstep.machine
    machine.x[1], machine.x[4] = WRITABLE + 8, MOV_X30_X4
    for begin in (8, 0):
        machine.pc = WRITABLE + begin
        assert lockstep.run(end + 4, 10) is None
    assert (machine.x[3], machine.x[30], lockstep.emulator.x[30]) == (MOV_X30_X4 + 1, MOV_X30_X4, MOV_X30_X4)


def test_memory_that_is_mapped_later_is_reached() -> None:
    lockstep = prepared(genuine, [LDR_X3_X1, STR_X4_X1], [LDR_X3_X1, STR_X4_X1], patience=0, x1=NOWHERE)
    assert verdict(lockstep, 2) == "MemoryFault"
    for engine in (lockstep.machine, lockstep.emulator):
        engine.memory.map(NOWHERE, 0x1000, "rw")
    assert (verdict(lockstep, 2), lockstep.emulator.memory.read(NOWHERE, 1)) == ("agree", b"\5")


@pytest.mark.slow
def test_ctrl_c_ends_it() -> None:
    lockstep = prepared(genuine, [B_SELF], [B_SELF], patience=0)
    assert lockstep.run(0, 1000) is None
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            lockstep.run(0, 10**15)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("far", [1 << 46, 1 << 63])
def test_a_pointer_of_one_emulator_that_is_none_in_the_next_is_passed_over(
    far: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    layouts = in_place._layouts()
    nowhere = layouts[0]._replace(general=far)
    monkeypatch.setattr(in_place, "_layouts", lambda: (nowhere, *layouts))
    assert in_place.registers_in_place(Emulator()) is not None
    monkeypatch.setattr(in_place, "_layouts", lambda: (nowhere,))
    assert in_place.registers_in_place(Emulator()) is None


def test_the_flag_of_a_known_program_counter_is_what_setting_it_sets_and_a_run_clears() -> None:
    emulator = Emulator()
    at = in_place.flag_of_known_pc(emulator)
    assert at is not None
    flag = c_uint8.from_address(at)
    emulator.memory.map(CODE, 4096, "rx")
    emulator.memory.write(CODE, NOP.to_bytes(4, "little") * 2)
    seen = []

    def look(_: int) -> bool:
        seen.append(flag.value)
        return True

    for _ in range(2):
        emulator.pc = CODE
        look(CODE)
        emulator.run(max_instructions=1, before_each=look)
    assert seen == [1, 0, 1, 0]


def test_a_byte_that_is_not_that_flag_in_the_next_emulator_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_place, "_flag", lambda: 0)
    assert in_place.flag_of_known_pc(Emulator()) is None


def test_a_function_that_returns_to_many_places_is_followed_for_as_long_as_it_takes() -> None:
    """Each return goes elsewhere than the two before, and the driver has room for 4,096 such between two slices."""
    calls = [0x94000006, 0x94000005, 0x94000004]  # bl to the RET
    code = [*calls, 0xF1000484, 0x54FFFF81, NOP, 0xD65F03C0]  # subs x4, x4, #1; b.ne to the first; nop; ret
    lockstep = prepared(genuine, code, code, patience=0, x4=20_000)
    assert lockstep.run(CODE + 4 * 5, 200_000) is None
    assert lockstep.without_native == ""
    assert lockstep.machine.pc == CODE + 4 * 5
    returns = {(CODE + 4 * 6, CODE + 4 * place) for place in (1, 2, 3)}
    assert returns <= lockstep.went
