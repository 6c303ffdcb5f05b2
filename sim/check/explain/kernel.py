"""What the outputs of a wrong implementation of a kernel come from: the kernel's other conventions, and one element."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sim.check.compare import agreement
from sim.check.explain.explanation import place_of
from sim.kernels.kernel import Inputs, Kernel, Outputs

GOLDEN: Final = "the golden reference"
_NEAREST: Final = 3


@dataclass(frozen=True)
class _Count:
    """How many output lanes a convention gives otherwise; None where it refuses an input set."""

    name: str
    golden: Callable[[Inputs], Outputs]
    differing: int | None


def explain_kernel(kernel: Kernel, inputs: Sequence[Inputs], results: Sequence[Outputs]) -> list[str]:
    """Say which conventions give the results of an implementation, or come near, and trace one element.

    `results` are the outputs for the first of `inputs`.  Sentences; none where there are no results.
    """
    lanes = sum(array.size for outputs in results for array in outputs.values())
    if not lanes:
        return []
    rules = {GOLDEN: kernel.golden, **kernel.conventions}
    counts = [_Count(name, golden, _differing(golden, inputs, results)) for name, golden in rules.items()]
    agreeing = [count.name for count in counts if count.differing == 0]
    if agreeing:
        rest = ", which these vectors do not tell apart" if len(agreeing) > 1 else ""
        told = [f"all {lanes:,} lanes agree with {' and '.join(map(_titled, agreeing))}{rest}"]
    else:
        told = list(_nearest(counts, lanes))
    return [*told, *_traced(kernel, counts, inputs, results)]


def _titled(name: str) -> str:
    return name if name == GOLDEN else f"the convention {name}"


def _differing(golden: Callable[[Inputs], Outputs], inputs: Sequence[Inputs], results: Sequence[Outputs]) -> int | None:
    try:
        return sum(
            int((~agreement(outputs[name], array)).sum())
            for case, outputs in zip(inputs, results, strict=False)
            for name, array in golden(case).items()
        )
    except ValueError:
        return None


def _nearest(counts: Sequence[_Count], lanes: int) -> Iterator[str]:
    able = sorted((count for count in counts if count.differing is not None), key=lambda count: count.differing or 0)
    yield f"none of {len(counts)} conventions gives all {lanes:,} lanes"
    yield from (f"{count.name} gives {count.differing:,} lanes otherwise" for count in able[:_NEAREST])
    refusing = [count.name for count in counts if count.differing is None]
    if refusing:
        yield f"not defined for all of these inputs: {', '.join(refusing)}"


def _traced(
    kernel: Kernel, counts: Sequence[_Count], inputs: Sequence[Inputs], results: Sequence[Outputs]
) -> Iterator[str]:
    """The first lane that differs from the golden reference, through its steps, and what the conventions give."""
    for number, (case, outputs) in enumerate(zip(inputs, results, strict=False)):
        for name, expected in kernel.golden(case).items():
            wrong = np.argwhere(~agreement(outputs[name], expected))
            if wrong.size:
                place = tuple(int(at) for at in wrong[0])
                yield f"input set {number}, {name}{place_of(place)}: {_steps(kernel, case, place)}"
                yield f"  it is {outputs[name][place]}; {_results(counts, case, name, place)}"
                return


def _steps(kernel: Kernel, case: Inputs, place: tuple[int, ...]) -> str:
    steps = kernel.steps(case)
    return ", ".join(f"{name} {array[place]}" for name, array in steps.items() if array.ndim == len(place))


def _results(counts: Sequence[_Count], case: Inputs, name: str, place: tuple[int, ...]) -> str:
    """The conventions by what they give there."""
    found: dict[str, list[str]] = {}
    for count in counts:
        if count.differing is not None:
            found.setdefault(str(count.golden(case)[name][place]), []).append(count.name)
    return "; ".join(f"{value} by {', '.join(names)}" for value, names in found.items())
