"""`lanewise rtl run`: a compiled function on core128, beside the lane machine, the emulator and predicted cycles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from isa.errors import MISMATCH, USAGE
from rtl_models.cores.core128.calls import CallVerdict, core_call, verdict_of
from rtl_models.cores.core128.configuration import Core128
from rtl_models.cores.core128.design import simulator
from sim.call.call import CallError, CompiledKernel
from sim.call.kernel_image import open_kernel
from sim.call.limits import MAX_INSTRUCTIONS
from sim.call.single import open_function, read_arguments
from sim.cycles.typical import typical_arguments
from sim.kernels import built_in_kernel, kernel_names, load_kernel
from sim.kernels.kernel import Kernel
from sim.machine.errors import ExecutionError
from sim.terminal.output import fail, print_json, print_progress, print_text, require_one_of
from sim.timing.model.core_file import load_core
from sim.toolchain.image import Image
from sim.toolchain.levels import LEVELS
from sim.view.sentences import counted


class RunCall(NamedTuple):
    """A call that is wanted: of which function of which image, with which arguments."""

    title: str
    image: Image
    kernel: Kernel
    arguments: Mapping[str, Any]


def run(
    what: Annotated[str, typer.Argument(help="A built-in kernel, a kernel file, or a source, an object, a library.")],
    symbol: Annotated[str | None, typer.Argument(help="Of a file: the function, or its prototype.")] = None,
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Its arguments in order, as lanewise run takes them.")
    ] = None,
    opt: Annotated[str, typer.Option(help="Optimisation levels of a source.")] = "O2",
    length: Annotated[int | None, typer.Option(min=1, help="Elements of a row of a kernel.")] = None,
    core: Annotated[str, typer.Option(help="The core of sim.timing that core128 is built as.")] = "lane128",
    seed: Annotated[int, typer.Option(min=0, help="Of what the caller does not define, and of a kernel's inputs.")] = 1,
    limit: Annotated[int, typer.Option(min=1, help="Instructions that a call may take.")] = MAX_INSTRUCTIONS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
) -> None:
    """Run a compiled function on core128: each instruction as on the lane machine, each in the cycle predicted.

    The call runs on the lane machine and in the emulator in lockstep first.  Exit code 1 where anything differs, 2
    where the function needs an instruction that core128 does not have: what it does up to there is compared too.
    """
    chosen = load_core(core)
    calls = list(_calls(what, symbol, arguments or [], opt, length, seed))  # what is wrong here needs no simulator
    program = simulator(Core128(core=chosen), purpose="bench")
    verdicts: dict[str, CallVerdict] = {}
    for call in calls:
        try:
            lockstep = CompiledKernel(call.image, call.kernel, max_instructions=limit).call(call.arguments, seed)
        except (ExecutionError, CallError) as error:
            fail(f"{call.title}: the call stops: {error}", MISMATCH)
        if lockstep.divergence is not None:
            fail(f"{call.title}: {lockstep.divergence}", MISMATCH)
        verdict = verdict_of(core_call(call.image, call.kernel, call.arguments, seed, limit), program, chosen)
        verdicts[call.title] = verdict
        print_progress(f"{call.title}: {'agrees' if verdict.agrees else 'differs'}")
    if as_json:
        print_json("rtl-run", {title: verdict.as_json() for title, verdict in verdicts.items()})
    else:
        print_text("\n".join(f"{title}: {_told(verdict)}" for title, verdict in verdicts.items()))
    if not all(verdict.agrees for verdict in verdicts.values()):
        raise typer.Exit(MISMATCH)
    raise typer.Exit(USAGE if any(verdict.refused for verdict in verdicts.values()) else 0)


def _calls(
    what: str, symbol: str | None, texts: list[str], levels: str, length: int | None, seed: int
) -> Iterator[RunCall]:
    flags = [f"-{require_one_of('--opt', level.strip(), LEVELS)}" for level in levels.split(",")]
    if symbol is None:
        if what not in kernel_names() and not what.endswith(".py"):
            fail(f"{what!r} is no kernel: give a kernel file, or {', '.join(kernel_names())}; else name the function")
        kernel = load_kernel(Path(what), None) if what.endswith(".py") else built_in_kernel(what)
        values = typical_arguments(kernel, length, seed)
        for source in kernel.sources:
            for flag in flags:
                yield RunCall(f"{source.name} {flag}", open_kernel(kernel, source, flag, *kernel.flags), kernel, values)
        return
    if length is not None:
        fail(f"--length is for a built-in kernel or a kernel file, and {symbol!r} is a function of {what}")
    for flag in flags:
        name, image, prototype = open_function(Path(what), symbol, (flag,))
        signature, given = read_arguments(prototype.signature, texts)
        kernel = Kernel(name=name, symbol=name, sources=(Path(what),), signature=signature, golden=dict)
        yield RunCall(f"{name} {flag}", image, kernel, given)


def _told(verdict: CallVerdict) -> str:
    done = f"{counted(verdict.instructions, 'instruction')} in {counted(verdict.cycles, 'cycle')}"
    if not verdict.agrees:
        return "\n  ".join([f"differs, {done}", *verdict.differences])
    if verdict.refused:
        return f"stops at {verdict.refused}, which core128 does not have; agrees up to there, {done}"
    return f"agrees, {done}"
