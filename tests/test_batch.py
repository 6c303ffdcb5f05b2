"""Batch: many machines at once, each of them exactly a Machine."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from conftest import Assemble

from isa.evaluate.exact import QC
from sim import Batch, MemoryFault, Trap, UnsupportedInstruction
from sim.machine.batch_group import GroupFrame, Members, TouchedRegisters
from sim.machine.batch_memory import BatchMemory
from sim.machine.batch_registers import BatchRegisters
from support.batches import CODE, DATA, PAGE, Together

MEMBERS = 8


def loaded(code: bytes, members: int = MEMBERS, permissions: str = "rx") -> Together:
    """A page of code and a page of data of its own for every member; x1 points to the data, the rest is random."""
    together, rng = Together(members), Random(1)
    together.map(CODE, PAGE, permissions)
    together.map(DATA, PAGE, "rw")
    together.write(CODE, code)
    together.write_each(DATA, [rng.randbytes(PAGE) for _ in range(members)])
    together.fill(rng)
    for machine in together.machines:
        machine.x[1] = DATA
    return together


def counts_down(assemble: Assemble) -> Together:
    """A loop that member n goes round n + 1 times, storing and counting in x2."""
    loop = assemble("str x0, [x1], #8", "add x2, x2, #1", "subs x0, x0, #1")
    together = loaded(loop + (0xB5FFFFA0).to_bytes(4, "little") + assemble("nop"))  # cbnz x0, to the start
    for number, machine in enumerate(together.machines):
        machine.x[0] = number + 1
    return together


def test_loops_of_different_lengths_do_what_machines_do(assemble: Assemble) -> None:
    together = counts_down(assemble)
    together.start(CODE)
    assert together.run(until=CODE + 20) == ""


def test_the_address_to_stop_at_has_64_bits_as_that_of_machines(assemble: Assemble) -> None:
    together = counts_down(assemble)
    together.start(CODE)
    assert together.run(until=CODE + 20 - 2**64) == ""


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many members each group had that was executed from here on."""
    found: list[int] = []

    def recording(
        registers: BatchRegisters, memory: BatchMemory, rows: Members, touched: TouchedRegisters
    ) -> GroupFrame:
        found.append(len(rows))
        return GroupFrame(registers, memory, rows, touched)

    monkeypatch.setattr("sim.machine.batch.GroupFrame", recording)
    return found


def test_members_that_parted_run_together_again(assemble: Assemble, sizes: list[int]) -> None:
    together = counts_down(assemble)
    together.start(CODE)
    together.batch.run(until=CODE + 20)
    assert (min(sizes), sizes[-1]) == (1, MEMBERS)


def test_run_returns_what_each_member_executed(assemble: Assemble) -> None:
    together = counts_down(assemble)
    together.start(CODE)
    executed = together.batch.run(until=CODE + 20)
    assert executed.tolist() == [4 * n + 1 for n in range(1, MEMBERS + 1)]


@pytest.mark.parametrize("most", [0, 1, 2, 3, 5, 9, 14])
def test_a_maximum_stops_every_member_where_machines_stop(assemble: Assemble, most: int) -> None:
    together = counts_down(assemble)
    together.start(CODE)
    assert together.run(until=CODE + 20, max_instructions=most) == ""


def test_a_run_goes_on_where_a_maximum_stopped_it(assemble: Assemble) -> None:
    together = counts_down(assemble)
    together.start(CODE)
    together.run(until=CODE + 20, max_instructions=7)
    assert together.run(until=CODE + 20) == ""


@pytest.mark.parametrize("text", ["ldr x0, [x1]", "str x0, [x1], #8", "ldp x2, x3, [x1], #0x10", "ldr xzr, [x1]"])
def test_members_that_fault_leave_the_others_alone(assemble: Assemble, text: str) -> None:
    together = loaded(assemble("add x0, x0, #1", text, "add x2, x2, #1", "nop"))
    for number, machine in enumerate(together.machines):
        machine.x[1] = (DATA + 8 * number, 0x100, DATA + PAGE - 4, 2**64 - 4)[number % 4]
    together.start(CODE)
    assert together.run(until=CODE + 16) == ""
    assert sorted(together.batch.faults) == [n for n in range(MEMBERS) if n % 4]


def test_a_fault_says_where_it_was_and_leaves_the_member_as_it_was(assemble: Assemble) -> None:
    together = loaded(assemble("nop", "str x0, [x1], #8"))
    together.machines[3].x[1] = 0x100
    together.start(CODE)
    together.batch.run(max_instructions=2)
    fault = together.batch.faults[3]
    assert (type(fault), fault.pc, fault.address, fault.size) == (MemoryFault, CODE + 4, 0x100, 8)
    assert (together.batch.pc[3], together.batch.x[1][3]) == (CODE + 4, 0x100)


