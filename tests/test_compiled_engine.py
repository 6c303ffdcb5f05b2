"""The compiled engine does what the interpreter does: `tests/long/long_compiled_engine.py` runs all of it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from struct import pack

import pytest

from isa.evaluate.floating.formats import FZ, IXC
from isa.rows import TABLE
from sim import Machine, MemoryFault, Trap
from sim.check.vectors import make_vectors
from sim.kernels.kernel import built_in_kernel
from sim.machine import host_compiler
from sim.machine.compiled.time_slice import TimeSlice
from sim.machine.machine import PATIENCE
from sim.toolchain import host, tools
from sim.toolchain.compilers import build
from sim.toolchain.host import engine_library
from sim.toolchain.tools import ToolMissing
from support.compiled_engine import Forms, KernelTwins, RandomCode, Twins, words_of
from support.engines import CODE, COUNT_DOWN, DATA, PAGE, Assemble, loaded

BUILDS = (("quantize_down", 0, "O2"), ("quantize_down", 1, "O0"), ("requantize", 0, "O3"))


def compiled(code: bytes, permissions: str = "rx") -> Machine:
    machine = Machine(engine="compiled")
    loaded(machine, code, permissions)
    return machine


@pytest.mark.slow
def test_a_form_does_what_the_interpreter_says() -> None:
    forms = Forms(words_of(step=40))
    assert forms.differences(states=8, floating=8) == []
    assert forms.compiled.instructions_compiled > 500


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "fpcr"), [(1, 0), (2, FZ | 1 << 22), (3, 3 << 22)])
def test_random_code_does_what_the_interpreter_says_with_faults(seed: int, fpcr: int) -> None:
    code = RandomCode(seed, 250, fpcr)
    assert code.differences(runs=4) == []
    assert code.compiled.instructions_compiled > 200


@pytest.mark.slow
@pytest.mark.parametrize(("name", "source", "level"), BUILDS)
def test_a_kernel_does_what_the_interpreter_says(name: str, source: int, level: str) -> None:
    kernel = built_in_kernel(name)
    twins = KernelTwins(build(kernel.sources[source], f"-{level}"), kernel)
    assert twins.differences([kernel.arguments(each) for each in make_vectors(kernel, 100, 1).inputs[-12:]]) == []
    executed, compiled_share = twins.compiled.instructions_executed, twins.compiled.instructions_compiled
    assert compiled_share > 0.9 * executed
    assert twins.compiled.forms == twins.interpreted.forms


PLANTED: tuple[tuple[str, str, str], ...] = (
    ("a saturation", "(int32_t)32767", "(int32_t)32766"),
    ("QC", "S->fpsr |= 134217728", "S->fpsr |= 0"),
    ("a flag", "<< 2 |", "<< 3 |"),
    ("what may be written", "region->writable", "region->readable"),
    ("the count of a block", "left -= 1)", "left -= 2)"),
    ("the count at a fault", "left += 1; goto leave", "left += 2; goto leave"),
    ("a guard of floating point", "applies &=", "applies |="),
)


@pytest.mark.parametrize(("what", "text", "other"), PLANTED, ids=[what for what, *_ in PLANTED])
def test_a_mistake_planted_in_the_c_is_found(
    what: str, text: str, other: str, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    def planted(key: str, whole: Callable[[], str]) -> Path:
        assert text in whole()
        return engine_library(key + what, lambda: whole().replace(text, other))

    monkeypatch.setattr(host_compiler, "compiler_handed_over", lambda: planted)
    names = ("sqxtn .4h,.4s", "sqadd h,h,h", "adds x,x,x", "str q,[x]", "ldr q,[x]", "fadd s,s,s", "fcmp s,s")
    forms = Forms({name: words_of(1)[name] for name in names})
    assert forms.differences(states=32, floating=200)


def test_without_a_compiler_the_interpreter_runs_and_says_so(
    monkeypatch: pytest.MonkeyPatch, assemble: Assemble
) -> None:
    def missing() -> list[str]:
        raise ToolMissing("no AArch64 compiler: the package ziglang is not installed")

    monkeypatch.setattr(host, "_host_clang", missing)
    monkeypatch.setattr("shutil.which", lambda name: None)
    machine = compiled(assemble("mov x0, #5", *COUNT_DOWN))
    assert (machine.run(until=CODE + 12), machine.x[0], machine.instructions_compiled) == (11, 0, 0)
    assert {reason for _, reason in machine.fallbacks} == {"no AArch64 compiler: the package ziglang is not installed"}


def test_the_engines_are_named() -> None:
    with pytest.raises(ValueError, match=r"unknown engine 'fast': the engines are automatic, interpreted, compiled"):
        Machine(engine="fast")  # type: ignore[arg-type]


def test_a_long_run_is_compiled_by_itself(assemble: Assemble) -> None:
    machine, rounds = Machine(), 0x10000
    loaded(machine, assemble(*COUNT_DOWN))
    machine.x[0] = rounds
    assert machine.run(until=CODE + 8) == 2 * rounds
    assert machine.instructions_compiled == 2 * rounds - PATIENCE


def test_code_that_was_compiled_is_told(assemble: Assemble) -> None:
    branch_over_one = (0x14000002).to_bytes(4, "little")
    machine = compiled(branch_over_one + assemble("nop", "mov x0, #5", "nop"))
    machine.run(until=CODE + 12)
    assert machine.instructions_compiled == 2
    assert sorted(machine.code) == [CODE, CODE + 8]


def test_a_patch_is_executed_whatever_the_engine(assemble: Assemble) -> None:
    machine = compiled(assemble("mov x0, #5", "nop"))
    machine.run(until=CODE + 8)
    machine.pc = CODE
    machine.patch({CODE: machine.instruction_at(CODE + 4)})
    machine.x[0] = 9
    assert (machine.run(until=CODE + 8), machine.x[0], machine.instructions_compiled) == (2, 9, 2)


def test_what_fell_back_is_counted_by_form_and_reason(assemble: Assemble) -> None:
    half, single = 0x1EE02820, 0x1E202820  # fadd h0, h1, h0; fadd s0, s1, s0
    machine = compiled(pack("<3I", half, single, 0xD503201F))
    machine.run(until=CODE + 12)
    assert machine.fallbacks == {
        ("fadd h,h,h", "floating point has no C yet: of the format f16"): 1,
        ("fadd s,s,s", "floating point that the host does otherwise in these modes or for these operands"): 1,
    }
    assert machine.instructions_compiled == 1


def test_floating_point_stays_compiled_once_inexact_is_noted() -> None:
    machine = compiled(pack("<2I", 0x1E202820, 0xD503201F))
    machine.fpsr, machine.v[0], machine.v[1] = IXC, 0x3F800000, 0x3F800000
    machine.run(until=CODE + 8)
    assert (machine.v[0], machine.fallbacks) == (0x40000000, {})


def test_code_that_a_program_writes_is_noticed_at_the_next_branch(assemble: Assemble) -> None:
    """The first run writes into its own block, which goes on as it was: what was written counts from the second on."""
    twins = Twins()
    for machine in twins.both:
        loaded(machine, assemble("str w0, [x1]", "str w0, [x1]", "b #8", "nop", "add x0, x0, #1", "nop"), "rwx")
    machine = twins.interpreted
    for target in (CODE + 4, CODE + 16, CODE + 16):
        machine.x[0], machine.x[1], machine.pc = 0x91000442, target, CODE  # add x2, x2, #1
        assert twins.difference(CODE + 20) == ""
    assert machine.x[2] == 4


def test_code_that_changes_again_and_again_is_interpreted_in_the_end(assemble: Assemble) -> None:
    machine = compiled(assemble("add x2, x2, #1", "nop"), "rwx")
    for number in range(40):
        machine.memory.write(CODE, pack("<I", 0x91000042 | number << 10))
        machine.pc = CODE
        machine.run(until=CODE + 4)
    assert machine.x[2] == sum(range(40))
    assert ("add x,x,#", "code that is new or has changed, again and again") in machine.fallbacks


def test_a_run_ends_inside_of_a_block_wherever_it_is_asked_to(assemble: Assemble) -> None:
    machine = compiled(assemble(*["add x0, x0, #1"] * 40))
    for end in range(1, 30):
        machine.pc, machine.x[0] = CODE, 0
        assert (machine.run(until=CODE + 4 * end), machine.x[0], machine.pc) == (end, end, CODE + 4 * end)


@pytest.mark.parametrize("most", [1, 2, 100, 20_001])
def test_a_run_ends_after_so_many_instructions(assemble: Assemble, most: int) -> None:
    machine = compiled(assemble(*COUNT_DOWN))
    machine.x[0] = 1 << 40
    assert (machine.run(max_instructions=most), machine.instructions_executed) == (most, most)
    assert machine.x[0] == (1 << 40) - (most + 1) // 2


def test_memory_that_is_mapped_later_is_reached(assemble: Assemble) -> None:
    machine = compiled(assemble("ldr x0, [x1]") + pack("<I", 0x17FFFFFF))  # b #-4
    machine.x[1] = DATA + PAGE
    with pytest.raises(MemoryFault):
        machine.run()
    machine.memory.map(DATA + PAGE, PAGE, "r")
    machine.memory.write(DATA + PAGE, b"\x07")
    assert (machine.run(max_instructions=9), machine.x[0]) == (9, 7)


def test_a_trap_ends_a_run_with_a_precise_state(assemble: Assemble) -> None:
    machine = compiled(assemble("add x2, x2, #1") + pack("<I", 0xD4200000))  # brk #0
    with pytest.raises(Trap):
        machine.run()
    assert (machine.pc, machine.x[2], machine.instructions_executed) == (CODE + 4, 1, 1)


def test_another_table_is_compiled_as_it_is(assemble: Assemble) -> None:
    table = TABLE.replacing("add x,x,#", lambda d, n, m: d.write(n.value + m.value + 1))
    machine = Machine(table=table, engine="compiled")
    loaded(machine, assemble("add x2, x2, #1", "nop"))
    machine.run(until=CODE + 8)
    assert (machine.x[2], machine.fallbacks) == (2, {})


def test_a_kept_unit_is_loaded_without_a_compiler(
    assemble: Assemble, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> Machine:
        machine = compiled(assemble("mov x0, #5", *COUNT_DOWN))
        machine.run(until=CODE + 12)
        return machine

    run()
    monkeypatch.setattr(tools, "executed", lambda *_: pytest.fail("a compiler ran"))
    assert run().fallbacks == {}


def test_a_damaged_unit_is_compiled_again(assemble: Assemble, cache: Path) -> None:
    code = assemble("mov x0, #5", *COUNT_DOWN)
    compiled(code).run(until=CODE + 12)
    (kept,) = cache.glob("*.so")
    kept.unlink()  # the loaded one stays as it is
    kept.write_bytes(b"nothing of an ELF file")
    machine = compiled(code)
    machine.run(until=CODE + 12)
    assert (machine.x[0], machine.fallbacks) == (0, {})


@pytest.mark.slow
def test_ctrl_c_ends_compiled_code() -> None:
    machine = compiled(pack("<I", 0x14000000))  # b #0
    machine.run(max_instructions=100_000_000)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            machine.run()
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("seconds", "size"), [(0.02, 500), (0.01, 1000), (0.005, 2000), (0.0001, 4000), (1.0, 400), (0.0025, 4000)]
)
def test_a_slice_is_fitted_to_the_time_it_took_and_grows_fourfold_at_most(seconds: float, size: int) -> None:
    fitted = TimeSlice(0.01, least=400, largest=10_000, size=1000)
    fitted.took(seconds)
    assert fitted.size == size


def test_a_slice_is_never_larger_than_the_largest() -> None:
    fitted = TimeSlice(0.01, least=400, largest=1500, size=1000)
    fitted.took(0.0001)
    assert fitted.size == 1500
