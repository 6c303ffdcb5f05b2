"""Changes of a kernel's inputs under which its golden reference gives what an implementation gave.

An argument that was left out, is one step off, or was read in the other order.  Each is proven by the vectors: the
golden reference was asked for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from sim.kernels.input_tree import Where, leaves, with_leaf
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.tolerance import all_agree

Change = tuple[str, Callable[[Inputs], Outputs]]


def changes_that_explain(kernel: Kernel, inputs: Sequence[Inputs], results: Sequence[Outputs]) -> list[str]:
    """Sentences such as "with bias left out, the golden reference gives all lanes as yours"; none if none does.

    `results` are the outputs for the first of `inputs`; at least one differs from the golden reference.
    """
    cases = list(zip(inputs, results, strict=False))
    wrong = [at for at, (case, outputs) in enumerate(cases) if not _agree(kernel, kernel.expected(case), outputs)]
    # an input set that is wrong dismisses nearly every change at once
    order = [cases[at] for at in (*wrong, *sorted(set(range(len(cases))) - set(wrong)))]
    return [
        f"with {change}, the golden reference gives all lanes as yours"
        for change, golden in _changes(kernel, inputs[0])
        if all(_gives(kernel, golden, case, outputs) for case, outputs in order)
    ]


def _changes(kernel: Kernel, first: Inputs) -> Iterator[Change]:
    extents = {extent for pointer in kernel.signature.pointers for extent in (*pointer.shape, *pointer.strides)}
    for where, value in leaves(first).items():
        name = ".".join(map(str, where))
        if name in extents or isinstance(value, bool) or not (kernel.takes_inputs or where == (name,)):
            continue
        array = np.asarray(value)
        if array.dtype.kind not in "iuf":
            continue
        yield f"{name} left out (as 0)", _with(kernel, where, lambda given: np.zeros_like(given)[()])
        if array.dtype.kind == "f":
            for end, side in ((np.inf, "up"), (-np.inf, "down")):
                yield f"{name} one ulp {side}", _with(kernel, where, _towards(end))
        else:
            for by, side in ((1, "more"), (-1, "less")):
                yield f"{name} one {side}", _with(kernel, where, _moved(by))
        if array.ndim == 2:
            yield (
                f"{name} read as its transpose",
                _with(kernel, where, lambda given: given.reshape(given.shape[::-1]).T),
            )
    if any(len(pointer.shape) == 2 for pointer in kernel.signature.outputs):
        yield (
            "its outputs stored as their transposes",
            lambda inputs: {name: array.T.reshape(array.shape) for name, array in kernel.golden(inputs).items()},
        )


def _with(kernel: Kernel, where: Where, change: Callable[[Any], Any]) -> Callable[[Inputs], Outputs]:
    """The golden reference, with one input changed where it is given."""

    def golden(inputs: Inputs) -> Outputs:
        given = leaves(inputs).get(where)
        return kernel.golden(inputs if given is None else with_leaf(inputs, where, change(given)))

    return golden


def _moved(by: int) -> Callable[[Any], Any]:
    return lambda given: given + by


def _towards(end: float) -> Callable[[Any], Any]:
    def moved(given: Any) -> Any:
        with np.errstate(over="ignore"):  # the next of the largest number is infinite
            return np.nextafter(given, np.asarray(given).dtype.type(end))

    return moved


def _gives(kernel: Kernel, golden: Callable[[Inputs], Outputs], case: Inputs, outputs: Outputs) -> bool:
    try:
        return _agree(kernel, golden(case), outputs)
    except Exception:  # the user's own code raises anything for numbers that it was not made for
        return False


def _agree(kernel: Kernel, golden: Outputs, outputs: Outputs) -> bool:
    """Whether every lane agrees; a tolerance is one of numbers of the output's dtype."""
    every = {name: np.asarray(array) for name, array in golden.items()}
    tolerance = kernel.tolerance if all(array.dtype == outputs[name].dtype for name, array in every.items()) else None
    return all_agree(outputs, every, tolerance)
