"""Loops given as a bare body."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.cycles import loop_in_file
from sim.timing.loops.bare_loop import BareLoopError, Body, body_in_file, body_in_text, loop_of_body, stream_of_body
from sim.timing.loops.body_run import _LOADED
from sim.timing.loops.loop import Loop
from sim.timing.model.stream import Executed
from sim.toolchain.image import ImageError

CODE = 0x11000
SCALE = """
.Lscale:
    ldp q0, q1, [x0], #32
    sqrdmulh v0.4s, v0.4s, v16.4s
    sqrdmulh v1.4s, v1.4s, v16.4s
    stp q0, q1, [x1]
    str q0, [x2], #16
    add x1, x1, #32
    subs x3, x3, #8
    b.ne .Lscale
"""


def loop_in(text: str, label: str | None = None) -> Loop:
    return loop_of_body(body_in_text(text, label))


def strides(loop: Loop) -> list[int]:
    """Of all accesses, in order."""
    return [stride for of_one in loop.strides for stride in of_one]


def texts(body: Body) -> list[str]:
    return [instruction.form.mnemonic for instruction in body.code]


def addresses(stream: list[Executed]) -> list[int]:
    return [address for one in stream for address, _ in (*one.loads, *one.stores)]


def test_the_strides_of_a_bare_loop_are_those_of_its_pointers() -> None:
    assert loop_in(SCALE).strides == ((32,), (), (), (32,), (16,), (), (), ())


def test_pointers_of_a_bare_loop_are_far_apart_and_aligned() -> None:
    first, *others = addresses(loop_in(SCALE).iteration(0))
    assert all(abs(address - first) >= 1 << 39 for address in others)
    assert all(address % 16 == 0 for address in (first, *others))


def test_the_branch_of_a_bare_loop_is_followed_though_its_counter_is_zero() -> None:
    stream = stream_of_body(body_in_text(SCALE), 3)
    assert [one.taken for one in stream] == ([False] * 7 + [True]) * 3


@pytest.mark.parametrize("close", ["cbnz x3, .Lt", "cbz x3, .Lt", "tbnz w3, #4, .Lt", "b.lo .Lt", "b .Lt"])
def test_every_kind_of_branch_closes_a_bare_loop(close: str) -> None:
    assert loop_in(f".Lt:\n ldr q0, [x0], #16\n {close}").body[-1].next_pc == CODE


def test_a_branch_to_itself_is_a_loop() -> None:
    assert texts(body_in_text("nop\n.Lt: b .Lt\n nop\n ret")) == ["b"]


def test_code_without_a_branch_is_one_body_and_none_of_several() -> None:
    assert body_in_text("ldr d0, [x0], #8\nadd v0.8b, v0.8b, v1.8b").of_loops == 1


def test_a_body_without_a_branch_is_repeated_as_a_whole() -> None:
    loop = loop_in("ldr d0, [x0], #8\nadd v0.8b, v0.8b, v1.8b\nstr d0, [x1, #8]!")
    assert (strides(loop), loop.body[-1].taken) == ([8, 8], False)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ldr q0, [x0, x3]\n add x3, x3, #16", [16]),
        ("ldr q0, [x0, w3, sxtw #4]\n sub w3, w3, #1", [-16]),
        ("add x9, x0, x3\n ldr q0, [x9]\n add x3, x3, #48", [48]),
        ("madd x9, x3, x4, x0\n ldr q0, [x9]\n add x0, x0, #32", [32]),
        ("ldr q0, [x9]\n add x9, x0, #16\n add x0, x0, #64", [64]),
        ("add x9, x3, x0\n ldr q0, [x9]\n ldr q1, [x0], #16", [16, 16]),
        ("csel x9, x0, x1, hs\n ldr q0, [x9]\n add x1, x1, #32", [32]),
        ("ldr x9, [sp, #8]\n ldr q0, [x9]", [0, 0]),
        ("nop\n ldr x9, [sp, #8]\n ldr q0, [x9]", [0, 0]),
        ("ldrb w4, [x0], #1\n ldr w5, [x1, w4, uxtw #2]", [1, 0]),
        ("ldr q0, [sp, #32]\n str q0, [sp, #48]", [0, 0]),
        ("ldr s0, [x0], #-4\n str s0, [x0, #-4]", [-4, -4]),
        ("ld1 {v0.s}[0], [x0], #4\n st1 {v0.s}[1], [x1], #4", [4, 4]),
    ],
)
def test_addresses_are_followed_back_to_registers(body: str, expected: list[int]) -> None:
    assert strides(loop_in(f".Lt:\n {body}\n b.ne .Lt")) == expected


@pytest.mark.parametrize("body", ["ld1 {v0.16b}, [x0], x5", "ldr q1, [x1]\n add x1, x1, x5"])
def test_a_stride_in_a_register_moves_a_pointer(body: str) -> None:
    (stride,) = strides(loop_in(f".Lt:\n {body}\n subs x3, x3, #1\n b.ne .Lt"))
    assert stride >= 64


def test_rows_at_different_offsets_of_one_pointer_do_not_overlap() -> None:
    low, high = sorted(addresses(loop_in(".Lt:\n ldr q0, [x0, x3]\n str q0, [x0, x4]\n b.ne .Lt").iteration(0)))
    assert high - low >= 16


def test_made_up_pointers_and_numbers_are_whole_cache_lines_in_sets_of_their_own() -> None:
    """64 sets of lines of 64 bytes, as most first caches have."""
    pointers = addresses(loop_in("\n".join(f"ldr q0, [x{number}]" for number in range(15))).iteration(0))
    assert {address % 64 for address in pointers} == {0}
    assert len({address // 64 % 64 for address in pointers}) == 15
    indexed = "\n".join(f"ldr q0, [x0, x{number}]" for number in range(1, 16))
    first, *others = addresses(loop_in(f"ldr q0, [x0]\n{indexed}").iteration(0))
    assert {(address - first) % 64 for address in others} == {0}
    assert all(64 <= address - first < 1 << 20 for address in others)
    assert len({address // 64 % 64 for address in (first, *others)}) == 16


def test_pointers_that_are_loaded_go_from_one_to_the_next_by_ever_longer_steps() -> None:
    """By the triangular numbers: over a power of two each comes once before one comes again."""
    stream = stream_of_body(body_in_text(".Lt:\n ldr x0, [x0]\n b.ne .Lt"), 12)
    _, first, *others = addresses(stream)
    assert [(at - first) // (65 * 64) for at in others] == [1, 3, 6, 10, 15, 21, 28, 36, 45, 55]
    assert {(at - first) % (65 * 64) for at in others} == {0}
    assert len({k * (k + 1) // 2 % _LOADED for k in range(_LOADED)}) == _LOADED


def test_a_forward_branch_follows_the_machine() -> None:
    body = body_in_text(".Lt:\n cbz x9, 1f\n add x1, x1, #1\n1: ldr x2, [x0], #8\n b.ne .Lt")
    assert [one.instruction.form.mnemonic for one in stream_of_body(body, 1)] == ["cbz", "ldr", "b.cond"]


def test_a_way_out_of_the_loop_is_not_taken() -> None:
    body = body_in_text(".Lt:\n cbz x9, .Lend\n ldr x2, [x0], #8\n b .Lt\n.Lend: ret")
    assert [one.taken for one in stream_of_body(body, 2)] == [False, False, True] * 2


@pytest.mark.parametrize("skip", ["cbz", "cbnz"])
def test_two_branches_back_to_one_head_are_one_loop(skip: str) -> None:
    """Memory is zero: `cbz` goes round by the second branch, `cbnz` by the first one."""
    text = f".Lt:\n ldrb w1, [x0], #1\n {skip} w1, 1f\n add x2, x2, #1\n b .Lt\n1: sub x2, x2, #1\n b .Lt"
    way = {"cbz": ["ldrb", "cbz", "sub", "b"], "cbnz": ["ldrb", "cbnz", "add", "b"]}
    assert [one.instruction.form.mnemonic for one in loop_in(text).body] == way[skip]


NESTED = """
    .globl rows
