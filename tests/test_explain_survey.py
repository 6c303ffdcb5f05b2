"""What an explanation is made from, by hand: bounds and what they come to, elements without repetition, tallies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sim.explanation import rows as rows_module
from sim.explanation.explanation import Trace
from sim.explanation.limits import Limits, limits_of
from sim.explanation.rows import distinct_rows
from sim.explanation.rule import Candidate, Integers, Operands, RuleStep
from sim.explanation.survey import closest, survey
from sim.explanation.trace import trace

UINT8, INT8, INT16 = (np.dtype(name) for name in ("uint8", "int8", "int16"))
WORD = (-(2**31), 2**31 - 1)
EQUAL, WHOLE, LOW_BYTE = "bounded_unless_equal", "bounded_unless_whole_range", "bounded_then_low_byte"
IGNORED = "bounds_not_applied"


@pytest.mark.parametrize(
    ("dtype", "bounds", "found", "refused"),
    [
        (UINT8, None, {(0, 255): ("saturated",)}, []),
        (INT16, None, {(-(2**15), 2**15 - 1): ("saturated",)}, []),
        (UINT8, (0, 0), {(0, 255): (EQUAL, IGNORED), (0, 0): (WHOLE, LOW_BYTE)}, []),
        (UINT8, (7, 7), {(0, 255): (EQUAL, IGNORED), (7, 7): (WHOLE, LOW_BYTE)}, []),
        (UINT8, (10, 200), {(10, 200): ("bounded",), (0, 255): (IGNORED,)}, []),
        (UINT8, (0, 254), {(0, 254): ("bounded",), (0, 255): (IGNORED,)}, []),
        (UINT8, (1, 255), {(1, 255): ("bounded",), (0, 255): (IGNORED,)}, []),
        (UINT8, (0, 255), {(0, 255): ("saturated",)}, []),
        (INT8, (-128, 127), {(-128, 127): ("saturated",)}, []),
        (
            UINT8, (0, 256), {(0, 255): (WHOLE, IGNORED), (0, 256): (LOW_BYTE,)},
            [(EQUAL, "maximum is 256: it must not exceed 255")],
        ),
        (
            UINT8, (-1, 255), {(0, 255): (WHOLE, IGNORED), (-1, 255): (LOW_BYTE,)},
            [(EQUAL, "minimum is -1: it must not be below 0")],
        ),
        (
            UINT8, (-5, 200), {(-5, 200): (LOW_BYTE,), (0, 255): (IGNORED,)},
            [(EQUAL, "minimum is -5: it must not be below 0"),
             (WHOLE, "minimum is -5: a bound outside 0..255 is not modelled")],
        ),
        (
            INT8, (5, 128), {(5, 128): (LOW_BYTE,), (-128, 127): (IGNORED,)},
            [(EQUAL, "maximum is 128: it must not exceed 127"),
             (WHOLE, "maximum is 128: a bound outside -128..127 is not modelled")],
        ),
    ],
)  # fmt: skip
def test_what_bounds_come_to(
    dtype: np.dtype[np.integer], bounds: tuple[int, int] | None, found: Mapping[tuple[int, int], tuple[str, ...]],
    refused: list[tuple[str, str]],
) -> None:  # fmt: skip
    limits, told = limits_of(dtype, bounds)
    assert {(one.lower, one.upper): one.names for one in limits} == {**found, WORD: ("wrapped",)}
    assert (told, {one.dtype for one in limits}) == (refused, {dtype})


def test_a_number_is_limited_and_then_keeps_the_bits_of_the_type() -> None:
    limits = Limits(("it",), 0, 300, UINT8)
    assert limits.apply(np.array([-1, 0, 255, 256, 300, 301])).tolist() == [0, 0, 255, 0, 44, 44]
    events = [limits.event(*pair) for pair in ((5, 5), (-1, 0), (300, 44), (301, 44))]
    assert events == ["", "saturates at 0", *["keeps the low 8 bits only"] * 2]
    assert Limits(("it",), *WORD, INT16).event(2**15, -(2**15)) == "keeps the low 16 bits only"


@pytest.mark.parametrize(("lower", "upper", "saturates"), [(0, 255, True), (-1, 255, False), (0, 256, False)])
def test_within_a_type_nothing_is_lost(lower: int, upper: int, saturates: bool) -> None:
    assert Limits(("it",), lower, upper, UINT8).saturates == saturates


VALUES, YOURS = np.array([3, 1, 3, 1, 2]), np.array([7, 5, 7, 6, 9])


def test_rows_stand_in_the_order_of_their_numbers_each_once() -> None:
    rows = distinct_rows({"value": VALUES, "channel": np.zeros(5, np.int64)}, YOURS)
    assert (rows.operands["value"].tolist(), rows.yours.tolist()) == ([1, 1, 2, 3], [5, 6, 9, 7])
    assert (rows.first.tolist(), rows.count.tolist(), len(rows)) == ([1, 3, 4, 0], [1, 1, 1, 2], 4)
    assert rows.contradiction == (1, 3)


def test_of_other_operands_no_row_contradicts() -> None:
    rows = distinct_rows({"value": VALUES, "channel": np.array([0, 0, 0, 1, 0])}, YOURS)
    assert rows.contradiction is None
    assert distinct_rows({"value": VALUES[:1]}, YOURS[:1]).contradiction is None
    assert distinct_rows({"value": VALUES[1::2]}, YOURS[1::2]).contradiction == (0, 1)


@pytest.mark.parametrize(("highest", "first"), [(2**32 - 2, [1, 0]), (2**32 - 1, [0, 1, 2])])
def test_rows_of_more_than_63_bits_stand_as_they_come(highest: int, first: list[int]) -> None:
    operands = {"value": np.array([2**31 - 1, 0, 2**31 - 1]), "other": np.array([highest, 0, highest])}
    rows = distinct_rows(operands, np.zeros(3, np.int64))
    assert (rows.first.tolist(), rows.count.tolist()) == (first, [1, 2] if len(first) == 2 else [1, 1, 1])


def test_a_sample_is_evenly_spaced_and_chunks_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = distinct_rows({"value": np.arange(10)}, np.arange(10))
    assert [rows.sample(size).yours.tolist() for size in (2, 4)] == [[0, 9], [0, 3, 6, 9]]
    assert [rows.sample(size) is rows for size in (9, 10, 11)] == [False, True, True]
    monkeypatch.setattr(rows_module, "_CHUNK", 3)
    assert [chunk.yours.tolist() for chunk in rows.chunks()] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]


@dataclass(frozen=True, eq=False)
class Made:
    """A rule by a function of the values."""

    name: str
    of: Callable[[Integers], Integers]
    note: str = ""
    rises: bool = False

    def run(self, operands: Operands) -> Integers:
        return self.of(operands["value"])

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        return []


def made(name: str, of: Callable[[Integers], Integers], limits: tuple[int, int] = (0, 255)) -> Candidate:
    return Candidate(Made(name, of), Limits(("saturated",), *limits, UINT8))


def refused(values: Integers) -> Integers:
    raise ValueError("not these")


def more(by: int, values: Integers) -> Integers:
    return (values + by) % 256


RIGHT = made("right", lambda x: x)
ONE_MORE = made("one more", lambda x: x + 1)
ONCE = made("once", lambda x: x + 9 * (x == 4))
LOST = made("lost", lambda x: x + 256 * (x == 1) + (x == 0), WORD)
REFUSED = made("refused", refused)


def test_candidates_that_differ_are_tallied_the_nearest_first() -> None:
    """Of 0 to 4 and once more 4 and 3: all seven are one more, or two of them nine."""
    rows = distinct_rows({"value": np.array([0, 1, 2, 3, 4, 4, 3])}, np.array([0, 1, 2, 3, 4, 4, 3]))
    found = survey([ONE_MORE, RIGHT, REFUSED, ONCE, LOST], rows)
    assert [tally.candidate for tally in found.matches] == [RIGHT]
    told = [(one.candidate.rule.name, one.of, one.differing, one.distance, one.examples) for one in found.nearest]
    assert told == [("one more", 7, 7, 7, (0, 1, 2)), ("once", 7, 2, 18, (4,))]
    assert found.refused == [("refused", "not these")]


def test_the_first_three_elements_of_several_chunks_are_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "_CHUNK", 2)
    (one,) = survey([ONE_MORE], distinct_rows({"value": np.arange(6)}, np.arange(6))).nearest
    assert (one.differing, one.examples) == (6, (0, 1, 2))


def test_what_loses_bits_is_told_where_nothing_matches() -> None:
    rows = distinct_rows({"value": np.arange(5)}, np.arange(5))
    assert [one.candidate for one in survey([LOST, ONCE], rows).nearest] == [LOST, ONCE]
    assert [one.candidate for one in survey([LOST, ONCE, RIGHT], rows).nearest] == [ONCE]


def test_no_more_are_counted_than_wanted_with_those_that_only_the_sample_cannot_tell() -> None:
    values = np.arange(5000)
    rows = distinct_rows({"value": values}, values % 256)
    unseen = min(set(values.tolist()) - set(rows.sample(4096).operands["value"].tolist()))
    right = made("right", lambda x: x % 256)
    late = made("late", lambda x: x % 256 ^ (x == unseen))
    others = [made(f"{k} more", partial(more, k)) for k in (3, 1, 2)]
    for counted, names in ((0, ["late"]), (1, ["late"]), (2, ["late", "1 more"]), (3, ["late", "1 more", "2 more"])):
        found = survey([*others, late, right], rows, counted)
        assert [one.candidate.rule.name for one in found.nearest] == names
        assert [one.candidate for one in found.matches] == [right]
    assert found.nearest[0].examples == (unseen,)


def test_the_closest_is_that_of_the_least_distance_counted_on_all() -> None:
    rows = distinct_rows({"value": np.arange(5)}, np.arange(5))
    found = closest([ONCE, ONE_MORE, REFUSED], rows)
    assert found is not None
    assert (found.candidate, found.differing, found.distance, found.examples) == (ONE_MORE, 5, 5, (0, 1, 2))
    assert closest([REFUSED], rows) is None


def convention(name: str, result: int, *events: tuple[str, str]) -> Any:
    """One of which the steps are told, each with what happened there; its result is that of the last."""
    steps = [RuleStep(step, result, Fraction(result), event) for step, event in (*events, ("clamp", ""))]
    return SimpleNamespace(
        rule=SimpleNamespace(name=name), steps=lambda element: steps, run=lambda operands: np.array([result])
    )


def traced(own: Any, others: Sequence[Any], yours: int) -> Trace:
    part: Any = SimpleNamespace(
        operands={"value": np.arange(6)}, element=lambda at: {"value": at}, inputs=lambda at: {"accumulator": at},
        title=lambda one: one.rule.name,
    )  # fmt: skip
    return trace(part, own, [own, *others], 4, (2, 3), yours)


def test_an_element_is_traced_beside_those_that_give_what_is_yours_or_else_something_else() -> None:
    own = convention("own", 5)
    others = [convention("a", 7), convention("b", 9), convention("b", 1), convention("c", 5), convention("d", 8)]
    found = traced(own, others, 9)
    assert (found.element, found.inputs, found.convention, found.result, found.yours) == (
        (1, 1), {"accumulator": 4}, "own", 5, 9,
    )  # fmt: skip
    assert found.results == {"b": 9}
    assert traced(own, others, 6).results == {"a": 7, "b": 9}  # none is yours: the first two that part from it
    assert traced(own, others, 5).results == {"c": 5}


def test_what_decided_is_told_of_the_convention_or_else_of_the_first_that_is_told_beside_it() -> None:
    plain, tie = convention("own", 5), convention("own", 5, ("shift", "tie"))
    others = [convention("a", 7, ("shift", "tie")), convention("b", 9, ("left shift", "wraps"))]
    assert traced(plain, others, 9).decided == "b: wraps at the left shift"
    assert traced(plain, others, 7).decided == "a: tie at the shift"
    assert traced(tie, others, 9).decided == "tie at the shift"
    assert traced(plain, [convention("a", 7)], 7).decided == ""
