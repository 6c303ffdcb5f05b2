"""Random streams of instructions in lockstep: no state that one leaves behind makes another go wrong."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from isa.encodings import recorded_words
from isa.lane import Int, Lane
from isa.rows import TABLE
from isa.semantics.elementwise import SIGNED, Body, Writes, each
from support.sampled import sampled
from support.streams import random_item, random_stream, run
from support.streams_items import CLOSINGS, Call, Item, Loop
from support.streams_vocabulary import Vocabulary, vocabulary

SEEDS = 28
T = TypeVar("T")
SEARCH = settings(
    max_examples=2000,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("number", range(SEEDS))
def test_a_random_stream_does_not_diverge(number: int) -> None:
    rng = Random(number)
    result = run(random_stream(rng, vocabulary()), rng)
    print(f"seed {number}: {result.instructions} instructions, {len(result.forms)} distinct forms")
    assert result.failure == ""


def test_every_form_with_recorded_words_takes_part_or_is_left_out_for_a_reason() -> None:
    words = vocabulary()
    print(f"{len(words.of)} forms take part, {len(words.left_out)} are left out: {words.left_out}")
    assert recorded_words().keys() == words.of.keys() | words.left_out.keys()


class Drawn:
    """Chance that Hypothesis decides on, and can decide on again."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def randrange(self, stop: int, /) -> int:
        return self._draw(st.integers(0, stop - 1))

    def getrandbits(self, bits: int, /) -> int:
        return self.randrange(2**bits)

    def choice(self, items: Sequence[T], /) -> T:
        return items[self.randrange(len(items))]


@st.composite
def single_items(draw: st.DrawFn, words: Vocabulary) -> Item:
    return random_item(Drawn(draw), words, blocks=())


def streams(words: Vocabulary) -> st.SearchStrategy[list[Item]]:
    """Lists of items, each of which Hypothesis draws, simplifies and leaves out by itself, in blocks too."""
    single = single_items(words)
    call = st.builds(Call, st.lists(single, max_size=4).map(tuple), st.booleans())
    body = st.lists(single | call, max_size=4).map(tuple)
    loop = st.builds(Loop, st.integers(1, 8), st.sampled_from(CLOSINGS), body)
    return st.lists(st.one_of(single, single, single, single, call, loop), max_size=60)


def instructions_in(items: Sequence[Item]) -> int:
    """Instructions, without those that only prepare them."""
    return sum(1 + instructions_in(item.body) if isinstance(item, Call | Loop) else 1 for item in items)


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.deferred(lambda: streams(vocabulary())), st.integers(0, 2**32))
def test_a_stream_that_hypothesis_draws_does_not_diverge(stream: list[Item], state: int) -> None:
    assert run(stream, Random(state)).failure == ""


def wrapping_sum(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap(a + b)


def body_of(name: str) -> Body:
    return TABLE.named[name].body


def base_not_moved(*operands: object) -> Writes:
    return body_of("ldr x,[x,#]!")(*operands)[:-1]


PLANTED = {
    "sqadd .4s,.4s,.4s": each(SIGNED, wrapping_sum),
    "ldr x,[x,#]!": base_not_moved,
}
"""Wrong semantics by form: no saturation, no write of the base register."""
FEW = ("sqadd .", "ldr x,", "str x,", "csel", "tbz", "tbnz", "ret")


def few_forms() -> Vocabulary:
    """The forms that begin like this only, so that the planted ones come up soon."""
    made = Vocabulary()
    for name, words in recorded_words().items():
        if name.startswith(FEW):
            made.add(name, words)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("form", sampled(PLANTED, 2))
def test_hypothesis_finds_a_planted_fault_and_shrinks_it_to_the_instructions_that_matter(form: str) -> None:
    table = TABLE.replacing(form, PLANTED[form])

    def fails(example: tuple[list[Item], int]) -> bool:
        return run(example[0], Random(example[1]), table).failure != ""

    drawn = st.tuples(streams(few_forms()), st.integers(0, 2**32))
    shrunk, state = find(drawn, fails, random=Random(1), settings=SEARCH)
    print(f"{shrunk} from state {state}")
    assert instructions_in(shrunk) <= 2
