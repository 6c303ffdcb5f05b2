"""Commands, as text, that do again what a command has done: with the same options, or a call that it has found."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from sim.call.single import written_arguments
from sim.check.check import Job
from sim.check.written_inputs import written_inputs
from sim.kernels.kernel import Inputs, Kernel
from sim.toolchain.shell import typed


def option_words(options: Mapping[str, object]) -> Iterator[str]:
    """Options as they are given, each with its value, a list one by one; None and False stand for what is not given."""
    for name, values in options.items():
        for value in values if isinstance(values, list | tuple) else [values]:
            if value is True:
                yield f"--{name}"
            elif value is not None and value is not False:
                yield from (f"--{name}", str(value))


class GivenKernel(NamedTuple):
    """A kernel as a command was given it: its name or file, the sources that it has there, and the command that its
    first one was compiled by, None where it was not.
    """

    name: str
    sources: Sequence[Path]
    compile_with: str | None = None


def function_again(
    command: Literal["run", "debug"], given: GivenKernel, kernel: Kernel, job: Job, inputs: Inputs, seed: int | None
) -> str:
    """The command that calls a build's function with these inputs; "" where arguments are no text, or it is none."""
    texts = written_arguments(kernel.signature, kernel.arguments(inputs))
    if texts is None or job.source is None:
        return ""
    source = job.source if given.compile_with is None else given.sources[0]
    level, *flags = job.flags or [""]
    options = {
        "opt": level.removeprefix("-") or None, "cflags": shlex.join(flags) or None, "compile": given.compile_with,
        "with": kernel.with_sources, "seed": seed,
    }  # fmt: skip
    return typed(["lanewise", command, str(source), job.of(kernel).symbol, *texts, *option_words(options)])


def debug_again(
    given: GivenKernel, kernel: Kernel, job: Job, inputs: Inputs, seed: int, options: Mapping[str, object]
) -> str:
    """The command that opens a build's call with these inputs where it goes wrong; "" where inputs are no text, and for
    the program of intrinsics.  `options` are those that say how the kernel is built.
    """
    text = written_inputs(kernel, inputs)
    if text is None or job.source is None:
        return ""
    level = next(iter(job.flags), "").removeprefix("-") or None
    code: dict[str, object] = {"compile": given.compile_with}
    if given.compile_with is None and job.source in given.sources[1:]:
        code = {"source": job.source.name}
    elif given.compile_with is None and job.source not in given.sources:
        code = {"object": job.source}
    same = {**options, **({"symbol": job.symbol} if job.symbol else {})}
    words = option_words({"inputs": text, "seed": seed, "opt": level, **code, **same})
    return typed(["lanewise", "debug", given.name, *words])
