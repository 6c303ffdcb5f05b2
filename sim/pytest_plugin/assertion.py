"""The assertion of the pytest plugin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, get_args

from sim.call.call import Engine
from sim.check.aim.aiming import aim
from sim.check.amounts import require_amounts
from sim.check.check import Job, check_job, jobs_of
from sim.check.given import require_inputs
from sim.check.report import Outcome, Report
from sim.check.vectors import Vectors, make_vectors
from sim.kernels.kernel import Inputs, Kernel
from sim.pytest_plugin.message import Request, failed, nothing_compared
from sim.pytest_plugin.naming import kernel_of, name_of
from sim.pytest_plugin.running import record, session_seed
from sim.shrink.database import Kept
from sim.shrink.failing import Shrunk, shrink
from sim.shrink.trial import Failure, Trial, alone
from sim.toolchain.image import ImageError
from sim.toolchain.levels import LEVELS, require_levels
from sim.toolchain.objects import compilers_of
from sim.toolchain.tools import ToolchainError
from sim.view.junit import PROPERTIES


def assert_kernel_equal(
    kernel: Kernel | str | Path,
    *,
    levels: Sequence[str] = LEVELS,
    vectors: int = 2000,
    seed: int | None = None,
    engine: Engine = "lockstep",
    inputs: Inputs | None = None,
) -> None:
    """Assert that every build of a kernel, and its program of intrinsics, gives what its golden reference gives.

    `kernel` is a record, the name of a built-in kernel such as "quantize_down" or "quantize_down:page", or the path of
    a kernel file, likewise with its mode behind a colon.  Runs what `lanewise check` runs: the corners and so many
    random lanes of `vectors`, at those optimisation `levels`; with `inputs`, that input set alone, once with the arrays
    at the ends and once at the starts of their mappings.  `seed` is that of `--lanewise-seed` unless it is given.

    Failing inputs are shrunk, kept in Hypothesis's database of examples, and run first the next time.  In a pytest run
    the figures become properties of the test.  Raises AssertionError, also where nothing was compared; KernelError for
    a kernel that cannot be used, and, before anything runs, for `inputs` that are none of its own; ValueError for other
    arguments; ToolchainUnavailable.
    """
    __tracebackhide__ = True
    require_levels(levels)
    chosen = kernel if isinstance(kernel, Kernel) else kernel_of(str(kernel))
    own_seed = session_seed() if seed is None else seed
    request = Request(
        kernel=chosen, name=name_of(chosen), levels=tuple(levels), vectors=vectors, seed=own_seed, engine=engine,
        are_given=inputs is not None,
    )  # fmt: skip
    if request.engine not in get_args(Engine):
        raise ValueError(f"engine takes one of {', '.join(get_args(Engine))}, not {request.engine!r}")
    require_amounts(vectors=request.vectors, seed=request.seed)
    if inputs is not None:
        require_inputs(chosen, inputs)
    text = _Assertion(request).given(inputs) if inputs is not None else _Assertion(request).drawn()
    if text:
        raise AssertionError(text)


class _Compared(NamedTuple):
    """All implementations on some vectors."""

    vectors: Vectors
    outcomes: Sequence[Outcome]

    @property
    def failing(self) -> int | None:
        """Which fails first."""
        return next((number for number, outcome in enumerate(self.outcomes) if outcome.failure), None)


class _Assertion:
    """One call of the assertion; its results are the text of the failure, "" where all agree."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._jobs = jobs_of(request.kernel, request.levels)
        self._kept = Kept(request.kernel, (*request.levels, request.engine))

    def given(self, inputs: Inputs) -> str:
        """Of one input set."""
        compared = self._compare(self._alone(inputs))
        return self._agreed(compared, inputs) if compared.failing is None else self._shrunk(compared)

    def drawn(self) -> str:
        """Of the input sets that failed before, then of all others."""
        for inputs in self._kept.inputs():
            compared = self._compare(self._alone(inputs))
            if compared.failing is not None:
                outcome = compared.outcomes[compared.failing]
                shrunk = Shrunk(compared.vectors.inputs[0], outcome, "run first, as they have failed before")
                return self._failed(compared, self._first_failure(compared), shrunk)
            self._kept.forget(inputs)
        drawn = make_vectors(self._request.kernel, self._request.vectors, self._request.seed)
        compared = self._compare(aim(self._request.kernel, self._jobs, drawn).added_to(drawn))
        return self._agreed(compared) if compared.failing is None else self._shrunk(compared, self._kept)

    def _alone(self, inputs: Inputs) -> Vectors:
        return alone(self._request.kernel, inputs, self._request.seed)

    def _compare(self, vectors: Vectors) -> _Compared:
        outcomes = []
        for job in self._jobs:
            outcome = check_job(self._request.kernel, job, vectors, engine=self._request.engine)
            if outcome.interrupted:
                raise KeyboardInterrupt
            outcomes.append(outcome)
        return _Compared(vectors, outcomes)

    def _agreed(self, compared: _Compared, inputs: Inputs | None = None) -> str:
        lines = self._request.lines(inputs=inputs)
        report = self._record(compared, lines)
        return "" if report.passed else nothing_compared(self._request, lines)

    def _shrunk(self, compared: _Compared, kept: Kept | None = None) -> str:
        request, failure = self._request, self._first_failure(compared)
        if failure is None:
            return self._failed(compared, None, None)
        shrunk = shrink(request.kernel, self._job(compared), compared.vectors, failure.number, request.engine)
        if kept is not None and shrunk.outcome is not None:
            kept.save(shrunk.inputs)
        is_drawn = kept is not None and compared.outcomes[compared.failing or 0].failed_set is not None
        return self._failed(compared, failure, shrunk, self._request.debug(self._job(compared)) if is_drawn else "")

    def _failed(self, compared: _Compared, failure: Failure | None, shrunk: Shrunk | None, debug: str = "") -> str:
        inputs = None if shrunk is None or shrunk.outcome is None else shrunk.inputs
        lines = self._request.lines(self._job(compared), inputs)
        self._record(compared, lines)
        return failed(self._request, compared.outcomes, failure, compared.vectors, shrunk, lines, debug)

    def _job(self, compared: _Compared) -> Job:
        return self._jobs[compared.failing or 0]

    def _first_failure(self, compared: _Compared) -> Failure | None:
        """Of the first implementation that fails.

        None for what cannot be built, and for what fails only in the course of the check.
        """
        try:
            trial = Trial(self._request.kernel, self._job(compared), self._request.seed, self._request.engine)
        except (ToolchainError, ImageError):
            return None
        return trial.first_of(compared.vectors)

    def _record(self, compared: _Compared, lines: Sequence[str]) -> Report:
        """The report, with its figures among the properties of the test."""
        request = self._request
        report = Report(
            kernel=request.kernel.title, compiler=compilers_of(request.kernel.sources), seed=request.seed,
            outcomes=compared.outcomes,
            reproduce="; ".join(lines),
            engine=request.engine,
        )  # fmt: skip
        data = report.as_json()
        for name in PROPERTIES:
            record(name, data[name])
        return report
