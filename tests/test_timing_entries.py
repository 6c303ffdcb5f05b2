"""What may stand in a core file, entry by entry, and the sentence for what may not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sim.timing.model import entries

Read = Callable[[Any, str], Any]


def choice(entry: object, where: str) -> str:
    return entries.choice(entry, ("in", "out"), where)


def table(entry: object, where: str) -> dict[str, Any]:
    return entries.table(entry, ("value", "source"), where, ("note",))


@pytest.mark.parametrize(
    ("read", "entry", "found"),
    [
        (entries.count, 1, 1),
        (entries.count, 2, 2),
        (entries.percent, -99, -99),
        (entries.percent, 0, 0),
        (entries.percent, 250, 250),
        (entries.flag, True, True),
        (entries.flag, False, False),
        (entries.string, "", ""),
        (entries.text, " a b", " a b"),
        (entries.array, [], []),
        (entries.array, [1, "a"], [1, "a"]),
        (entries.names, ["A"], ("A",)),
        (entries.names, ["A", "B_2"], ("A", "B_2")),
        (entries.free_table, {"any": 1}, {"any": 1}),
        (choice, "in", "in"),
        (choice, "out", "out"),
        (table, {"value": 1, "source": "s"}, {"value": 1, "source": "s"}),
        (table, {"value": 1, "source": "s", "note": ""}, {"value": 1, "source": "s", "note": ""}),
    ],
)
def test_an_entry_is_what_it_says(read: Read, entry: object, found: object) -> None:
    assert read(entry, "it") == found


@pytest.mark.parametrize(
    ("read", "entry", "why"),
    [
        (entries.count, 0, "0 is not a whole number of at least 1"),
        (entries.count, True, "True is not a whole number of at least 1"),
        (entries.count, 1.5, "1.5 is not a whole number of at least 1"),
        (entries.count, "2", "'2' is not a whole number of at least 1"),
        (entries.percent, -100, "-100 is not a whole number of percent above -100"),
        (entries.percent, True, "True is not a whole number of percent above -100"),
        (entries.percent, 0.5, "0.5 is not a whole number of percent above -100"),
        (entries.flag, 1, "1 is neither true nor false"),
        (entries.string, 5, "5 is not a text"),
        (entries.text, 5, "5 is not a text"),
        (entries.text, " ", "' ' is not a line of text"),
        (entries.text, "", "'' is not a line of text"),
        (entries.text, "a\nb", "'a\\nb' is not a line of text"),
        (entries.array, "ab", "'ab' is not a list"),
        (entries.names, [], "[] are not different names"),
        (entries.names, ["A", "A"], "['A', 'A'] are not different names"),
        (entries.names, ["A", "2B"], "['A', '2B'] are not different names"),
        (entries.names, "A", "'A' is not a list"),
        (entries.free_table, [1], "[1] is not a table"),
        (choice, "up", "'up' is not one of in, out"),
        (table, {"value": 1}, "source is missing"),
        (table, {"value": 1, "source": "s", "more": 2}, "the key 'more' is unknown; known are value, source, note"),
    ],
)
def test_what_an_entry_cannot_be_is_said_with_where(read: Read, entry: object, why: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the whole text is compared)
        read(entry, "it")
    assert str(caught.value) == f"it: {why}"


def test_what_is_wrong_inside_is_said_with_where_around_it() -> None:
    assert entries.located("around", entries.count, 3, where="it") == 3
    with pytest.raises(ValueError, match=r"^around: it: 0 is not a whole number of at least 1$"):
        entries.located("around", entries.count, 0, where="it")
