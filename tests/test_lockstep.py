"""Lockstep: machine and emulator agree on whole kernels, and single planted faults in semantics are named exactly."""

from __future__ import annotations

from functools import cache, partial
from typing import NamedTuple

import pytest

from isa.decode import decode
from isa.evaluate.exact import QC
from isa.instruction import FEATURES
from isa.lane import Int, Lane, Write, constant, load, maximum, minimum, read
from isa.operands import Address, Scalar
from isa.rows import TABLE
from isa.semantics import arithmetic, bitwise, compare, memory, multiply, narrow, permute, shift
from isa.semantics.base import branch
from isa.semantics.base import integer as base_integer
from isa.semantics.elementwise import SIGNED, UNSIGNED, Body, Writes, each, each_accumulating
from isa.table import Table
from sim import Emulator, Machine, MemoryFault, UnsupportedInstruction
from sim.call import lockstep as genuine
from sim.call.call import CompiledKernel
from sim.call.lockstep import Divergence, Lockstep
from sim.check.check import Job, check_job
from sim.check.vectors import Vectors, make_vectors
from sim.kernels.quantize_down import KERNEL
from sim.machine.errors import Trap
from sim.toolchain.compilers import build
from support.lockstep_pairs import DATA, prepared
from support.sampled import sampled

KERNEL_C, KERNEL_PLAIN = KERNEL.sources
CODE = 0x10000


def clamp_without_qc(to: Int, a: Lane) -> Lane:
    return to.wrap(minimum(maximum(a, to.low), to.high))


def without_last_write(body: Body) -> Body:
    def mutated(*operands: object) -> Writes:
        return body(*operands)[:-1]

    return mutated


def operands_swapped(body: Body) -> Body:
    def mutated(first: object, second: object, *rest: object) -> Writes:
        return body(second, first, *rest)

    return mutated


def sources_swapped(body: Body) -> Body:
    def mutated(d: object, n: object, m: object, *rest: object) -> Writes:
        return body(d, m, n, *rest)

    return mutated


def lanes_reversed(body: Body) -> Body:
    def mutated(*operands: object) -> Writes:
        return tuple(write._replace(lanes=list(reversed(write.lanes))) for write in body(*operands))

    return mutated


def store_reversed(s: Scalar, address: Address) -> Writes:
    return (Write(address.memory(16), 8, list(reversed(Int(8, False).lanes(read(s.place), 16)))),)


def body_of(name: str) -> Body:
    return TABLE.named[name].body


class Mutant(NamedTuple):
    """A form of the table that does something slightly else, and the build that executes it."""

    form: str
    change: str
    body: Body
    source: str = "kernel.c"
    level: str = "O2"


def mutant(form: str, change: str, body: Body, source: str = "kernel.c", level: str = "O2") -> Mutant:
    return Mutant(form, change, body, source, level)


