"""Calls that are made ready once and repeated: what they read and write of the stack and of data."""

from __future__ import annotations

import numpy as np
import pytest

from isa.lane import Place
from isa.rows import TABLE
from sim.call.caller import STACK_SIZE, STACK_TOP
from sim.call.prepared import PreparedCall, Repeater
from sim.kernels import Kernel, parse_prototype
from sim.toolchain.compilers import build_text

LOWEST = STACK_TOP - STACK_SIZE


def test_slots_of_the_stack_begin_with_its_lowest_byte_and_are_counted_from_the_stack_pointer() -> None:
    name, signature = parse_prototype("void f(const int32_t x[4], int32_t out[4])")
    code = f"""
        str     x0, [sp, #-16]!
        movz    x9, #{LOWEST & 0xFFFF}
        movk    x9, #{LOWEST >> 16 & 0xFFFF}, lsl #16
        movk    x9, #{LOWEST >> 32 & 0xFFFF}, lsl #32
        ldr     w10, [x9]
        ldr     w11, [x0]
        str     w11, [x1]
        ldr     x0, [sp], #16
        ret
    """
    image = build_text(f".globl f\n.type f, %function\nf:\n{code}\n.size f, . - f\n", ".s")
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict)
    repeater, entry = Repeater(image, kernel), image.symbol("f").address
    call = repeater.prepare({"x": np.arange(4, dtype=np.int32)}, 1)
    sp = call.registers.read(Place("sp"))
    assert list(repeater.slots(call, 100)) == [(entry, -16), (entry + 16, LOWEST - sp + 16), (entry + 28, 0)]


SUMS = """
        mov     w2, #4
    1:  ldr     w3, [x0], #4
        ldr     w4, [x1]
        add     w3, w3, w4
        str     w3, [x1], #4
        subs    w2, w2, #1
        b.ne    1b
        ret
"""
"""Adds four numbers to what the output holds."""
EXECUTED = [0, *range(4, 28, 4), *range(4, 28, 4), *range(4, 28, 4), *range(4, 28, 4), 28]
FAULTS = "mov x9, #0\nldr w3, [x9]\nret"


def made_ready(code: str) -> tuple[Repeater, PreparedCall, int]:
    """With the address of its first instruction."""
    name, signature = parse_prototype("void f(const int32_t x[4], int32_t out[4])")
    image = build_text(f".globl f\n.type f, %function\nf:\n{code}\n.size f, . - f\n", ".s")
    repeater = Repeater(image, Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict))
    return repeater, repeater.prepare({"x": np.arange(4, dtype=np.int32)}, 1), image.symbol("f").address


def test_a_call_that_is_repeated_begins_as_it_did() -> None:
    repeater, call, entry = made_ready(SUMS)
    first, second = repeater.run(call, 100), repeater.run(call, 100)
    assert first[0] is not None
    assert second[0] is not None
    assert first[0]["out"].tolist() == second[0]["out"].tolist()
    assert [first[1], second[1]] == [len(EXECUTED)] * 2
    assert [pc - entry for pc in repeater.path(call, 100)] == EXECUTED
    assert [pc - entry for pc in repeater.path(call, 100)] == EXECUTED


def test_a_call_finds_the_stack_as_it_was() -> None:
    repeater, call, entry = made_ready("ldr w3, [sp, #-8]\nadd w3, w3, #1\nstr w3, [sp, #-8]\nstr w3, [x1]\nret")
    first, second = repeater.run(call, 100)[0], repeater.run(call, 100)[0]
    assert first is not None
    assert second is not None
    assert first["out"].tolist() == second["out"].tolist()
    mnemonics = [one.form.mnemonic for _, one in sorted(repeater.instructions.items())]
    assert (min(repeater.instructions), mnemonics) == (entry, ["ldur", "add", "stur", "str", "ret"])


@pytest.mark.parametrize(("limit", "returns"), [(len(EXECUTED), True), (len(EXECUTED) - 1, False), (3, False)])
def test_a_call_is_given_up_after_so_many_instructions(limit: int, returns: bool) -> None:
    repeater, call, entry = made_ready(SUMS)
    outputs, executed = repeater.run(call, limit)
    assert (outputs is not None, executed) == (returns, limit)
    assert [pc - entry for pc in repeater.path(call, limit)] == EXECUTED[:limit]


def test_a_call_that_faults_has_no_outputs_and_a_path_up_to_there() -> None:
    repeater, call, entry = made_ready(FAULTS)
    assert repeater.run(call, 100) == (None, 1)
    assert list(repeater.path(call, 100)) == [entry]
    assert repeater.noted(call, 100, {entry + 4: [Place("x", 9)], entry + 8: [Place("x", 9)]}) == {entry + 4: [(0,)]}


def test_what_registers_hold_is_noted_once_each_in_the_order_in_which_it_comes() -> None:
    repeater, call, entry = made_ready(SUMS)
    x = call.placed["x"].address
    counter, pointer = {entry + 20: [Place("x", 2)]}, {entry + 4: [Place("x", 0), Place("pc")], entry + 99: []}
    for _ in range(2):
        assert repeater.noted(call, 100, counter) == {entry + 20: [(4,), (3,), (2,), (1,)]}
        assert repeater.noted(call, 100, pointer) == {entry + 4: [(x + 4 * k, entry + 4) for k in range(4)]}
    added = [(pc, one.read(Place("x", 3))) for pc, one in repeater.executions(call, 100, [entry + 12])]
    assert added == [(entry + 12, number) for number in range(4)]


def test_another_instruction_is_run_in_the_place_of_what_was_compiled() -> None:
    repeater, call, entry = made_ready(SUMS)
    repeater.patch({entry + 20: TABLE.instruction("subs", "w2, w2, #4")})
    assert repeater.run(call, 100)[1] == 8
    repeater.patch({})
    assert repeater.run(call, 100)[1] == len(EXECUTED)
