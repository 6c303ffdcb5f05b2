"""What Emulator has beyond Machine's interface.  What both promise is tested in test_machine.py."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType

import pytest

from isa.lane import Place
from isa.refusals import TRAPS
from sim import Emulator, Machine, MemoryFault, UnsupportedInstruction
from sim.machine.errors import Trap
from sim.machine.registers import RegisterStorage
from support.engines import CODE, FAR, PAGE, QC, Assemble, loaded

NOP, WFI, SMMLA = bytes.fromhex("1f2003d5"), bytes.fromhex("7f2003d5"), bytes.fromhex("20a4824e")
"""SMMLA v0.4s, v1.16b, v2.16b is undefined in every model of Unicorn 2.1.4."""
TRAP_WORDS = {
    "svc": 0xD4000001, "hvc": 0xD4000002, "smc": 0xD4000003, "brk": 0xD4200000, "hlt": 0xD4400000, "udf": 0,
    "dcps1": 0xD4A00001, "dcps2": 0xD4A00002, "dcps3": 0xD4A00003,
}  # fmt: skip
PLACES = [*(Place("v", i) for i in range(32)), *(Place("x", i) for i in range(31)), Place("sp")]


def random_registers(seed: int) -> RegisterStorage:
    rng, registers = Random(seed), RegisterStorage()
    registers.vectors[:] = rng.randbytes(512)
    registers.general[:] = [rng.getrandbits(64) for _ in range(32)]
    registers.flags[:] = [rng.getrandbits(4), QC, 1 << 22, 0, rng.getrandbits(64)]
    return registers


@pytest.fixture
def emulator() -> Emulator:
    return Emulator()


@pytest.mark.parametrize("seed", range(4))
def test_loaded_registers_are_returned(emulator: Emulator, seed: int) -> None:
    emulator.load_registers(random_registers(seed))
    assert vars(emulator.registers()) == vars(random_registers(seed))


@pytest.mark.parametrize("seed", range(4))
def test_loaded_registers_are_seen_one_by_one(emulator: Emulator, seed: int) -> None:
    registers = random_registers(seed)
    emulator.load_registers(registers)
    places = [*PLACES, Place("nzcv"), Place("fpsr"), Place("fpcr")]
    assert [emulator.read(place) for place in places] == [registers.read(place) for place in places]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_register_written_alone_is_the_only_one_to_change(emulator: Emulator, place: Place) -> None:
    emulator.load_registers(RegisterStorage())
    emulator.write(place, 77)
    expected = RegisterStorage()
    expected.write(place, 77)
    assert vars(emulator.registers()) == vars(expected)


def test_a_copy_of_the_registers_does_not_change_any_more(emulator: Emulator) -> None:
    copy = emulator.registers()
    emulator.x[3] = 1
    assert copy.general[3] == 0


def test_loading_registers_leaves_the_program_counter(emulator: Emulator) -> None:
    emulator.pc = CODE
    emulator.load_registers(random_registers(0))
    assert emulator.pc == CODE


def test_equal_registers_agree(emulator: Emulator) -> None:
    emulator.load_registers(random_registers(0))
    assert emulator.agrees(random_registers(0), 2**32 - 1, 2**32 - 1)


@pytest.mark.parametrize("place", [*PLACES, Place("nzcv"), Place("fpsr"), Place("fpcr")], ids=str)
def test_registers_that_differ_in_one_bit_do_not_agree(emulator: Emulator, place: Place) -> None:
    emulator.load_registers(random_registers(0))
    other = random_registers(0)
    other.write(place, other.read(place) ^ (1 if place.file != "fpsr" else QC))
    assert not emulator.agrees(other, QC, 1)


def test_status_bits_outside_of_the_mask_may_differ(emulator: Emulator) -> None:
    registers = random_registers(0)
    emulator.load_registers(registers)
    registers.flags[1] = registers.flags[2] = 0
    assert emulator.agrees(registers, 0x1F, 0x1F)


def test_each_instruction_is_announced_before_it_executes(emulator: Emulator, assemble: Assemble) -> None:
    loaded(emulator, assemble("cbz x0, #8", "nop", "add x0, x0, #1", "nop"))
    seen: list[tuple[int, int]] = []

    def note(address: int) -> bool:
        seen.append((address, emulator.x[0]))
        return True

    emulator.run(until=CODE + 16, before_each=note)
    assert seen == [(CODE, 0), (CODE + 8, 0), (CODE + 12, 1)]


def test_a_refused_instruction_is_not_executed(emulator: Emulator, assemble: Assemble) -> None:
    loaded(emulator, assemble(*["add x0, x0, #1"] * 4))
    executed = emulator.run(before_each=lambda address: address != CODE + 8)
    assert (executed, emulator.x[0], emulator.pc) == (2, 2, CODE + 8)


def test_a_listener_is_forgotten_after_its_run(emulator: Emulator, assemble: Assemble) -> None:
    loaded(emulator, assemble(*["nop"] * 4))
    emulator.run(before_each=lambda address: False)
    assert emulator.run(max_instructions=3) == 3


def test_a_store_of_the_program_is_seen_by_the_host(emulator: Emulator, assemble: Assemble) -> None:
    loaded(emulator, assemble("str x0, [x1]"), "rwx")
    emulator.x[0], emulator.x[1] = 0x0706050403020100, CODE + 64
    emulator.run(max_instructions=1)
    assert emulator.memory.read(CODE + 64, 8) == bytes(range(8))


def test_two_emulators_share_nothing(assemble: Assemble) -> None:
    one, other = Emulator(), Emulator()
    for each in (one, other):
        loaded(each, assemble("add x0, x0, #1"))
    one.run(max_instructions=1)
    assert (one.x[0], other.x[0], other.pc) == (1, 0, CODE)


def test_dot_product_is_emulated(emulator: Emulator, assemble: Assemble) -> None:
    loaded(emulator, assemble("sdot v0.4s, v1.16b, v2.16b"))
    emulator.v[1], emulator.v[2] = 0x02020202, 0x03030303
    emulator.run(max_instructions=1)
    assert emulator.v[0] == 4 * 2 * 3


def test_an_undefined_word_is_said_to_be_undefined(emulator: Emulator) -> None:
    loaded(emulator, SMMLA)
    with pytest.raises(UnsupportedInstruction, match=r"smmla .*undefined in the emulator"):
        emulator.run()


@pytest.mark.parametrize("mnemonic", sorted(TRAP_WORDS))
def test_an_instruction_that_traps_is_told_from_an_undefined_word(emulator: Emulator, mnemonic: str) -> None:
    loaded(emulator, NOP + TRAP_WORDS[mnemonic].to_bytes(4, "little"))
    with pytest.raises(Trap, match=mnemonic) as caught:
        emulator.run()
    assert (caught.value.pc, emulator.pc, emulator.instructions_executed) == (CODE + 4, CODE + 4, 1)


def test_the_traps_tried_here_are_all_there_are() -> None:
    assert set(TRAP_WORDS) == TRAPS


@pytest.mark.parametrize("mnemonic", sorted(TRAP_WORDS))
def test_a_trap_is_never_handed_over_as_undefined(emulator: Emulator, mnemonic: str) -> None:
    loaded(emulator, TRAP_WORDS[mnemonic].to_bytes(4, "little"))
    with pytest.raises(Trap):
        emulator.run(on_undefined=lambda pc: True)


def skipping(emulator: Emulator) -> Callable[[int], bool]:
    """A handler that executes an undefined instruction as one that sets x7 to its address."""

    def execute(pc: int) -> bool:
        emulator.x[7], emulator.pc = pc, pc + 4
        return True

    return execute


def test_an_undefined_instruction_can_be_executed_in_the_emulators_place(
    emulator: Emulator, assemble: Assemble
) -> None:
    loaded(emulator, SMMLA + assemble("add x0, x0, #1"))
    assert emulator.run(until=CODE + 8, on_undefined=skipping(emulator)) == 2
    assert (emulator.x[7], emulator.x[0]) == (CODE, 1)


def test_instructions_executed_in_the_emulators_place_count_towards_the_limit(emulator: Emulator) -> None:
    loaded(emulator, SMMLA * 8)
    assert emulator.run(max_instructions=3, on_undefined=skipping(emulator)) == 3
    assert emulator.pc == CODE + 12


def test_a_run_ends_where_an_instruction_executed_in_its_place_ends(emulator: Emulator) -> None:
    """Nothing is mapped behind the last instruction of the page."""
    loaded(emulator, SMMLA * (PAGE // 4))
    assert emulator.run(until=CODE + PAGE, on_undefined=skipping(emulator)) == PAGE // 4


def test_an_undefined_instruction_that_the_handler_refuses_is_unsupported(emulator: Emulator) -> None:
    loaded(emulator, SMMLA)
    with pytest.raises(UnsupportedInstruction, match="smmla"):
        emulator.run(on_undefined=lambda pc: False)


def test_a_handler_of_undefined_instructions_is_forgotten_after_its_run(emulator: Emulator) -> None:
    loaded(emulator, SMMLA * 2)
    emulator.run(max_instructions=1, on_undefined=skipping(emulator))
    with pytest.raises(UnsupportedInstruction):
        emulator.run(max_instructions=1)


def test_an_instruction_that_waits_for_an_interrupt_does_not_end_a_run(emulator: Emulator, assemble: Assemble) -> None:
    loaded(emulator, WFI + assemble("add x0, x0, #1"))
    assert emulator.run(until=CODE + 8) == 2
    assert emulator.x[0] == 1


def test_a_limit_is_kept_at_an_instruction_that_waits_for_an_interrupt(emulator: Emulator) -> None:
    loaded(emulator, WFI * 3)
    assert emulator.run(max_instructions=2) == 2
    assert emulator.pc == CODE + 8


def test_a_fault_of_one_run_does_not_end_the_next(emulator: Emulator, assemble: Assemble) -> None:
    loaded(emulator, assemble("ldr x0, [x1]", "nop", "nop"))
    emulator.x[1] = FAR
    with pytest.raises(MemoryFault):
        emulator.run()
    emulator.pc = CODE + 4
    assert emulator.run(max_instructions=2) == 2


def test_a_store_pair_across_the_end_faults_where_the_machine_does(assemble: Assemble) -> None:
    faults = []
    for engine in (Machine(), Emulator()):
        engine.memory.map(CODE, PAGE, "rwx")
        engine.memory.write(CODE, assemble("stp x2, x3, [x1]"))
        engine.pc, engine.x[1] = CODE, CODE + PAGE - 8
        with pytest.raises(MemoryFault) as caught:
            engine.run(max_instructions=1)
        faults.append(caught.value.pc)
    assert faults == [CODE, CODE]


def test_a_host_store_of_the_machine_type_is_refused_alike(emulator: Emulator) -> None:
    emulator.memory.map(CODE, PAGE, "r")
    with pytest.raises(MemoryFault):
        emulator.memory.store(CODE, b"lane")


def test_a_step_of_an_instruction_that_the_table_lacks_executes_nothing(emulator: Emulator) -> None:
    emulator.memory.map(CODE, PAGE, "rx")
    emulator.memory.write(CODE, 0x04220020.to_bytes(4, "little"))  # add z0.b, z1.b, z2.b
    emulator.pc = CODE
    with pytest.raises(UnsupportedInstruction, match="SVE"):
        emulator.step()
    assert (emulator.pc, emulator.instructions_executed) == (CODE, 0)


def test_an_odd_program_counter_is_a_fault(emulator: Emulator) -> None:
    emulator.pc = 0x10002
    with pytest.raises(MemoryFault, match="not a multiple of 4"):
        emulator.run(max_instructions=1)


FATAL = [0x4ED72CE5, 0x5EF94A31, 0x0E482C83, 0x0E78087B, 0x2EF8A80F, 0x6E580C2F, 0x6EDE0F51]
"""Words that end the process of Unicorn 2.1.4 when it translates them, executed or not."""


@pytest.mark.parametrize("word", FATAL)
def test_a_word_that_unicorn_does_not_survive_is_refused_when_it_is_reached(emulator: Emulator, word: int) -> None:
    loaded(emulator, NOP + NOP + word.to_bytes(4, "little") + NOP)
    with pytest.raises(UnsupportedInstruction) as caught:
        emulator.run(until=CODE + 16)
    assert (caught.value.pc, emulator.instructions_executed) == (CODE + 8, 2)


def test_a_word_that_unicorn_does_not_survive_is_no_matter_before_it_is_reached(emulator: Emulator) -> None:
    loaded(emulator, NOP + FATAL[0].to_bytes(4, "little"))
    assert emulator.run(max_instructions=1) == 1


def test_a_misaligned_exclusive_access_is_named(emulator: Emulator) -> None:
    loaded(emulator, bytes.fromhex("207c5fc8"))  # ldxr x0, [x1]
    emulator.x[1] += 1
    with pytest.raises(UnsupportedInstruction, match="a multiple of its size"):
        emulator.run(max_instructions=1)


SWALLOWED = [("wrapper", "call", 3), ("wrapper", "return", 3), ("_on_instruction", "call", 3), ("before", "return", 3)]
"""Where something is raised in a callback: function, event, how often it is met before."""


@contextmanager
def raised_in(error: type[BaseException], function: str, event: str, count: int) -> Iterator[None]:
    """Raise at an event of a function that the emulator calls back, such as "wrapper", Unicorn's own."""
    left = count

    def profile(frame: FrameType, what: str, _: object) -> None:
        nonlocal left
        left -= (frame.f_code.co_name, what) == (function, event)
        if not left:
            raise error

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("place", SWALLOWED, ids=str)
def test_what_is_raised_around_a_callback_ends_the_run(
    emulator: Emulator, error: type[BaseException], place: tuple[str, str, int]
) -> None:
    def before(_: int) -> bool:
        return True

    loaded(emulator, NOP * 8)
    hook = sys.unraisablehook
    with raised_in(error, *place), pytest.raises(error):
        emulator.run(max_instructions=8, before_each=before)
    assert (emulator.instructions_executed < 4, sys.unraisablehook) == (True, hook)


