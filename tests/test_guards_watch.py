"""A call that is watched step by step: loops, missing functions, faults, exclusives, x18, sp, on steps written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from isa.instruction import Instruction
from isa.lane import Place
from sim.call.guards import watch
from sim.call.guards.bounds import NOT_THERE, Breach
from sim.call.guards.findings import IN_FRONT, GuardFinding
from sim.call.guards.watch import Watch
from sim.machine.errors import AlignmentFault, ExecutionError, MemoryFault, Unpredictable
from sim.machine.registers import SP, RegisterStorage
from sim.machine.trace import Step
from support.one_instruction import named

SP_AT_CALL = 0x8000


class Machine:
    """Registers, a pc and bytes; its steps are written down."""

    def __init__(self, texts: dict[int, str] | None = None) -> None:
        self.registers = RegisterStorage()
        self.registers.general[SP] = SP_AT_CALL
        self.pc, self.next, self.texts = 0, list[Step](), texts or {}
        self.memory = self
        self.written = list[tuple[int, bytes]]()

    @property
    def x(self) -> list[int]:
        return self.registers.general

    @property
    def sp(self) -> int:
        return self.registers.general[SP]

    def write(self, address: int, data: bytes) -> None:
        self.written.append((address, data))

    def step(self) -> Step:
        if not self.next:
            raise ExecutionError(0, 4, "no more")
        return self.next.pop(0)

    def disassembly_at(self, pc: int) -> str:
        if self.texts and pc not in self.texts:
            raise ExecutionError(pc, 4, "nothing is there")
        return self.texts.get(pc, "nop ")


class Image:
    """A program: a function is missing, code from 0x700 on stands in front of a loop, from 0x900 on it has no lines."""

    def missing_at(self, address: int) -> str | None:
        return "memcpy" if address == 0x5000 else None

    def place_of(self, pc: int) -> str:
        return f"f.c:{pc}"

    def source_line(self, pc: int) -> str | None:
        return f"f.c:{pc // 16}" if pc < 0x900 else None

    def inlined_at(self, pc: int) -> str:
        return f"by g at {pc}"


@pytest.fixture(autouse=True)
def _before_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "is_before_loop", lambda pc, image: pc >= 0x700)


class Bounds:
    """What is asked of the bounds of accesses, and what they answer."""

    def __init__(self, answer: Breach | None = None) -> None:
        self.answer, self.asked = answer, list[Any]()

    def check(self, step: Step, sp: int) -> Breach | None:
        self.asked.append((step.pc, sp))
        return self.answer

    def breach(self, address: int, size: int, writes: bool, sp: int) -> Breach | None:
        self.asked.append((address, size, writes, sp))
        return self.answer


def watching(machine: Machine | None = None, answer: Breach | None = None) -> tuple[Watch, Machine, Bounds]:
    made, bounds = machine or Machine(), Bounds(answer)
    given: list[Any] = [made, Image(), bounds, {}]
    return Watch(*given), made, bounds


def step(
    text: str, pc: int = 0x100, next_pc: int = 0x104, *, memory: Sequence[tuple[int, bytes, bytes]] = (),
    loads: Sequence[tuple[int, bytes]] = (), writes: Sequence[tuple[Place, int, int]] = (),
) -> Step:  # fmt: skip
    return Step(0, pc, named(text), tuple(writes), tuple(memory), tuple(loads), next_pc)


OVER = Breach("over-read", "reads byte 16, past the end of 'a'", "a", 16, 19)


def told(found: GuardFinding | None) -> tuple[Any, ...]:
    assert found is not None
    return (found.kind, found.instruction, found.pc, found.source, found.inlined, found.where, found.first, found.last)


def test_what_the_bounds_find_is_placed_at_the_step_with_the_lower_sp_of_both_ends() -> None:
    made, machine, bounds = watching(answer=OVER)
    load = step("ldr w0, [x1]", loads=[(0x10, bytes(4))])
    found = made.check(load, SP_AT_CALL - 16)
    assert told(found) == ("over-read", "ldr w0, [x1]", 0x100, "f.c:256", "by g at 256", "a", 16, 19)
    assert found is not None
    assert found.says == OVER.says
    machine.registers.general[SP] = SP_AT_CALL - 32
    store = step("str w0, [x1]", 0x700, memory=[(0x10, bytes(4), bytes(4))])
    behind = made.check(store, SP_AT_CALL)
    assert behind is not None
    assert behind.says == f"{OVER.says}; it stands {IN_FRONT}"
    assert bounds.asked == [(0x100, SP_AT_CALL - 16), (0x700, SP_AT_CALL - 32)]
    assert made.check(step("add w0, w0, w1"), SP_AT_CALL) is None
    assert len(bounds.asked) == 2  # what reaches no memory is not asked about
    fine, *_ = watching()
    assert fine.check(load, SP_AT_CALL) is None


@pytest.mark.parametrize(
    ("text", "sp", "is_found"),
    [
        ("ldr w0, [sp]", SP_AT_CALL + 8, True), ("ldr w0, [sp]", SP_AT_CALL, False),
        ("ldr w0, [x1]", SP_AT_CALL + 8, False), ("bl #0x200", SP_AT_CALL + 1, True),
        ("bl #0x200", SP_AT_CALL + 16, False), ("b #0x200", SP_AT_CALL + 8, False),
    ],
)  # fmt: skip
def test_sp_must_be_a_multiple_of_sixteen_where_it_is_used(text: str, sp: int, is_found: bool) -> None:
    made, *_ = watching()
    found = made.check(step(text, loads=[(0x10, bytes(4))] if text.startswith("ldr") else ()), sp)
    assert (found is not None) == is_found
    if found is not None:
        assert (found.kind, found.where) == ("misaligned sp", "sp")
        assert found.says == f"uses sp = {sp:#x}, which is no multiple of 16"


LOADED, STORED = "ldxr w0, [x1]", "stxr w2, w0, [x1]"


def exclusive(text: str, address: int, size: int = 4) -> Step:
    if text.startswith("st"):
        return step(text, memory=[(address, bytes(size), bytes(size))])
    return step(text, loads=[(address, bytes(size))] if text.startswith("ld") else ())


@pytest.mark.parametrize(
    ("steps", "is_found"),
    [
        ([exclusive(LOADED, 0x10), exclusive(STORED, 0x10)], False),
        ([exclusive(LOADED, 0x10), exclusive(STORED, 0x14)], True),
        ([exclusive(LOADED, 0x10), exclusive("stxrb w2, w0, [x1]", 0x10, 1)], True),
        ([exclusive(STORED, 0x14)], False),
        ([exclusive(LOADED, 0x10), exclusive("clrex ", 0), exclusive(STORED, 0x14)], False),
        ([exclusive(LOADED, 0x10), exclusive("add w0, w0, w1", 0), exclusive(STORED, 0x14)], True),
        ([exclusive(LOADED, 0x10), exclusive(STORED, 0x10), exclusive(STORED, 0x14)], False),
        ([exclusive(LOADED, 0x14), exclusive(LOADED, 0x10), exclusive(STORED, 0x14)], True),
    ],
)
def test_a_store_exclusive_belongs_to_the_load_exclusive_before_it(steps: list[Step], is_found: bool) -> None:
    made, *_ = watching()
    *before, last = [made.check(one, SP_AT_CALL) for one in steps]
    assert (before, last is not None) == ([None] * len(before), is_found)
    if last is not None:
        size, at = len(steps[-1].memory[0][2]), steps[-1].memory[0][0]
        assert last.kind == "mismatched exclusive"
        assert last.says == (
            f"stores {size} bytes at {at:#x}, the load exclusive before was of 4 bytes at 0x10: "
            "Arm leaves open if it passes"
        )


def rounds(
    made: Watch, machine: Machine, states: Sequence[tuple[int, int]], stores_at: Sequence[int] = ()
) -> int | None:
    """In which round it is said that states come again, each behind a branch: an address and what x0 holds then."""
    for number, (pc, x0) in enumerate(states):
        if number in stores_at:
            made.check(step("str w0, [x1]", memory=[(0x10, b"abcd", b"abce")]), SP_AT_CALL)
        machine.pc, machine.registers.general[0] = pc, x0
        if made.check(step("b #0x100", next_pc=pc), SP_AT_CALL) is not None:
            return number
    return None


def test_a_state_that_comes_again_behind_a_branch_is_an_endless_loop() -> None:
    """What it was is kept at the first, second, fourth, ... branch."""
    for period, found in ((1, 1), (2, 3), (3, 6), (4, 7), (5, 12)):
        made, machine, _ = watching()
        assert rounds(made, machine, [(0x100 + number % period, 7) for number in range(40)]) == found
    made, machine, _ = watching()
    assert rounds(made, machine, [(0x100, number) for number in range(40)]) is None
    assert list(made.branches) == [0x100] * 40
    made, machine, _ = watching()
    assert rounds(made, machine, [(0x100 + number, 7) for number in range(40)]) is None


def test_a_loop_that_changes_memory_is_none_until_a_round_in_which_it_does_not() -> None:
    made, machine, _ = watching()
    assert rounds(made, machine, [(0x100, 7)] * 40, range(40)) is None
    made, machine, _ = watching()
    assert rounds(made, machine, [(0x100, 7)] * 40, range(5)) == 8  # the eighth is kept, and nothing changes since
    same = step("str w0, [x1]", memory=[(0x10, b"abcd", b"abcd")])
    made, machine, _ = watching()
    made.check(same, SP_AT_CALL)
    assert not made.changed_memory


def test_an_endless_loop_is_told_with_the_lines_that_it_goes_round_and_memory_is_put_back() -> None:
    made, machine, _ = watching(Machine({0x100: "b #0x100"}))
    machine.next = [
        step("str w0, [x1]", 0x120, memory=[(0x10, b"a", b"b"), (0x20, b"c", b"d")]), step("nop ", 0x110),
        step("str w0, [x1]", 0x120, memory=[(0x10, b"b", b"e")]), step("nop ", 0x904),
    ]  # fmt: skip
    machine.texts[0x120] = "str w0, [x1]"
    found = made.of_limit(12345)
    assert told(found)[:3] == ("instruction limit", "str w0, [x1]", 0x120)
    assert found.says == (
        "is executed still: the kernel did not return within 12,345 instructions, and it goes round f.c:17, f.c:18"
    )
    assert machine.written == [(0x10, b"b"), (0x20, b"c"), (0x10, b"a")]


def test_a_state_that_came_again_is_told_so() -> None:
    made, machine, _ = watching(Machine({0x100: "b #0x100"}))
    machine.pc = 0x100
    assert made.check(step("b #0x100", 0x100, 0x100), SP_AT_CALL) is None
    found = made.check(step("b #0x100", 0x100, 0x100), SP_AT_CALL)
    assert found is not None
    assert found.says == (
        "is executed still: registers and memory are again as they were, and it goes round no source line"
    )
    assert told(found)[:3] == ("instruction limit", "b #0x100", 0x100)


@pytest.mark.parametrize(("count", "end"), [(8, "f.c:23"), (9, "f.c:23, ...")])
def test_of_many_lines_of_a_loop_eight_are_told(count: int, end: str) -> None:
    made, machine, _ = watching(Machine({0x100: "nop "}))
    machine.next = [step("nop ", 0x100 + 16 * number) for number in range(count)]
    says = made.of_limit(1).says.partition("goes round ")[2]
    assert says == ", ".join(f"f.c:{16 + number}" for number in range(7)) + f", {end}"


def test_no_more_than_so_many_steps_of_a_loop_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_LOOP", 3)
    made, machine, _ = watching(Machine({0x100: "nop "}))
    machine.next = [step("nop ", 0x100 + 16 * number) for number in range(9)]
    assert made.of_limit(1).says.endswith("goes round f.c:16, f.c:17, f.c:18")


def missing(texts: dict[int, str], x30: int) -> GuardFinding | None:
    made, machine, _ = watching(Machine(texts))
    machine.registers.general[30] = x30
    machine.registers.general[29], machine.registers.general[SP] = 0x204, 0x304
    return made.of_fault(MemoryFault(0x5000, 4, "not there", pc=0x5000))


@pytest.mark.parametrize("text", ["bl #0x5000", "blr x3", "blraa x3, x4", "blraaz x3"])
def test_a_missing_function_is_told_with_the_call_in_front_of_where_it_returns_to(text: str) -> None:
    found = missing({0x100: text, 0x200: text, 0x300: text}, 0x104)
    assert told(found)[:6] == ("missing symbol", text, 0x100, "f.c:256", "by g at 256", "memcpy")
    assert found is not None
    assert found.says == f"calls 'memcpy', {NOT_THERE}"


@pytest.mark.parametrize("texts", [{}, {0x100: "b #0x5000"}, {0x100: "blue "}, {0x104: "bl #0x5000"}])
def test_a_missing_function_that_is_jumped_to_is_told_without_a_place(texts: dict[int, str]) -> None:
    found = missing(texts, 0x104)
    assert told(found) == ("missing symbol", "", None, "", "", "memcpy", None, None)
    assert found is not None
    assert found.says == f"'memcpy' is jumped to, {NOT_THERE}"


def test_a_fetch_from_elsewhere_and_a_fault_without_a_place_are_no_findings() -> None:
    made, *_ = watching()
    assert made.of_fault(MemoryFault(0x6000, 4, "not there", pc=0x6000)) is None
    assert made.of_fault(MemoryFault(0x5000, 4, "not there")) is None


def test_a_fault_of_an_access_is_what_the_bounds_say_and_one_of_alignment_what_itself_says() -> None:
    made, _, bounds = watching(answer=OVER)
    fault = MemoryFault(0x10, 8, "not mapped", pc=0x100, disassembly="ldr x0, [x1]", writes=True)
    assert told(made.of_fault(fault)) == ("over-read", "ldr x0, [x1]", 0x100, "f.c:256", "by g at 256", "a", 16, 19)
    assert bounds.asked == [(0x10, 8, True, SP_AT_CALL)]
    unaligned = AlignmentFault(0x11, 8, "is not aligned", pc=0x100, disassembly="ldar x0, [x1]")
    found = made.of_fault(unaligned)
    assert found is not None
    assert (found.kind, found.says, found.instruction, found.where) == (
        "misaligned access", "is not aligned", "ldar x0, [x1]", "",
    )  # fmt: skip


@pytest.mark.parametrize(("answer", "is_found"), [(None, False), (OVER, True), (OVER._replace(allowed=True), False)])
def test_an_access_that_is_allowed_is_no_finding(answer: Breach | None, is_found: bool) -> None:
    made, _, bounds = watching(answer=answer)
    assert (made.of_access(0x10, 4, False, 0x7FF0, "ldr w0, [x1]", 0x100) is not None) == is_found
    assert bounds.asked == [(0x10, 4, False, 0x7FF0)]


def test_an_instruction_that_arm_leaves_open_is_told_with_the_reason() -> None:
    made, *_ = watching()
    found = made.of_unpredictable(Unpredictable(0x100, 4, "it writes its base", disassembly="str x9, [x9], #8"))
    assert told(found)[:3] == ("unpredictable instruction", "str x9, [x9], #8", 0x100)
    assert found.says == "has no one meaning: it writes its base"


def ended(change: Callable[[Watch, Machine], None], steps: Sequence[Step] = ()) -> list[GuardFinding]:
    made, machine, _ = watching()
    change(made, machine)
    return list(made.at_return(lambda: steps))


def set_x19_and_v8(made: Watch, machine: Machine) -> None:
    machine.registers.general[19] = 0x55
    machine.registers.write(Place("v", 8), 0x66 << 64 | 0x77)


def test_registers_that_are_not_given_back_are_told_with_the_instruction_that_wrote_them_last() -> None:
    writes = [
        step("mov x19, x2", 0x100, writes=[(Place("x", 19), 0, 1)]),
        step("mov x19, x3", 0x104, writes=[(Place("x", 19), 1, 0x55)]),
    ]
    last, unknown = ended(set_x19_and_v8, writes)
    assert told(last)[:3] == ("register not preserved", "mov x19, x3", 0x104)
    assert (last.says, last.where) == (
        "is the last to write x19: 0x0 at the call, 0x55 at return (AAPCS64 6.1)", "x19"
    )  # fmt: skip
    assert told(unknown) == ("register not preserved", "", None, "", "", "d8", None, None)
    assert unknown.says == "d8: 0x0 at the call, 0x77 at return (AAPCS64 6.1)"


def test_where_all_is_given_back_the_call_is_not_repeated() -> None:
    made, _, _ = watching()
    assert list(made.at_return(lambda: pytest.fail("it is repeated"))) == []


def test_the_first_write_of_x18_is_a_note() -> None:
    def use_x18(made: Watch, machine: Machine) -> None:
        for pc, text in ((0x100, "mov x0, x18"), (0x104, "mov x18, x1"), (0x108, "mov x18, x2")):
            assert made.check(step(text, pc), SP_AT_CALL) is None

    (note,) = ended(use_x18)
    assert told(note)[:3] == ("platform register", "mov x18, x1", 0x104)
    assert (note.harmless, note.where) == (True, "x18")


def test_what_guards_ask_of_an_instruction_is_found_once() -> None:
    known = dict[Instruction, Any]()
    given: list[Any] = [Machine(), Image(), Bounds(), known]
    made = Watch(*given)
    add = step("add w0, w0, w1")
    made.check(add, SP_AT_CALL)
    assert list(known) == [add.instruction]
    known[add.instruction] = known[add.instruction]._replace(writes_platform_register=True)
    made.check(add, SP_AT_CALL)
    assert made.platform_register == (add.instruction, 0x100)
