"""Expressions compared with numbers on the example, before anything is said to be proved.

A fault in what traces or simplifies is met here: the machine's call and the reference's are run as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isa.errors import MISSING, LanewiseError
from isa.evaluate.exact import Evaluation
from isa.lane import Lane, Read, operands_first
from sim.call.call import Implementation
from sim.kernels.kernel import Kernel
from sim.symbolic.call import PLACED, UNDEFINED, Path
from sim.symbolic.kernel_proof import BuildProof
from sim.symbolic.numbers.known_names import UNINITIALISED
from sim.symbolic.proving.substitution import Substitution, argument_lanes
from sim.symbolic.proving.trial import NumbersOfInputs
from sim.symbolic.reference import TracedReference


class WronglyTraced(LanewiseError):
    """Lanes that are not what is computed: a fault of lanewise, for which nothing may be said to be proved."""

    exit_code = MISSING


def rehearse(
    kernel: Kernel, build: BuildProof, called: Implementation, reference: TracedReference, paths: Sequence[Path],
    substitution: Substitution,
) -> None:  # fmt: skip
    """Compare lanes with the numbers of the example: of the reference and of a build, followed along `paths`.

    What a build leaves in two calls that differ in what nobody defined is compared too, and is a fault of the build.
    Raises WronglyTraced.
    """
    addresses = {place: at for path in paths for place, at in path.addresses.items()}
    evaluation = Evaluation(NumbersOfInputs({**addresses, **reference.values()}))
    cases = [case for case in reference.cases if evaluation.value(case.given)]
    if len(cases) != 1:
        raise WronglyTraced(f"{len(cases)} cases of the reference hold for one input set")
    wanted = kernel.expected(reference.example)
    arguments = kernel.arguments(reference.example)
    made, elsewhere = (next(iter(called.call(arguments, seed).outputs.values())) for seed in (PLACED, PLACED + 1))
    if any(made[name].tobytes() != elsewhere[name].tobytes() for name in made):
        build.faults.append("what it leaves is another where arrays lie elsewhere, or bytes that nobody defines differ")
    by = argument_lanes(kernel, reference, cases[0])
    taken = [path for path in paths if evaluation.value(substitution.of(path.condition, by))]
    if len(taken) != 1:
        raise WronglyTraced(f"{build.build}: {len(taken)} ways hold for one input set")
    left = {name: [substitution.of(lane, by) for lane in lanes] for name, lanes in taken[0].outputs.items()}
    for what, outputs, numbers in (("the reference", cases[0].outputs, wanted), (build.build, left, made)):
        for name, lanes in outputs.items():
            if build.faults or any(is_undefined(lane) for lane in lanes):
                continue
            if not _are_numbers([evaluation.value(lane) for lane in lanes], numbers[name]):
                raise WronglyTraced(f"{what}: traced, {name} is not what it is when it is run")


def is_undefined(lane: Lane) -> bool:
    """Whether bytes that nobody defined are in it, of memory, a register or an array of the reference."""
    undefined = (UNDEFINED, UNINITIALISED)
    return any(isinstance(node, Read) and node.place.file.startswith(undefined) for node in operands_first([lane]))


def _are_numbers(lanes: Sequence[int], numbers: np.ndarray[Any, Any]) -> bool:
    """Whether lanes are the numbers of an array; which NaN one is does not count."""
    if numbers.dtype.kind != "f":
        return list(lanes) == [int(number) for number in numbers.flat]
    bits = np.array(lanes, f"u{numbers.dtype.itemsize}")
    made, flat = bits.view(numbers.dtype), numbers.ravel()
    return bool(np.all((bits == flat.view(bits.dtype)) | (np.isnan(made) & np.isnan(flat))))