def test_a_member_taken_out_of_faults_goes_on(assemble: Assemble) -> None:
    together = loaded(assemble("ldr x0, [x1]", "nop"))
    together.machines[2].x[1] = 0x100
    together.start(CODE)
    together.batch.run(until=CODE + 8)
    together.batch.x[1] = DATA
    del together.batch.faults[2]
    together.batch.run(until=CODE + 8)
    assert together.batch.pc.tolist() == [CODE + 8] * MEMBERS


@pytest.mark.parametrize(
    ("text", "kind"), [("svc #0", Trap), ("udf #0", Trap), ("sdot v0.4s, v1.16b, v2.16b", UnsupportedInstruction)]
)
def test_what_cannot_be_executed_stops_every_member(assemble: Assemble, text: str, kind: type[Exception]) -> None:
    batch = Batch(MEMBERS, features=())
    batch.memory.map(CODE, PAGE, "rx")
    batch.memory.write(CODE, assemble("nop", text))
    batch.pc = CODE
    batch.run()
    assert [type(batch.faults[n]) for n in range(MEMBERS)] == [kind] * MEMBERS
    assert batch.pc.tolist() == [CODE + 4] * MEMBERS


def test_leaving_the_code_is_a_fault_of_the_member_that_left(assemble: Assemble) -> None:
    together = loaded(assemble("ret"))
    for number, machine in enumerate(together.machines):
        machine.x[30] = CODE + 8 if number % 2 else 0x55550
    together.start(CODE)
    assert together.run(until=CODE + 8) == ""


def test_accesses_that_cross_into_another_region_are_those_of_machines(assemble: Assemble) -> None:
    together = loaded(assemble("ldr x0, [x1]", "str x0, [x1], #8"))
    together.map(DATA + PAGE, PAGE, "rw")
    for number, machine in enumerate(together.machines):
        machine.x[1] = DATA + PAGE - number
    together.start(CODE)
    assert together.run(max_instructions=2) == ""


def test_code_that_members_write_differently_runs_differently(assemble: Assemble) -> None:
    together = loaded(assemble("str w0, [x1]", "b #8", "nop", "nop", "nop"), permissions="rwx")
    for number, machine in enumerate(together.machines):
        machine.x[1] = CODE + 12
        machine.x[0] = int.from_bytes(assemble("add x0, x0, #1" if number % 2 else "add x2, x2, #1"), "little")
    together.start(CODE)
    assert together.run(until=CODE + 20) == ""


def test_qc_is_set_in_the_members_that_saturate_only(assemble: Assemble) -> None:
    together = loaded(assemble("sqadd v0.4s, v0.4s, v1.4s"))
    together.start(CODE)
    batch = together.batch
    batch.fpsr = 0
    batch.v[1] = 1
    batch.v[0] = np.array([[0x7FFFFFFF if n == 5 else n, 0, 0, 0] for n in range(MEMBERS)], np.int32)
    batch.run(max_instructions=1)
    assert batch.fpsr.tolist() == [QC if n == 5 else 0 for n in range(MEMBERS)]


def test_lanes_are_seen_as_any_type() -> None:
    batch = Batch(2)
    batch.v[3] = np.array([[1, -2, 3, -4], [5, 6, 7, 8]], np.int32)
    assert batch.v[3].view("<i4").tolist() == [[1, -2, 3, -4], [5, 6, 7, 8]]


def test_one_number_goes_into_every_member() -> None:
    batch = Batch(3)
    batch.v[0], batch.x[0], batch.sp, batch.nzcv = 1 << 127, -1, 16, 4
    assert batch.v[0][:, 15].tolist() == [0x80] * 3
    assert (batch.x[0].tolist(), batch.sp.tolist(), batch.nzcv.tolist()) == ([2**64 - 1] * 3, [16] * 3, [4] * 3)


def test_a_register_that_was_read_stays_as_it_was(assemble: Assemble) -> None:
    together = loaded(assemble("add x0, x0, #1"))
    together.start(CODE)
    before = together.batch.x[0]
    kept = before.tolist()
    together.batch.run(max_instructions=1)
    assert before.tolist() == kept


def test_a_register_is_written_by_setting_it_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Batch(2).v[0][0, 0] = 1


