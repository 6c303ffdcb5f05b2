"""Where the addresses of a loop's body come from, followed back register by register."""

from __future__ import annotations

import pytest

from isa.rows import TABLE
from sim.timing.loops.base_registers import BaseRegisters


def found(*texts: str) -> tuple[set[str], set[str], dict[int, dict[str, int]]]:
    """The bases, the offsets, and the pointers that the body loads itself."""
    registers = BaseRegisters([TABLE.instruction(*text.split(" ", 1)) for text in texts])
    pointers = {at: {str(place): byte for place, byte in of.items()} for at, of in registers.pointers.items()}
    return set(map(str, registers.bases)), set(map(str, registers.offsets)), pointers


@pytest.mark.parametrize(
    ("texts", "bases", "offsets"),
    [
        (["ldr q0, [x1]"], "x1", ""),
        (["str q0, [sp, #16]"], "sp", ""),
        (["ldr q0, [x1, x2]"], "x1", "x2"),
        (["ldr q0, [x1, w2, uxtw #4]"], "x1", "x2"),
        (["ld1 {v0.16b}, [x1], x5"], "x1", "x5"),
        (["ld1 {v0.16b}, [x1], x5", "ldr q1, [x1]"], "x1", "x5"),
        (["ld1 {v0.16b}, [x1], #16", "ldr q1, [x1]"], "x1", ""),
        (["ldr q0, [x1, #16]!", "ldr q1, [x1]"], "x1", ""),
        (["add x9, x2, x1", "ldr q0, [x9]"], "x2", "x1"),
        (["add x9, x2, x1", "ldr q0, [x9]", "ldr q1, [x1]"], "x1", "x2"),
        (["add x9, sp, #16", "ldr q0, [x9]"], "sp", ""),
        (["madd x9, x3, x4, x0", "ldr q0, [x9]"], "x0", "x3 x4"),
        (["msub x9, x3, x4, x0", "ldr q0, [x9]"], "x0", "x3 x4"),
        (["smaddl x9, w3, w4, x0", "ldr q0, [x9]"], "x0", "x3 x4"),
        (["umaddl x9, w3, w4, x0", "ldr q0, [x9]"], "x0", "x3 x4"),
        (["csel x9, x0, x1, hs", "ldr q0, [x9]"], "x0 x1", ""),
        (["csel x9, x0, x1, hs", "ldr q0, [x4, x9]"], "x4", "x0 x1"),
        (["ldr q0, [x1, x2]", "ldr q1, [x2]"], "x1 x2", ""),
        (["ldr q0, [x1, x2]", "ldr q1, [x2, x1]"], "x1 x2", ""),
        (["add x3, x3, #48", "ldr q0, [x1, x3]"], "x1", "x3"),
        (["ldr x9, [x1]", "ldr q0, [x2, x9]"], "x1 x2", ""),
        (["ldrb w9, [x1]", "ldr q0, [x2, w9, uxtw]"], "x1 x2", ""),
        (["fmov x9, d0", "ldr q0, [x9]"], "", ""),
    ],
)
def test_registers_of_an_address_are_bases_and_offsets(texts: list[str], bases: str, offsets: str) -> None:
    assert found(*texts) == (set(bases.split()), set(offsets.split()), {})


@pytest.mark.parametrize(
    ("texts", "bases"),
    [
        (["add x9, x1, #1", "add x9, x2, #1", "ldr q0, [x9]"], "x2"),  # the last one before
        (["add x9, x1, #1", "ldr q0, [x9]", "add x9, x2, #1"], "x1"),  # not the one behind
        (["ldr q0, [x9]", "add x9, x1, #1", "add x9, x2, #1"], "x9 x2"),  # of the iteration before, the last one
        (["ldr q0, [x9]", "mov x9, x1", "add x1, x2, #16"], "x9 x1 x2"),
        (["add x0, x1, #1", "add x1, x0, #1", "ldr q0, [x0]"], "x1"),  # which go round
        (["ldr q0, [x9], #16", "add x9, x1, #16"], "x9 x1"),  # before the access: not itself
    ],
)
def test_a_register_holds_what_was_written_last(texts: list[str], bases: str) -> None:
    assert found(*texts) == (set(bases.split()), set(), {})


@pytest.mark.parametrize(
    ("texts", "bases", "pointers"),
    [
        (["ldr x9, [sp, #8]", "ldr q0, [x9]"], "sp", {0: {"x9": 0}}),
        (["nop ", "ldur x9, [x1, #-8]", "ldr q0, [x9, #32]"], "x1", {1: {"x9": 0}}),
        (["ldr x9, [x1], #8", "ldr q0, [x9]"], "x1", {0: {"x9": 0}}),
        (["ldr x9, [x1, x2]", "ldr q0, [x9]"], "x1", {0: {"x9": 0}}),
        (["ldar x9, [x1]", "ldr q0, [x9]"], "x1", {0: {"x9": 0}}),
        (["ldp x8, x9, [x1]", "ldr q0, [x9]"], "x1", {0: {"x9": 8}}),
        (["ldnp x8, x9, [x1]", "ldr q0, [x8]", "ldr q1, [x9]"], "x1", {0: {"x8": 0, "x9": 8}}),
        (["ldr x0, [x0]"], "x0", {0: {"x0": 0}}),
        (["ldr q0, [x9]", "ldr x9, [x1]"], "x9 x1", {1: {"x9": 0}}),
        (["ldr x9, [x1]", "add x8, x9, #16", "ldr q0, [x8]"], "x1", {0: {"x9": 0}}),
        (["ldr w9, [x1]", "ldr q0, [x9]"], "x1", {}),  # four bytes are no address
        (["ldrsw x9, [x1]", "ldr q0, [x9]"], "x1", {}),
        (["ldp x8, x9, [x1]", "ldr q0, [x2, x9]"], "x1 x2", {}),
    ],
)
def test_a_pointer_that_the_body_loads_is_known_by_its_byte(
    texts: list[str], bases: str, pointers: dict[int, dict[str, int]]
) -> None:
    offsets = {"x2"} if "[x1, x2]" in texts[0] else set()
    assert found(*texts) == (set(bases.split()), offsets, pointers)
