"""The parts of random streams do what a stream relies on: blocks run as often as said, accesses stay in the data."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.operands import Extended, General, Shifted
from support.streams import run
from support.streams_addresses import base_and_index, displacement
from support.streams_items import CLOSINGS, Call, Item, Jump, Loop, Plain, Skip, monitor_of
from support.streams_vocabulary import NOP, decoded, may_stand, varied, vocabulary

BL, BR_X3, MOV_X30_X0 = 0x94000000, 0xD61F0060, 0xAA0003FE
END = 1
"""The branch at the end of every stream."""
INDEX = General(1, 64)
OFFSETS = [
    INDEX,
    *(Shifted(INDEX, "lsl", amount) for amount in range(5)),
    *(Extended(INDEX, kind, amount) for kind in ("uxtw", "sxtw", "sxtx") for amount in range(5)),
]


def executed(*items: Item) -> int:
    result = run(items, Random(1))
    assert result.failure == ""
    return result.instructions - END


@pytest.mark.parametrize("times", [1, 2, 8])
@pytest.mark.parametrize(("closing", "words", "saved"), [("cbnz", 2, 0), ("b.ne", 2, 0), ("tbz", 2, 0), ("b", 3, 1)])
def test_a_loop_runs_its_body_as_often_as_said(closing: str, words: int, saved: int, times: int) -> None:
    """One instruction sets the counter; the closing B is not reached the last time."""
    assert executed(Loop(times, closing, (Plain(NOP), Plain(NOP)))) == 1 + times * (2 + words) - saved


def test_every_closing_of_a_loop_is_tried_here() -> None:
    assert set(CLOSINGS) == {"cbnz", "b.ne", "tbz", "b"}


@pytest.mark.parametrize(("distance", "left"), [(0, 3), (2, 1), (7, 0)])
def test_a_skip_leaves_out_as_many_items_as_there_are(distance: int, left: int) -> None:
    assert executed(Skip(BL, distance), *[Plain(NOP)] * 3) == 1 + left


@pytest.mark.parametrize(("distance", "left"), [(0, 3), (2, 1), (7, 0)])
def test_a_jump_leaves_out_as_many_items_as_there_are(distance: int, left: int) -> None:
    assert executed(Jump(BR_X3, distance), *[Plain(NOP)] * 3) == 2 + left


@pytest.mark.parametrize(("by_link", "returning"), [(True, 2), (False, 1)])
def test_a_call_returns_although_its_body_writes_the_link_register(by_link: bool, returning: int) -> None:
    """BL, the saved link, two in the body, the return, B over the body."""
    assert executed(Call((Plain(MOV_X30_X0), Plain(NOP)), by_link)) == 1 + 1 + 2 + returning + 1


@given(st.sampled_from(OFFSETS), st.integers(0x200000, 0x3FFFFF).map(lambda half: 2 * half))
def test_one_register_as_base_and_index_gives_the_address(offset: General | Shifted | Extended, target: int) -> None:
    value = base_and_index(target, offset)
    assert (value + displacement(offset, value)) % 2**64 == target


@pytest.mark.parametrize(
    ("word", "allowed"),
    [
        (0x3C810421, True),  # str q1, [x1], #0x10
        (0xA9000441, True),  # stp x1, x1, [x2]
        (0xA9810C22, True),  # stp x2, x3, [x1, #0x10]!
        (0xC8037C41, True),  # stxr w3, x1, [x2]
        (0x9100079C, False),  # add x28, x28, #1 writes the counter of loops
        (0x8B1C0000, True),  # add x0, x0, x28 reads it
        (0xF9400360, False),  # ldr x0, [x27] has an address register that streams need
    ],
)
def test_what_may_stand_in_a_stream(word: int, allowed: bool) -> None:
    assert may_stand(decoded(word)) == allowed


@pytest.mark.parametrize("seed", range(4))
def test_varied_words_stay_of_their_form(seed: int) -> None:
    rng, words = Random(seed), vocabulary().of
    names = rng.sample(sorted(words), 200)
    made = {name: varied(words[name][0], rng) for name in names}
    assert all(word == NOP or decoded(word).form.name == name for name, word in made.items())


@pytest.mark.parametrize(
    ("store", "load"),
    [
        ("stxr w3, x1, [x2]", "ldxr x25, [x2]"),
        ("stlxrb w3, w1, [x2]", "ldaxrb w25, [x2]"),
        ("stxp w3, x1, x4, [x2]", "ldxp x25, xzr, [x2]"),
    ],
)
def test_a_store_exclusive_follows_the_load_of_its_size_and_address(store: str, load: str) -> None:
    word = {"stxr": 0xC8037C41, "stlxrb": 0x0803FC41, "stxp": 0xC8231041}[store.split()[0]]
    assert decoded(word).text == store
    assert [decoded(before).text for before in monitor_of(word, True)] == [load]


def test_no_other_access_has_a_monitor() -> None:
    others = [0xF9400020, 0x48207C82, 0xC8A07C41, 0xC85F7C41]  # ldr, casp, cas, ldxr
    assert [monitor_of(word, True) for word in others] == [()] * 4
