"""What a failed assertion says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.call.call import Engine
from sim.check.check import Job
from sim.check.report import Outcome
from sim.check.vectors import Vectors
from sim.kernels.input_tree import leaves
from sim.kernels.kernel import Inputs, Kernel
from sim.shrink.failing import Shrunk
from sim.shrink.literal import is_literal, literal
from sim.shrink.trial import MISMATCH, Failure
from sim.toolchain.levels import LEVELS
from sim.toolchain.shell import typed
from sim.view.lanes import lane_table
from sim.view.sentences import without_many_numbers

MOST_WRITTEN = 1000
"""Numbers of an input set that stands in a line."""
_IMPORT = "from sim.pytest_plugin import assert_kernel_equal"


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of an assertion; `name` is None for a kernel that no text names; `are_given` is of its inputs."""

    kernel: Kernel
    name: str | None
    levels: tuple[str, ...]
    vectors: int
    seed: int
    engine: Engine
    are_given: bool = False

    def lines(self, job: Job | None = None, inputs: Inputs | None = None) -> tuple[str, ...]:
        """The Python lines that do it again: all of it, or only one implementation; on its vectors, or on one input
        set that can be written down; on the `inputs` that were given where these are too many numbers for a line.
        """
        numbers = 0 if inputs is None else sum(np.size(leaf) for leaf in leaves(inputs).values())
        is_long = numbers > MOST_WRITTEN
        made = literal(inputs) if inputs is not None and not is_long and is_literal(inputs) else None
        levels = self.levels
        if job is not None:  # those of the program of intrinsics are none
            compiled = (job.flags[0].removeprefix("-"),) if job.flags else LEVELS[:1]
            levels = () if job.source is None else compiled
        parts = [
            "kernel" if self.name is None else json.dumps(self.name),
            *([f"levels={literal(levels).text}"] if levels != LEVELS else []),
            f"inputs={made.text}"
            if made is not None
            else "inputs=inputs"
            if is_long and self.are_given
            else f"vectors={self.vectors}",
            f"seed={self.seed}",
            *([f'engine="{self.engine}"'] if self.engine != "lockstep" else []),
        ]
        what = f"  # inputs: the {numbers:,} numbers that were given" if "inputs=inputs" in parts else ""
        return (*(made.imports if made is not None else ()), _IMPORT, f"assert_kernel_equal({', '.join(parts)}){what}")

    def debug(self, job: Job) -> str:
        """The command that opens the first failing call of an implementation where it goes wrong, made small; "" where
        no text names the kernel, and for its program of intrinsics.
        """
        if self.name is None or job.source is None:
            return ""
        name, _, mode = self.name.partition(":") if self.kernel.mode else (self.name, "", "")
        level = [("--opt", flag.removeprefix("-")) for flag in job.flags[:1]]
        others = [("--source", job.source.name)] if job.source != self.kernel.sources[0] else []
        options = [("--mode", mode)] if mode else []
        options += [*level, ("--seed", str(self.seed)), ("--vectors", str(self.vectors)), *others]
        return typed(["lanewise", "debug", name, "--failing", *(word for option in options for word in option)])


def nothing_compared(request: Request, lines: Sequence[str]) -> str:
    """What a pass says that proves nothing."""
    return "\n".join([f"{request.kernel.title}: nothing was compared", *_repeat(request, lines)])


def failed(
    request: Request, outcomes: Sequence[Outcome], failure: Failure | None, vectors: Vectors, shrunk: Shrunk | None,
    lines: Sequence[str], debug: str = "",
) -> str:  # fmt: skip
    """The first failing one of the outcomes: its lanes, its text, the shrunk inputs, the lines that repeat it, and the
    command that debugs it.
    """
    failing = [outcome for outcome in outcomes if outcome.failure]
    parts = [f"{request.kernel.title}: {len(failing)} of {len(outcomes)} implementations fail"]
    parts.append(failing[0].title)
    if failure is not None and failure.kind == MISMATCH and failure.result is not None:
        arguments = request.kernel.arguments(vectors.inputs[failure.number])
        golden, tolerance = vectors.golden[failure.number], request.kernel.tolerance
        parts.append(lane_table(arguments, golden, failure.result.outputs, tolerance))
    parts.append(failing[0].failure)
    parts += [without_many_numbers(shrunk.told(failing[0]), "the lines below make them")] if shrunk is not None else []
    return "\n".join([*parts, *_repeat(request, lines), *([f"debug: {debug}"] if debug else [])])


def _repeat(request: Request, lines: Sequence[str]) -> list[str]:
    return ["reproduce:", *(f"    {line}" for line in lines), f"seed {request.seed}"]
