"""External backends: what runs a kernel elsewhere, and takes all input sets of a check at once.

They come from other packages, under the entry points `lanewise.backends`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

from isa.errors import MISMATCH, MISSING, LanewiseError, pip_install
from sim.call.call import CallResult
from sim.check.compare import Comparison
from sim.check.report import Mismatch, Outcome
from sim.check.vectors import Vectors
from sim.explanation.of_kernel.kernel import explain_kernel
from sim.kernels.kernel import Inputs, Kernel, Outputs


class NotMadeFor(LanewiseError):
    """The backend does not have the kernel: one sentence.  Exit code 2."""


class BackendMissing(LanewiseError):
    """The environment lacks what the backend runs on: one sentence.  Exit code 3."""

    exit_code = MISSING


class BackendFault(LanewiseError):
    """The backend did not come to its end: one sentence, a finding as a wrong lane is."""

    exit_code = MISMATCH


@dataclass(frozen=True)
class Outside:
    """In place of outputs: the backend is not made for such inputs.  `reason` is the same for all like it."""

    reason: str


class ExternalBackend(Protocol):
    """One implementation of one kernel that runs elsewhere: hardware, a device, another library."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    @property
    def made_as(self) -> str:
        """How it was made, with versions, in a few words."""
        ...

    def run(self, inputs: Sequence[Inputs]) -> Sequence[Outputs | Outside]:
        """The outputs of each input set, as the golden reference has them.  Raises BackendFault."""
        ...

    def show(self, inputs: Inputs) -> str:
        """A line that says where to see what it does with an input set; "" where nothing shows it."""
        ...


Maker = Callable[[Kernel, Mapping[str, str]], ExternalBackend]
"""Makes the backend of a kernel with options by name.  Raises NotMadeFor and BackendMissing."""


def load_backends(name: str, kernel: Kernel, options: Mapping[str, str]) -> list[ExternalBackend]:
    """The backend of that name, then those beside it, whose names begin with it and a dot, that have the kernel too.

    Raises NotMadeFor, and BackendMissing where no package has it.
    """
    known = {point.name: point for point in entry_points(group="lanewise.backends")}
    if name not in known:
        raise BackendMissing(f"no installed package has the backend {name!r}; install lanewise anew")
    found = [_made(known[name], kernel, options)]
    for beside in sorted(each for each in known if each.startswith(f"{name}.")):
        with suppress(NotMadeFor):
            found.append(_made(known[beside], kernel, options))
    return found


def _made(point: EntryPoint, kernel: Kernel, options: Mapping[str, str]) -> ExternalBackend:
    try:
        make: Maker = point.load()
        return make(kernel, options)
    except ModuleNotFoundError as missing:
        wheel, name = str(missing.name).partition(".")[0], point.name.partition(".")[0]
        advice = f"{name} needs {wheel}, which is not installed; run: {pip_install(f'lanewise[{name}]')}"
        raise BackendMissing(advice) from missing


def check_external_backend(kernel: Kernel, backend: ExternalBackend, vectors: Vectors) -> Outcome:
    """Run it on all vectors; those that it is not made for are counted.  Nothing compared is a failure."""
    try:
        results = backend.run(vectors.inputs)
    except BackendFault as fault:
        return _outcome(backend, {}, failure=str(fault))
    if len(results) != len(vectors.inputs):
        return _outcome(backend, {}, failure=f"it gives {len(results)} results for {len(vectors.inputs)} input sets")
    numbers = [number for number, result in enumerate(results) if not isinstance(result, Outside)]
    ran = [CallResult({backend.name: found}, 0, 0) for found in results if not isinstance(found, Outside)]
    chosen = Vectors([vectors.inputs[n] for n in numbers], [vectors.golden[n] for n in numbers], vectors.seed)
    comparison = Comparison(kernel, chosen, ran)
    mismatch = _mismatch(kernel, chosen, ran, comparison)
    outside: Counter[str] = Counter()
    for result, golden in zip(results, vectors.golden, strict=True):
        if isinstance(result, Outside):
            outside[result.reason] += sum(array.size for array in golden.values())
    failure = str(mismatch or "")
    if not failure and not comparison.lanes:
        failure = f"nothing was compared: {'; '.join(sorted(outside)) or 'there are no vectors'}"
    failed_set = numbers[comparison.wrong[0].number] if comparison.wrong else None
    return _outcome(backend, dict(outside), comparison.vectors, comparison.lanes, failure, mismatch, failed_set)


def _outcome(
    backend: ExternalBackend, outside: Mapping[str, int], vectors: int = 0, lanes: int = 0,
    failure: str = "", mismatch: Mismatch | None = None, failed_set: int | None = None,
) -> Outcome:  # fmt: skip
    return Outcome(
        implementation=backend.name, flags="", vectors=vectors, lanes_compared=lanes, instructions=0,
        forms=frozenset(), qc_events=0, code="", failure=failure, mismatch=mismatch,
        failed_set=failed_set, made_as=backend.made_as, outside=outside,
    )  # fmt: skip


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
        came_from=(),
        conventions=comparison.agreeing_conventions(),
        explanation=tuple(explain_kernel(kernel, vectors.inputs, outputs)),
    )
