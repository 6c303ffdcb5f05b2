"""What may stand in a core file, checked: every function raises ValueError, its text one sentence."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


def located(where: str, read: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """What `read` returns; its ValueError says where."""
    try:
        return read(*args, **kwargs)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def table(entry: object, keys: Collection[str], where: str, optional: Collection[str] = ()) -> dict[str, Any]:
    """A table with all of `keys` and maybe some of `optional`, and no other."""
    found = free_table(entry, where)
    for key in keys:
        if key not in found:
            raise ValueError(f"{where}: {key} is missing")
    for key in found:
        if key not in keys and key not in optional:
            raise ValueError(f"{where}: the key {key!r} is unknown; known are {', '.join((*keys, *optional))}")
    return found


def free_table(entry: object, where: str) -> dict[str, Any]:
    """A table whose keys are names."""
    if not isinstance(entry, dict):
        raise ValueError(f"{where}: {entry!r} is not a table")
    return entry


def array(entry: object, where: str) -> list[object]:
    """A list of anything."""
    if not isinstance(entry, list):
        raise ValueError(f"{where}: {entry!r} is not a list")
    return entry


def string(entry: object, where: str) -> str:
    """A text, maybe empty."""
    if not isinstance(entry, str):
        raise ValueError(f"{where}: {entry!r} is not a text")
    return entry


def text(entry: object, where: str) -> str:
    """A text of one line that is not blank."""
    line = string(entry, where)
    if not line.strip() or not line.isprintable():
        raise ValueError(f"{where}: {line!r} is not a line of text")
    return line


def choice(entry: object, choices: Collection[T], where: str) -> T:
    """One of some values."""
    for one in choices:
        if one == entry:
            return one
    raise ValueError(f"{where}: {entry!r} is not one of {', '.join(map(str, choices))}")


def flag(entry: object, where: str) -> bool:
    """True or false."""
    if not isinstance(entry, bool):
        raise ValueError(f"{where}: {entry!r} is neither true nor false")
    return entry


def count(entry: object, where: str, most: int = 1_000_000) -> int:
    """A whole number, at least 1 and at most that."""
    if isinstance(entry, bool) or not isinstance(entry, int) or entry < 1:
        raise ValueError(f"{where}: {entry!r} is not a whole number of at least 1")
    if entry > most:
        raise ValueError(f"{where}: it is more than {most}")
    return entry


def percent(entry: object, where: str) -> int:
    """A whole number of percent that an estimate can be off by: above -100."""
    if isinstance(entry, bool) or not isinstance(entry, int) or entry <= -100:
        raise ValueError(f"{where}: {entry!r} is not a whole number of percent above -100")
    return entry


def names(entry: object, where: str) -> tuple[str, ...]:
    """Different names of letters and digits, at least one."""
    found = tuple(text(item, where) for item in array(entry, where))
    if not found or len(set(found)) < len(found) or not all(name.isidentifier() for name in found):
        raise ValueError(f"{where}: {list(found)} are not different names")
    return found
