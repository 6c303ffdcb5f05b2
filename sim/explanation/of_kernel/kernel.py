"""What the outputs of a wrong implementation of a kernel come from: the kernel's other conventions, and one element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from sim.explanation.explanation import place_of
from sim.explanation.of_kernel.changes import changes_that_explain
from sim.explanation.of_kernel.recognition import recognised
from sim.explanation.places import places_of
from sim.kernels.kernel import Inputs, Kernel, Outputs, steps_at
from sim.kernels.tolerance import agreement

GOLDEN: Final = "the golden reference"
_NEAREST: Final = 3
_FEWEST: Final = 3
"""Different numbers of the golden reference: of fewer it is not told which convention or changed input gives them all.
Of one lane alone much does, by chance.
"""


@dataclass(frozen=True)
class _Count:
    """How many output lanes a convention gives otherwise; None where it refuses an input set.

    `made` are its outputs for the input sets that it takes.
    """

    name: str
    made: Sequence[Outputs]
    differing: int | None


def explain_kernel(kernel: Kernel, inputs: Sequence[Inputs], results: Sequence[Outputs]) -> list[str]:
    """Say what the results of an implementation come from: conventions, the places of wrong lanes, what was left out.

    The kernel's own conventions are counted, and one element is traced; a requantization is recognised without being
    told of.  `results` are the outputs for the first of `inputs`.  Sentences; none where there are no results.  Raises
    KernelError where the golden reference or a convention fails.
    """
    lanes = sum(array.size for outputs in results for array in outputs.values())
    if not lanes:
        return []
    cases = inputs[: len(results)]
    golden = [kernel.expected(case) for case in cases]
    told = _by_conventions(kernel, cases, golden, results, lanes) if kernel.conventions else []
    masks: dict[str, list[npt.NDArray[np.bool_]]] = {}
    numbers = set[object]()
    for expected, outputs in zip(golden, results, strict=True):
        for name, array in expected.items():
            numbers.update(np.unique(array)[:_FEWEST].tolist())
            masks.setdefault(name, []).append(~agreement(outputs[name], array, kernel.tolerance))
    if not any(mask.any() for some in masks.values() for mask in some):
        return told
    places = [f"hint: {place}" for name, some in masks.items() for place in places_of(some, f"wrong lanes of {name}")]
    if len(numbers) < _FEWEST:
        return [*told, *places]
    changes = [f"hint: {change}" for change in changes_that_explain(kernel, inputs, results)]
    return [*told, *recognised(kernel, inputs, results), *changes, *places]


def _by_conventions(
    kernel: Kernel, inputs: Sequence[Inputs], golden: Sequence[Outputs], results: Sequence[Outputs], lanes: int
) -> list[str]:
    """Which of the kernel's conventions give the results, or come near, and one element of them."""
    counts = [_counted(kernel, GOLDEN, golden, results)]
    for name in kernel.conventions:
        every = (kernel.by_convention(name, case, own) for case, own in zip(inputs, golden, strict=True))
        counts.append(_counted(kernel, name, [made for made in every if made is not None], results))
    agreeing = [count.name for count in counts if count.differing == 0]
    if agreeing:
        titles = [name if name == GOLDEN else f"the convention {name}" for name in agreeing]
        rest = ", which these vectors do not tell apart" if len(agreeing) > 1 else ""
        agree = "the lane agrees" if lanes == 1 else f"all {lanes:,} lanes agree"
        told = [f"{agree} with {' and '.join(titles)}{rest}"]
    else:
        able = sorted((one for one in counts if one.differing is not None), key=lambda one: one.differing or 0)
        refusing = [count.name for count in counts if count.differing is None]
        told = [f"none of {len(counts)} conventions gives all {lanes:,} lanes"]
        told += [
            f"{count.name} differs in {count.differing:,} lane{'s' * (count.differing != 1)}"
            for count in able[:_NEAREST]
        ]
        told += [f"not defined for all of these inputs: {', '.join(refusing)}"] if refusing else []
    return [*told, *_traced(kernel, counts, inputs, results)]


def _counted(kernel: Kernel, name: str, made: Sequence[Outputs], results: Sequence[Outputs]) -> _Count:
    if len(made) < len(results):
        return _Count(name, made, None)
    wrong = sum(
        int((~agreement(outputs[output], array, kernel.tolerance)).sum())
        for outputs, own in zip(results, made, strict=True)
        for output, array in own.items()
    )
    return _Count(name, made, wrong)


def _traced(
    kernel: Kernel, counts: Sequence[_Count], inputs: Sequence[Inputs], results: Sequence[Outputs]
) -> Iterator[str]:
    """The first wrong lane, through the golden steps, and what the conventions give."""
    for number, (case, expected, outputs) in enumerate(zip(inputs, counts[0].made, results, strict=True)):
        for name, array in expected.items():
            wrong = np.argwhere(~agreement(outputs[name], array, kernel.tolerance))
            if wrong.size:
                place = tuple(int(at) for at in wrong[0])
                made = steps_at(kernel.golden_steps(case), place)
                steps = ", ".join(f"{step} {value}" for step, value in made.items())
                yield f"input set {number}, {name}{place_of(place)}{f': {steps}' if steps else ''}"
                found: dict[str, list[str]] = {}
                for count in counts:
                    if count.differing is not None:
                        found.setdefault(str(count.made[number][name][place]), []).append(count.name)
                given = "; ".join(f"{value} by {', '.join(names)}" for value, names in found.items())
                yield f"  it is {outputs[name][place]}; {given}"
                return
