"""Which candidates give somebody's numbers: a sample dismisses most of them, all rows are for the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sim.explanation.limits import Refusal
from sim.explanation.rows import Rows
from sim.explanation.rule import Candidate, CandidateRule

_SAMPLE: Final = 4096
_COUNTED: Final = 12
"""Candidates that differ somewhere of which all elements are counted."""
_EXAMPLES: Final = 3


@dataclass(frozen=True)
class Tally:
    """How many of `of` elements a candidate gives otherwise, and the first of them by flat index.

    `distance` is the sum of all differences, by which a candidate is near or far.
    """

    candidate: Candidate
    of: int
    differing: int = 0
    distance: int = 0
    examples: tuple[int, ...] = ()


@dataclass(frozen=True)
class Survey:
    """The candidates that give everything, the nearest of the others, and what refuses the data."""

    matches: list[Tally]
    nearest: list[Tally]
    refused: list[Refusal]


def survey(candidates: Sequence[Candidate], rows: Rows, counted: int = _COUNTED) -> Survey:
    """Try candidates on a sample of the rows, then those that agreed, and the nearest others, on all rows."""
    refused: list[Refusal] = []
    on_sample = _tallies(candidates, rows.sample(_SAMPLE), refused, is_sample=True)
    agreeing = [tally.candidate for tally in on_sample if not tally.differing]
    on_all = _tallies(agreeing, rows, refused, is_sample=False)
    parted = [tally for tally in on_all if tally.differing]
    # lost bits explain an output or nothing: beside a match they would hide the conventions that are told from it
    able = [tally for tally in on_sample if tally.candidate.limits.saturates or not agreeing]
    others = sorted((tally for tally in able if tally.differing), key=_far)
    wanted = [tally.candidate for tally in others[: max(counted - len(parted), 0)]]
    nearest = sorted([*parted, *_tallies(wanted, rows, refused, is_sample=False)], key=_far)
    return Survey([tally for tally in on_all if not tally.differing], nearest, refused)


def closest(candidates: Sequence[Candidate], rows: Rows) -> Tally | None:
    """On all rows, the candidate that comes closest on a sample; None where all refuse the data."""
    nearest = min(_tallies(candidates, rows.sample(_SAMPLE), [], is_sample=True), key=_far, default=None)
    on_all = _tallies([nearest.candidate], rows, [], is_sample=False) if nearest is not None else ()
    return next(iter(on_all), None)


def _far(tally: Tally) -> tuple[int, int]:
    return tally.distance, tally.differing


def _tallies(candidates: Sequence[Candidate], rows: Rows, refused: list[Refusal], is_sample: bool) -> list[Tally]:
    """Tallies in the order of the candidates; a rule is computed once for all of its limits.

    Those of a sample, which are only compared, have no examples: to find these takes longer than all else.
    """
    counts = {id(candidate): Tally(candidate, int(rows.count.sum())) for candidate in candidates}
    by_rule: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        by_rule.setdefault(id(candidate.rule), []).append(candidate)
    for same in by_rule.values():
        one, *_ = same
        try:
            _count(one.rule, same, rows, counts, is_sample)
        except ValueError as error:
            refused.append((one.rule.name, str(error)))
            for candidate in same:
                del counts[id(candidate)]
    return list(counts.values())


def _count(
    rule: CandidateRule, candidates: Sequence[Candidate], rows: Rows, counts: dict[int, Tally], is_sample: bool
) -> None:
    for chunk in rows.chunks():
        placed = rule.run(chunk.operands)
        for candidate in candidates:
            difference = np.abs(candidate.limits.apply(placed) - chunk.yours)
            wrong = np.flatnonzero(difference)
            if wrong.size:
                tally = counts[id(candidate)]
                first = () if is_sample else np.sort(chunk.first[wrong])[:_EXAMPLES].tolist()
                counts[id(candidate)] = replace(
                    tally,
                    differing=tally.differing + int(chunk.count[wrong].sum()),
                    distance=tally.distance + int((difference * chunk.count).sum()),
                    examples=tuple(sorted([*tally.examples, *first])[:_EXAMPLES]),
                )
