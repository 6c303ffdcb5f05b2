"""Calling compiled functions: arguments arrive, memory is guarded, undefined bytes are seeded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sim.call import buffers
from sim.call.call import CallResult, CompiledKernel
from sim.call.caller import RETURN_ADDRESS, STACK_TOP, Call, Caller
from sim.call.guards.findings import CallError, GuardError, GuardFinding
from sim.call.guards.influence import Influence
from sim.call.guards.undefined_bytes import SeededBytes
from sim.kernels import Inputs, Kernel, KernelError, Pointer, ScalarArgument, Signature
from sim.machine.machine import Machine
from sim.toolchain.compilers import build, build_text


def no_inputs() -> Iterator[Inputs]:
    return iter(())


def kernel_of(signature: Signature) -> Kernel:
    """A kernel record that is only called, never checked."""
    return Kernel(
        name="f",
        symbol="f",
        sources=(),
        signature=signature,
        golden=dict,
        steps=dict,
        arguments=dict,
        corners=no_inputs,
        sample=lambda rng: {},
    )


def call(text: str, signature: Signature, arguments: Inputs, folder: Path, seed: int = 1) -> CallResult:
    source = folder / "f.c"
    source.write_text(text)
    return CompiledKernel(build(source, "-O1"), kernel_of(signature)).call(arguments, seed)


OUT = Pointer("out", "int64", (12,), direction="out")
MANY = Signature(
    (
        OUT,
        *(ScalarArgument(f"a{i}", "int8") for i in range(9)),
        ScalarArgument("f", "float32"),
        ScalarArgument("g", "uint16"),
    )
)
MANY_C = """
#include <stdint.h>
void f(int64_t *out, int8_t a0, int8_t a1, int8_t a2, int8_t a3, int8_t a4, int8_t a5, int8_t a6, int8_t a7,
       int8_t a8, float f, uint16_t g)
{
    const int64_t values[12] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, __builtin_bit_cast(int32_t, f), g, 0};
    for (int i = 0; i < 12; ++i) out[i] = values[i];
}
"""


def test_narrow_stack_and_floating_point_arguments_arrive(tmp_path: Path) -> None:
    arguments = {f"a{i}": i - 4 for i in range(9)} | {"f": 1.5, "g": 65535}
    result = call(MANY_C, MANY, arguments, tmp_path)
    expected = [*range(-4, 5), 0x3FC00000, 65535, 0]
    assert result.outputs["machine"]["out"].tolist() == expected


COPY = Signature(
    (Pointer("a", "int32", ("n",)), Pointer("b", "int32", ("n",), direction="out"), ScalarArgument("n", "uint64"))
)


def copy_loop(first: str, limit: str, body: str = "b[i] = a[i];") -> str:
    head = "#include <stddef.h>\nvoid f(const int *a, int *b, size_t n)"
    return f"{head} {{ for (size_t i = {first}; i < {limit}; ++i) {{ {body} }} }}\n"


ARGUMENTS = {"a": np.arange(5, dtype=np.int32), "n": 5}


def test_machine_and_emulator_leave_the_same_output(tmp_path: Path) -> None:
    result = call(copy_loop("0", "n"), COPY, ARGUMENTS, tmp_path)
    assert {engine: out["b"].tolist() for engine, out in result.outputs.items()} == {
        "machine": [0, 1, 2, 3, 4],
        "emulator": [0, 1, 2, 3, 4],
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            copy_loop("0", "n + 1", "b[0] = a[i];"),
            r"over-read: .* \(f\.c:2\) reads bytes 20\.\.23, past the end of 'a'",
        ),
        (
            copy_loop("0", "n + 1", "b[i] = a[0];"),
            r"over-write: .* \(f\.c:2\) writes bytes 20\.\.23, past the end of 'b'",
        ),
        (copy_loop("0", "n", "((int *)a)[i] = 1;"), r"write to input: .* writes bytes 0\.\.3 of the input 'a'"),
    ],
    ids=["over-read by one", "over-write by one", "write to an input"],
)
@pytest.mark.parametrize("seed", [1, 2], ids=["at the start", "at the end"])
def test_an_access_that_is_not_allowed_stops_the_call(text: str, words: str, seed: int, tmp_path: Path) -> None:
    with pytest.raises(GuardError, match=words):
        call(text, COPY, ARGUMENTS, tmp_path, seed)


def test_an_output_that_is_not_written_is_undefined_bytes_that_follow_the_seed(tmp_path: Path) -> None:
    outputs = [call(copy_loop("n", "n"), COPY, ARGUMENTS, tmp_path, seed).outputs["machine"]["b"] for seed in (1, 2, 1)]
    first, second, again = (output.tolist() for output in outputs)
    assert (first == again, first == second) == (True, False)


def test_an_array_of_length_zero_can_be_passed(tmp_path: Path) -> None:
    arguments = {"a": np.zeros(0, np.int32), "n": 0}
    assert call(copy_loop("0", "n"), COPY, arguments, tmp_path).outputs["machine"]["b"].size == 0


def test_a_length_below_zero_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match=r"the argument 'a' cannot have the shape \[-1\]"):
        call(copy_loop("0", "n"), COPY, {"a": np.zeros(0, np.int32), "n": -1}, tmp_path)


def test_an_array_may_have_so_many_bytes_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "LARGEST_BUFFER", 20)
    arrays = [{"a": np.arange(n, dtype=np.int32), "n": n} for n in (5, 6)]
    assert call(copy_loop("0", "n"), COPY, arrays[0], tmp_path).outputs["machine"]["b"].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(KernelError, match="the argument 'a' has 24 bytes: at most 20"):
        call(copy_loop("0", "n"), COPY, arrays[1], tmp_path)


@pytest.mark.parametrize("array", [np.arange(5, dtype=np.int64), np.arange(4, dtype=np.int32)])
def test_an_array_of_another_type_or_shape_is_refused(array: np.ndarray, tmp_path: Path) -> None:
    with pytest.raises(KernelError, match=r"'a' must be int32\[5\], not int"):
        call(copy_loop("0", "n"), COPY, {"a": array, "n": 5}, tmp_path)


ONE = Signature((Pointer("b", "uint8", (1,), direction="out"),))


def test_the_stack_holds_undefined_bytes_that_follow_the_seed(tmp_path: Path) -> None:
    text = "void f(unsigned char *b) { volatile unsigned char left[64]; *b = left[7] ^ left[8]; }\n"
    seen = {int(call(text, ONE, {}, tmp_path, seed).outputs["machine"]["b"][0]) for seed in range(8)}
    assert len(seen) > 1


FOUR = Signature((Pointer("x", "int32", (4,)), Pointer("out", "int32", (4,), direction="out")))


def compiled(code: str) -> CompiledKernel:
    """Of the four numbers at x0 and the four at x1."""
    image = build_text(f".globl f\n.type f, %function\nf:\n{code}\n.size f, . - f\n", ".s")
    return CompiledKernel(image, kernel_of(FOUR))


def test_what_is_executed_and_what_saturates_is_counted_call_by_call() -> None:
    doubling = compiled("ldr q0, [x0]\nsqadd v1.4s, v0.4s, v0.4s\nstr q1, [x1]\nret")
    calls = [doubling.call({"x": np.full(4, number, np.int32)}, 1) for number in (2**31 - 1, 7, 2**31 - 1)]
    assert [(one.instructions, one.qc_events) for one in calls] == [(4, 1), (4, 0), (4, 1)]
    assert [one.outputs["machine"]["out"][0] for one in calls] == [2**31 - 1, 14, 2**31 - 1]


@pytest.mark.parametrize(("most", "recorded"), [(2, 2), (4, 4), (9, 4)])
def test_no_more_instructions_are_recorded_than_a_call_may_take(most: int, recorded: int) -> None:
    image = build_text(".globl f\n.type f, %function\nf:\nnop\nnop\nnop\nret\n.size f, . - f\n", ".s")
    _, trace = CompiledKernel(image, kernel_of(FOUR), max_instructions=most).record({"x": np.zeros(4, np.int32)}, 1)
    assert len(trace) == recorded


def test_what_lies_above_the_stack_is_no_stack_that_is_too_small() -> None:
    beyond = compiled("add x9, sp, #1, lsl #12\nldr w3, [x9]\nret")
    with pytest.raises(GuardError) as error:
        beyond.call({"x": np.zeros(4, np.int32)}, 1)
    assert "too small" not in str(error.value)


def test_a_stack_that_is_too_small_is_said_to_be_so(tmp_path: Path) -> None:
    text = "void f(unsigned char *b) { volatile unsigned char s[1 << 18]; *b = s[(unsigned long)b & 1]; }\n"
    with pytest.raises(CallError, match="the stack of 65536 bytes is too small"):
        call(text, ONE, {}, tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_arrays_end_where_their_mappings_end_in_every_second_call(seed: int) -> None:
    assert Call({}, seed).at_end == (seed in (0, 2))


def returning() -> CompiledKernel:
    """A function of no arguments that returns at once, on the machine alone."""
    return CompiledKernel(build_text(".globl f\nf: nop\n ret\n", ".s"), kernel_of(Signature(())), engine="machine")


def test_all_instructions_of_all_calls_are_counted() -> None:
    kernel = returning()
    assert kernel.executed == 0
    assert [(kernel.call({}, seed).instructions, kernel.executed) for seed in range(2)] == [(2, 2), (2, 4)]


def test_on_the_machine_alone_every_eighth_call_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, repeated = returning(), list[int]()

    def noted(_: Influence, call: Call, *more: object) -> list[GuardFinding]:
        repeated.append(call.seed)
        return []

    monkeypatch.setattr(Influence, "findings", noted)
    for seed in range(20):
        kernel.call({}, seed)
    assert repeated == [0, 8, 16]


def test_a_call_begins_with_modes_and_sticky_bits_of_zero_and_undefined_flags() -> None:
    image = build_text(".globl f\nf: nop\n ret\n", ".s")
    caller, flags = Caller(image, kernel_of(Signature(())), Machine()), set()
    for seed in range(40):
        caller.prepare(Call({}, seed), SeededBytes(seed))
        machine = caller.machine
        assert (machine.fpcr, machine.fpsr, machine.tpidr) == (0, 0, 0)
        assert (machine.pc, machine.x[30], machine.sp) == (image.symbol("f").address, RETURN_ADDRESS, STACK_TOP)
        flags.add(machine.nzcv)
    assert (min(flags), max(flags), len(flags) > 8) == (0, 15, True)


def test_static_data_starts_afresh_in_each_call(tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text("static int calls = 5; int zero; void f(unsigned char *b) { *b = ++calls + ++zero; }\n")
    compiled = CompiledKernel(build(source, "-O1"), kernel_of(ONE))
    assert [int(compiled.call({}, 1).outputs["machine"]["b"][0]) for _ in range(2)] == [7, 7]


def test_a_missing_array_is_named(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="'a' is missing"):
        call(copy_loop("0", "n"), COPY, {"n": 5}, tmp_path)


def test_a_null_pointer_is_passed_as_zero(tmp_path: Path) -> None:
    signature = Signature((Pointer("a", "int32", (1,), nullable=True), Pointer("b", "int32", (1,), direction="out")))
    text = "void f(const int *a, int *b) { *b = a == 0; }\n"
    assert call(text, signature, {"a": None}, tmp_path).outputs["machine"]["b"].tolist() == [1]


def test_a_recorded_call_has_a_null_pointer_at_zero(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("void f(const int *a, int *b) { *b = a == 0; }\n")
    signature = Signature((Pointer("a", "int32", (1,), nullable=True), Pointer("b", "int32", (1,), direction="out")))
    addresses, _ = CompiledKernel(build(tmp_path / "f.c", "-O1"), kernel_of(signature)).record({"a": None}, 1)
    assert (addresses["a"], addresses["b"] > 0) == (0, True)
