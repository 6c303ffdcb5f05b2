"""The input sets of a check, and what the golden reference makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.kernels.kernel import Inputs, Kernel, Outputs

MAX_SETS = 1_000_000


@dataclass(frozen=True)
class Vectors:
    """The input sets of a check with their golden outputs; `count` is the number of output lanes."""

    inputs: Sequence[Inputs]
    golden: Sequence[Outputs]
    seed: int

    @property
    def count(self) -> int:
        """The output lanes of all input sets together."""
        return sum(array.size for outputs in self.golden for array in outputs.values())


def make_vectors(kernel: Kernel, random_lanes: int, seed: int) -> Vectors:
    """The kernel's corners, then random input sets until these have `random_lanes` output lanes, drawn from `seed`.

    With more than `MAX_SETS` input sets the random ones end.  Raises KernelError where the golden reference fails or
    gives outputs of another dtype or shape than the signature wants.
    """
    inputs = list(kernel.corners())
    golden = [kernel.expected(case) for case in inputs]
    rng, lanes = np.random.default_rng(seed), 0
    while lanes < random_lanes and len(inputs) < MAX_SETS:
        inputs.append(kernel.sample(rng))
        golden.append(kernel.expected(inputs[-1]))
        lanes += sum(array.size for array in golden[-1].values())
    return Vectors(inputs, golden, seed)


def call_seed(vectors: Vectors, number: int) -> int:
    """The seed of the undefined bytes around one call, so that the call can be repeated alone."""
    return vectors.seed * MAX_SETS + number
