"""The input sets of a check, and what the golden reference makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.check.amounts import SHORT_LANES, USUAL_LANES, USUAL_SETS
from sim.kernels.kernel import Inputs, Kernel, Outputs

MAX_SETS = 1_000_000


@dataclass(frozen=True)
class Vectors:
    """The input sets of a check with their golden outputs; `count` is the number of output lanes.

    `random_lanes` is the number that `make_vectors` makes the same of, `long_from` the number of the first input set
    that is made long.
    """

    inputs: Sequence[Inputs]
    golden: Sequence[Outputs]
    seed: int
    random_lanes: int = 0
    long_from: int | None = None

    @property
    def count(self) -> int:
        """The output lanes of all input sets together."""
        return sum(array.size for outputs in self.golden for array in outputs.values())


def make_vectors(kernel: Kernel, random_lanes: int | None, seed: int) -> Vectors:
    """The kernel's corners, then random input sets until these have `random_lanes` output lanes, drawn from `seed`.

    None is for as many as a check takes that is told no number.  The first ones are short, so that tails of every
    length are met, then long, where the kernel has such.

    With more than `MAX_SETS` input sets the random ones end.  Raises KernelError where the golden reference fails or
    gives outputs of another dtype or shape than the signature wants.
    """
    inputs = list(kernel.corners())
    golden = [kernel.expected(case) for case in inputs]
    rng, lanes, corners, long_from = np.random.default_rng(seed), 0, len(inputs), None
    while lanes < (USUAL_LANES if random_lanes is None else random_lanes) and len(inputs) < MAX_SETS:
        sample = kernel.sample
        if lanes >= SHORT_LANES:
            if random_lanes is None and len(inputs) - corners >= USUAL_SETS:
                break
            if kernel.long_sample is not None:
                sample, long_from = kernel.long_sample, long_from or len(inputs)
        inputs.append(sample(rng))
        golden.append(kernel.expected(inputs[-1]))
        lanes += sum(array.size for array in golden[-1].values())
    return Vectors(inputs, golden, seed, lanes if random_lanes is None else random_lanes, long_from)


def call_seed(vectors: Vectors, number: int) -> int:
    """The seed of the undefined bytes around one call, so that the call can be repeated alone."""
    return vectors.seed * MAX_SETS + number
