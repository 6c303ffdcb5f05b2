"""Whether the vectors of a check could tell the arithmetics of its kernel apart: on how many output lanes they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.check.vectors import Vectors
from sim.kernels.kernel import Kernel, Outputs
from sim.kernels.tolerance import Tolerance, agreement


@dataclass(frozen=True)
class Pair:
    """Two arithmetics: the output lanes on which they differ, and those of input sets that one of them refuses."""

    one: str
    other: str
    lanes: int
    lanes_refused: int


@dataclass(frozen=True)
class Separation:
    """Every pair of a kernel's arithmetics on the vectors of a check; `own` names the one that is checked.

    `lanes_of_own` are the output lanes on which some other arithmetic differs from it.
    """

    own: str
    pairs: Sequence[Pair]
    lanes_of_own: int = 0

    @property
    def of_own(self) -> list[Pair]:
        """The checked arithmetic with each convention."""
        return [pair for pair in self.pairs if pair.one == self.own]

    def as_json(self) -> list[dict[str, object]]:
        """The pairs as plain data."""
        return [
            {"between": [pair.one, pair.other], "lanes": pair.lanes, "lanes_refused": pair.lanes_refused}
            for pair in self.pairs
        ]


class _Results(NamedTuple):
    """The lanes of one arithmetic, of all sets of an output together, and which of them all it defines."""

    arrays: Sequence[npt.NDArray[Any]]
    defined: npt.NDArray[np.bool_]


def separation_of(kernel: Kernel, vectors: Vectors) -> Separation:
    """Count for the golden reference with each convention, and for the conventions among each other.

    Lanes are compared as a check does, within the kernel's tolerance: what is nearer is told apart by none.  Raises
    KernelError for a convention that fails in another way than by ValueError, or that gives outputs of another dtype or
    shape than the golden reference.
    """
    own = kernel.mode or "golden"
    results = {own: _results(vectors, vectors.golden)}
    for name in kernel.conventions:
        cases = zip(vectors.inputs, vectors.golden, strict=True)
        results[name] = _results(vectors, [kernel.by_convention(name, inputs, golden) for inputs, golden in cases])
    pairs, apart = [], np.zeros(results[own].defined.size, np.bool_)
    for one, other in combinations(results, 2):
        differing = _differing(results[one], results[other], kernel.tolerance)
        refused = ~(results[one].defined & results[other].defined)
        pairs.append(Pair(one, other, int(differing.sum()), int(refused.sum())))
        apart |= differing & (one == own)
    return Separation(own, pairs, int(apart.sum()))


def _results(vectors: Vectors, outputs: Sequence[Outputs | None]) -> _Results:
    parts = [golden if own is None else own for own, golden in zip(outputs, vectors.golden, strict=True)]
    arrays, defined = list[npt.NDArray[Any]](), [np.zeros(0, np.bool_)]
    for name in dict.fromkeys(name for part in parts for name in part):
        of_sets = [
            (part[name].ravel(), own is not None) for part, own in zip(parts, outputs, strict=True) if name in part
        ]
        arrays.append(np.concatenate([array for array, _ in of_sets]))
        defined.append(np.repeat([known for _, known in of_sets], [array.size for array, _ in of_sets]))
    return _Results(arrays, np.concatenate(defined))


def _differing(left: _Results, right: _Results, tolerance: Tolerance | None) -> npt.NDArray[np.bool_]:
    """The lanes that both define and that differ."""
    pairs = zip(right.arrays, left.arrays, strict=True)
    differ = [~agreement(made, expected, tolerance) for made, expected in pairs]
    return np.concatenate([*differ, np.zeros(0, np.bool_)]) & left.defined & right.defined
