"""A machine followed in native code does what it does in Python: state, faults, and where branches led."""

from __future__ import annotations

import signal
from array import array
from collections.abc import Callable

import pytest

from sim import Machine
from sim.call.caller import RETURN_ADDRESS, Call, Caller
from sim.call.guards.undefined_bytes import SeededBytes
from sim.call.native.follower import Follower
from sim.check.vectors import make_vectors
from sim.kernels.kernel import built_in_kernel
from sim.machine.errors import ExecutionError
from sim.toolchain import host
from sim.toolchain.compilers import build
from sim.toolchain.tools import ToolMissing
from support.lockstep_pairs import CODE, DATA, NO_COMPILER, NOP, NOWHERE, STR_X4_X1
from support.small_machines import machine_with

BUILDS = (("quantize_down", 0, "O2"), ("quantize_down", 1, "O0"), ("requantize", 0, "O3"))
SUBS_X0_X0_1, B_NE_BACK, B_SELF, B_NEXT = 0xF1000400, 0x54FFFFE1, 0x14000000, 0x14000001
LDR_X3_X1, FADD_H0_H1_H0, SMMLA, STR_W4_X1 = 0xF9400023, 0x1EE02820, 0x4E82A420, 0xB9000024
MEETS: tuple[tuple[str, list[int], dict[str, int]], ...] = (
    ("a loop", [SUBS_X0_X0_1, B_NE_BACK, NOP], {"x0": 700}),
    ("a store", [SUBS_X0_X0_1, B_NE_BACK, STR_X4_X1, NOP], {"x0": 3}),
    ("a fault", [SUBS_X0_X0_1, B_NE_BACK, LDR_X3_X1, NOP], {"x0": 3, "x1": NOWHERE}),
    ("a store to code", [STR_W4_X1, B_NEXT, NOP], {"x1": CODE + 8, "x4": LDR_X3_X1}),
    ("what is not in C", [SUBS_X0_X0_1, FADD_H0_H1_H0, NOP], {}),
    ("what the emulator lacks", [SUBS_X0_X0_1, SMMLA, NOP], {}),
    ("no instruction", [NOP, 0, NOP], {}),
)


def state(machine: Machine) -> tuple[object, ...]:
    registers = machine.registers
    held = bytes(registers.vectors), tuple(registers.general), tuple(registers.flags)
    return machine.pc, machine.instructions_executed, *held


def followed(machine: Machine, patience: int, until: int, most: int) -> tuple[object, ...]:
    """What it comes to: branches, the error's words, the state."""
    branches, said = array("Q"), ""
    try:
        Follower(machine, patience).follow(until, most, branches)
    except ExecutionError as error:
        said = f"{type(error).__name__} {error}"
    return branches, said, *state(machine), machine.memory.read(DATA, 16)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 10_000])
@pytest.mark.parametrize(("code", "x"), [(code, x) for _, code, x in MEETS], ids=[name for name, *_ in MEETS])
def test_it_comes_to_the_same(code: list[int], x: dict[str, int], most: int) -> None:
    until = CODE + 4 * len(code)
    mine, other = (followed(machine_with(code, **x), patience, until, most) for patience in (0, NO_COMPILER))
    assert mine == other


def test_it_stops_where_it_is_to() -> None:
    machine = machine_with([NOP, NOP, NOP, NOP])
    Follower(machine, 0).follow(CODE + 8, 10, array("Q"))
    assert (machine.pc, machine.instructions_executed) == (CODE + 8, 2)


def test_what_can_be_is_executed_natively() -> None:
    machine = machine_with([SUBS_X0_X0_1, B_NE_BACK, LDR_X3_X1, FADD_H0_H1_H0, NOP], x0=1000)
    follower, branches = Follower(machine, 100), array("Q")
    follower.follow(CODE + 20, 10_000, branches)
    assert (follower.executed, len(branches), machine.instructions_executed) == (2003 - 100 - 1, 1000, 2003)


@pytest.mark.parametrize(("name", "source", "level"), BUILDS)
def test_calls_of_a_kernel_come_to_the_same(name: str, source: int, level: str) -> None:
    kernel = built_in_kernel(name)
    image = build(kernel.sources[source], f"-{level}")
    callers = [Caller(image, kernel, Machine(engine="interpreted")) for _ in range(2)]
    mine, other = Follower(callers[0].machine, 0), Follower(callers[1].machine, NO_COMPILER)
    for seed, inputs in enumerate(make_vectors(kernel, 100, 1).inputs[-8:]):
        told = []
        for caller, follower in zip(callers, (mine, other), strict=True):
            call, branches = Call(kernel.arguments(inputs), seed), array("Q")
            placed = caller.prepare(call, SeededBytes(seed))
            follower.follow(RETURN_ADDRESS, 10**6, branches)
            outputs = caller.outputs(caller.machine, caller.machine.memory, placed)
            arrays = {name: array.tolist() for name, array in outputs.items()}
            told.append((branches, state(caller.machine), caller.machine.forms, arrays))
        assert told[0] == told[1]
    assert mine.executed == mine.machine.instructions_executed > 0


def test_a_short_run_needs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.call.native.alone.driver", lambda: pytest.fail("a compiler was asked for"))
    machine = machine_with([SUBS_X0_X0_1, B_NE_BACK, NOP], x0=700)
    Follower(machine, 1401).follow(CODE + 12, 1401, array("Q"))
    assert machine.pc == CODE + 12


def test_without_a_compiler_python_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> list[str]:
        raise ToolMissing("no AArch64 compiler: the package ziglang is not installed")

    monkeypatch.setattr(host, "_host_clang", missing)
    monkeypatch.setattr("shutil.which", lambda name: None)
    machine = machine_with([SUBS_X0_X0_1, B_NE_BACK, NOP], x0=700)
    follower = Follower(machine, 0)
    follower.follow(CODE + 12, 10_000, array("Q"))
    assert (machine.pc, follower.executed) == (CODE + 12, 0)


def test_ctrl_c_ends_it() -> None:
    machine = machine_with([B_SELF])
    follower: Callable[[int, int, array[int]], None] = Follower(machine, 0).follow
    follower(0, 1000, array("Q"))
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            follower(0, 10**9, array("Q"))
    finally:
        signal.signal(signal.SIGALRM, before)
