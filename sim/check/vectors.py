"""The input sets of a check, and what the golden reference makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.check.amounts import SHORT_LANES, USUAL_LANES, USUAL_SETS
from sim.kernels.domain import check_domains, number_types
from sim.kernels.input_tree import leaves
from sim.kernels.inputs import FewValid, Samples
from sim.kernels.kernel import Inputs, Kernel, KernelError, Outputs

MAX_SETS = 1_000_000


@dataclass(frozen=True)
class Vectors:
    """The input sets of a check with their golden outputs; `count` is the number of output lanes.

    `random_lanes` is the number that `make_vectors` makes the same of, `long_from` the number of the first input set
    that is made long.  `call_seeds` are the seeds of the calls where they do not follow from `seed`.
    """

    inputs: Sequence[Inputs]
    golden: Sequence[Outputs]
    seed: int
    random_lanes: int = 0
    long_from: int | None = None
    call_seeds: Sequence[int] = ()

    @property
    def count(self) -> int:
        """The output lanes of all input sets together."""
        return sum(array.size for outputs in self.golden for array in outputs.values())


def make_vectors(kernel: Kernel, random_lanes: int | None, seed: int) -> Vectors:
    """The kernel's corners, then random input sets until these have `random_lanes` output lanes, drawn from `seed`.

    None is for as many as a check takes that is told no number.  The first ones are short, so that tails of every
    length are met, then long, where the kernel has such.

    What the kernel's `valid` refuses is left out.  With more than `MAX_SETS` input sets the random ones end.  Raises
    KernelError where the golden reference fails or gives outputs of another dtype or shape than the signature wants,
    where `valid` fails or refuses nearly all, where `steps` gives what are none, and for a domain of what is no input.
    """
    inputs = list(filter(kernel.accepts, kernel.corners()))
    _check_input_domains(kernel, inputs)
    golden = [kernel.expected(case) for case in inputs]
    rng, lanes, corners, long_from = np.random.default_rng(seed), 0, len(inputs), None
    short = Samples(kernel, kernel.sample)
    long = Samples(kernel, kernel.long_sample) if kernel.long_sample is not None else None
    while lanes < (USUAL_LANES if random_lanes is None else random_lanes) and len(inputs) < MAX_SETS:
        if lanes >= SHORT_LANES and random_lanes is None and len(inputs) - corners >= USUAL_SETS:
            break
        if lanes >= SHORT_LANES and long is not None:
            try:
                drawn, long_from = long.draw(rng), long_from or len(inputs)
            except FewValid:  # a kernel that takes no long rows
                long = None
                continue
        else:
            drawn = short.draw(rng)
        inputs.append(drawn)
        golden.append(kernel.expected(drawn))
        lanes += sum(array.size for array in golden[-1].values())
    for case, outputs in zip(inputs, golden, strict=True):
        if any(array.size for array in outputs.values()):  # wrong ones are refused where every lane is right too
            kernel.golden_steps(case)
            break
    return Vectors(inputs, golden, seed, lanes if random_lanes is None else random_lanes, long_from)


def _check_input_domains(kernel: Kernel, inputs: Sequence[Inputs]) -> None:
    """Raises KernelError for a domain of what is neither an argument nor a number of these input sets."""
    types = dict(number_types(kernel.signature))
    if inputs and (others := {name: domain for name, domain in kernel.domain.items() if name not in types}):
        found = {".".join(map(str, where)): leaf for one in inputs for where, leaf in leaves(one).items()}
        try:
            check_domains({name: np.asarray(leaf).dtype for name, leaf in found.items()}, others)
        except ValueError as error:
            raise KernelError(f"{kernel.name} cannot be checked: {error}") from None


def call_seed(vectors: Vectors, number: int) -> int:
    """The seed of the undefined bytes around one call, so that the call can be repeated alone."""
    return vectors.call_seeds[number] if vectors.call_seeds else vectors.seed * MAX_SETS + number
