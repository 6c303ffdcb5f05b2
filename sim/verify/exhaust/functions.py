"""Two functions on all values of what they take: how often they differ, and where first; a run can go on."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from sim.processes import spread_here
from sim.toolchain.kept import write_whole
from sim.verify.exhaust.exhaust import SAVED_EVERY, ranges
from sim.verify.exhaust.space import MOST_BITS, NotExhaustible

AT_ONCE: Final = 1 << 18
"""Values in a chunk, at most."""
Numbers = np.ndarray[Any, Any]


@dataclass(frozen=True)
class NumberRange:
    """What one argument may be: all integers of `low`..`high`, in arrays of that dtype."""

    name: str
    dtype: str
    low: int
    high: int

    @property
    def count(self) -> int:
        return self.high - self.low + 1


class TwoFunctions(Protocol):
    """Two functions of the same numbers; `identity` is all that their results depend on, `sides` their names."""

    @property
    def operands(self) -> Sequence[NumberRange]:
        """What they take."""

    @property
    def sides(self) -> tuple[str, str]:
        """What to call them."""

    @property
    def given(self) -> Mapping[str, float]:
        """The parameters that do not change."""

    @property
    def identity(self) -> object:
        """As JSON."""

    def results(self, numbers: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
        """What each makes of arrays of operands, one row of results for each element."""


class UnequalNumbers(NamedTuple):
    """Operands, by name, of which the two functions make different results."""

    operands: dict[str, int]
    results: tuple[object, object]


@dataclass(frozen=True, kw_only=True)
class ComparedFunctions:
    """What came of it: `compared` of all `values`, of them `kept` in runs before; the `differing`, and the first."""

    sides: tuple[str, str]
    operands: tuple[NumberRange, ...]
    given: Mapping[str, float]
    values: int
    compared: int
    kept: int
    differing: int
    first: UnequalNumbers | None


class _Chunk(NamedTuple):
    """What became of a chunk: how many of its values differ, and the number of the first."""

    number: int
    differing: int
    first: int | None


class FunctionExhaustion:
    """The run over all values of two functions; what was compared is kept in a file of the folder `cache`.

    `done` counts the values that were compared, in this run and, but for `anew`, in those before.  Raises
    NotExhaustible for operands of more than 32 bits.
    """

    def __init__(self, functions: TwoFunctions, cache: Path, anew: bool = False) -> None:
        self._functions = functions
        self.values = prod(operand.count for operand in functions.operands)
        if self.values > 1 << MOST_BITS:
            bits = " and ".join(f"{o.count:,} values of {o.name}" for o in functions.operands)
            raise NotExhaustible(f"{bits} are more than can be tried: 2^{MOST_BITS} at most, so give narrower ones")
        about = [functions.identity, dict(functions.given), [vars(operand) for operand in functions.operands], AT_ONCE]
        self._file = cache / f"exhausted-{hashlib.sha256(json.dumps(about).encode()).hexdigest()}.json"
        self._chunks = -(-self.values // AT_ONCE)
        self._done: dict[int, _Chunk] = {} if anew else self._kept_before()
        self._before = self.done

    @property
    def done(self) -> int:
        """The values that were compared."""
        return sum(min(AT_ONCE, self.values - AT_ONCE * number) for number in self._done)

    def run(self, jobs: int) -> Generator[int, None, None]:
        """Compare what is left; yields `done` now and then.

        Raises OSError where results cannot be kept, LostProcess where one of the functions ends its process, and what
        the functions raise.
        """
        saved, left = time.monotonic(), [number for number in range(self._chunks) if number not in self._done]
        try:
            for chunk in spread_here(partial(_compare, self._functions), left, min(jobs, len(left))):
                self._done[chunk.number] = chunk
                if time.monotonic() - saved > SAVED_EVERY:
                    self._save()
                    saved = time.monotonic()
                yield self.done
        finally:
            self._save()

    def result(self) -> ComparedFunctions:
        """What was found out so far."""
        first = min((chunk.first for chunk in self._done.values() if chunk.first is not None), default=None)
        return ComparedFunctions(
            sides=self._functions.sides, operands=tuple(self._functions.operands),
            given=dict(self._functions.given), values=self.values,
            compared=self.done, kept=self._before, differing=sum(chunk.differing for chunk in self._done.values()),
            first=None if first is None else self._shown(first),
        )  # fmt: skip

    def _shown(self, value: int) -> UnequalNumbers:
        numbers = operands_of(self._functions.operands, value, 1)
        one, other = (side[0].tolist() for side in self._functions.results(numbers))
        names = (operand.name for operand in self._functions.operands)
        return UnequalNumbers({name: int(n[0]) for name, n in zip(names, numbers, strict=True)}, (one, other))

    def _kept_before(self) -> dict[int, _Chunk]:
        """By number the chunks that were compared before; none where the file is not what this module writes."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            kept = json.loads(self._file.read_bytes())
            agree = [int(n) for first, last in kept["agree"] for n in range(first, last + 1)]
            chunks = [_Chunk(n, 0, None) for n in agree] + [_Chunk(*map(int, differ)) for differ in kept["differ"]]
            if all(0 <= chunk.number < self._chunks for chunk in chunks):
                return {chunk.number: chunk for chunk in chunks}
        return {}

    def _save(self) -> None:
        if self._done:
            agree = ranges(number for number, chunk in self._done.items() if not chunk.differing)
            kept = {"agree": agree, "differ": [chunk for chunk in self._done.values() if chunk.differing]}
            write_whole(self._file, json.dumps(kept).encode())


def operands_of(operands: Sequence[NumberRange], first: int, count: int) -> list[Numbers]:
    """So many values from that number on, as an array for each operand; the last operand changes fastest."""
    numbers, found = np.arange(first, first + count, dtype=np.int64), list[Numbers]()
    for operand in reversed(operands):
        numbers, place = np.divmod(numbers, operand.count)
        found.append((place + operand.low).astype(operand.dtype))
    return found[::-1]


def _compare(functions: TwoFunctions, number: int) -> _Chunk:
    values = prod(operand.count for operand in functions.operands)
    start = AT_ONCE * number
    one, other = functions.results(operands_of(functions.operands, start, min(AT_ONCE, values - start)))
    same = one == other
    if one.dtype.kind == "f":
        same |= np.isnan(one) & np.isnan(other)
    different = ~same.reshape(len(same), -1).all(axis=1)
    count = int(np.count_nonzero(different))
    return _Chunk(number, count, start + int(np.argmax(different)) if count else None)