rows:
    mov x4, x3
.Lrow:
    ldr x5, [x1], #8
.Lcolumn:
    ldr q0, [x0], #16
    subs x4, x4, #1
    b.ne .Lcolumn
    subs x2, x2, #1
    b.ne .Lrow
    ret
copy:
.Lcopy:
    ldrb w4, [x0], #1
    strb w4, [x1], #1
    cbnz x2, .Lcopy
    ret
"""


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (".Lcolumn", ["ldr", "subs", "b.cond"]),
        (".Lcopy", ["ldrb", "strb", "cbnz"]),
        ("copy", ["ldrb", "strb", "cbnz"]),
        (None, ["ldrb", "strb", "cbnz"]),
    ],
)
def test_a_loop_is_found_by_its_label_or_its_function(label: str | None, expected: list[str]) -> None:
    assert texts(body_in_text(NESTED, label)) == expected


def test_code_behind_a_label_goes_to_the_next_one_that_is_not_local() -> None:
    text = "".join(f"f{k}:\n add x{k}, x{k}, #1\n.Ll{k}:\n subs x9, x9, #1\n b.ne .Ll{k}\n ret\n" for k in (1, 2, 3))
    assert body_in_text(text, "f1").label == ".Ll1"


@pytest.mark.parametrize(
    ("text", "label", "message"),
    [
        ("cbz x0, .+8\n nop\n ret", None, "no branch back to an instruction before it"),
        (".Lb: nop\n.La: nop\n b .La", ".Lb", "no branch back to .Lb"),
        (SCALE, ".Lscales", "no symbol '.Lscales'; it defines .Lscale"),
        (NESTED, "rows", "has another one inside, at 0x11008: name the label"),
        (".Lt:\n nop\n dc zva, x0\n b .Lt", None, "dc zva, x0 at 0x11004 cannot be timed"),
        ("", None, "has no code"),
    ],
)
def test_a_body_that_cannot_be_found_says_why(text: str, label: str | None, message: str) -> None:
    with pytest.raises(BareLoopError, match=message):
        body_in_text(text, label)


def test_labels_of_debug_information_are_none_that_a_file_defines(tmp_path: Path) -> None:
    path = tmp_path / "one.s"
    path.write_text("loop:\n subs x2, x2, #8\n b.gt loop\n")
    with pytest.raises(BareLoopError, match=r"no symbol 'lop'; it defines loop$"):
        body_in_file(path, "lop")


def test_a_loop_is_found_in_a_file_whose_path_is_text(tmp_path: Path) -> None:
    path = tmp_path / "scale.s"
    path.write_text(SCALE)
    assert loop_in_file(str(path)) == loop_in_file(path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("fmov x9, d0\n ldr q0, [x9]", r"no register of the loop explains an address: at 0x11004, ldr q0, \[x9\]"),
        ("ldpsw x8, x9, [x0]\n ldr q0, [x9]", "no register of the loop explains an address"),
        ("ldr x0, [x0]", r"the address of ldr x0, \[x0\] does not move by a constant stride"),
        ("ldr x9, [x0], #8\n ldr q0, [x9]", r"the address of ldr q0, \[x9\] does not move"),
        ("tbz w1, #0, 1f\n ldr q0, [x0]\n1: eor w1, w1, #1", "different ways through the loop"),
        ("bl f", "bl #0x11008 at 0x11000 leaves the loop"),
        ("adr x3, 1f\n1: add x4, x4, #1\n br x3", "a branch to a register goes back within the loop"),
        ("svc #0", "svc"),
    ],
)
def test_a_body_that_is_no_loop_of_strides_says_why(body: str, message: str) -> None:
    with pytest.raises(BareLoopError, match=message):
        loop_in(f".Lt:\n {body}\n b.ne .Lt\nf: ret", ".Lt")


def test_a_chain_of_pointers_is_given_as_a_stream() -> None:
    stream = stream_of_body(body_in_text(".Lt:\n ldr x0, [x0]\n b.ne .Lt"), 50)
    assert len(set(addresses(stream))) == 50


def test_a_pointer_that_is_loaded_twice_from_one_place_is_the_same() -> None:
    stream = stream_of_body(body_in_text(".Lt:\n ldp x8, x9, [x0]\n ldr q0, [x8]\n ldr q1, [x9]\n b.ne .Lt"), 2)
    place, first, second = addresses(stream[:4])
    assert (addresses(stream[4:]), first != second) == ([place, first, second], True)


def test_a_compiled_file_needs_a_label(tmp_path: Path) -> None:
    path = tmp_path / "kernel.o"
    path.write_bytes(b"\x7fELF")
    with pytest.raises(BareLoopError, match="name the function or the label"):
        body_in_file(path, None)
    with pytest.raises(ImageError):
        body_in_file(path, "kernel")


def test_a_source_file_is_assembled(tmp_path: Path) -> None:
    path = tmp_path / "scale.s"
    path.write_text(SCALE)
    assert len(body_in_file(path, ".Lscale").code) == 8
