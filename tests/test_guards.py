"""Guards of single calls: what each finds, with its instruction and byte, and what correct code may do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from isa.intrinsics import ElementPointer as TypedPointer
from isa.intrinsics import vld1q_u32
from isa.lane import Place
from sim.call.buffers import BUFFER_SPACING, FIRST_BUFFER, PlacedArray
from sim.call.call import CallResult, CompiledKernel, Engine, ProgramKernel
from sim.call.guards.bounds import AccessBounds, StackFrame
from sim.call.guards.convention import name_of, not_preserved
from sim.call.guards.findings import GuardError, GuardFinding
from sim.call.guards.undefined_bytes import SeededBytes
from sim.call.guards.watch import Watch
from sim.call.native.code import PATIENCE
from sim.kernels import Inputs, Kernel, KernelError, Pointer, ScalarArgument, Signature, parse_prototype
from sim.machine.errors import MemoryFault
from sim.machine.machine import Machine
from sim.machine.registers import RegisterStorage
from sim.toolchain.compilers import build, build_text
from sim.toolchain.image import Segment

WORDS = Signature(
    (Pointer("a", "uint32", ("n",)), Pointer("b", "uint32", ("n",), direction="out"), ScalarArgument("n", "uint64"))
)
EMPTY: Inputs = {"a": np.zeros(0, np.uint32), "n": 0}
THREE: Inputs = {"a": np.arange(1, 4, dtype=np.uint32), "n": 3}


class Assembly(NamedTuple):
    """The instructions of a function `f`, one a line, behind a header of three lines."""

    lines: tuple[str, ...]
    signature: Signature = WORDS

    def kernel(self) -> Kernel:
        return Kernel(name="f", symbol="f", sources=(), signature=self.signature, golden=lambda inputs: {})

    def compiled(self, folder: Path, engine: Engine = "lockstep", patience: int = PATIENCE) -> CompiledKernel:
        source = folder / "f.s"
        source.write_text("\n".join([" .text", " .global f", "f:", *self.lines, ""]))
        return CompiledKernel(build(source), self.kernel(), engine=engine, max_instructions=1000, patience=patience)

    def place(self, text: str) -> str:
        return f"f.s:{4 + self.lines.index(text)}"


def assembly(*lines: str, signature: Signature = WORDS) -> Assembly:
    return Assembly(lines, signature)


COPY = ("1: ldr w8, [x0], #4", "str w8, [x1], #4", "subs x2, x2, #1", "b.ne 1b", "ret")


def call(code: Assembly, folder: Path, arguments: Inputs = THREE, seed: int = 0) -> CallResult:
    return code.compiled(folder).call(arguments, seed)


def stopped(
    code: Assembly, folder: Path, arguments: Inputs = THREE, seed: int = 0, engine: Engine = "lockstep"
) -> GuardFinding:
    """What stops a call."""
    with pytest.raises(GuardError) as caught:
        code.compiled(folder, engine).call(arguments, seed)
    return caught.value.finding


def found(code: Assembly, folder: Path, arguments: Inputs = THREE) -> GuardFinding:
    """The one thing found in a call that comes back."""
    (finding,) = call(code, folder, arguments).findings
    return finding


BOUNDS = [
    ("ldr q0, [x0]", "over-read", "a", 12, 15),
    ("ldur q0, [x0, #-4]", "under-read", "a", -4, -1),
    ("str q0, [x1]", "over-write", "b", 12, 15),
    ("sturb w2, [x1, #-1]", "under-write", "b", -1, -1),
    ("str x2, [x0, #8]", "write to input", "a", 8, 11),
    ("stur x2, [x0, #-7]", "write to input", "a", 0, 0),
    ("ldr x8, [sp, #-8]", "access below sp", "the stack", -8, -1),
    ("stp x8, x9, [sp, #-32]", "access below sp", "the stack", -32, -17),
    ("ldr x8, [sp]", "access to the caller's stack", "the stack", 0, 7),
    ("str xzr, [sp, #8]", "access to the caller's stack", "the stack", 8, 15),
]


@pytest.mark.parametrize("seed", [0, 1], ids=["at the end", "at the start"])
@pytest.mark.parametrize(("text", "kind", "where", "first", "last"), BOUNDS, ids=[case[0] for case in BOUNDS])
def test_an_access_out_of_bounds_is_stopped_on_both_sides(
    text: str, kind: str, where: str, first: int, last: int, seed: int, tmp_path: Path
) -> None:
    code = assembly(text, "ret")
    finding = stopped(code, tmp_path, seed=seed)
    assert (finding.kind, finding.where, finding.first, finding.last) == (kind, where, first, last)
    assert finding.source == code.place(text)


def test_native_code_stops_an_access_below_sp_with_the_address_as_it_was(tmp_path: Path) -> None:
    compiled = assembly("mov x8, sp", "ldr x8, [x8, #-8]", "ret").compiled(tmp_path, patience=0)
    with pytest.raises(GuardError) as caught:
        compiled.call(THREE, 0)
    finding = caught.value.finding
    assert (finding.kind, finding.first, finding.last) == ("access below sp", -8, -1)


def test_a_wild_access_names_its_address(tmp_path: Path) -> None:
    finding = stopped(assembly("mov x8, #64", "ldr x9, [x8]", "ret"), tmp_path)
    assert (finding.kind, finding.says) == ("wild access", "reads 8 bytes at 0x40, which the call was not given")


def test_padding_behind_the_programs_own_data_is_not_the_calls(tmp_path: Path) -> None:
    code = assembly("adrp x8, d", "add x8, x8, :lo12:d", "ldr x9, [x8, #8]", "ret", " .data", "d: .quad 1")
    assert stopped(code, tmp_path).kind == "wild access"


ROWS = Signature(
    (
        Pointer("a", "uint32", (2, 2), strides=(4, 1)),
        Pointer("b", "uint32", (2, 2), direction="out", strides=(4, 1)),
    )
)
SQUARE: Inputs = {"a": np.ones((2, 2), np.uint32)}


@pytest.mark.parametrize(
    ("text", "kind", "first", "last"),
    [
        ("ldr q0, [x0]", "read between rows", 8, 15),
        ("ldur x9, [x0, #1]", "read between rows", 8, 8),
        ("str x9, [x1, #12]", "write between rows", 12, 15),
    ],
)
def test_bytes_between_rows_are_not_the_arrays(text: str, kind: str, first: int, last: int, tmp_path: Path) -> None:
    finding = stopped(assembly(text, "ret", signature=ROWS), tmp_path, SQUARE)
    assert (finding.kind, finding.first, finding.last) == (kind, first, last)


FIRST, SECOND = FIRST_BUFFER, FIRST_BUFFER + BUFFER_SPACING


def bounds_of_rows(*segments: Segment) -> AccessBounds:
    """Of a call that was given ROWS at FIRST and SECOND, sp far below them, and these segments."""
    placed = [
        PlacedArray(pointer, address, (2, 2), (4, 1))
        for pointer, address in zip(ROWS.arguments, (FIRST, SECOND), strict=True)
        if isinstance(pointer, Pointer)
    ]
    return AccessBounds(placed, segments, StackFrame(0x1000, 0))


def test_what_passes_without_a_look_are_the_rows_of_a_strided_array_and_nothing_between_them() -> None:
    assert bounds_of_rows().allowed.ranges == (
        (FIRST, FIRST + 8, True, False),
        (FIRST + 16, FIRST + 24, True, False),
        (SECOND, SECOND + 8, True, True),
        (SECOND + 16, SECOND + 24, True, True),
    )


def test_segments_pass_without_a_look_as_they_may_be_used_but_where_an_array_or_the_stack_is_near() -> None:
    code = Segment(FIRST - BUFFER_SPACING, bytes(24), 24, "rx")
    data = Segment(SECOND + BUFFER_SPACING, bytes(8), 40, "rw")
    near = (Segment(address, bytes(8), 8, "rw") for address in (0x2000, FIRST + 64, SECOND + 64))
    ranges = bounds_of_rows(code, data, *near, replace(code, data=b"", size=0)).allowed.ranges
    assert ranges[4:] == (
        (code.address, code.address + 24, True, False),
        (data.address, data.address + 40, True, True),
    )


@pytest.mark.parametrize(
    ("address", "kind", "where"),
    [
        (FIRST - 8, "under-read", "a"),
        (FIRST - BUFFER_SPACING // 2, "under-read", "a"),
        (FIRST + 24, "over-read", "a"),
        (SECOND - BUFFER_SPACING // 2 - 8, "over-read", "a"),
        (SECOND - BUFFER_SPACING // 2, "under-read", "b"),
    ],
)
def test_an_access_outside_of_all_arrays_is_one_of_the_nearest(address: int, kind: str, where: str) -> None:
    breach = bounds_of_rows().breach(address, 8, False, 0x1000)
    assert breach is not None
    assert (breach.kind, breach.where) == (kind, where)


def test_an_access_that_is_allowed_or_a_declared_over_read_is_no_finding() -> None:
    image = build_text(".globl f\nf: ret\n", ".s")
    place = PlacedArray(Pointer("a", "uint32", (3,), over_read=4), FIRST, (3,), (1,))
    watch = Watch(Machine(), image, AccessBounds((place,), (), StackFrame(0x1000, 0)), {})
    accesses = [(FIRST, 12), (FIRST + 8, 8), (FIRST + 12, 5), (FIRST - 1, 1)]
    found = [watch.of_access(address, size, False, 0x1000, "ldr", 0x40) for address, size in accesses]
    assert [None if one is None else (one.kind, one.instruction, one.pc) for one in found] == [
        None, None, ("over-read", "ldr", 0x40), ("under-read", "ldr", 0x40),
    ]  # fmt: skip


@pytest.mark.parametrize("start", [-1, 11])
def test_a_write_over_the_end_of_an_input_is_told_with_the_bytes_inside(start: int) -> None:
    place = PlacedArray(Pointer("a", "uint32", (3,)), FIRST, (3,), (1,))
    breach = AccessBounds((place,), (), StackFrame(0x1000, 0)).breach(FIRST + start, 2, True, 0x1000)
    assert breach is not None
    byte = start if start > 0 else 0
    assert (breach.kind, breach.first, breach.last) == ("write to input", byte, byte)
    assert breach.says == f"writes byte {byte} of the input 'a'; if it is meant: inout"


@pytest.mark.parametrize(("start", "kind"), [(-2, "under-write"), (12, "over-write")])
def test_a_write_beside_an_input_is_none_to_it_and_no_over_read_to_declare(start: int, kind: str) -> None:
    place = PlacedArray(Pointer("a", "uint32", (3,)), FIRST, (3,), (1,))
    breach = AccessBounds((place,), (), StackFrame(0x1000, 0)).breach(FIRST + start, 2, True, 0x1000)
    assert breach is not None
    assert (breach.kind, breach.first, breach.last) == (kind, start, start + 1)
    assert "over_read" not in breach.says


def test_a_byte_between_the_rows_of_a_table_of_pointers_is_of_the_nearest() -> None:
    """Rows of 8 bytes, one each 32: the 24 between two are half of the one, half of the other."""
    table = PlacedArray(Pointer("a", "uint32", (3, 2), indirect=True), FIRST, (3, 2), (8, 1))
    bounds = AccessBounds((table,), (), StackFrame(0x1000, 0))
    found = [bounds.breach(FIRST + byte, 1, False, 0x1000) for byte in range(-40, 104)]
    told = {byte: (breach.where, breach.kind) for byte, breach in zip(range(-40, 104), found, strict=True) if breach}
    nearest = {byte: min(max((byte + 12) // 32, 0), 2) for byte in range(-40, 104)}
    outside = {byte: byte - 32 * row for byte, row in nearest.items() if not 0 <= byte - 32 * row < 8}
    assert told == {
        byte: (f"a[{nearest[byte]}]", "under-read" if off < 0 else "over-read") for byte, off in outside.items()
    }


@pytest.mark.parametrize(
    ("offset", "size", "kind"),
    [(-8, 8, ""), (-8, 9, "missing symbol"), (15, 1, "missing symbol"), (16, 8, "")],
)
def test_memory_up_to_a_missing_symbol_and_behind_it_is_the_segments(offset: int, size: int, kind: str) -> None:
    place = range(0x40020, 0x40030)
    data = Segment(0x40000, bytes(64), 64, "rw")
    breach = AccessBounds((), (data,), StackFrame(-BUFFER_SPACING, 0), {"table": place}).breach(
        place.start + offset, size, False, -BUFFER_SPACING
    )
    assert ("" if breach is None else breach.kind) == kind


def test_a_missing_symbol_does_not_pass_without_a_look() -> None:
    data = Segment(0x40000, bytes(64), 64, "rw")
    absent = {"one": range(0x40020, 0x40028), "other": range(0x40008, 0x40010)}
    assert AccessBounds((), (data,), StackFrame(-BUFFER_SPACING, 0), absent).allowed.ranges == (
        (0x40000, 0x40008, True, True),
        (0x40010, 0x40020, True, True),
        (0x40028, 0x40040, True, True),
    )


def test_a_jump_to_nowhere_is_the_fault_itself(tmp_path: Path) -> None:
    with pytest.raises(MemoryFault, match="cannot execute 4 bytes at 0x5000"):
        call(assembly("mov x30, #0x5000", "ret"), tmp_path)


def test_a_fault_on_the_machine_alone_names_array_and_byte(tmp_path: Path) -> None:
    finding = stopped(assembly("ldr q0, [x0]", "ret"), tmp_path, engine="machine")
    assert str(finding).endswith(
        "(f.s:4) reads bytes 12..15, past the end of 'a' (12 bytes); if it is meant: over_read(4) on 'a'"
    )


def test_a_fault_in_a_program_of_intrinsics_names_array_and_byte() -> None:
    def program(a: TypedPointer, b: TypedPointer, n: int) -> None:
        vld1q_u32(a)

    kernel = Kernel(name="f", symbol="f", sources=(), signature=WORDS, golden=lambda inputs: {}, program=program)
    with pytest.raises(GuardError, match=r"over-read: reads bytes 12\.\.15, past the end of 'a' \(12 bytes\)"):
        ProgramKernel(kernel).call(THREE, 0)


def test_a_wild_access_of_a_program_of_intrinsics_is_none_of_a_stack() -> None:
    def program(a: TypedPointer, b: TypedPointer, n: int) -> None:
        vld1q_u32(TypedPointer(64, "uint32"))

    kernel = Kernel(name="f", symbol="f", sources=(), signature=WORDS, golden=lambda inputs: {}, program=program)
    with pytest.raises(GuardError, match="wild access: reads 16 bytes at 0x40, which the call was not given"):
        ProgramKernel(kernel).call(THREE, 0)


def test_a_frame_that_is_pushed_and_popped_is_no_finding(tmp_path: Path) -> None:
    push = ("stp x29, x30, [sp, #-32]!", "stp x19, d8, [sp, #16]".replace("d8", "x20"), "mov x19, x0", "mov x0, x19")
    pop = ("ldp x19, x20, [sp, #16]", "ldp x29, x30, [sp], #32")
    assert not call(assembly(*push, *COPY[:-1], *pop, "ret"), tmp_path).findings


STACKED = Signature(
    (*(ScalarArgument(f"s{i}", "uint64") for i in range(9)), Pointer("b", "uint64", (1,), direction="out"))
)
NINE: Inputs = {f"s{i}": i for i in range(9)}


def test_arguments_on_the_stack_may_be_read_and_changed(tmp_path: Path) -> None:
    code = assembly("ldr x8, [sp]", "ldr x9, [sp, #8]", "str x8, [sp, #8]", "str x8, [x9]", "ret", signature=STACKED)
    result = call(code, tmp_path, NINE)
    assert (result.outputs["machine"]["b"].tolist(), result.findings) == ([8], ())


OVER = Signature((Pointer("a", "uint32", ("n",), over_read=4), *WORDS.arguments[1:]))


def test_a_declared_over_read_that_reaches_an_output_is_found_with_both(tmp_path: Path) -> None:
    code = assembly("ldr q0, [x0]", "addv s1, v0.4s", "stp s1, s1, [x1]", "str s1, [x1, #8]", "ret", signature=OVER)
    finding = found(code, tmp_path)
    assert (finding.kind, finding.where, finding.first, finding.last) == ("over-read", "a", 12, 15)
    assert (finding.lane, finding.source, finding.harmless) == ((0,), code.place("ldr q0, [x0]"), False)


def test_a_declared_over_read_that_reaches_nothing_is_a_note(tmp_path: Path) -> None:
    code = assembly("ldr q0, [x0]", "str d0, [x1]", "st1 {v0.s}[2], [x1]", "mov v1.s[0], v0.s[2]",
                    "str d0, [x1]", "str s1, [x1, #8]", "ret", signature=OVER)  # fmt: skip
    finding = found(code, tmp_path)
    assert (finding.harmless, "bytes 12..15" in finding.says) == (True, True)
    assert finding.says.endswith("which reached no output")


def test_a_declared_over_read_of_an_empty_array_is_told_as_declared(tmp_path: Path) -> None:
    finding = found(assembly("ldr w9, [x0]", "mov w9, #0", "ret", signature=OVER), tmp_path, EMPTY)
    assert "bytes 0..3, past the end of 'a' (0 bytes, and 4 more declared)" in finding.says


def test_more_than_the_declared_over_read_is_stopped(tmp_path: Path) -> None:
    finding = stopped(assembly("ldp q0, q1, [x0]", "ret", signature=OVER), tmp_path)
    assert (finding.kind, finding.first, finding.last) == ("over-read", 12, 31)


@pytest.mark.parametrize(
    ("text", "where", "byte"),
    [
        ("add w8, w8, w9", "x8", range(4)),
        ("mov w8, v5.s[1]", "v5", range(4, 8)),
        ("umov w8, v0.b[0]", "v0", range(1)),
        ("cset w8, mi", "nzcv", range(1)),
        ("add w8, w2, w3", "x3", range(4)),
    ],
)
def test_an_undefined_register_that_reaches_an_output_is_found_where_it_is_first_used(
    text: str, where: str, byte: range, tmp_path: Path
) -> None:
    code = assembly(text, "stp w8, wzr, [x1]", "str wzr, [x1, #8]", "ret")
    finding = found(code, tmp_path)
    assert (finding.kind, finding.where, finding.output, finding.lane) == ("uninitialised", where, "b", (0,))
    assert (finding.first in byte, finding.source) == (True, code.place(text))
    assert finding.says.endswith("which nobody has set, and it reached b[0]")


def test_what_another_undefined_byte_makes_is_not_where_a_byte_is_first_used(tmp_path: Path) -> None:
    code = assembly("ubfx w10, w8, #8, #8", "and w8, w8, #1", "mov w10, #0", "stp w8, wzr, [x1]", "str wzr, [x1, #8]",
                    "ret")  # fmt: skip
    finding = found(code, tmp_path)
    assert (finding.where, finding.first, finding.source) == ("x8", 0, code.place("and w8, w8, #1"))


def test_an_undefined_byte_of_the_stack_is_found_where_it_is_read(tmp_path: Path) -> None:
    code = assembly("sub sp, sp, #16", "ldrb w8, [sp, #4]", "stp w8, w8, [x1]", "str w8, [x1, #8]",
                    "add sp, sp, #16", "ret")  # fmt: skip
    finding = found(code, tmp_path)
    assert (finding.kind, finding.where, finding.first) == ("uninitialised", "the stack", -12)
    assert finding.source == code.place("ldrb w8, [sp, #4]")


NARROW = Signature((ScalarArgument("k", "uint8"), Pointer("b", "uint64", (1,), direction="out")))


def test_a_byte_before_an_array_is_told_by_it_where_the_machine_alone_does_not_stop_there(tmp_path: Path) -> None:
    code = assembly("ldur w8, [x0, #-4]", "stp w8, wzr, [x1]", "str wzr, [x1, #8]", "ret")
    (finding,) = code.compiled(tmp_path, "machine").call(THREE, 0).findings
    assert (finding.kind, finding.where, finding.first in range(-4, 0)) == ("uninitialised", "a", True)
    assert f"byte {finding.first} of 'a', before its start" in finding.says


def test_the_bytes_above_the_last_of_an_arguments_registers_are_undefined(tmp_path: Path) -> None:
    signature = parse_prototype("void f(struct { int32_t k[3]; } s, uint64_t b[1])").signature
    finding = found(assembly("str x1, [x2]", "ret", signature=signature), tmp_path, {"s": {"k": [1, 2, 3]}})
    assert (finding.where, finding.first, "above the argument 's'" in finding.says) == ("x1", 4, True)


def test_the_upper_bits_of_a_narrow_argument_are_undefined(tmp_path: Path) -> None:
    finding = found(assembly("str x0, [x1]", "ret", signature=NARROW), tmp_path, {"k": 1})
    assert (finding.where, finding.first, "above the argument 'k'" in finding.says) == ("x0", 1, True)


def test_the_bytes_of_the_stack_above_a_narrow_argument_are_undefined(tmp_path: Path) -> None:
    numbers = ", ".join(f"int a{number}" for number in range(7))
    signature = parse_prototype(f"void f(uint64_t b[1], {numbers}, int8_t low, int8_t high)").signature
    arguments = {**{f"a{number}": number for number in range(7)}, "low": 1, "high": 2}
    finding = found(assembly("ldr x9, [sp, #8]", "str x9, [x0]", "ret", signature=signature), tmp_path, arguments)
    assert finding.where == "the stack"
    assert finding.first in range(9, 16)
    assert f"the stack at sp + {finding.first} of the call, above the argument 'high'" in finding.says


def test_a_byte_that_keeps_its_old_content_is_told_from_the_undefined_one_after_it(tmp_path: Path) -> None:
    code = assembly("str wzr, [x1]", "stur wzr, [x1, #3]", "ret", signature=NARROW)  # x0 is filled behind b
    finding = found(code, tmp_path, {"k": 1})
    assert (finding.kind, finding.where, finding.first) == ("never written", "b", 7)


def test_the_low_bits_of_a_narrow_argument_are_not(tmp_path: Path) -> None:
    assert not call(assembly("and x0, x0, #0xff", "str x0, [x1]", "ret", signature=NARROW), tmp_path, {"k": 1}).findings


def test_an_undefined_byte_that_decides_a_branch_is_found_with_the_branch(tmp_path: Path) -> None:
    code = assembly("tst x9, #1", "b.eq 1f", "nop", *COPY)
    finding = found(code, tmp_path)
    assert (finding.where, finding.first, finding.source) == ("x9", 0, code.place("tst x9, #1"))
    assert f"({code.place('b.eq 1f')})" in finding.says


def test_an_undefined_number_that_matters_where_it_is_small_is_found_by_some_calls(tmp_path: Path) -> None:
    code = assembly("cmp x9, #18", "cset w8, hs", "stp w8, wzr, [x1]", "str wzr, [x1, #8]", "ret")
    found_by = [finding.where for seed in range(16) for finding in call(code, tmp_path, seed=seed).findings]
    assert (set(found_by), 0 < len(found_by) < 8) == ({"x9"}, True)


def test_of_the_undefined_numbers_that_are_small_one_is_the_least() -> None:
    numbers = np.frombuffer(SeededBytes(0).draw_words(1 << 14), "<u8")
    assert (numbers.min(), numbers[numbers < 256].max()) == (1, 255)


def test_an_undefined_address_of_what_reaches_an_output_is_found(tmp_path: Path) -> None:
    code = assembly("and x9, x9, #4", "ldr w8, [x0, x9]", "stp w8, w8, [x1]", "str w8, [x1, #8]", "ret")
    finding = found(code, tmp_path)
    assert (finding.kind, finding.where, finding.lane, finding.first) == ("uninitialised", "x9", (0,), 0)


def test_an_output_that_keeps_its_old_content_is_found_with_its_lane(tmp_path: Path) -> None:
    finding = found(assembly("str xzr, [x1]", "ret"), tmp_path)
    assert (finding.kind, finding.output, finding.lane, finding.first) == ("never written", "b", (2,), 8)


def test_an_undefined_byte_that_is_saved_masked_or_forgotten_is_no_finding(tmp_path: Path) -> None:
    forgets = ("stp x19, x9, [sp, #-16]!", "eor v3.16b, v3.16b, v3.16b", "and w9, w9, wzr", "ldp x19, x9, [sp], #16")
    assert not call(assembly(*forgets, *COPY), tmp_path).findings


RETURNS = Signature((ScalarArgument("k", "int32"),), "int32")


def test_what_is_undefined_is_looked_for_in_every_call_in_lockstep(tmp_path: Path) -> None:
    code = assembly("stp w8, wzr, [x1]", "str wzr, [x1, #8]", "ret")
    assert [len(call(code, tmp_path, seed=seed).findings) for seed in range(1, 4)] == [1, 1, 1]


def test_an_undefined_result_is_found(tmp_path: Path) -> None:
    finding = found(assembly("add w0, w1, w0", "ret", signature=RETURNS), tmp_path, {"k": 1})
    assert (finding.output, finding.where) == ("returned", "x1")


PRESERVED = [
    ("mov x19, #0", "x19"),
    ("mov x28, #0", "x28"),
    ("mov x29, sp", "x29"),
    ("movi v8.16b, #0", "d8"),
    ("fmov d15, xzr", "d15"),
    ("msr fpcr, x8", "fpcr"),
    ("msr tpidr_el0, x8", "tpidr"),
]


@pytest.mark.parametrize(("text", "register"), PRESERVED)
def test_a_register_that_is_not_preserved_is_found_with_its_last_write(
    text: str, register: str, tmp_path: Path
) -> None:
    code = assembly("mov x8, #0x400000", text, *COPY)
    finding = found(code, tmp_path)
    assert (finding.kind, finding.where, finding.source) == ("register not preserved", register, code.place(text))


def test_sp_that_is_not_restored_is_found(tmp_path: Path) -> None:
    assert found(assembly(*COPY[:-1], "sub sp, sp, #16", "ret"), tmp_path).where == "sp"


@pytest.mark.parametrize(("bit", "told"), [(0, ["d8"]), (63, ["d8"]), (64, []), (127, [])])
def test_of_v8_to_v15_the_low_64_bits_are_to_be_preserved(bit: int, told: list[str]) -> None:
    before, after = RegisterStorage(), RegisterStorage()
    after.write(Place("v", 8), 1 << bit)
    assert [name_of(place) for place, _, _ in not_preserved(before, after)] == told


def test_the_high_half_of_v8_may_be_changed(tmp_path: Path) -> None:
    assert not call(assembly("mov v8.d[1], xzr", *COPY), tmp_path).findings


def test_a_use_of_x18_is_a_note(tmp_path: Path) -> None:
    finding = found(assembly("mov x18, #1", *COPY), tmp_path)
    assert (finding.kind, finding.harmless) == ("platform register", True)


@pytest.mark.parametrize("text", ["str xzr, [sp]", "ldr x8, [sp, #8]!", "bl 1f"])
def test_sp_must_be_aligned_where_it_is_used(text: str, tmp_path: Path) -> None:
    code = assembly("sub sp, sp, #24", text, "1: ret")
    finding = stopped(code, tmp_path)
    assert (finding.kind, finding.source) == ("misaligned sp", code.place(text))


@pytest.mark.parametrize("text", ["ldxr w8, [x9]", "ldadd w8, w10, [x9]", "ldar w8, [x9]", "stlr wzr, [x9]"])
@pytest.mark.parametrize("engine", ["lockstep", "machine"])
def test_an_ordered_access_must_be_aligned(text: str, engine: Engine, tmp_path: Path) -> None:
    code = assembly(" .arch armv8.1-a", "add x9, x1, #2", text, "ret")
    finding = stopped(code, tmp_path, engine=engine)
    assert (finding.kind, finding.source, "Arm ARM B2.8.2" in finding.says) == (
        "misaligned access", code.place(text), True,
    )  # fmt: skip


def exclusives(*texts: str) -> Assembly:
    """A copy behind instructions that access 16 bytes of the stack at x11, with x12 four bytes further on."""
    place = ("sub sp, sp, #16", "stp xzr, xzr, [sp]", "mov x11, sp", "add x12, sp, #4")
    return assembly(*place, *texts, "add sp, sp, #16", *COPY)


@pytest.mark.parametrize(
    "text", ["stxr w9, w8, [x12]", "stxrb w9, w8, [x11]", "stlxr w9, x8, [x11]", "stxp w9, w8, w8, [x11]"]
)
def test_a_store_exclusive_of_another_address_or_size_than_the_load_is_found(text: str, tmp_path: Path) -> None:
    code = exclusives("ldxr w8, [x11]", text)
    finding = stopped(code, tmp_path)
    assert (finding.kind, finding.source) == ("mismatched exclusive", code.place(text))


@pytest.mark.parametrize(
    "texts",
    [
        ("ldxr w8, [x11]", "stxr w9, w8, [x11]"),
        ("ldxp w8, w10, [x11]", "stlxp w9, w8, w8, [x11]"),
        ("ldxp x8, x10, [x11]", "stxp w9, x8, x10, [x11]"),
        ("ldxr w8, [x12]", "ldaxr w8, [x11]", "stlxr w9, w8, [x11]"),
        ("ldxr w8, [x12]", "clrex", "stxr w9, w8, [x11]"),
        ("ldxr w8, [x11]", "stxr w9, w8, [x11]", "stxrb w9, w8, [x12]"),
    ],
)
def test_exclusives_that_belong_together_are_no_finding(texts: tuple[str, ...], tmp_path: Path) -> None:
    assert not call(exclusives(*texts), tmp_path).findings


def test_other_accesses_need_not_be_aligned(tmp_path: Path) -> None:
    code = assembly("ldur x8, [x0, #1]", "stur xzr, [x1, #1]", "strb wzr, [x1]", "stur wzr, [x1, #8]", "ret")
    assert not call(code, tmp_path).findings


def test_an_endless_loop_names_its_lines_and_leaves_the_next_call_alone(tmp_path: Path) -> None:
    code = assembly("cmp x2, #3", "b.eq 1f", "ret", "1: add x8, x8, #1", "str x8, [x1]", "b 1b")
    compiled = code.compiled(tmp_path)
    with pytest.raises(
        GuardError, match=r"did not return within 1,000 instructions, and it goes round f\.s:7, f\.s:8, f\.s:9$"
    ):
        compiled.call(THREE, 0)
    assert compiled.call({"a": np.zeros(1025, np.uint32), "n": 1025}, 0).divergence is None


@pytest.mark.parametrize(("count", "end"), [(8, ":11"), (9, ":11, ...")])
def test_an_endless_loop_names_eight_lines(count: int, end: str, tmp_path: Path) -> None:
    loop = ("1: add x8, x8, #1", *["nop"] * (count - 2), "b 1b")
    assert stopped(assembly(*loop), tmp_path).says.endswith(end)


@pytest.mark.parametrize(
    "body",
    [
        ("1: b 1b",),
        ("1: add x8, x8, #1", "and x8, x8, #7", "b 1b"),
        ("str xzr, [x1]", "1: ldr x8, [x1]", "str x8, [x1]", "cbz x8, 1b", "ret"),
    ],
    ids=["at once", "after eight rounds", "writing what is there"],
)
def test_a_loop_that_comes_back_to_its_state_is_found_before_the_limit(body: tuple[str, ...], tmp_path: Path) -> None:
    finding = stopped(assembly(*body), tmp_path)
    assert "registers and memory are again as they were" in finding.says


def test_a_loop_that_waits_for_memory_that_it_changes_comes_to_its_end(tmp_path: Path) -> None:
    body = ("str xzr, [x1]", "1: ldr x8, [x1]", "add x8, x8, #1", "str x8, [x1]", "mov x9, x8", "mov x8, #0",
            "cmp x9, #99", "mov x9, #0", "b.ne 1b", "ret")  # fmt: skip
    assert call(assembly(*body), tmp_path).divergence is None


def test_arrays_that_share_memory_are_refused(tmp_path: Path) -> None:
    whole = np.arange(5, dtype=np.uint32)
    signature = Signature((Pointer("a", "uint32", (3,)), Pointer("c", "uint32", (3,), direction="inout")))
    with pytest.raises(KernelError, match="'a' and 'c' share memory"):
        call(assembly("ret", signature=signature), tmp_path, {"a": whole[:3], "c": whole[2:]})


def test_arrays_side_by_side_in_memory_are_not_refused(tmp_path: Path) -> None:
    whole = np.arange(6, dtype=np.uint32)
    signature = Signature((Pointer("a", "uint32", (3,)), Pointer("c", "uint32", (3,), direction="inout")))
    assert not call(assembly("ret", signature=signature), tmp_path, {"a": whole[::2], "c": whole[1::2]}).findings


def test_a_finding_leaves_machine_and_emulator_alike_for_the_next_call(tmp_path: Path) -> None:
    code = assembly("str x2, [x1, #8]", "ret")
    compiled = code.compiled(tmp_path)
    with pytest.raises(GuardError):
        compiled.call(THREE, 1)
    assert compiled.call({"a": np.zeros(1025, np.uint32), "n": 1025}, 1).divergence is None


def test_over_reads_of_one_array_are_told_together(tmp_path: Path) -> None:
    reads = ("ldrh w9, [x0, #12]", "ldrb w9, [x0, #15]", "mov w9, #0")
    finding = found(assembly(*reads, *COPY, signature=OVER), tmp_path)
    assert (finding.first, finding.last, "bytes 12..15," in finding.says) == (12, 15, True)
