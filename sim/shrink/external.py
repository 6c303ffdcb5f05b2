"""Failing inputs of an external backend, made small: many candidates in each of few runs.

A run of what runs elsewhere takes long however few inputs it has, so nothing is tried one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, islice
from typing import Any, Final

from sim.check.external import BackendFault, ExternalBackend, Outside, check_external_backend
from sim.check.vectors import Vectors
from sim.kernels.input_tree import Where
from sim.kernels.inputs import choices, cut, edited, is_valid, sizes_of
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.tolerance import all_agree
from sim.shrink.failing import Shrunk, sizes_told

_Change = Callable[[Inputs], Inputs]
CANDIDATES: Final = 4000
"""Input sets that one run takes."""
ROUNDS: Final = 8
"""Of two runs each, in which numbers get simpler."""


def shrink_external_backend(kernel: Kernel, backend: ExternalBackend, vectors: Vectors, number: int) -> Shrunk:
    """As `sim.shrink.failing.shrink`: fewer lanes, then simpler numbers, as long as a lane is wrong."""
    search, whole = _Search(kernel, backend), vectors.inputs[number]
    if search.first_failing([whole]) is None:
        return Shrunk(whole, None, f"not shrunk, as input set {number} fails only among the others")
    small = search.simpler(search.shorter(whole))
    alone = check_external_backend(kernel, backend, Vectors([small], [kernel.expected(small)], vectors.seed))
    if small is whole or not alone.mismatch:
        return Shrunk(whole, None, "not shrunk, as nothing smaller fails alone")
    return Shrunk(small, alone, sizes_told(kernel, whole, small))


class _Search:
    def __init__(self, kernel: Kernel, backend: ExternalBackend) -> None:
        self._kernel, self._backend = kernel, backend

    def shorter(self, inputs: Inputs) -> Inputs:
        """The fewest elements of each axis that fail; window sizes are powers of two."""
        for size in sizes_of(self._kernel.expected(inputs), inputs):
            lengths = [1 << power for power in range(size.bit_length()) if 1 << power < size]
            windows = [(at, length) for length in lengths for at in range(size)]
            inputs = self._first(inputs, [partial(cut, size=size, start=at, length=length) for at, length in windows])
        return inputs

    def simpler(self, inputs: Inputs) -> Inputs:
        """Simpler numbers, as many as possible at once, until none fails that is simpler."""
        for _ in range(ROUNDS):
            pools = choices(self._kernel, inputs)
            each = [(path, number) for path, pool in pools.items() for number in pool[:-1]]
            # one number simpler and another the simplest: of a sum, one part alone cannot change
            couples = (
                {path: number, other: pools[other][0]} for path, number in each for other in pools if other != path
            )
            tried = each[:CANDIDATES]
            fails = self._fail([_made(inputs, _setting({path: number})) for path, number in tried])
            # by place the simplest number that fails where all else stays
            alone = dict(reversed([one for one, failed in zip(tried, fails, strict=True) if failed]))
            # all of them, then as many as possible; of more than eight all, then one
            sizes = range(len(alone), 0, -1) if len(alone) <= 8 else (len(alone), 1)
            together = [dict(some) for size in sizes for some in combinations(alone.items(), size)]
            simpler = self._first(inputs, list(map(_setting, [*islice(couples, CANDIDATES // 2), *together])))
            if simpler is inputs:
                break
            inputs = simpler
        return inputs

    def _first(self, inputs: Inputs, changes: Sequence[_Change]) -> Inputs:
        """The inputs with the first change with which they fail; as they are where there is none."""
        made = [_made(inputs, change) for change in changes[:CANDIDATES]]
        at = self.first_failing(made)
        return inputs if at is None else made[at] or inputs

    def first_failing(self, candidates: Sequence[Inputs | None]) -> int | None:
        return next((at for at, failed in enumerate(self._fail(candidates)) if failed), None)

    def _fail(self, candidates: Sequence[Inputs | None]) -> list[bool]:
        """Which of them the kernel defines and the backend gets wrong."""
        golden = [self._golden(candidate) for candidate in candidates]
        asked = [one for one, due in zip(candidates, golden, strict=True) if one is not None and due is not None]
        try:
            results = iter(self._backend.run(asked))
        except BackendFault:
            results = iter(())
        return [due is not None and self._is_wrong(next(results, Outside("no result")), due) for due in golden]

    def _is_wrong(self, result: Outputs | Outside, golden: Outputs) -> bool:
        return not isinstance(result, Outside) and not all_agree(result, golden, self._kernel.tolerance)

    def _golden(self, inputs: Inputs | None) -> Outputs | None:
        try:
            return self._kernel.expected(inputs) if inputs is not None and is_valid(self._kernel, inputs) else None
        except Exception:  # the user's own code raises anything
            return None


def _setting(numbers: Mapping[Where, Any]) -> _Change:
    return lambda inputs: edited(inputs, lambda path, own: numbers.get(path, own))


def _made(inputs: Inputs, change: _Change) -> Inputs | None:
    """None where a dataclass in the inputs refuses its new fields, or an array the number."""
    try:
        return change(inputs)
    except (TypeError, ValueError, OverflowError):
        return None