PLAIN = "kernel_plain.c"
MUTANTS = (
    mutant("sqrdmulh .4s,.4s,.s[i]", "does not round", each(SIGNED, multiply.doubling_multiply_high)),
    mutant("sqrdmulh .4s,.4s,.s[i]", "wraps", each(SIGNED, lambda to, a, b: to.wrap((a * b + (1 << 30)) >> 31))),
    mutant("srshl .4s,.4s,.4s", "does not round", each(SIGNED, shift.shift_by_register)),
    mutant("sqadd .4s,.4s,.4s", "subtracts", each(SIGNED, arithmetic.saturating_subtract)),
    mutant("sqxtn .4h,.4s", "clamps without QC", each(SIGNED, clamp_without_qc)),
    mutant("sqxtn .4h,.4s", "wraps", each(SIGNED, bitwise.copy)),
    mutant("sqxtn2 .8h,.4s", "saturates as unsigned", each(UNSIGNED, narrow.saturate, of=SIGNED)),
    mutant("sqxtun .8b,.8h", "saturates as signed", each(SIGNED, narrow.saturate)),
    mutant("sqxtun2 .16b,.8h", "wraps", each(UNSIGNED, bitwise.copy)),
    mutant("smax .4s,.4s,.4s", "takes the smaller", each(SIGNED, arithmetic.smaller)),
    mutant("umin .16b,.16b,.16b", "is signed", each(SIGNED, arithmetic.smaller)),
    mutant("add .4s,.4s,.4s", "saturates", each(SIGNED, lambda to, a, b: to.wrap(minimum(a + b, to.high)))),
    mutant("and .16b,.16b,.16b", "ors", each(UNSIGNED, bitwise.bitwise_or)),
    mutant("dup .4s,w", "is off by one", each(UNSIGNED, lambda to, a: to.wrap(a + 1))),
    mutant("cmlt .4s,.4s,#", "includes equality", each(SIGNED, compare.less_or_equal)),
    mutant("ldp q,q,[x,#]", "swaps its registers", operands_swapped(body_of("ldp q,q,[x,#]")), level="O1"),
    mutant("str q,[x,x]", "stores reversed lanes", store_reversed),
    mutant("ldr w,[x],# post", "does not move its base", without_last_write(memory.load_register)),
    mutant("strb w,[x],# post", "does not move its base", without_last_write(memory.store_part(Int(8, False)))),
    mutant("subs x,x,#", "leaves the flags", without_last_write(base_integer.subtract_setting_flags)),
    mutant("b.cond cond,#", "falls through", lambda condition, target: branch.nothing()),
    mutant("cmp w,w", "swaps its operands", operands_swapped(base_integer.compare)),
    mutant("csel w,w,w,cond", "swaps its sources", sources_swapped(body_of("csel w,w,w,cond")), PLAIN, "O1"),
    mutant("asr w,w,w", "shifts in zeros", base_integer.shift_right),
    mutant("bic w,w,w asr", "ands", base_integer.logical(bitwise.bitwise_and)),
    mutant("add x,x,#", "is off by one", lambda d, n, m: d.write(n.value + m.value + 1)),
    mutant("smull .2d,.2s,.2s", "is unsigned", each(UNSIGNED, multiply.multiply), PLAIN),
    mutant("rshrn .2s,.2d,#", "does not round", each(UNSIGNED, shift.shift_right), PLAIN),
    mutant("usra .4s,.4s,#", "does not accumulate", each(UNSIGNED, shift.shift_right), PLAIN),
    mutant("bsl .16b,.16b,.16b", "swaps its sources", each_accumulating(
        UNSIGNED, lambda to, mask, a, b: bitwise.choose(to, mask, b, a)), PLAIN),
    mutant("uzp1 .8h,.8h,.8h", "swaps its sources", sources_swapped(permute.uzp1), PLAIN),
    mutant("tbl .16b,{4}.16b,.16b", "reverses its lanes", lanes_reversed(permute.table_lookup), PLAIN),
)  # fmt: skip


@cache
def vectors() -> Vectors:
    return make_vectors(KERNEL, 300, seed=1)


@cache
def divergence_of(planted: Mutant) -> Divergence:
    """The first divergence of a build from the emulator when one form of the table is changed."""
    source = KERNEL_C if planted.source == "kernel.c" else KERNEL_PLAIN
    table = TABLE.replacing(planted.form, planted.body)
    compiled = CompiledKernel(build(source, f"-{planted.level}"), KERNEL, table)
    for number, inputs in enumerate(vectors().inputs):
        result = compiled.call(KERNEL.arguments(inputs), seed=number)
        if result.divergence is not None:
            return result.divergence
    raise AssertionError(f"nobody noticed that {planted.form} {planted.change}")


@pytest.mark.parametrize("planted", MUTANTS, ids=lambda planted: f"{planted.form} {planted.change}")
def test_lockstep_names_the_very_instruction_whose_semantics_are_wrong(planted: Mutant) -> None:
    found = divergence_of(planted)
    assert found.form == planted.form


def test_a_divergence_names_the_address_of_the_instruction() -> None:
    found = divergence_of(MUTANTS[0])
    image = build(KERNEL_C, f"-{MUTANTS[0].level}")
    (word,) = (s.data[found.pc - s.address :][:4] for s in image.segments if "x" in s.permissions)
    assert decode(word, found.pc).text == found.disassembly


ELSEWHERE = [
    MUTANTS[0],
    *(m for m in MUTANTS if m.change == "clamps without QC" or m.form in ("b.cond cond,#", "str q,[x,x]")),
]
"""One that is seen in each of a vector register, FPSR, the program counter and memory."""


