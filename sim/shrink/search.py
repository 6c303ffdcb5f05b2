"""Hypothesis: the smallest integers that a condition accepts, and the database of examples.

The only file that imports it; without it, nothing is found and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from hypothesis.database import ExampleDatabase
    from hypothesis.strategies import SearchStrategy

AVAILABLE: Final = find_spec("hypothesis") is not None
EXAMPLES: Final = 400
"""Tried before a search gives up; far more than what it takes to meet a failing one by the ways below."""
_Drawn = TypeVar("_Drawn")


def _never() -> bool:
    return False


def smallest_window(
    size: int, fails: Callable[[tuple[int, int]], bool], enough: Callable[[], bool] = _never
) -> tuple[int, int] | None:
    """Length and start of the shortest window found, 0 <= length <= size, 0 <= start < size.

    Of those of one length, the first.  Once it is `enough`, no other is tried.
    """
    from hypothesis import strategies as st

    return _smallest(st.tuples(st.integers(0, size), st.integers(0, size - 1)), fails, enough)


def smallest_indices(
    counts: Sequence[int], fails: Callable[[tuple[int, ...]], bool], enough: Callable[[], bool] = _never
) -> tuple[int, ...] | None:
    """The smallest indices found, 0 <= index < count each; the last ones of all are known to fail.

    Each is drawn as its last with so much weight that all at once often are: the search then begins there.
    Once it is `enough`, no others are tried.
    """
    from hypothesis import strategies as st

    def index(count: int) -> SearchStrategy[int]:
        return st.sampled_from(range(count * len(counts))).map(lambda drawn: min(drawn, count - 1))

    return _smallest(st.tuples(*(index(count) for count in counts)), fails, enough)


def _smallest(
    drawn: SearchStrategy[_Drawn], fails: Callable[[_Drawn], bool], enough: Callable[[], bool]
) -> _Drawn | None:
    from hypothesis import Phase, Verbosity, find, settings
    from hypothesis.errors import NoSuchExample

    known: dict[_Drawn, bool] = {}

    def fails_now(value: _Drawn) -> bool:
        if value not in known:
            known[value] = not enough() and fails(value)
        return known[value]

    search = settings(
        max_examples=EXAMPLES, database=None, deadline=None, verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
    )  # fmt: skip
    try:
        return find(drawn, fails_now, settings=search, random=Random(0))
    except NoSuchExample:
        return None


def saved(key: bytes) -> list[bytes]:
    """What is kept under a key, the shortest first."""
    return sorted((value for database in _databases() for value in database.fetch(key)), key=lambda v: (len(v), v))


def save(key: bytes, value: bytes) -> None:
    """Keep a value in the database that the user's settings of Hypothesis name, if any."""
    for database in _databases():
        database.save(key, value)


def forget(key: bytes, value: bytes) -> None:
    """Keep it no longer."""
    for database in _databases():
        database.delete(key, value)


def _databases() -> Iterator[ExampleDatabase]:
    """The one database, or none."""
    if AVAILABLE:
        from hypothesis import settings

        database: Any = settings().database
        yield from () if database is None else (database,)
