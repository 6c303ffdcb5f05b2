"""Programs of intrinsics, compiled calls and captured calls as streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from isa.acle.program import Program
from isa.intrinsics import ElementPointer, int16x8_t, vaddq_s16, vld1q_s16, vmlaq_s16, vst1q_s16
from sim.call.buffers import FIRST_BUFFER
from sim.call.call import CallError, CompiledKernel
from sim.call.caller import RETURN_ADDRESS
from sim.call.capture import Capture
from sim.call.captured import Bytes, CapturedCall, CaptureError, read_line, read_lines
from sim.call.guards.findings import GuardError
from sim.cycles.executed import execute_call, execute_captured, executed_program
from sim.cycles.program_stream import CONSTANTS, STACK, program_stream
from sim.kernels.kernel import Inputs, Kernel, KernelError, built_in_kernel
from sim.kernels.prototype import parse_prototype
from sim.kernels.signature import Pointer, Signature
from sim.machine.errors import Trap, UnsupportedInstruction
from sim.machine.memory import Memory
from sim.timing.model.stream import Executed
from sim.toolchain.compilers import build, build_text
from sim.toolchain.image import Image

SOURCE, TARGET = 0x10000, 0x20000


def memory() -> Memory:
    made = Memory()
    made.map(SOURCE, 4096)
    made.map(TARGET, 4096)
    return made


def texts(stream: Sequence[Executed]) -> list[str]:
    return [one.instruction.text for one in stream]


def accesses(stream: Sequence[Executed]) -> list[tuple[str, int, int]]:
    """Of every load and store, the address and the bytes."""
    loads = [("load", *access) for one in stream for access in one.loads]
    return loads + [("store", *access) for one in stream for access in one.stores]


def doubled() -> list[Executed]:
    with Program(memory()) as program:
        a = vld1q_s16(ElementPointer(SOURCE + 32, "int16"))
        vst1q_s16(ElementPointer(TARGET + 64, "int16"), vaddq_s16(a, a))
    return program_stream(program)


def test_a_program_is_a_stream_on_real_registers() -> None:
    assert texts(doubled()) == [
        "mov w0, #32", "movk w0, #0x1, lsl #16", "ldr q0, [x0]", "add v0.8h, v0.8h, v0.8h",
        "mov w1, #64", "movk w1, #0x2, lsl #16", "str q0, [x1]", "ret",
    ]  # fmt: skip


def test_loads_and_stores_have_the_addresses_of_the_run() -> None:
    assert accesses(doubled()) == [("load", SOURCE + 32, 16), ("store", TARGET + 64, 16)]


def test_a_program_has_no_program_counters_and_returns() -> None:
    assert [(one.pc, one.next_pc, one.taken) for one in doubled()] == [(None, None, False)] * 7 + [(None, None, True)]


def test_constants_are_loaded_from_their_pool() -> None:
    with Program() as program:
        a, b = int16x8_t(*range(8)), int16x8_t(*range(8, 16))
        program.returns(vmlaq_s16(a, b, b))
    loads = [one.loads for one in program_stream(program) if one.loads]
    assert sorted(loads) == [((CONSTANTS, 16),), ((CONSTANTS + 16, 16),)]


def crowded() -> tuple[Program, list[Executed]]:
    """Forty loaded values, all needed until the end: eight more than there are registers."""
    with Program(memory()) as program:
        values = [vld1q_s16(ElementPointer(SOURCE + 16 * k, "int16")) for k in range(40)]
        for k, value in enumerate(values):
            vst1q_s16(ElementPointer(TARGET + 16 * k, "int16"), vaddq_s16(value, values[-1 - k]))
    return program, program_stream(program)


def test_spills_go_to_the_stack_and_come_back_from_there() -> None:
    program, stream = crowded()
    spilled = [access for one in stream for access in one.stores if access[0] >= STACK - 4096 and access[1] == 16]
    loaded = [access for one in stream for access in one.loads if access[0] >= STACK - 4096 and access[1] == 16]
    assert len(spilled) == len(program.allocated().spills) + 4 > 12  # 4 pairs of d8 to d15 besides the spills
    assert set(loaded) == set(spilled)


def test_no_access_of_the_stack_is_above_its_start() -> None:
    _, stream = crowded()
    assert max(a + size for _, a, size in accesses(stream) if a > CONSTANTS) == STACK


def test_the_lines_of_a_stream_are_those_of_the_allocation() -> None:
    program, stream = crowded()
    assert len(stream) == len(program.allocated().lines)


def test_an_empty_program_only_returns() -> None:
    with Program() as program:
        pass
    assert texts(program_stream(program)) == ["ret"]


Stream = list[Executed]


@cache
def streams_of(name: str) -> tuple[int, Stream, Stream]:
    """The bytes that one call of a kernel returns in arrays, its compiled stream, and that of its program."""
    kernel = built_in_kernel(name)
    inputs = kernel.sample(np.random.default_rng(8))
    image, arguments = build(kernel.sources[0], "-O2", *kernel.flags), kernel.arguments(inputs)
    size = sum(array.nbytes for array in kernel.expected(inputs).values())
    return size, [*execute_call(image, kernel, arguments, 1)], executed_program(kernel, arguments, 1)


def times_stored(stream: Stream) -> Counter[int]:
    """How often each byte of the caller's arrays is stored."""
    arrays = range(FIRST_BUFFER, 2 * FIRST_BUFFER)
    return Counter(b for one in stream for a, size in one.stores if a in arrays for b in range(a, a + size))