@pytest.mark.parametrize("planted", ELSEWHERE, ids=lambda planted: f"{planted.form} {planted.change}")
def test_a_check_stops_at_a_divergence_and_says_nothing_else(planted: Mutant) -> None:
    source = KERNEL_C if planted.source == "kernel.c" else KERNEL_PLAIN
    table = TABLE.replacing(planted.form, planted.body)
    outcome = check_job(KERNEL, Job(source, (f"-{planted.level}",)), vectors(), lambda _: None, table)
    assert outcome.failure == outcome.divergence
    assert "diverges" in outcome.failure


def test_a_divergence_names_register_lane_and_both_values() -> None:
    found = divergence_of(MUTANTS[0])
    assert found.where.startswith("v")
    assert found.lane in range(4)
    assert int(found.emulator, 16) - int(found.machine, 16) == 1


def test_a_divergence_names_its_source_line() -> None:
    assert divergence_of(MUTANTS[0]).source.removeprefix("near ").startswith("kernel.c:")


def test_a_divergence_names_the_inputs_of_the_instruction() -> None:
    found = divergence_of(next(m for m in MUTANTS if m.form == "sqxtn .4h,.4s" and m.change == "wraps"))
    (vector,) = (item.value for item in found.inputs)
    lane = Int(32, True).wrapped(vector >> 32 * (found.lane or 0))
    assert int(found.emulator, 16) == min(max(lane, -(2**15)), 2**15 - 1) % 2**16


def test_missing_qc_is_noticed_at_the_instruction_that_saturates() -> None:
    assert divergence_of(next(m for m in MUTANTS if m.change == "clamps without QC")).where == "fpsr"


def test_a_wrong_branch_is_noticed_as_a_wrong_program_counter() -> None:
    assert divergence_of(next(m for m in MUTANTS if m.form == "b.cond cond,#")).where == "pc"


def test_a_wrong_store_is_noticed_at_its_memory_byte() -> None:
    assert divergence_of(next(m for m in MUTANTS if m.form == "str q,[x,x]")).where.startswith("memory byte")


def pair(words: list[int], table: Table = TABLE, features: tuple[str, ...] = FEATURES) -> Lockstep:
    machine, emulator = Machine(features, table), Emulator()
    for engine in (machine, emulator):
        engine.memory.map(CODE, 0x1000, "rx")
        engine.memory.write(CODE, b"".join(word.to_bytes(4, "little") for word in words))
    machine.pc = CODE
    return Lockstep(machine, emulator)


NOP, LDR_Q0_X0, SVE_ADD = 0xD503201F, 0x3DC00000, 0x04200001
BR_X0, SQADD_V0_V0_V0, MRS_X3_FPSR = 0xD61F0000, 0x4EA00C00, 0xD53B4423
SMMLA_V0_V1_V2, SVC, BRK, HLT, UDF = 0x4E82A420, 0xD4000001, 0xD4200000, 0xD4400000, 0
LDSMAXH_W2_W3_X1 = 0x78224023
STR_Q0_X0, B_8 = 0x3D800000, 0x14000002


def test_a_fault_that_both_raise_is_raised() -> None:
    with pytest.raises(MemoryFault, match=r"ldr q0, \[x0\]"):
        pair([NOP, LDR_Q0_X0]).run(CODE + 8, 10)


def test_an_instruction_that_neither_has_is_raised_as_unsupported() -> None:
    with pytest.raises(UnsupportedInstruction, match="add z1"):
        pair([NOP, SVE_ADD]).run(CODE + 8, 10)


@pytest.mark.parametrize("word", [SVC, BRK, HLT, UDF])
def test_a_trap_of_both_is_raised(word: int) -> None:
    with pytest.raises(Trap) as caught:
        pair([NOP, word]).run(CODE + 8, 10)
    assert caught.value.pc == CODE + 4


def test_a_trap_of_the_emulator_alone_is_a_divergence() -> None:
    lockstep = pair([NOP, NOP])
    lockstep.emulator.memory.write(CODE + 4, SVC.to_bytes(4, "little"))
    found = lockstep.run(CODE + 8, 10)
    assert found is not None
    assert (found.where, found.machine, found.pc) == ("fault", "no fault", CODE + 4)


