"""Say of a requantization which convention its golden reference is, and which one gives somebody's outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sim.explanation.explanation import listed
from sim.explanation.of_kernel.requantization import (
    Int64Array,
    KernelLanes,
    RecognisedGolden,
    requantization_of,
    requantized_output,
    why_unknown,
)
from sim.golden.registry.conventions import CONVENTIONS
from sim.kernels.kernel import Inputs, Kernel, Outputs

_OR: Final = " or "
_FEWEST: Final = 3
"""Wrong lanes from which on a convention that gives just these is named."""


def recognised(kernel: Kernel, inputs: Sequence[Inputs], results: Sequence[Outputs]) -> list[str]:
    """Sentences: which convention the golden reference is, and which one the results are.

    `results` are the outputs for the first of `inputs`, and differ somewhere.  Where no assignment of its arguments
    makes a convention of its golden reference, why not, if an argument is called as what scales, and what to write if
    none of its numbers is and it has no conventions of its own; nothing where the kernel has more than one output.
    """
    cases = list(inputs[: len(results)])
    output = requantized_output(kernel)
    if output is None:
        return []
    elements = KernelLanes(kernel, output, cases)
    golden = elements.joined([kernel.golden(case)[output.name] for case in cases])
    yours = elements.joined([result[output.name] for result in results])
    wrong = np.flatnonzero(golden != yours)
    found = requantization_of(elements, golden, wrong) if wrong.size else None
    if found is not None:
        return _told(elements, found, yours, wrong)
    unknown = why_unknown(elements) if wrong.size else ""
    if unknown:
        return [f"the golden reference is no convention that is known: {unknown}"]
    if wrong.size and elements.parameters("iuf") and not kernel.conventions:
        return [
            "no convention was recognised: no argument is called as a multiplier or scale is; name it so, or give "
            "others to compare with, Kernel(conventions={name: function})"
        ]
    return []


def _told(elements: KernelLanes, found: RecognisedGolden, yours: Int64Array, wrong: Int64Array) -> list[str]:
    told = [f"the golden reference is {listed(found.same, _OR)} of {found.roles}"]
    given = [name for name in found.others if elements.give(found.roles, name, yours)]
    if given:
        rest = f", which these vectors do not tell from {listed(given[1:], _OR)}" if given[1:] else ""
        users = CONVENTIONS[given[0]].users
        return [*told, f"your outputs are {given[0]} on all {yours.size:,} lanes{rest}; used by {users}"]
    part = [name for name in found.others if elements.give(found.roles, name, yours, wrong)]
    if part and wrong.size >= _FEWEST:
        users = CONVENTIONS[part[0]].users
        return [
            *told,
            f"your {wrong.size:,} wrong lanes are {listed(part, _OR)}, the others are right; used by {users}",
        ]
    if len(found.others) > 1:
        told.append(f"your outputs are none of the other {len(found.others)} conventions that take these numbers")
    elif found.others:
        told.append(f"your outputs are not {found.others[0]}, the only other convention that takes these numbers")
    return told