@pytest.mark.parametrize(
    "name", ["fully_connected", "quantize_down", "quantized_add", "quantized_multiplier", "requantize"]
)
def test_compiled_and_recorded_streams_store_every_output_byte_once(name: str) -> None:
    size, compiled, recorded = streams_of(name)
    assert times_stored(compiled) == times_stored(recorded)
    assert list(times_stored(compiled).values()) == [1] * size


def test_a_call_begins_at_the_function_and_ends_with_its_return() -> None:
    _, stream, _ = streams_of("requantize")
    kernel = built_in_kernel("requantize")
    image = build(kernel.sources[0], "-O2", *kernel.flags)
    assert (stream[0].pc, stream[-1].instruction.text) == (image.symbol(kernel.symbol).address, "ret")
    assert stream[-1].next_pc == RETURN_ADDRESS


def test_every_instruction_of_a_call_follows_the_one_before_it() -> None:
    _, stream, _ = streams_of("quantize_down")
    assert [one.pc for one in stream[1:]] == [one.next_pc for one in stream[:-1]]


@dataclass(frozen=True)
class Function:
    """A C function with its image."""

    image: Image
    kernel: Kernel

    @classmethod
    def of(cls, prototype: str, body: str, *flags: str) -> Function:
        parsed = parse_prototype(prototype)
        image = build_text(f"#include <stdint.h>\n{prototype} {{ {body} }}\n", ".c", *flags)
        return cls(
            image,
            Kernel(
                name=parsed.name, symbol=parsed.name, sources=(image.path,), signature=parsed.signature, golden=dict
            ),
        )

    def executed(self, arguments: Inputs, limit: int = 2000) -> Stream:
        return [*execute_call(self.image, self.kernel, arguments, 1, limit)]


COPY = "void copy(const uint8_t a[64], uint8_t b[64])"
BYTES = {"a": np.arange(64, dtype="uint8")}