def test_a_trap_of_the_machine_alone_is_a_divergence() -> None:
    lockstep = pair([NOP, SVC])
    lockstep.emulator.memory.write(CODE + 4, NOP.to_bytes(4, "little"))
    found = lockstep.run(CODE + 8, 10)
    assert found is not None
    assert (found.where, found.emulator, found.pc) == ("fault", "no fault", CODE + 4)


def test_the_address_to_stop_at_is_one_of_64_bits() -> None:
    lockstep = pair([NOP, NOP, NOP])
    assert lockstep.run(CODE + 8 - 2**64, 3) is None
    assert (lockstep.machine.pc, lockstep.machine.instructions_executed) == (CODE + 8, 2)


def test_the_address_to_stop_at_may_be_a_high_one() -> None:
    high = 2**64 - 0x2000
    machine, emulator = Machine(), Emulator()
    for engine in (machine, emulator):
        engine.memory.map(high, 0x1000, "rx")
        engine.memory.write(high, NOP.to_bytes(4, "little") * 4)
    machine.pc = high
    assert Lockstep(machine, emulator).run(high + 8, 4) is None
    assert machine.instructions_executed == 2


STP_X1_X2_X0, STR_X1_X3 = 0xA9000801, 0xF9000061


def test_what_the_emulator_stored_before_a_fault_is_none_of_the_next_run() -> None:
    """Half of a pair lies behind the end of memory."""
    lockstep = pair([STP_X1_X2_X0, STR_X1_X3, NOP])
    for engine in (lockstep.machine, lockstep.emulator):
        engine.memory.map(0x4000, 0x1000)
    lockstep.machine.x[0], lockstep.machine.x[1], lockstep.machine.x[3] = 0x4FF8, 7, 0x4100
    with pytest.raises(MemoryFault):
        lockstep.run(CODE + 4, 1)
    lockstep.machine.pc = CODE + 4
    assert lockstep.run(CODE + 12, 2) is None
    assert lockstep.machine.memory.read(0x4100, 1) == b"\7"


MOV_V0_S2_W4, MOV_V0_S2_W5, LDP_X6_X7_X1, LDP_X6_X8_X1 = 0x4E141C80, 0x4E141CA0, 0xA9401C26, 0xA9402026
LDP_X7_X6_X1 = 0xA9401827
LANES = 0x44444444_33333333_22222222_11111111


@pytest.mark.parametrize(
    ("mine", "theirs", "where", "lane", "values"),
    [
        (MOV_V0_S2_W4, MOV_V0_S2_W5, "v0", 2, ("0x5", "0x0")),
        (MOV_V0_S2_W4, NOP, "v0", 2, ("0x5", "0x33333333")),
        (LDP_X6_X7_X1, LDP_X6_X8_X1, "x7", None, ("0x9", "0x7")),
        (NOP, LDP_X6_X8_X1, "x6", None, ("0x6", "0x9")),
        (LDP_X7_X6_X1, NOP, "x7", None, ("0x9", "0x7")),  # the first that it writes
    ],
)
def test_the_register_and_lane_that_alone_differ_are_named(
    mine: int, theirs: int, where: str, lane: int | None, values: tuple[str, str]
) -> None:
    lockstep = prepared(genuine, [NOP, mine, NOP], [NOP, theirs, NOP], x5=0, x6=6, x7=7, x8=8)
    lockstep.machine.v[0] = LANES
    for engine in (lockstep.machine, lockstep.emulator):
        engine.memory.write(DATA, (9).to_bytes(8, "little") * 2)
    found = lockstep.run(CODE + 12, 3)
    assert found is not None
    assert (found.index, found.where, found.lane, (found.machine, found.emulator)) == (1, where, lane, values)
    assert found.source == "no source line"


def test_the_emulator_gets_the_result_of_an_instruction_that_it_lacks() -> None:
    lockstep = pair([SMMLA_V0_V1_V2, NOP])
    lockstep.machine.v[1] = lockstep.machine.v[2] = 0x0201
    assert lockstep.run(CODE + 8, 10) is None
    assert lockstep.emulator.v[0] == 1 * 1 + 2 * 2


