"""The file of a campaign: TOML, a table for each kind of jobs, in which lists are multiplied out.

What may be written is in `docs/campaigns.md`.  Every mistake is one sentence that names the place and what is near.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

from isa.errors import LanewiseError
from sim.toml import read_toml
from sim.toolchain.levels import LEVELS

MOST_NUMBERS: Final = 1_000_000
"""Of one list, and of jobs without work."""
Read = Callable[[Any], Any]
"""Makes of a value of TOML what jobs need; raises ValueError with what is taken instead."""


class CampaignError(LanewiseError):
    """A campaign that cannot be planned; the message is one sentence."""


class JobTable(NamedTuple):
    """One table of the file: its kind, such as "check", its place, such as "[[check]] 2", and all its values."""

    kind: str
    place: str
    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """A `file` as it is meant.  Paths in it are as written, from its `folder`; a job may take `timeout` seconds, and is
    tried `attempts` times where its process ends.
    """

    name: str
    file: Path
    folder: Path
    store: Path
    timeout: float
    attempts: int
    blocks: tuple[JobTable, ...]


def _texts(value: Any) -> list[str]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not given or not all(isinstance(one, str) for one in given):
        raise ValueError('texts, such as ["one", "another"]')
    return list(dict.fromkeys(given))


def _flags(value: Any) -> list[str]:
    found = _texts(value)
    for one in found:
        try:
            shlex.split(one)
        except ValueError as error:
            raise ValueError(f"what a shell can split ({error})") from None
    return found


def _commands(value: Any) -> list[str]:
    found = _flags(value)
    if not all(map(shlex.split, found)):
        raise ValueError('clang, or commands such as "aarch64-linux-gnu-gcc"')
    return found


def _numbers(value: Any) -> list[int]:
    """A number, a list of them, or text such as "0..33,64"."""
    advice = 'whole numbers, such as [1, 2] or "0..33,64"'
    found: list[int] = []
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, int) and not isinstance(one, bool):
            found.append(one)
            continue
        for part in one.split(",") if isinstance(one, str) else [""]:
            match = re.fullmatch(r"\s*(-?\d{1,18})(?:\.\.(-?\d{1,18}))?\s*", part)
            if match is None:
                raise ValueError(advice)
            low, high = int(match[1]), int(match[2] or match[1])
            if not 0 <= high - low < MOST_NUMBERS:
                raise ValueError(f"{advice}, low first, at most {MOST_NUMBERS:,} of them")
            found += range(low, high + 1)
    if not found:
        raise ValueError(advice)
    return list(dict.fromkeys(found))


def _counts(value: Any) -> list[int]:
    found = _numbers(value)
    if min(found) < 0:
        raise ValueError("whole numbers from 0 on")
    return found


def _whole(least: int, most: int) -> Read:
    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"one whole number of {least:,} to {most:,}")
        return value

    return read


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 86_400:
        raise ValueError("seconds, of 0 to 86400")
    return float(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _some_of(allowed: Collection[str]) -> Read:
    def read(value: Any) -> list[str]:
        found = [one.removeprefix("-") for one in _texts(value)]
        for one in found:
            if one not in allowed:
                raise ValueError(f"some of {', '.join(allowed)}{_near(one, allowed)}")
        return found

    return read


def _one_of(*allowed: str) -> Read:
    def read(value: Any) -> str:
        if value not in allowed:
            raise ValueError(f"one of {', '.join(allowed)}{_near(str(value), allowed)}")
        return str(value)

    return read


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def _grid(value: Any) -> dict[str, list[int]]:
    if not isinstance(value, dict):
        raise ValueError("arguments with their numbers, such as { length = [8, 64] }")
    return {name: _numbers(numbers) for name, numbers in value.items()}


_MANY: Final = 10_000_000
_BUILDS: Final[dict[str, tuple[Read, Any]]] = {
    "kernels": (_texts, None), "modes": (_texts, []), "sources": (_texts, []), "levels": (_some_of(LEVELS), ["O2"]),
    "flags": (_flags, [""]), "compilers": (_commands, ["clang"]), "depends": (_texts, []),
}  # fmt: skip
SCHEMA: Final[dict[str, dict[str, tuple[Read, Any]]]] = {
    "check": {
        **_BUILDS, "objects": (_texts, []), "symbol": (_text, ""), "vectors": (_whole(0, _MANY), 2000),
        "seeds": (_counts, [1]), "grid": (_grid, {}), "engine": (_one_of("lockstep", "machine"), "lockstep"),
        "aimed": (_flag, False),
    },
    "rtl": {"kernels": (_texts, None), "modes": (_texts, []), "lanes": (_numbers, [4]),
            "profiles": (_some_of(("shallow", "deep")), ["shallow"]), "vectors": (_whole(0, _MANY), 2000),
            "seeds": (_counts, [1]), "depends": (_texts, [])},
    "cycles": {**_BUILDS, "cores": (_texts, ["cortex-a55"]), "lengths": (_counts, [])},
    "prove": {**_BUILDS, "lengths": (_counts, [*range(9)]), "rows": (_counts, []), "seconds": (_seconds, 60.0)},
    "claims": {"names": (_texts, None), "file": (_text, ""), "seconds": (_seconds, 60.0), "depends": (_texts, [])},
    "exhaust": {"instructions": (_texts, None), "seeds": (_counts, [1])},
    "replay": {"calls": (_texts, None), "engine": (_one_of("lockstep", "machine", "emulator"), "lockstep")},
    "mutants": {"modules": (_texts, None), "count": (_whole(1, 10_000), 100), "seeds": (_counts, [1]),
                "seconds": (_seconds, 60.0)},
    "model": {"files": (_texts, None), "against": (_texts, None)},
    "idle": {"jobs": (_whole(1, 100 * MOST_NUMBERS), None), "seconds": (_seconds, 0.0)},
}  # fmt: skip
"""By kind of table its keys: what reads one, and what it is where it is not given; None where it must be."""
_TOP: Final[dict[str, tuple[Read, Any]]] = {
    "name": (_text, ""), "store": (_text, ""), "timeout": (_seconds, 600.0), "attempts": (_whole(1, 10), 2),
}  # fmt: skip


def read_campaign(file: Path) -> Campaign:
    """The campaign of a file.  Raises CampaignError."""
    found = read_toml(file, "the campaign", CampaignError)
    plain = {key: value for key, value in found.items() if key not in SCHEMA}
    top = _read(str(file), plain, _TOP, SCHEMA)
    blocks = []
    for kind in SCHEMA:
        given = found.get(kind, [])
        if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
            raise CampaignError(f"{file}: write [[{kind}]] above what belongs to it, with two brackets")
        for number, one in enumerate(given, 1):
            place = f"[[{kind}]]" if len(given) == 1 else f"[[{kind}]] {number}"
            blocks.append(JobTable(kind, place, _read(f"{file}: {place}", one, SCHEMA[kind])))
    if not blocks:
        raise CampaignError(f"{file} asks for nothing: write {', '.join(f'[[{kind}]]' for kind in SCHEMA)}")
    folder = file.absolute().parent
    return Campaign(
        name=top["name"] or file.stem, file=file.absolute(), folder=folder,
        store=folder / (top["store"] or f"{file.stem}.sqlite"),
        timeout=top["timeout"] or 600.0, attempts=top["attempts"], blocks=tuple(blocks),
    )  # fmt: skip


def _read(
    place: str, given: Mapping[str, Any], keys: Mapping[str, tuple[Read, Any]], more: Collection[str] = ()
) -> dict[str, Any]:
    for key in given:
        if key not in keys:
            known = [*keys, *more]
            raise CampaignError(f"{place} has no {key!r}{near_names(key, known)}")
    values = {}
    for key, (read, usual) in keys.items():
        if key in given:
            try:
                values[key] = read(given[key])
            except ValueError as error:
                raise CampaignError(f"{place}: {key} takes {error}, not {_shown(given[key])}") from None
        elif usual is None:
            raise CampaignError(f"{place} lacks {key!r}, which says what is to be done")
        else:
            values[key] = usual
    return values


def near_names(name: str, names: Collection[str]) -> str:
    """Such as "; near it are one, other": what may have been meant, or all names where nothing is near."""
    return _near(name, names) or f": there are {', '.join(names)}"


def _near(name: str, names: Collection[str]) -> str:
    near = get_close_matches(name, names, n=3)
    return f"; near it {'is' if len(near) == 1 else 'are'} {', '.join(near)}" if near else ""


def _shown(value: object) -> str:
    return text if len(text := repr(value)) < 60 else f"{text[:57]}..."