def test_the_runtime_is_executed_with_a_call() -> None:
    function = Function.of(COPY, "__builtin_memcpy(b, a, 64);", "-O0", "-fno-builtin")
    stream = function.executed(BYTES)
    assert function.image.symbol("memcpy").address in {one.pc for one in stream}
    assert list(times_stored(stream).values()) == [1] * 64


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("b[-1] = a[0];", GuardError, "under-write"),
        ("for (;;) b[0] += a[0];", GuardError, "did not return within 2,000 instructions"),
        ("volatile char s[1 << 18]; s[0] = a[0];", CallError, "the stack of 65536 bytes is too small"),
        ('__asm__("dc zva, x0");', UnsupportedInstruction, "dc zva"),
        ("__builtin_trap();", Trap, "brk"),
    ],
)
def test_a_call_that_cannot_go_on_raises_what_a_check_raises(body: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Function.of(COPY, body, "-O0").executed(BYTES)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("for (int i = 0; i < 64; i++) b[i] = a[i + 8];", r"reads bytes? 64\b.* past the end of 'a'"),
        ("for (int i = 0; i < 64; i++) b[i] = a[i - 8];", "reads bytes? .*-1, before the start of 'a'"),
        ("((uint8_t *)a)[3] = a[0];", "writes byte 3 of the input 'a'"),
        ("b[63] = a[0]; b[64] = a[1];", "writes byte 64, past the end of 'b'"),
        ("b[0] = ((volatile uint8_t *)__builtin_frame_address(0))[4096];", "above its arguments on the stack"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_an_access_outside_of_what_the_call_was_given_is_refused(body: str, says: str, seed: int) -> None:
    """Arrays touch one end of their mapping, by the seed this or that: the mappings alone let the other side pass."""
    function = Function.of(COPY, body, "-O2")
    with pytest.raises(GuardError, match=says):
        execute_call(function.image, function.kernel, BYTES, seed)


def test_a_declared_over_read_is_allowed() -> None:
    function = Function.of(COPY, "for (int i = 0; i < 64; i++) b[i] = a[i + 8];", "-O2")
    a, b = function.kernel.signature.arguments
    assert isinstance(a, Pointer)
    kernel = replace(function.kernel, signature=Signature((replace(a, over_read=8), b)))
    assert execute_call(function.image, kernel, BYTES, 2)


def test_arguments_of_another_kind_are_refused() -> None:
    with pytest.raises(KernelError):
        Function.of(COPY, "b[0] = a[0];").executed({"a": np.arange(64, dtype="int32")})


def test_a_kernel_without_a_program_has_no_stream_of_it() -> None:
    with pytest.raises(ValueError, match="no program of intrinsics"):
        executed_program(Function.of(COPY, "b[0] = a[0];").kernel, BYTES, 1)


@pytest.fixture
def captured(tmp_path: Path) -> CapturedCall:
    """A call of `copy` as a file has it."""
    function, path, calls = Function.of(COPY, LOOP), tmp_path / "calls.jsonl", Capture()
    CompiledKernel(function.image, function.kernel).capture(BYTES, 1, "copy", calls)
    calls.save(path)
    ((number, text),) = read_lines(path)
    call = read_line(number, text, Bytes(path.with_suffix(".npz"))).call
    assert call is not None
    return call


LOOP = "for (int i = 0; i < 64; i++) b[i] = a[i] ? a[i] : 1;"


def test_a_captured_call_executes_what_was_captured(captured: CapturedCall) -> None:
    again, first = execute_captured(captured), Function.of(COPY, LOOP).executed(BYTES)
    assert len(again) == captured.instructions
    assert [(one.pc, *one[2:]) for one in again] == [(one.pc, *one[2:]) for one in first]


def test_a_captured_call_that_does_not_return_is_refused(captured: CapturedCall) -> None:
    with pytest.raises(CallError, match="did not return within 9 instructions"):
        execute_captured(captured, 9)


def test_a_captured_call_whose_memory_overlaps_is_refused(captured: CapturedCall) -> None:
    with pytest.raises(CaptureError, match=r"its memory cannot be set up: .* overlaps"):
        execute_captured(replace(captured, maps=captured.maps * 2))


@pytest.mark.parametrize(("flags", "executed"), [(4, 2), (0, 3), (None, 3)])
def test_a_captured_call_begins_with_its_flags(flags: int | None, executed: int) -> None:
    image = build_text("f: b.eq 1f\n nop\n1: ret", ".s")
    start = image.symbol("f").address
    maps, memory = ((start, 4096, "rx"),), ((start, image.code_of("f")),)
    call = CapturedCall(
        name="f",
        entry=start,
        ret=0x7000,
        maps=maps,
        memory=memory,
        registers={},
        fpcr=0,
        nzcv=flags,
        outputs=(),
        final={},
        instructions=None,
    )
    assert len(execute_captured(call)) == executed
