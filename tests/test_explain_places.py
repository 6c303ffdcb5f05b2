"""Where wrong elements lie: in one channel, in one row, in the tail, beside what is counted element by element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt
import pytest

from sim.explanation.places import places_of

Bools = npt.NDArray[np.bool_]
WIDTHS = (2, 4, 8, 16, 32, 64)
RARE = Fraction(1, 1000)


def counted(masks: Sequence[Bools], what: str) -> list[str]:
    """The sentences, by going through all elements of all masks."""
    masks = [mask for mask in masks if mask.size]
    every = [(index, mask.shape, bool(mask[index])) for mask in masks for index in np.ndindex(mask.shape)]
    wrong = [(index, shape) for index, shape, is_wrong in every if is_wrong]
    if not wrong or not masks[0].ndim:
        return []
    subject = f"all {len(wrong):,} {what} lie" if len(wrong) > 1 else f"the one of the {what} lies"
    places = dict.fromkeys((*in_one(every, wrong, masks[0].ndim), *in_tail(masks, wrong)))
    return [f"{subject} in {place}" for place in places]


def in_one(every: Sequence[tuple[tuple[int, ...], tuple[int, ...], bool]],
           wrong: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], rank: int) -> Iterator[str]:  # fmt: skip
    for axis, name in [(rank - 1, "channel"), (0, "row")] if rank > 1 else [(0, "element")]:
        longest = max(shape[axis] for _, shape, _ in every)
        first = wrong[0][0][axis]
        at_first = [index[axis] == first for index, _, _ in every]
        at_last = [index[axis] == shape[axis] - 1 for index, shape, _ in every]
        for there, place in ((at_first, f"{name} {first}"), (at_last, f"the last {name}")):
            holds_all = sum(one and is_wrong for one, (_, _, is_wrong) in zip(there, every, strict=True)) == len(wrong)
            chance = longest * Fraction(sum(there), len(every)) ** len(wrong)
            if holds_all and not all(there) and chance <= RARE:
                yield place
                break


def in_tail(masks: Sequence[Bools], wrong: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> Iterator[str]:
    for width in WIDTHS:
        if all(index[-1] >= shape[-1] - shape[-1] % width for index, shape in wrong):
            rows = [row for mask in masks for row in mask.reshape(-1, mask.shape[-1])]
            short = [row for row in rows if len(row) < width]
            by_chance = Fraction(len(short), len(rows)) ** sum(bool(row.any()) for row in short)
            behind = [Fraction(shape[-1] % width, shape[-1]) for _, shape in wrong if shape[-1] >= width]
            if len(WIDTHS) * by_chance * prod(behind) <= RARE:
                told = "the tail, behind the whole blocks" if behind else "rows shorter than a block"
                yield f"{told} of {width}"
            return


def strewn(rng: np.random.Generator) -> list[Bools]:
    """Masks of one rank, with wrong elements in a channel, a row, the last of them, a tail, or anywhere."""
    rank, is_alike = int(rng.integers(1, 4)), rng.random() < 0.3
    longest, most_rows = int(rng.choice([3, 9, 30, 70])), 9 - 2 * rank
    kind, width = rng.choice(["first", "last", "tail", "short", "any"]), int(rng.choice(WIDTHS[:5]))
    axis, place = int(rng.integers(rank)), int(rng.integers(3))
    part, most, masks = rng.choice([0.1, 0.5, 1.0]), int(rng.integers(1, 12)), list[Bools]()
    shape = [*rng.integers(1, most_rows + 1, rank - 1), rng.integers(1, longest + 1)]
    for number in range(int(rng.integers(1, 8))):
        if not is_alike:
            rows = rng.integers(0 if rng.random() < 0.1 else 1, most_rows + 1, rank - 1)
            is_long = kind == "short" and number > 0
            shape = [*rows, rng.integers(width, width + longest) if is_long else rng.integers(1, longest + 1)]
        mask = np.zeros([int(extent) for extent in shape], bool)
        for index in rng.permutation([*np.ndindex(mask.shape)] or np.zeros((0, rank), int)):
            at, extent = int(index[axis]), mask.shape[axis]
            last, length = int(index[-1]), mask.shape[-1]
            is_there = {
                "first": at == place, "last": at == extent - 1, "tail": last >= length - length % width,
                "short": number == 0 and length < width, "any": True,
            }[str(kind)]  # fmt: skip
            if is_there and rng.random() < part and mask.sum() < most:
                mask[tuple(index)] = True
        masks.append(mask)
    return masks


def drawn(seed: int) -> list[list[Bools]]:
    rng = np.random.default_rng(seed)
    return [strewn(rng) for _ in range(20)]


@pytest.mark.parametrize("seed", range(20))
def test_a_place_is_told_where_all_wrong_elements_lie_and_chance_would_hardly_put_them(seed: int) -> None:
    for masks in drawn(seed):
        found = places_of(masks, "wrong lanes")
        assert found == counted(masks, "wrong lanes"), [(mask.shape, np.argwhere(mask).tolist()) for mask in masks]


@pytest.mark.slow
def test_each_place_is_told_of_some_of_these_and_none_of_others() -> None:
    found = [places_of(masks, "wrong lanes") for seed in range(20) for masks in drawn(seed) if any(map(np.any, masks))]
    told = {sentence.partition(" in ")[2].rstrip("0123456789") for sentences in found for sentence in sentences}
    names = ("channel", "row", "element")
    tails = {"the tail, behind the whole blocks of ", "rows shorter than a block of "}
    assert told == {f"{name} " for name in names} | {f"the last {name}" for name in names} | tails
    assert sum(not sentences for sentences in found) > 50


def test_what_comes_about_once_in_1000_times_is_told_and_what_does_so_more_often_is_not() -> None:
    """One of so many elements is behind the first, one of so many rows is shorter than a block."""
    for count, told in ((1998, True), (1997, False)):
        masks = [*[np.zeros(1, bool)] * count, np.array([False, True])]
        assert places_of(masks, "wrong lanes") == ["the one of the wrong lanes lies in element 1"] * told
    for count, told in ((5999, True), (5998, False)):
        masks = [np.ones((1, 1), bool), np.zeros((count, 2), bool)]
        found = places_of(masks, "wrong lanes")
        assert found == ["the one of the wrong lanes lies in rows shorter than a block of 2"] * told


def test_two_are_all_and_a_row_of_just_one_block_is_not_shorter() -> None:
    two = np.zeros((2, 2000), bool)
    two[:, 7] = True
    assert places_of([two], "wrong lanes") == ["all 2 wrong lanes lie in channel 7"]
    masks = [np.ones((2, 3), bool), np.zeros((198, 4), bool)]
    assert places_of(masks, "wrong lanes") == ["all 6 wrong lanes lie in rows shorter than a block of 4"]


def test_of_one_number_and_of_nothing_wrong_no_place_is_told() -> None:
    assert places_of([np.array(True)] * 20, "wrong lanes") == []
    assert places_of([np.zeros((4, 5), bool)], "wrong lanes") == []
    assert places_of([], "wrong lanes") == []
    assert places_of([np.zeros((0, 5), bool)], "wrong lanes") == []
