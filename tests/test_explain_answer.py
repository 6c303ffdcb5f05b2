"""How the answer to a question is put together of its parts, each of which is written down."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sim.explanation.answer as answer_module
from sim.explanation.answer import Surveyed, answer
from sim.explanation.explanation import Explanation

MOST, MOST_FAR = answer_module._NEAREST, answer_module._NEAREST_FAR


def tally(name: str, differing: int, of: int, distance: int) -> Any:
    return SimpleNamespace(name=name, differing=differing, of=of, distance=distance)


class Part:
    """A part of a question with its candidates sorted out already."""

    operands = None

    def __init__(
        self, *tallies: Any, rows: int = 7, matches: Sequence[Any] = (), candidates: int = 1, distance: int = 0,
        derived: Sequence[str] = (), refused: Sequence[tuple[str, str]] = (),
        contradiction: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        self.nearest, self.matches, self.distance = [[one] for one in tallies], list(matches), distance
        self.derived, self.refused, self.part = derived, refused, SimpleNamespace(candidates=[None] * candidates)
        self.rows: Any = Rows(rows, contradiction)

    def near(self, tallies: Sequence[Any], traces: int) -> Any:
        return tallies[0].name, traces

    def places(self, one: Any) -> list[str]:
        return [f"places of {one.name}"]


class Rows:
    def __init__(self, count: int, contradiction: tuple[int, int] | None) -> None:
        self._count, self.contradiction = count, contradiction

    def __len__(self) -> int:
        return self._count


@pytest.fixture(autouse=True)
def _as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_module, "Surveyed", lambda question, part, rows: part)
    monkeypatch.setattr(answer_module, "distinct_rows", lambda operands, yours: None)
    monkeypatch.setattr(answer_module, "hints_of", lambda question, distance: [f"hint from {distance}"])


def answered(*parts: Part, output: Any = ((1, 2, 3), (4, 5, 6))) -> Explanation:
    question: Any = SimpleNamespace(output=np.array(output, np.int16), parts=parts)
    return answer(question)


def names(found: Explanation) -> list[Any]:
    return [near[0] for near in found.nearest]  # type: ignore[index]  # of the written part


def test_the_nearest_come_by_distance_and_then_by_how_many_elements_differ() -> None:
    one = Part(tally("far", 1, 10, 9), tally("more", 3, 10, 4))
    other = Part(tally("near", 5, 10, 2), tally("less", 2, 10, 4))
    found = answered(one, other)
    assert names(found) == ["near", "less", "more", "far"][:MOST]
    assert found.hints == ("hint from 0", "places of near")


@pytest.mark.parametrize(("differing", "is_near"), [(4, True), (5, True), (6, False)])
def test_what_differs_in_more_than_half_of_its_elements_is_told_only_where_nothing_is_nearer(
    differing: int, is_near: bool
) -> None:
    others = [tally(f"far {number}", 9, 10, 1) for number in range(MOST_FAR + 2)]
    found = answered(Part(*others, tally("some", differing, 10, 5)))
    assert names(found) == (["some"] if is_near else [f"far {number}" for number in range(MOST_FAR)])
    assert found.hints == (("hint from 0", "places of some") if is_near else ("hint from 0",))


def test_of_many_near_ones_so_many_are_told() -> None:
    found = answered(Part(*(tally(str(number), 1, 10, number) for number in range(MOST + 2))))
    assert names(found) == [str(number) for number in range(MOST)]


def test_what_parts_have_is_added_up_and_told_once() -> None:
    parts = [
        Part(rows=5, candidates=3, distance=8, derived=["a", "b"], refused=[("c", "no")]),
        Part(rows=4, candidates=2, distance=3, derived=["b"], refused=[("c", "no"), ("d", "no")]),
    ]
    found = answered(*parts)
    assert (found.shape, found.dtype, found.elements, found.distinct, found.candidates) == ((2, 3), "int16", 6, 4, 5)
    assert (found.derived, found.refused) == (("a", "b"), (("c", "no"), ("d", "no")))
    assert (found.matches, found.nearest, found.hints, found.contradiction) == ((), (), ("hint from 3",), "")


def test_where_something_matches_there_are_no_hints_and_one_element_is_traced() -> None:
    near = tally("near", 1, 10, 1)
    for matches, traces in ((["double_rounding"], 1), ([], 3)):
        found: Any = answered(Part(near, matches=matches), Part())
        assert (found.matches, list(found.nearest)) == (tuple(matches), [("near", traces)])
        assert bool(found.hints) == (not matches)


@pytest.mark.parametrize(
    ("contradictions", "matches", "is_told"),
    [
        (((1, 5), (1, 5)), [], True),
        (((1, 5), None), [], False),
        (((1, 5), (0, 2)), ["one"], False),
        ((None,), [], False),
    ],
)
def test_a_contradiction_of_all_parts_is_told_where_nothing_matches(
    contradictions: Sequence[tuple[int, int] | None], matches: list[Any], is_told: bool
) -> None:
    found = answered(*(Part(contradiction=one, matches=matches) for one in contradictions))
    assert found.contradiction == (
        "elements [0][1] and [1][2] are computed from the same numbers, yet yours are 2 and 6: no convention gives both"
        if is_told
        else ""
    )


def test_the_distance_of_a_part_is_that_of_its_nearest_candidate() -> None:
    for distances, nearest in (([7, 3, 5], 3), ([4], 4), ([], 0)):
        part: Any = SimpleNamespace(_survey=SimpleNamespace(nearest=[tally("", 1, 2, each) for each in distances]))
        assert vars(Surveyed)["distance"].fget(part) == nearest