def test_an_instruction_that_the_emulator_lacks_is_counted_by_form() -> None:
    lockstep = pair([SMMLA_V0_V1_V2, NOP, SMMLA_V0_V1_V2])
    assert lockstep.run(CODE + 12, 10) is None
    assert lockstep.unverified == {"smmla .4s,.16b,.16b": 2}


def test_the_instruction_after_one_that_the_emulator_lacks_is_compared() -> None:
    """SQADD saturates only if it sees what SMMLA computed; without QC it is wrong."""
    table = TABLE.replacing("sqadd .4s,.4s,.4s", each(SIGNED, lambda to, a, b: to.wrap(a + b)))
    lockstep = pair([SMMLA_V0_V1_V2, SQADD_V0_V0_V0], table)
    lockstep.machine.v[0], lockstep.machine.v[1], lockstep.machine.v[2] = 2**30 - 1, 1, 1
    found = lockstep.run(CODE + 8, 10)
    assert found is not None
    assert (found.pc, lockstep.unverified.total()) == (CODE + 4, 1)


def test_an_instruction_that_the_emulator_lacks_and_the_machine_may_not_execute_is_unsupported() -> None:
    lockstep = pair([SMMLA_V0_V1_V2], features=("rdm",))
    with pytest.raises(UnsupportedInstruction, match="lacks the feature 'i8mm'"):
        lockstep.run(CODE + 4, 10)


def with_word_of_data(word: int) -> Lockstep:
    """LDSMAXH W2, W3, [X1] where memory holds -1 and W2 a word; then NOP."""
    lockstep = pair([LDSMAXH_W2_W3_X1, NOP])
    for engine in (lockstep.machine, lockstep.emulator):
        engine.memory.map(0x4000, 0x1000)
        engine.memory.write(0x4000, b"\xff\xff")
    lockstep.machine.x[1], lockstep.machine.x[2] = 0x4000, word
    return lockstep


def test_the_emulator_gets_the_result_of_an_instruction_that_it_is_known_to_get_wrong() -> None:
    lockstep = with_word_of_data(1)
    assert lockstep.run(CODE + 8, 10) is None
    assert lockstep.emulator.memory.read(0x4000, 2) == b"\x01\x00"


def test_an_instruction_that_the_emulator_is_known_to_get_wrong_is_counted_by_form() -> None:
    lockstep = with_word_of_data(1)
    assert lockstep.run(CODE + 8, 10) is None
    assert lockstep.unverified == {"ldsmaxh w,w,[x]": 1}


def test_a_store_that_only_the_machine_executes_reaches_the_emulators_memory() -> None:
    """The emulator has SMMLA's word where the machine stores."""
    lockstep = pair([STR_Q0_X0, NOP])
    lockstep.emulator.memory.write(CODE, SMMLA_V0_V1_V2.to_bytes(4, "little"))
    for engine in (lockstep.machine, lockstep.emulator):
        engine.memory.map(0x4000, 0x1000)
    lockstep.machine.x[0], lockstep.machine.v[0] = 0x4000, 0x1234
    assert lockstep.run(CODE + 8, 10) is None
    assert lockstep.emulator.memory.read(0x4000, 2) == b"\x34\x12"


def test_a_branch_that_only_the_machine_executes_is_followed_by_the_emulator() -> None:
    """The emulator has SMMLA's word where the machine branches."""
    lockstep = pair([B_8, SVC, NOP])
    lockstep.emulator.memory.write(CODE, SMMLA_V0_V1_V2.to_bytes(4, "little"))
    assert lockstep.run(CODE + 12, 10) is None
    assert lockstep.emulator.pc == CODE + 12


def test_an_instruction_that_only_the_emulator_has_is_raised_as_unsupported() -> None:
    without_nop = Table(form for form in TABLE.forms.values() if form.name != "nop")
    with pytest.raises(UnsupportedInstruction, match="nop"):
        pair([NOP, NOP], without_nop).run(CODE + 8, 10)


def test_a_jump_to_nowhere_is_a_fault_of_both() -> None:
    lockstep = pair([BR_X0])
    lockstep.machine.x[0] = 0x5000
    with pytest.raises(MemoryFault, match="cannot execute 4 bytes at 0x5000"):
        lockstep.run(CODE + 4, 10)