@pytest.mark.parametrize("place", [("wrapper", "call", 2), ("_on_invalid_access", "call", 1)], ids=str)
def test_what_is_raised_around_a_callback_is_not_lost_in_a_fault(
    emulator: Emulator, assemble: Assemble, place: tuple[str, str, int]
) -> None:
    loaded(emulator, assemble("ldr x0, [x1]"))
    emulator.x[1] = FAR
    with raised_in(KeyboardInterrupt, *place), pytest.raises(KeyboardInterrupt):
        emulator.run(max_instructions=1)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process")
def test_several_emulators_fit_into_little_memory() -> None:
    """Unicorn would reserve 1 GiB for each, and end the process where it cannot."""
    program = (
        "import resource, sim; [sim.Emulator() for _ in range(2)]; resource.setrlimit(resource.RLIMIT_DATA, ({0}, {0}))"
    )
    program += "; print(len([sim.Emulator() for _ in range(8)]))"
    done = subprocess.run(
        [sys.executable, "-c", program.format(900 << 20)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "8\n", "")


def test_code_beyond_what_is_kept_translated_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 MiB, the least that Unicorn takes, is full after some 15,000 instructions: they are here 50,000, twice."""
    monkeypatch.setattr("sim.emulator._TRANSLATED", 1 << 20)
    count, start = 50_000, 0x100000
    emulator = Emulator()
    emulator.memory.map(start, 64 * PAGE, "rx")
    emulator.memory.write(start, bytes.fromhex("00040091") * count)  # add x0, x0, #1
    for _ in range(2):
        emulator.pc = start
        emulator.run(until=start + 4 * count)
    assert emulator.x[0] == 2 * count
