"""quantized_add on the bench."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Final

from isa.lane import S32, Lane
from rtl_models.benches.coverage.unit_coverpoints import (
    INT32,
    Arithmetic,
    CoveredNumber,
    Lanes,
    broadcast,
    of_output,
    of_rescale,
    placed,
    read_byte,
    rescaled,
)
from rtl_models.benches.coverage.unit_stimulus import (
    EXACT,
    MULTIPLIERS,
    NEGATES,
    OFFSETS,
    SHIFTS,
    WHOLE_BYTE,
    beside_powers,
    bounds,
    in_turn,
    spread,
)
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.units import UNITS

NUMBERS: Final = (
    CoveredNumber("a", 0, 255), CoveredNumber("b", 0, 255), CoveredNumber("signed", 0, 1),
    CoveredNumber("a_offset", *INT32),
    CoveredNumber("b_offset", *INT32), CoveredNumber("left_shift", 0, 20), CoveredNumber("a_multiplier", *INT32),
    CoveredNumber("a_shift", 0, 31), CoveredNumber("b_multiplier", *INT32), CoveredNumber("b_shift", 0, 31),
    CoveredNumber("multiplier", *INT32),
    CoveredNumber("shift", 0, 31), CoveredNumber("offset", *INT32), CoveredNumber("minimum", 0, 255),
    CoveredNumber("maximum", 0, 255),
)  # fmt: skip
_BYTES: Final = (0, 1, 2, 3, 5, 100, 126, 127, 128, 129, 130, 200, 251, 252, 254, 255)
_ZEROES: Final = (0, -128, 1, S32.high, -256, -1, -255, S32.low, 7, 255, -3)
"""What is added to the operands: minus their zero points, and corners."""
_LEFT_SHIFTS: Final = (20, 0, 1, 19, 20, 10, 2)


def events(of: Lanes) -> Lanes:
    """What can happen on the way of both operands, of their sum, and at the bounds."""
    a, b, low, high = (read_byte(of[name], of["signed"]) for name in ("a", "b", "minimum", "maximum"))
    left, right = (S32.wrap(S32.wrap(x + of[f"{name}_offset"]) << of["left_shift"]) for x, name in ((a, "a"), (b, "b")))
    first = rescaled(left, of["a_multiplier"], of["a_shift"])
    second = rescaled(right, of["b_multiplier"], of["b_shift"])
    output = of["offset"], low, high

    def scaled(total: Lane) -> Lane:
        return rescaled(S32.wrap(total), of["multiplier"], of["shift"])

    return {
        **of_rescale("a", left, of["a_multiplier"], of["a_shift"], lambda v: placed(scaled(v + second), *output)),
        **of_rescale("b", right, of["b_multiplier"], of["b_shift"], lambda v: placed(scaled(first + v), *output)),
        **of_rescale("sum", first + second, of["multiplier"], of["shift"], lambda v: placed(v, *output)),
        **of_output(scaled(first + second), *output),
    }


def frames(rng: Random, lanes: int) -> Iterator[UnitFrame]:
    """All kinds in turn."""
    for number in count():
        which = number // len(_KINDS)
        settings = _KINDS[number % len(_KINDS)](which, rng)
        yield _frame(settings | bounds(which), rng, lanes)


def long_frame(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """A layer of unsigned bytes."""
    return _frame(_of_a_layer(0, rng) | WHOLE_BYTE, rng, lanes, beats)


def rare_frames(rng: Random, lanes: int) -> list[UnitFrame]:
    """Halves at every shift before and behind the sum, and sums far outside of a byte by one bit."""
    settings = [_of_shifts(shift, behind) for shift in range(1, 32) for behind in (False, True)]
    offsets = [_of_shifts(0, True) | {"offset": value} for value in beside_powers(rng)]
    frames = [_frame(each | WHOLE_BYTE, rng, lanes) for each in (*settings, *offsets)]
    return [*frames[: len(settings)], *(frame.cut(0, 1) for frame in frames[len(settings) :])]


def _of_shifts(shift: int, behind: bool) -> dict[str, int]:
    """Differences shifted left, and right by one more, before the sum or behind it."""
    settings = {f"{name}multiplier": NEGATES for name in ("a_", "b_", "")}
    settings |= {"a_offset": -128, "b_offset": -126, "left_shift": min(20, max(0, shift - 1)), "offset": 100}
    before, after = (0, shift) if behind else (shift, 0)
    return settings | {"a_shift": before, "b_shift": before, "shift": after}


def _of_a_layer(number: int, rng: Random) -> dict[str, int]:
    settings = {"a_offset": -rng.randrange(256), "b_offset": -rng.randrange(256), "left_shift": 20}
    settings |= {f"{name}multiplier": rng.randrange(1 << 30, 1 << 31) for name in ("a_", "b_", "")}
    settings |= {"a_shift": rng.randrange(3), "b_shift": rng.randrange(3), "shift": 18}
    return settings | {"offset": rng.randrange(256)}


def _of_exact_products(number: int, rng: Random) -> dict[str, int]:
    """The differences of the bytes come to their divisions as they are, and so does the sum."""
    left_shift = in_turn((0, 1, 0, 20, 4), number)
    settings = {"a_offset": rng.choice((0, -128, 3)), "b_offset": rng.choice((-128, 1)), "left_shift": left_shift}
    settings |= {f"{name}multiplier": rng.choice(EXACT) for name in ("a_", "b_", "")}
    settings |= {f"{name}shift": min(31, left_shift + rng.randrange(2)) for name in ("a_", "b_")}
    return settings | {"shift": rng.randrange(3), "offset": rng.randrange(-9, 100)}


def _of_ties(number: int, rng: Random) -> dict[str, int]:
    """One operand alone, halved by its own multiplier or by that of the sum, and otherwise kept: every half shows."""
    one, other = ("a_", "b_") if number % 2 else ("b_", "a_")
    own = number // 2 % 3 < 2
    halves = in_turn((1 << 30, -(1 << 30)), number // 6)
    settings = {f"{one}offset": rng.choice((0, -128, 3)), f"{other}offset": 0, "left_shift": 0, "offset": 100}
    settings |= {f"{one}multiplier": halves if own else NEGATES, f"{other}multiplier": 0}
    settings |= {"multiplier": NEGATES if own else halves}
    return settings | {"a_shift": 0, "b_shift": 0, "shift": 0}


def _of_extremes(number: int, rng: Random) -> dict[str, int]:
    """The largest sums there are, with the largest offsets."""
    settings = {f"{name}multiplier": rng.choice((S32.low, S32.high)) for name in ("a_", "b_", "")}
    settings |= {"a_offset": rng.choice((-256, 255, 0)), "b_offset": rng.choice((-256, 255, 0)), "left_shift": 20}
    return settings | {"a_shift": 0, "b_shift": 0, "shift": 0, "offset": in_turn((S32.high, S32.low), number)}


def _of_far_offsets(number: int, rng: Random) -> dict[str, int]:
    """The ends of 32 bits in the place of one operand; the other counts little or nothing."""
    one, other = ("a_", "b_") if number % 2 else ("b_", "a_")
    settings = {f"{one}offset": in_turn((S32.low, S32.high, S32.low), number), f"{other}offset": -128, "left_shift": 0}
    settings[f"{one}multiplier"] = in_turn((S32.low, S32.low, S32.high, S32.low, 1 << 30), number)
    settings[f"{other}multiplier"] = in_turn((0, 0, 0, 1 << 30, 0, 0, -1), number)
    return settings | {"a_shift": 0, "b_shift": 0, "multiplier": S32.high, "shift": rng.randrange(25), "offset": 0}


def _of_corners(number: int, rng: Random) -> dict[str, int]:
    settings = {"a_offset": in_turn(_ZEROES, number), "b_offset": in_turn(_ZEROES, 3 * number + 1)}
    for name, step in (("a_", 1), ("b_", 2), ("", 3)):
        settings[f"{name}multiplier"] = in_turn(MULTIPLIERS, step * number)
        settings[f"{name}shift"] = in_turn(SHIFTS, step * number)
    return settings | {"left_shift": in_turn(_LEFT_SHIFTS, 5 * number), "offset": in_turn(OFFSETS, number)}


_KINDS: Final = (_of_a_layer, _of_exact_products, _of_ties, _of_extremes, _of_corners, _of_far_offsets)
"""By turns."""


def _frame(settings: dict[str, int], rng: Random, lanes: int, beats: int = 0) -> UnitFrame:
    """Every byte of the corners in every lane, in two orders."""
    total = beats or len(_BYTES)
    order = [rng.sample(_BYTES, len(_BYTES)), [*rng.sample(_BYTES, len(_BYTES)), rng.randrange(256)]]
    return UnitFrame(settings, {port: spread(order[k], total, lanes) for k, port in enumerate(("a_i", "b_i"))})


BENCH: Final = UnitBench(
    unit=UNITS["quantized_add"],
    coverpoints=Arithmetic(NUMBERS, events, broadcast, [("a", "signed"), ("b", "signed")]),
    frames=frames,
    long_frame=long_frame,
    round=360,
    rare_frames=rare_frames,
)
