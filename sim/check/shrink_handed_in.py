"""Failing inputs of an implementation that is handed in, made small: many candidates in each of few runs.

A run of what runs elsewhere takes long however few inputs it has, so nothing is tried one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, Final

from sim.check.compare import agreement
from sim.check.handed_in import HandedIn, ImplementationFault, Outside, check_handed_in
from sim.check.shrink import Shrunk, sizes_told
from sim.check.shrink_inputs import Where, choices, cut, edited, in_domain, sizes_of
from sim.check.vectors import Vectors
from sim.kernels.kernel import Inputs, Kernel, Outputs

_Change = Callable[[Inputs], Inputs]
Pools = Mapping[Where, Sequence[Any]]
"""By place the numbers to try there, the simplest first and its own last."""
Numbers = dict[Where, Any]
"""By place."""
CANDIDATES: Final = 4000
"""Input sets that one run takes."""
ROUNDS: Final = 8
"""Of two runs each, in which numbers get simpler."""


def shrink_handed_in(kernel: Kernel, implementation: HandedIn, vectors: Vectors, number: int) -> Shrunk:
    """As `sim.check.shrink.shrink`: fewer lanes, then simpler numbers, as long as a lane is wrong."""
    search, whole = _Search(kernel, implementation), vectors.inputs[number]
    if search.first_failing([whole]) is None:
        return Shrunk(whole, None, f"not shrunk, as input set {number} fails only among the others")
    small = search.simpler(search.shorter(whole))
    alone = check_handed_in(kernel, implementation, Vectors([small], [kernel.expected(small)], vectors.seed))
    if small is whole or not alone.mismatch:
        return Shrunk(whole, None, "not shrunk, as nothing smaller fails alone")
    return Shrunk(small, alone, sizes_told(kernel, whole, small))


class _Search:
    def __init__(self, kernel: Kernel, implementation: HandedIn) -> None:
        self._kernel, self._implementation = kernel, implementation

    def shorter(self, inputs: Inputs) -> Inputs:
        """The fewest elements of each axis that fail; window sizes are powers of two."""
        for size in sizes_of(self._kernel.expected(inputs), inputs):
            lengths = [1 << power for power in range(size.bit_length()) if 1 << power < size]
            inputs = self._first(inputs, [_cutting(size, at, length) for length in lengths for at in range(size)])
        return inputs

    def simpler(self, inputs: Inputs) -> Inputs:
        """Simpler numbers, as many as possible at once, until none fails that is simpler."""
        for _ in range(ROUNDS):
            pools = choices(self._kernel, inputs)
            numbers = [*islice(_couples(pools), CANDIDATES // 2), *_some_of(self._alone(inputs, pools))]
            simpler = self._first(inputs, list(map(_setting, numbers)))
            if simpler is inputs:
                break
            inputs = simpler
        return inputs

    def _alone(self, inputs: Inputs, pools: Pools) -> Numbers:
        """By place the simplest number that fails where all else stays."""
        tried = list(_each(pools))[:CANDIDATES]
        fails = self._fail([_made(inputs, _setting({path: number})) for path, number in tried])
        return dict(reversed([one for one, failed in zip(tried, fails, strict=True) if failed]))

    def _first(self, inputs: Inputs, changes: Sequence[_Change]) -> Inputs:
        """The inputs with the first change with which they fail; as they are where there is none."""
        made = [_made(inputs, change) for change in changes[:CANDIDATES]]
        at = self.first_failing(made)
        return inputs if at is None else made[at] or inputs

    def first_failing(self, candidates: Sequence[Inputs | None]) -> int | None:
        return next((at for at, failed in enumerate(self._fail(candidates)) if failed), None)

    def _fail(self, candidates: Sequence[Inputs | None]) -> list[bool]:
        """Which of them the kernel defines and the implementation gets wrong."""
        golden = [self._golden(candidate) for candidate in candidates]
        asked = [one for one, due in zip(candidates, golden, strict=True) if one is not None and due is not None]
        try:
            results = iter(self._implementation.run(asked))
        except ImplementationFault:
            results = iter(())
        return [due is not None and _wrong(next(results, Outside("no result")), due) for due in golden]

    def _golden(self, inputs: Inputs | None) -> Outputs | None:
        try:
            return self._kernel.expected(inputs) if inputs is not None and in_domain(self._kernel, inputs) else None
        except Exception:  # the user's own code raises anything
            return None


def _each(pools: Pools) -> Iterator[tuple[Where, Any]]:
    return ((path, number) for path, pool in pools.items() for number in pool[:-1])


def _some_of(numbers: Numbers) -> list[Numbers]:
    """All of them, then as many as possible; of more than eight all, then one."""
    count = len(numbers)
    sizes = range(count, 0, -1) if count <= 8 else (count, 1)
    return [dict(some) for size in sizes for some in combinations(numbers.items(), size)]


def _couples(pools: Pools) -> Iterator[Numbers]:
    """One number simpler and another the simplest: of a sum, one part alone cannot change."""
    return ({path: number, other: pools[other][0]} for path, number in _each(pools) for other in pools if other != path)


def _cutting(size: int, start: int, length: int) -> _Change:
    return lambda inputs: cut(inputs, size, start, length)


def _setting(numbers: Numbers) -> _Change:
    return lambda inputs: edited(inputs, lambda path, own: numbers.get(path, own))


def _made(inputs: Inputs, change: _Change) -> Inputs | None:
    """None where a dataclass in the inputs refuses its new fields, or an array the number."""
    try:
        return change(inputs)
    except (TypeError, ValueError, OverflowError):
        return None


def _wrong(result: Outputs | Outside, golden: Outputs) -> bool:
    return not isinstance(result, Outside) and not all(agreement(result[name], golden[name]).all() for name in golden)
