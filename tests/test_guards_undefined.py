"""Undefined bytes as they are drawn and repeated, and what the byte is called that is another in two states."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from isa.lane import Place
from sim.call.buffers import FIRST_BUFFER, PlacedArray
from sim.call.caller import STACK_SIZE, STACK_TOP
from sim.call.guards.origins import ByteOrigin, first_difference
from sim.call.guards.undefined_bytes import RepeatedBytes, SeededBytes
from sim.kernels import parse_prototype
from sim.kernels.signature import Pointer
from sim.machine.memory import PAGE
from sim.machine.registers import RegisterStorage


def test_bytes_follow_the_seed_and_those_that_are_none_take_nothing_of_it() -> None:
    drawn = SeededBytes(5)
    found = [drawn.draw(size) for size in (3, 0, 8)]
    rng = np.random.default_rng(5)
    assert found == drawn.parts == [rng.bytes(3), b"", rng.bytes(8)]


def test_bytes_in_parts_of_any_size_are_those_that_numpy_gives() -> None:
    """Whole numbers of 32 bits are taken, and the other half of one of 64 comes next."""
    drawn, rng = SeededBytes(2), np.random.default_rng(2)
    sizes = [*range(1, 20), 512, 1, 4097, 4, 65536, 5, 3]
    assert [drawn.draw(size) for size in sizes] == [rng.bytes(size) for size in sizes]
    assert len(drawn.draw_words(1)) == len(rng.bytes(8))
    assert drawn.draw(7) == rng.bytes(7)


def test_one_number_in_four_is_the_top_bits_of_a_random_one_eight_at_most_and_none_is_0() -> None:
    count = 1 << 14
    drawn = SeededBytes(3)
    numbers = np.frombuffer(drawn.draw_words(count), "<u8")
    assert drawn.parts == [numbers.tobytes()]
    random = np.frombuffer(np.random.default_rng(3).bytes(8 * count), "<u8")
    small = [(int(one), int(other)) for one, other in zip(numbers, random, strict=True) if one != other]
    assert 0.23 < len(small) / count < 0.27
    assert {one.bit_length() for one, _ in small} == {*range(1, 9)}
    assert all(one in {max(other >> by, 1) for by in range(56, 64)} for one, other in small)
    by_length = [sum(one.bit_length() == bits for one, _ in small) for bits in (1, 8)]
    assert all(number > len(small) / 30 for number in by_length)
    assert numbers.min() > 0


PARTS = (b"abc", b"", b"0123456789abcdef", b"z")


@pytest.mark.parametrize("count", range(21))
def test_so_many_bytes_are_complemented_and_the_others_as_before(count: int) -> None:
    whole = b"".join(PARTS)
    repeated = RepeatedBytes(PARTS, count)
    found = repeated.draw(3) + repeated.draw(0) + repeated.draw_words(2) + repeated.draw(1)
    assert found == bytes(byte ^ 0xFF if at < count else byte for at, byte in enumerate(whole))


def test_parts_of_other_sizes_than_before_are_refused() -> None:
    with pytest.raises(ValueError, match="2 undefined bytes are drawn where 3 were before"):
        RepeatedBytes(PARTS, 0).draw(2)
    repeated = RepeatedBytes([b"a"], 0)
    repeated.draw(1)
    with pytest.raises(ValueError, match="1 undefined bytes are drawn where 0 were before"):
        repeated.draw(1)


PROTOTYPE = (
    "void f(int64_t a, int32_t b, int64_t c, int64_t d, int64_t e, int64_t g, int64_t h, int64_t i, int32_t k, "
    "int16_t l, float m)"
)
"""k and l lie on the stack, at sp and sp + 8; b is passed in x1, m in v0."""
SP = STACK_TOP - 64
ROWS = PlacedArray(Pointer("rows", "uint16", (2, 2), over_read=4), FIRST_BUFFER + PAGE, (2, 2), (4, 1))
PART = PlacedArray(Pointer("rows.part", "uint16", (1,)), FIRST_BUFFER + PAGE, (1,), (1,), is_part=True)


def state(memory: Mapping[int, bytes], registers: Mapping[str, int] = MappingProxyType({})) -> Any:
    held = RegisterStorage()
    for name, number in registers.items():
        index = name.lstrip("vxnzc")
        held.write(Place(name.removesuffix(index), int(index)) if index else Place(name), number)
    return SimpleNamespace(registers=held, memory=memory)


def difference(before: Any, after: Any) -> ByteOrigin:
    _, signature = parse_prototype(PROTOTYPE)
    caller: Any = SimpleNamespace(signature=signature, stack=SimpleNamespace(sp=SP))
    return first_difference(before, after, caller, {"part": PART, "rows": ROWS})


@pytest.mark.parametrize(
    ("registers", "where", "byte", "text"),
    [
        ({"x9": 1}, "x9", 0, "byte 0 of x9"),
        ({"x9": 0x8000}, "x9", 1, "byte 1 of x9"),
        ({"x9": 1 << 63 | 1}, "x9", 7, "byte 7 of x9"),
        ({"x30": 0x100}, "x30", 1, "byte 1 of x30"),
        ({"v31": 1 << 127}, "v31", 15, "byte 15 of v31"),
        ({"x1": 1 << 32}, "x1", 4, "byte 4 of x1, above the argument 'b'"),
        ({"v0": 1 << 40}, "v0", 5, "byte 5 of v0, above the argument 'm'"),
        ({"nzcv": 4}, "nzcv", 0, "the flags"),
        ({"nzcv": 4, "x9": 1}, "x9", 0, "byte 0 of x9"),
    ],
)
def test_a_register_is_told_with_the_highest_byte_that_differs(
    registers: dict[str, int], where: str, byte: int, text: str
) -> None:
    assert difference(state({}), state({}, registers)) == ByteOrigin(where, byte, text)


@pytest.mark.parametrize(
    ("offset", "text"),
    [
        (0, "the stack at sp + 0 of the call, above the argument 'k'"),
        (7, "the stack at sp + 7 of the call, above the argument 'k'"),
        (8, "the stack at sp + 8 of the call, above the argument 'l'"),
        (15, "the stack at sp + 15 of the call, above the argument 'l'"),
        (16, "the stack at sp + 16 of the call"),
        (-1, "the stack at sp - 1 of the call"),
        (63, "the stack at sp + 63 of the call"),
        (64 - STACK_SIZE, f"the stack at sp - {STACK_SIZE - 64} of the call"),
    ],
)
def test_a_byte_of_the_stack_is_told_from_sp_on(offset: int, text: str) -> None:
    before, after = ({SP + offset: bytes([number])} for number in (1, 2))
    assert difference(state(before), state(after)) == ByteOrigin("the stack", offset, text)


@pytest.mark.parametrize(
    ("byte", "said", "is_over_read"),
    [
        (0, " as it was before the call", False), (3, " as it was before the call", False),
        (4, ", between its rows", False), (7, ", between its rows", False), (11, " as it was before the call", False),
        (12, ", past its end", True), (15, ", past its end", True), (16, ", past its end", False),
        (-1, ", before its start", False), (-PAGE, ", before its start", False),
        (15 + PAGE, ", past its end", False),
    ],
)  # fmt: skip
def test_a_byte_near_an_array_is_told_from_its_first_on(byte: int, said: str, is_over_read: bool) -> None:
    before, after = ({ROWS.address + byte: bytes([number])} for number in (1, 2))
    assert difference(state(before), state(after)) == ByteOrigin(
        "rows", byte, f"byte {byte} of 'rows'{said}", is_over_read
    )


def test_the_first_byte_that_differs_is_told_and_that_none_does() -> None:
    memory = {SP: bytes(8), ROWS.address: bytes(16)}
    after = {**memory, ROWS.address: bytes([0, 0, 5, 5, *[0] * 12])}
    assert difference(state(memory), state(after)).byte == 2
    with pytest.raises(ValueError, match="the two states are the same"):
        difference(state(memory), state(memory))
    for address in (STACK_TOP, STACK_TOP - STACK_SIZE - 1, ROWS.address - PAGE - 1):
        with pytest.raises(ValueError, match=f"{address:#x} is no undefined byte"):
            difference(state({address: b"a"}), state({address: b"b"}))
