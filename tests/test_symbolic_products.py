"""Products of which only low bits count become those that are there; what they are put in keeps its number."""

import time
from collections.abc import Callable
from itertools import product

import pytest

from isa.lane import S64, Int, Lane, Place, Read, constant, select, walk
from sim.symbolic.equality import is_step
from sim.symbolic.nodes import Simplifier
from sim.symbolic.rules import shared_products
from sim.symbolic.rules.windows import low_bits
from sim.symbolic.simplify import simplified
from support.symbolic_rules import INPUTS, disagreement

A, B, C, D, E, _ = INPUTS.values()
S3 = Int(3, signed=True)
X, Y, M = (Read(Place(name), S64.low, S64.high) for name in "xym")

PRODUCTS = (
    (S3.wrap(A + E) * B, (A + E) * B),
    (S3.wrap(-A - E) * B, (A + E) * B),
    (S3.wrap(A + C) * S3.wrap(B + E), (A + C) * (B + E)),
    (S3.wrap(A * 2) * B, A * B),  # of low bits the double
    (S3.wrap(A * B + E) * (C * 8 + 1), A * B),  # of low bits a sum of it and another number
    (S3.wrap(A + E) * C, (A + E) * B),
)
"""A product, and one that has some low bits in common with it, or none."""
PLACES: tuple[Callable[[Lane], Lane], ...] = (
    lambda p: p,
    lambda p: (p + 2) >> 2,
    lambda p: A - p * 2,
    lambda p: select(D, (constant(3) - p) >> 1, p ^ C),
    lambda p: (p | E) + (p & A),
    lambda p: p * C + B,
)


def shared() -> list[tuple[Lane, Lane]]:
    """Elements of products beside other products, and what becomes of them: those that change."""
    s, found = Simplifier(), list[tuple[Lane, Lane]]()
    for (whole, other), place, bits, lsb in product(PRODUCTS, PLACES, (1, 2, 3, 4), (0, 1)):
        element = Int(bits, signed=bits % 2 > 0)
        lanes = [s.simplified(whole), element.field(s.simplified(place(other)), lsb)]
        found += shared_products.shared_products(s, lanes).items()
    return found


def test_the_number_is_the_same_for_all_inputs() -> None:
    found = shared()
    assert len(found) > 20
    assert [where for before, after in found if (where := disagreement(before, after))] == []


@pytest.mark.parametrize("fewer", [1, 2])
def test_a_bit_too_few_is_noticed(fewer: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_products, "low_bits", lambda s, lane, bits: low_bits(s, lane, max(1, bits - fewer)))
    assert any(disagreement(before, after) for before, after in shared())


def test_the_product_that_is_there_is_taken() -> None:
    s = Simplifier()
    whole, low = s.simplified(S3.wrap(A + E) * B), s.simplified(Int(1, False).wrap(((A + E) * B + 2) >> 2))
    ((element, made),) = shared_products.shared_products(s, [whole, low]).items()
    assert element is low
    assert whole in walk([made])
    assert whole not in walk([low])


@pytest.mark.parametrize(("shift", "proved"), [(63, True), (64, False)])
def test_a_low_bit_of_a_product_is_proved_without_multiplying(shift: int, proved: bool) -> None:
    """The sum is wrapped to 64 bits on one side: of the product so many bits are the same, and the next is not."""

    def rounded(lane: Lane) -> Lane:
        return (lane * M + (1 << 62)) >> shift

    one = rounded(S64.wrap(X - Y))
    other = (one >> 1) * 2 + Int(1, signed=False).wrap(rounded(X - Y))
    assert is_step(simplified(one), simplified(other), None, time.monotonic() + 20) is proved