def test_memory_is_the_same_in_all_members_until_they_differ() -> None:
    batch = Batch(2)
    batch.memory.map(DATA, PAGE)
    batch.memory.write(DATA, b"abcd")
    batch.memory.write(DATA + 2, np.array([[1], [2]], np.uint8))
    assert [row.tobytes() for row in batch.memory.read(DATA, 4)] == [b"ab\x01d", b"ab\x02d"]


def test_a_register_is_taken_by_a_number_of_numpy_as_that_of_a_machine_is() -> None:
    batch = Batch(2)
    batch.x[np.int64(3)], batch.v[np.uint8(31)] = 7, 9
    assert [batch.x[3].tolist(), batch.v[31][:, 0].tolist()] == [[7, 7], [9, 9]]


WRONG: dict[str, tuple[Callable[[Batch], object], type[Exception], str]] = {
    "v": (lambda batch: batch.v.__setitem__(0, np.zeros((2, 4), np.int16)), ValueError, "3 rows of 16 bytes"),
    "x": (lambda batch: batch.x.__setitem__(0, np.zeros(4, np.int64)), ValueError, r"give \(3,\), or one number"),
    "x float": (lambda batch: batch.x.__setitem__(0, 1.5), TypeError, "an integer, not 1.5"),  # type: ignore[assignment]
    "x large": (lambda batch: batch.x.__setitem__(0, 1 << 64), ValueError, r"64 bits holds -2\^63 to 2\^64 - 1"),
    "pc large": (lambda batch: setattr(batch, "pc", np.array([0, 0, -(1 << 64)], object)), ValueError, "64 bits"),
    "memory text": (lambda batch: batch.memory.write(DATA, "a"), TypeError, "bytes or an array"),  # type: ignore[arg-type]
    "v32": (lambda batch: batch.v[32], IndexError, "there is no v32: v0 to v31"),
    "x31": (lambda batch: batch.x[31], IndexError, "there is no x31: x0 to x30"),
    "memory": (lambda batch: batch.memory.write(DATA, np.zeros((2, 4), np.uint8)), ValueError, r"or \(3, length\)"),
    "unmapped": (lambda batch: batch.memory.write(0, b"a"), MemoryFault, "is not mapped"),
    "region": (lambda batch: batch.memory.map(DATA, PAGE), ValueError, "overlaps"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_refused_with_what_would(name: str) -> None:
    act, kind, message = WRONG[name]
    batch = Batch(3)
    batch.memory.map(DATA, PAGE)
    with pytest.raises(kind, match=message):
        act(batch)


def test_a_batch_needs_a_member() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Batch(0)


@pytest.mark.parametrize("missing", ["fcma", "fp16"])
def test_half_precision_of_an_extension_needs_both_features(assemble: Assemble, missing: str) -> None:
    batch = Batch(1, features={"fcma", "fp16"} - {missing})
    batch.memory.map(CODE, PAGE, "rx")
    batch.memory.write(CODE, assemble("fcmla v0.4h, v1.4h, v2.h[0], #0"))
    batch.pc = CODE
    batch.run()
    assert f"lacks the feature '{missing}'" in str(batch.faults[0])


def test_an_unknown_feature_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown feature 'sve': the features are rdm"):
        Batch(1, features=("sve",))


@pytest.mark.parametrize("address", [CODE + 64, DATA + PAGE - 4, DATA + PAGE - 8])
@pytest.mark.parametrize("text", ["str x0, [x1], #8", "ldr x0, [x1]"])
def test_an_access_of_all_members_at_one_address_faults_where_machines_fault(
    assemble: Assemble, text: str, address: int
) -> None:
    together = loaded(assemble(text))
    for machine in together.machines:
        machine.x[1] = address
    together.start(CODE)
    assert together.run(max_instructions=1) == ""


def test_a_register_that_was_read_stays_as_it_was_when_some_members_run(assemble: Assemble) -> None:
    together = loaded(assemble("add x0, x0, #1"))
    together.start(CODE)
    together.batch.faults[0] = MemoryFault(0, 4, "left out")
    before = together.batch.x[0]
    kept = before.tolist()
    together.batch.run(max_instructions=1)
    assert before.tolist() == kept


def test_members_wait_where_others_come_to_meet_them(assemble: Assemble, sizes: list[int]) -> None:
    together = loaded(assemble("cbz x0, #8", "add x0, x0, #1", "add x2, x2, #1", "nop"))
    together.start(CODE)
    together.batch.x[0] = np.arange(MEMBERS) % 2
    together.batch.run(until=CODE + 16)
    assert sizes == [MEMBERS, MEMBERS // 2, MEMBERS]