def test_instructions_that_saturate_are_counted_each_time() -> None:
    lockstep = pair([SQADD_V0_V0_V0] * 3)
    lockstep.machine.v[0] = 0x4000_0000
    assert lockstep.run(CODE + 12, 10) is None
    assert (lockstep.qc_events, lockstep.machine.fpsr) == (3, QC)


def test_an_instruction_that_reads_fpsr_sees_the_sticky_qc() -> None:
    lockstep = pair([SQADD_V0_V0_V0, MRS_X3_FPSR])
    lockstep.machine.v[0] = 0x4000_0000
    assert lockstep.run(CODE + 8, 10) is None
    assert lockstep.machine.x[3] == QC


def with_load(body: Body) -> Lockstep:
    """LDR Q0, [X0] of mapped memory, where the machine's load does something else."""
    lockstep = pair([LDR_Q0_X0], TABLE.replacing("ldr q,[x]", body))
    for engine in (lockstep.machine, lockstep.emulator):
        engine.memory.map(0, 0x1000)
    lockstep.machine.x[0] = 0
    return lockstep


def test_a_fault_of_the_machine_alone_is_a_divergence() -> None:
    found = with_load(lambda d, a: d.write([load(constant(0x8000), 16)])).run(CODE + 4, 10)
    assert found is not None
    assert (found.where, found.emulator, found.form) == ("fault", "no fault", "ldr q,[x]")


def test_a_fault_of_the_emulator_alone_is_a_divergence() -> None:
    lockstep = with_load(branch.nothing)
    lockstep.machine.x[0] = 0x8000
    found = lockstep.run(CODE + 4, 10)
    assert found is not None
    assert (found.where, found.machine, found.inputs) == ("fault", "no fault", ())


def test_memories_that_are_mapped_differently_are_refused() -> None:
    lockstep = pair([NOP])
    lockstep.machine.memory.map(0, 0x1000)
    with pytest.raises(ValueError, match="same regions"):
        lockstep.run(CODE + 4, 10)


def test_what_was_executed_before_a_run_is_not_compared_in_it() -> None:
    lockstep = pair([STR_Q0_X0, SVC])
    lockstep.machine.x[0], lockstep.machine.v[0] = 0x8000, 1
    for engine in (lockstep.machine, lockstep.emulator):
        engine.memory.map(0x8000, 0x1000)
    with pytest.raises(Trap):
        lockstep.run(CODE + 8, 10)
    for engine in (lockstep.machine, lockstep.emulator):
        engine.memory.write(0x8000, bytes(16))
    assert lockstep.run(CODE + 4, 10) is None  # it is there


def test_the_limit_stops_without_a_divergence() -> None:
    lockstep = pair([NOP] * 10)
    assert lockstep.run(CODE + 40, 4) is None
    assert lockstep.machine.pc == CODE + 16


@pytest.mark.slow
@pytest.mark.parametrize("level", sampled(["O0", "O1", "O2", "O3", "Os", "Oz"], 3))
@pytest.mark.parametrize("source", KERNEL.sources, ids=lambda source: source.stem)
def test_machine_emulator_and_golden_agree_on_every_build(source: object, level: str) -> None:
    (job,) = (Job(path, (f"-{level}",)) for path in KERNEL.sources if path == source)
    outcome = check_job(KERNEL, job, vectors(), partial(max, 0))
    assert outcome.failure == ""
    assert outcome.lanes_compared == 2 * vectors().count


@pytest.mark.slow
def test_the_builds_have_at_least_ten_different_codes() -> None:
    levels = ("O0", "O1", "O2", "O3", "Os", "Oz")
    codes = {build(source, f"-{level}").code_of(KERNEL.symbol) for source in KERNEL.sources for level in levels}
    assert len(codes) >= 10


def test_a_load_across_the_end_of_the_address_space_is_one_fault_to_both() -> None:
    machine, emulator = Machine(), Emulator()
    for engine in (machine, emulator):
        engine.memory.map(CODE, 0x1000, "rx")
        engine.memory.write(CODE, bytes.fromhex("200040f9"))  # ldr x0, [x1]
        engine.memory.map(2**64 - 0x1000, 0x1000, "rw")
        engine.pc, engine.x[1] = CODE, 2**64 - 4
    with pytest.raises(MemoryFault, match="0xfffffffffffffffc"):
        Lockstep(machine, emulator).run(CODE + 4, 1)
