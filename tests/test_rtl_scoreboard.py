"""What became of a beat, told from the beats around it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rtl_models.benches.driving.scoreboard import became

DUE = np.random.default_rng(5).permutation(400).reshape(100, 4)
DEFINED = np.zeros_like(DUE)


def first_wrong(came: np.ndarray) -> int:
    count = min(len(came), len(DUE))
    return int(np.argwhere((came[:count] != DUE[:count]).any(axis=1))[0, 0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda due: np.delete(due, 17, axis=0), "beat 17 is lost"),
        (lambda due: np.delete(due, [17, 18, 19], axis=0), "beats 17 to 19 are lost"),
        (lambda due: np.insert(due, 17, due[17], axis=0), "beat 17 comes twice"),
        (lambda due: due[[*range(98), 99, 98]], "beats 98 and 99 come in the wrong order"),
        (lambda due: due[[*range(17), 18, 17, *range(19, 100)]], "beats 17 and 18 come in the wrong order"),
        (lambda due: np.insert(due, 17, 999, axis=0),
         "a beat that was never sent comes before beat 17: those that are due come after it"),
        (lambda due: np.vstack([due[:17], due[17] + [0, 0, 1, 0], due[18:]]), ""),
        (lambda due: np.vstack([due[:99], due[99] + 1]), ""),
    ],
)  # fmt: skip
def test_what_became_of_a_beat_is_told(change: Callable[[np.ndarray], np.ndarray], said: str) -> None:
    came = change(DUE)
    assert became(DUE, came, DEFINED, first_wrong(came), 100) == said


def test_numbers_that_may_be_anything_do_not_hide_a_lost_beat() -> None:
    undefined = np.zeros_like(DUE)
    undefined[:, 3] = 1
    came = np.delete(DUE, 17, axis=0)
    came[:, 3] = 7
    assert became(DUE, came, undefined, 17, 100) == "beat 17 is lost"


def test_where_two_things_can_have_happened_nothing_is_told() -> None:
    due = np.array([[1], [2], [1], [1], [2], [1]])  # 1 1 1 2 1: beat 1 is lost, or beat 0 came twice
    assert became(due, np.array([[1], [1], [2], [1], [1]]), np.zeros_like(due), 1, 6) == ""


def test_where_every_beat_comes_twice_the_first_is_told() -> None:
    assert became(DUE, np.repeat(DUE, 2, axis=0), DEFINED, 1, 100) == "beat 0 comes twice"


def test_results_at_their_bound_that_fit_any_move_are_not_told_as_lost() -> None:
    due = np.array([[126], [-128], [127], [127], [127], [127]])
    came = np.array([[127], [127], [127], [127], [127], [127]])
    assert became(due, came, np.zeros_like(due), 0, 6) == ""


def test_where_as_many_beats_came_as_were_accepted_none_is_lost_however_well_a_move_fits() -> None:
    came = np.vstack([DUE[8:], DUE[:8] + 1])
    assert became(DUE, came, DEFINED, 0, 100) == ""
    assert became(DUE, came[:92], DEFINED, 0, 100) == "beats 0 to 7 are lost"


def test_where_no_more_beats_came_than_were_accepted_none_comes_twice_or_is_invented() -> None:
    for extra in (DUE[17], np.full(4, 999)):
        came = np.insert(DUE, 18, extra, axis=0)[:100]
        assert became(DUE, came, DEFINED, 18, 100) == ""
        assert became(DUE, came, DEFINED, 18, 99) != ""


def test_numbers_that_are_exchanged_by_chance_are_no_beats_in_the_wrong_order() -> None:
    came = DUE[[*range(17), 18, 17, *range(19, 100)]]
    came[60] += 1
    assert became(DUE, came, DEFINED, 17, 100) == ""
