"""Implementations that are handed in: what runs elsewhere, and takes all input sets of a check at once.

They come from other packages, under the entry points `lanewise.implementations`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Protocol

from sim.check.call import CallResult
from sim.check.compare import Comparison
from sim.check.explain.kernel import explain_kernel
from sim.check.report import Mismatch, Outcome
from sim.check.vectors import Vectors
from sim.kernels.kernel import Inputs, Kernel, Outputs


class NotMadeFor(Exception):
    """There is no such implementation of the kernel: one sentence.  Exit code 2."""


class ImplementationMissing(Exception):
    """The environment lacks what the implementation runs on: one sentence.  Exit code 3."""


class ImplementationFault(Exception):
    """The implementation did not come to its end: one sentence, a finding as a wrong lane is."""


@dataclass(frozen=True)
class Outside:
    """In place of outputs: the implementation is not made for such inputs.  `reason` is the same for all like it."""

    reason: str


class HandedIn(Protocol):
    """One implementation of one kernel.  `made_as` says how it was made, so that it can be made again."""

    @property
    def name(self) -> str: ...

    @property
    def made_as(self) -> str: ...

    def run(self, inputs: Sequence[Inputs]) -> Sequence[Outputs | Outside]:
        """The outputs of each input set, as the golden reference has them.  Raises ImplementationFault."""
        ...

    def show(self, inputs: Inputs) -> str:
        """A line that says where to see what it does with an input set; "" where nothing shows it."""
        ...


Maker = Callable[[Kernel, Mapping[str, str]], HandedIn]
"""Makes the implementation of a kernel with options by name.  Raises NotMadeFor and ImplementationMissing."""


def handed_in(name: str, kernel: Kernel, options: Mapping[str, str]) -> HandedIn:
    """The implementation of that name.  Raises NotMadeFor, and ImplementationMissing where no package has it."""
    found = next(iter(entry_points(group="lanewise.implementations", name=name)), None)
    if found is None:
        raise ImplementationMissing(f"no installed package has the implementation {name!r}; install lanewise anew")
    try:
        make: Maker = found.load()
        return make(kernel, options)
    except ModuleNotFoundError as missing:
        wheel = str(missing.name).partition(".")[0]
        advice = f"{name} needs {wheel}, which is not installed; run: pip install {wheel}"
        raise ImplementationMissing(advice) from missing


def check_handed_in(kernel: Kernel, implementation: HandedIn, vectors: Vectors) -> Outcome:
    """Run it on all vectors; those that it is not made for are counted.  Nothing compared is a failure."""
    try:
        results = implementation.run(vectors.inputs)
    except ImplementationFault as fault:
        return _outcome(implementation, failure=str(fault))
    numbers = [number for number, result in enumerate(results) if not isinstance(result, Outside)]
    ran = [CallResult({implementation.name: found}, 0, 0) for found in results if not isinstance(found, Outside)]
    chosen = Vectors([vectors.inputs[n] for n in numbers], [vectors.golden[n] for n in numbers], vectors.seed)
    comparison = Comparison(kernel, chosen, ran)
    mismatch = _mismatch(kernel, chosen, ran, comparison)
    return _outcome(
        implementation, comparison.vectors, comparison.lanes, _outside(vectors, results),
        str(mismatch or "") or ("" if comparison.lanes else _nothing(results)), mismatch,
        numbers[comparison.wrong[0].number] if comparison.wrong else None,
    )  # fmt: skip


def _outcome(
    implementation: HandedIn, vectors: int = 0, lanes: int = 0, outside: Mapping[str, int] | None = None,
    failure: str = "", mismatch: Mismatch | None = None, failed_set: int | None = None,
) -> Outcome:  # fmt: skip
    return Outcome(
        implementation.name, "", vectors, lanes, 0, frozenset(), 0, "", failure, mismatch=mismatch,
        failed_set=failed_set, made_as=implementation.made_as, outside=outside or {},
    )  # fmt: skip


def _outside(vectors: Vectors, results: Sequence[Outputs | Outside]) -> dict[str, int]:
    """The vectors that were not run, by reason."""
    counts: Counter[str] = Counter()
    for result, golden in zip(results, vectors.golden, strict=True):
        if isinstance(result, Outside):
            counts[result.reason] += sum(array.size for array in golden.values())
    return dict(counts)


def _nothing(results: Sequence[Outputs | Outside]) -> str:
    reasons = {result.reason for result in results if isinstance(result, Outside)}
    return f"nothing was compared: {'; '.join(sorted(reasons)) or 'there are no vectors'}"


def _mismatch(
    kernel: Kernel, vectors: Vectors, results: Sequence[CallResult], comparison: Comparison
) -> Mismatch | None:
    """The first wrong lane; nothing traces how it came to be."""
    if not comparison.wrong:
        return None
    lane = comparison.wrong[0]
    outputs = [result.outputs[lane.engine] for result in results]
    return Mismatch(
        engine=lane.engine,
        output=lane.output,
        lane=lane.place,
        got=comparison.got(lane),
        expected=comparison.expected(lane),
        inputs=comparison.inputs_of(lane),
        lanes_different=len({(wrong.number, wrong.output, wrong.place) for wrong in comparison.wrong}),
        parted_at=None,
        golden_step=None,
        agreed=(),
        instruction="",
        source="",
        came_from="",
        conventions=comparison.agreeing_conventions(),
        explanation=tuple(explain_kernel(kernel, vectors.inputs, outputs)) if kernel.conventions else (),
    )
