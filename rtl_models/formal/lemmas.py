"""Lemmas about numbers: what lets stages be put together, each with a false claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isa.lane import S32, S64, U1, U8, U16, U32, Int, Lane, constant
from rtl_models.formal import arithmetic as a
from rtl_models.formal.theorem import Lemma
from sim.prove.claim import Claim, Range

_Side = Callable[..., Lane]
_FACTORS: Mapping[str, Int | Range] = {"a": S32, "b": S32}
_PARTS = ("a_high", "a_low", "b_high", "b_low")


def product_of_joined(a_high: Lane, a_low: Lane, b_high: Lane, b_low: Lane) -> Lane:
    """A product of numbers given in halves, modulo 2^64."""
    return S64.wrap(S64.wrap(a.joined(a_high, a_low)) * S64.wrap(a.joined(b_high, b_low)))


def sum_of_products(a_high: Lane, a_low: Lane, b_high: Lane, b_low: Lane) -> Lane:
    """The four tiles of it at their places, modulo 2^64."""
    return a.sum_of_tiles(a.outer(a_high * b_high, a_low * b_low), a.crossed(a_high * b_low, a_low * b_high))


def nudged_product_of_joined(a_high: Lane, a_low: Lane, b_high: Lane, b_low: Lane, nudge: Lane) -> Lane:
    """As `product_of_joined`, with one more number in the sum."""
    return S64.wrap(S64.wrap(a.joined(a_high, a_low)) * S64.wrap(a.joined(b_high, b_low)) + nudge)


def nudged_sum_of_products(a_high: Lane, a_low: Lane, b_high: Lane, b_low: Lane, nudge: Lane) -> Lane:
    """As `sum_of_products`, with one more number in the sum."""
    outer = a.outer(a_high * b_high, a_low * b_low) + nudge
    return a.sum_of_tiles(outer, a.crossed(a_high * b_low, a_low * b_high))


def low_product_of_joined(a_high: Lane, a_low: Lane, b_high: Lane, b_low: Lane) -> Lane:
    """As `product_of_joined`, modulo 2^32."""
    return U32.wrap(U32.wrap(a.joined(a_high, a_low)) * U32.wrap(a.joined(b_high, b_low)))


def sum_of_low_products(a_high: Lane, a_low: Lane, b_high: Lane, b_low: Lane) -> Lane:
    """Three tiles of it at their places, modulo 2^32."""
    return a.sum_of_low_tiles(a_low * b_low, U16.wrap(a_low * b_high), U16.wrap(a_high * b_low))


def lemmas() -> list[Lemma]:
    """All of them, each name once.

    The products of tiles are proved in two steps, which the solver needs: that a number is its halves, and that
    products distribute whatever four numbers the halves are.
    """
    halves, wide = {"a": S32}, dict.fromkeys(_PARTS, S64)
    return [
        _lemma("a number is its halves", halves,
            lambda x: a.joined(a.high_half(x), a.low_half(x)), lambda x: x,
            lambda x: a.joined(a.high_half_unsigned(x), a.low_half(x))),
        _lemma("four tiles are the product", wide, sum_of_products, product_of_joined,
            lambda a_high, a_low, b_high, b_low: S64.wrap(
                sum_of_products(a_high, a_low, b_high, b_low) - a_low * b_low)),
        _lemma("four tiles and a number are the product and that", {**wide, "nudge": S64},
            nudged_sum_of_products, nudged_product_of_joined,
            lambda a_high, a_low, b_high, b_low, nudge: sum_of_products(a_high, a_low, b_high, b_low)),
        _lemma("three tiles are the lower half of the product",
            dict.fromkeys(_PARTS, U32), sum_of_low_products, low_product_of_joined,
            lambda a_high, a_low, b_high, b_low: U32.wrap(
                sum_of_low_products(a_high, a_low, b_high, b_low) - a_low * b_low)),
        _lemma("a product by adding", {"x": U32, "height": U32},
            lambda x, height: U32.wrap(_product(x, height) + height),
            lambda x, height: U32.wrap(U32.wrap(x + 1) * height), _product),
        _lemma("nudged product", _FACTORS, a.nudged_high, a.sqrdmulh,
            lambda x, y: S32.field(a.product(x, y) + a.nudge(constant(0)), 31)),
        _lemma("division in steps", {"a": S32, "n": a.U5}, a.divided_in_steps, a.divided,
            lambda x, n: a.rounded_away(a.in_halves(x, n), constant(0))),
        _lemma("bounds in steps", {"x": S32, "low": U8, "high": U8, "is_signed": U1}, a.bounded_in_steps, a.bounded,
            lambda x, low, high, is_signed: a.chosen(
                constant(1), x < 0, a.is_over(x, high, is_signed), a.is_under(x, low, is_signed),
                low, high, U8.wrap(x))),
        _lemma("division with a rounding in steps", {"a": S32, "n": a.U5, "rounding": a.U2},
            a.shift_rounded_in_steps, a.shift_rounded,
            lambda x, n, rounding: a.shift_rounded_in_steps(x, n, rounding & 1)),
        _lemma("scaling in steps",
            {"whole": S64, "high": S32, "left": a.U5, "right": a.U5, "rounding": Range(0, 2)},
            a.scaled_in_steps, a.scaled,
            lambda whole, high, left, right, rounding: a.scaled_in_steps(whole, high, left, right, rounding & 2),
            given=lambda whole, high, left, right, rounding: (left < 31) | (rounding >> 1).equals(0)),
    ]  # fmt: skip


def _product(x: Lane, height: Lane) -> Lane:
    return U32.wrap(x * height)


def _lemma(
    name: str, inputs: Mapping[str, Int | Range], left: _Side, right: _Side, wrong: _Side, given: _Side | None = None
) -> Lemma:
    return Lemma(
        Claim(f"lemma: {name}", dict(inputs), left, right, given=given),
        Claim(name, dict(inputs), wrong, right, given=given),
    )
