"""One job, done: by whatever `lanewise` has for its kind, in a process that does nothing else meanwhile."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from isa.catalogue import forms_called, instruction_of
from isa.errors import LanewiseError
from sim.call.captured import Bytes, read_line, read_lines
from sim.call.kernel_image import open_kernel
from sim.campaign.case import JobCase
from sim.campaign.kernels import flags_of, implementation, kernel_named, kernel_of
from sim.campaign.mutants import mutation
from sim.campaign.plan import claims_of, planned_job
from sim.campaign.result import JobResult, Verdict
from sim.check.aim.aiming import aim
from sim.check.check import check_job
from sim.check.external import check_external_backend, load_backends
from sim.check.repair.place import with_faults
from sim.check.report import Outcome
from sim.check.vectors import Vectors, make_vectors
from sim.cycles.cores import named_core
from sim.cycles.input import kernel_calls
from sim.cycles.limits import LIMIT
from sim.cycles.result import time_on
from sim.explanation.tensor_file import read_arrays
from sim.kernels.kernel import Kernel
from sim.models.by_file import read_network
from sim.models.compare import compared, tensors_by_name
from sim.prove.claim import sides_of
from sim.prove.run import cached_finding
from sim.replay.run import replay
from sim.shrink.failing import shrink
from sim.symbolic.proof import Prover
from sim.symbolic.shapes import shapes_of
from sim.toolchain.tools import ToolchainError, ToolchainUnavailable, cache_directory
from sim.verify.exhaust.exhaust import Exhaustion, words_of


class JobTask(NamedTuple):
    """What a worker is sent: a case, the digest that its job must have there, and the folder that its paths are from.

    With `small` the failing case is made small in place of being compared.  `cost` is a guess, in seconds.
    """

    case: JobCase
    hash: bytes
    folder: str
    small: bool = False
    cost: float = math.inf


class JobRefused(NamedTuple):
    """A worker that has other code, versions or files than the campaign; says what."""

    why: str


def do_job(task: JobTask) -> JobResult | JobRefused:
    """What comes of a job here; whatever stops it is in the result.  Only MemoryError is raised."""
    begun = time.monotonic()
    try:
        if os.getcwd() != task.folder:
            os.chdir(task.folder)
        own = planned_job(task.case)
        if own.hash != task.hash:
            return JobRefused(f"it has another lanewise, other packages or other files: {own.made_of}")
        result = _made_small(task.case) if task.small else _DONE[task.case.kind](task.case)
    except ToolchainUnavailable as error:
        result = JobResult(verdict="stopped", failure=str(error))
    except ToolchainError as error:
        result = JobResult(verdict="not built", failure=str(error))
    except LanewiseError as error:
        result = JobResult(verdict="stopped", failure=str(error))
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:  # of lanewise itself, or of what a user wrote: told, and the others go on
        result = JobResult(verdict="stopped", failure=f"{type(error).__name__}: {error}")
    return replace(result, seconds=round(time.monotonic() - begun, 6))


def _check(case: JobCase) -> JobResult:
    kernel = kernel_of(case)
    vectors = _vectors(case)
    with implementation(kernel, case) as (kernel, job):
        if case.more.get("aimed"):
            vectors = aim(kernel, [job], vectors).added_to(vectors)
        return _of_outcome(check_job(kernel, job, vectors, engine=case.more["engine"]))


class _LastVectors(NamedTuple):
    """What the last check was of: jobs of one kernel come one after the other, and its golden reference takes time."""

    kernel: Kernel
    about: tuple[object, ...]
    vectors: Vectors


_last: _LastVectors | None = None


def _vectors(case: JobCase) -> Vectors:
    global _last
    kernel, about = kernel_named(case.kernel, case.mode), (case.more["vectors"], case.seed, case.more.get("grid"))
    if _last is None or _last.kernel is not kernel or _last.about != about:
        _last = _LastVectors(kernel, about, make_vectors(kernel_of(case), case.more["vectors"], case.seed or 0))
    return _last.vectors


def _of_outcome(outcome: Outcome) -> JobResult:
    mismatch, harmful = outcome.mismatch, [one for one in outcome.findings if not one.harmless]
    if outcome.failure and not outcome.built:
        return JobResult(verdict="not built", failure=outcome.failure)
    if not outcome.failure and not outcome.lanes_compared:
        return JobResult(verdict="stopped", failure="nothing was compared: there are no vectors")
    found = JobResult(
        verdict="differs" if outcome.failure else "agrees", lanes=outcome.lanes_compared,
        instructions=outcome.instructions, code=outcome.code[:16], failure=outcome.failure,
        place=mismatch.source if mismatch else harmful[0].source if harmful else "",
    )  # fmt: skip
    if mismatch is None:
        return found
    return replace(
        found, convention=", ".join(mismatch.conventions), step=mismatch.parted_at or "",
        wrong=mismatch.lanes_different, lane=mismatch.lane[-1] if mismatch.lane else 0,
    )  # fmt: skip


def _hardware(case: JobCase) -> JobResult:
    kernel = kernel_named(case.kernel, case.mode)
    made = load_backends("rtl", kernel, {name: str(case.more[name]) for name in ("lanes", "profile")})
    outcomes = [check_external_backend(kernel, each, _vectors(case)) for each in made]
    return _of_outcome(next((outcome for outcome in outcomes if outcome.failure), outcomes[0]))


def _timing(case: JobCase) -> JobResult:
    with implementation(kernel_of(case), case) as (kernel, job):
        level = [flag for flag in job.flags if flag.startswith("-O")] or ["-O2"]
        kernel = kernel if job.source is None else replace(kernel, program=None)
        calls = kernel_calls(kernel, level if job.source else (), flags_of(case), case.more.get("length"), 1, LIMIT)
        (result,) = (time_on(call, named_core(case.core)) for call in calls)
    return JobResult(verdict="agrees", cycles=float(result.cycles), instructions=result.report.executed)


def _proof(case: JobCase) -> JobResult:
    with implementation(kernel_of(case), case) as (kernel, job):
        assert job.source is not None
        image = open_kernel(kernel, job.source, *job.flags)
        proof = Prover(
            kernel, {case.title: image}, shapes_of(kernel, case.more["lengths"], case.more.get("rows")), each={},
            known=frozenset(), seconds=case.more["seconds"], jobs=1, kept_in=cache_directory(),
        ).run()  # fmt: skip
    (build,) = proof.builds
    said = [f"{one.element.output}[{one.element.number}]: {one.reason}" for one in build.failures]
    said += [*build.faults, *build.refused, *([proof.untraceable] if proof.untraceable else [])]
    verdicts: Mapping[str, Verdict] = {"proved": "agrees", "counter-example": "differs", "unknown": "unknown"}
    return JobResult(
        verdict=verdicts[proof.outcome], lanes=build.proved, instructions=build.instructions, failure="\n".join(said)
    )


def _claim(case: JobCase) -> JobResult:
    claim = claims_of(case.more.get("file", ""))[case.kernel]
    finding = cached_finding(sides_of(claim), case.more["seconds"], cache_directory())
    if finding.supports(claim):
        return JobResult(verdict="agrees", lanes=1)
    if finding.outcome == "unknown":
        return JobResult(verdict="unknown", failure=finding.reason)
    values = ", ".join(f"{name}={value}" for name, value in finding.values.items())
    return JobResult(verdict="differs", failure=f"{finding.outcome}{': ' * bool(values)}{values}")


def _exhaustion(case: JobCase) -> JobResult:
    instruction, words = instruction_of(case.kernel), list[int]()
    for form in forms_called(case.kernel):
        words += words_of(form, instruction.pattern.text if instruction else None)
    run = Exhaustion(words, cache_directory(), case.seed or 0)
    for _ in run.run(1):
        pass
    differing = [one for one in run.results() if one.disagreement is not None]
    said = [f"{one.text}: {one.disagreement}" for one in differing]
    return JobResult(verdict="differs" if said else "agrees", lanes=run.done, failure="\n".join(said))


_NO_COMPARISON: Final = ("unsupported instruction", "limit", "nothing recorded", "unreadable", "crash")
"""How a recorded call may end that says nothing about its kernel."""


def _replay(case: JobCase) -> JobResult:
    path = Path(case.kernel)
    (text,) = (text for number, text in read_lines(path) if number == case.more["line"])
    found = replay(read_line(case.more["line"], text, Bytes(path.with_suffix(".npz"))), case.more["engine"], LIMIT)
    passed = found.kind == "passed"
    ended: Verdict = "stopped" if found.kind in _NO_COMPARISON else "differs"
    return JobResult(
        verdict="agrees" if passed else ended, lanes=found.values, instructions=found.instructions,
        failure="" if passed else f"{found.name}: {found.kind}: {found.detail}",
    )  # fmt: skip


def _model(case: JobCase) -> JobResult:
    network = read_network(case.kernel)
    layers = compared(network, tensors_by_name(network, read_arrays(Path(case.more["against"]))))
    wrong = [one for one in layers if one.outcome == "differs"]
    equal = sum(one.elements for one in layers if one.outcome != "skipped")
    if not any(one.outcome != "skipped" for one in layers):
        return JobResult(verdict="stopped", failure=f"{case.more['against']} has the numbers of no layer")
    said = [f"layer {one.layer.number}: {one.differing} of {one.elements} numbers differ" for one in wrong]
    return JobResult(
        verdict="differs" if wrong else "agrees", lanes=equal, failure="\n".join(said),
        place=f"layer {wrong[0].layer.number}" if wrong else "", wrong=sum(one.differing for one in wrong),
    )  # fmt: skip


def _mutants(case: JobCase) -> JobResult:
    return mutation().judged(case.kernel, case.more["count"], case.seed or 0, case.more["seconds"])


def _nothing(case: JobCase) -> JobResult:
    time.sleep(case.more["seconds"])
    return JobResult(verdict="agrees")


def _made_small(case: JobCase) -> JobResult:
    """The first failing input set made small, and the line at fault where one is found; "" where there is nothing."""
    kernel, vectors = kernel_of(case), _vectors(case)
    with implementation(kernel, case) as (kernel, job):
        if case.more.get("aimed"):
            vectors = aim(kernel, [job], vectors).added_to(vectors)
        outcome = check_job(kernel, job, vectors, engine=case.more["engine"])
        (outcome,) = with_faults(kernel, [job], vectors, [outcome])
        if outcome.failed_set is None:
            return _of_outcome(outcome)
        small = shrink(kernel, job, vectors, outcome.failed_set, case.more["engine"]).told(outcome)
    return replace(_of_outcome(outcome), smallest=small)


_DONE: Final[Mapping[str, Callable[[JobCase], JobResult]]] = {
    "check": _check, "rtl": _hardware, "cycles": _timing, "prove": _proof, "claim": _claim, "exhaust": _exhaustion,
    "replay": _replay, "model": _model, "mutants": _mutants, "idle": _nothing,
}  # fmt: skip
