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
    """All output lanes of one arithmetic, as bits, and which of them it defines."""

    bits: npt.NDArray[np.unsignedinteger[Any]]
    defined: npt.NDArray[np.bool_]


def separation_of(kernel: Kernel, vectors: Vectors) -> Separation:
    """Count for the golden reference with each convention, and for the conventions among each other.

    Lanes are compared as `sim.check.compare` does: 0.0 and -0.0 are apart, one NaN is as good as another.  Raises
    KernelError for a convention that fails in another way than by ValueError, or that gives outputs of another dtype or
    shape than the golden reference.
    """
    own = kernel.mode or "golden"
    results = {own: _results(vectors, vectors.golden)}
    for name in kernel.conventions:
        cases = zip(vectors.inputs, vectors.golden, strict=True)
        results[name] = _results(vectors, [kernel.by_convention(name, inputs, golden) for inputs, golden in cases])
    pairs = []
    for one, other in combinations(results, 2):
        differing = _differing(results[one], results[other])
        refused = ~(results[one].defined & results[other].defined)
        pairs.append(Pair(one, other, int(differing.sum()), int(refused.sum())))
    apart = [_differing(results[own], results[name]) for name in kernel.conventions]
    return Separation(own, pairs, int(np.logical_or.reduce(apart).sum()) if apart else 0)


def _results(vectors: Vectors, outputs: Sequence[Outputs | None]) -> _Results:
    parts = [golden if own is None else own for own, golden in zip(outputs, vectors.golden, strict=True)]
    bits = []
    for array in (array for part in parts for array in part.values()):
        if array.dtype.kind == "f":  # one NaN is as good as another
            array = np.where(np.isnan(array), np.nan, array).astype(array.dtype)
        bits.append(array.ravel().view(f"u{array.itemsize}"))
    sizes = [sum(array.size for array in part.values()) for part in parts]
    defined = np.array([own is not None for own in outputs], np.bool_)
    return _Results(np.concatenate([*bits, np.zeros(0, np.uint8)]), np.repeat(defined, np.array(sizes, np.int64)))


def _differing(left: _Results, right: _Results) -> npt.NDArray[np.bool_]:
    """The lanes that both define and that differ."""
    return np.asarray((left.bits != right.bits) & left.defined & right.defined)
