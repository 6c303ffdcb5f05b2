"""The command that plants mistakes in the hardware and says which are noticed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from isa.errors import INTERRUPTED, MISMATCH, MISSING, USAGE, did_you_mean
from rtl_models.command.options import AdapterFile, Modules, OwnHardware, chosen_hardware, own_words
from rtl_models.mutation.judgement import Judgement, judge
from rtl_models.mutation.kept import keep_or_judge, tools
from rtl_models.mutation.own import adapted_target, own_targets
from rtl_models.mutation.report import TIMEOUT, Asked, as_json, details, line, summary
from rtl_models.mutation.targets import Target, targets, targets_named
from sim.terminal.output import fail, print_json, print_progress, print_text, write_file
from sim.terminal.writable import require_writable
from sim.toolchain.tools import cache_directory
from sim.view.sentences import counted


def mutate(
    name: Annotated[str, typer.Argument(help="A module, also at parameters, or a glob; default: all.")] = "",
    count: Annotated[int, typer.Option(min=1, help="Mutants of each module; fewer where it has no more.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Chooses the mutants and draws the operands.")] = 1,
    json_wanted: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    certificates: Annotated[Path | None, typer.Option(help="Write what became of each mutant to this file.")] = None,
    timeout: Annotated[float, typer.Option(min=0.01, help="Seconds for one question to the solver.")] = TIMEOUT,
    mutant: Annotated[int | None, typer.Option(min=1, help="Only that one of the mutants, by its number.")] = None,
    modules: Modules = None,
    adapter: AdapterFile = None,
) -> None:
    """Plant one wrong bit at a time in the modules: benches must notice it, or proofs that it changes nothing.

    Exit code 1 where a mutant is neither killed nor proved to be equivalent, 2 for a name that no module has and for
    a number that no mutant has.  With --modules or --adapter they are planted in your own hardware, which may have any
    latency, and keeps to the rules of AXI-Stream.
    """
    own = chosen_hardware(modules, adapter, strict=False)
    asked = Asked(name, count, seed, timeout, mutant, tuple(own_words(modules=modules, adapter=adapter)))
    wanted = _of_own(own, name) if own.before else targets_named(name) or _at_parameters(targets(), name)
    if not wanted:
        meant = did_you_mean(name, {target.subject.module for target in targets()})
        fail(f"there is no module {name!r}{meant} to mutate; try one of lanewise rtl list", USAGE)
    require_writable("--certificates", certificates)
    found: list[Judgement] = []
    interrupted = False
    try:
        for target in wanted:
            how = (target, asked.count, asked.seed, asked.timeout)
            # one mutant alone is always judged anew
            alone = asked.mutant is not None
            found.append(judge(*how, asked.mutant) if alone else keep_or_judge(*how, cache_directory()))
            print_progress(line(found[-1]))
    except OSError as error:
        fail(f"cannot keep what is found: {error}; name a directory in LANEWISE_CACHE", MISSING)
    except KeyboardInterrupt:
        interrupted = True
    seconds = sum(verdict.seconds for judgement in found for verdict in judgement.verdicts)
    print_progress(f"{seconds:.1f} s in the solver")
    report = as_json(found, asked, tools(), finished=not interrupted)
    if certificates is not None:
        write_file(certificates, json.dumps(report, indent=1).encode())
    if json_wanted:
        print_json("rtl-mutate", report)
    elif found:
        told = [text for judgement in found for text in (line(judgement), *details(judgement, asked))]
        print_text("\n".join([*told, summary(found, asked)]))
    if interrupted:
        fail(f"interrupted after {len(found)} of {counted(len(wanted), 'module')}", INTERRUPTED)
    raise typer.Exit(0 if report["passed"] else MISMATCH)


def _at_parameters(known: Sequence[Target], name: str) -> list[Target]:
    return [target for target in known if str(target.subject) == name]


def _of_own(own: OwnHardware, name: str) -> list[Target]:
    """A user's modules; ends the command where an adapter is of something else."""
    if own.adapter is None:
        return own_targets(own.before[0], name) or _at_parameters(own_targets(own.before[0], ""), name)
    if name not in ("", own.adapter.unit.name):
        fail(f"{own.adapter.file.name} is of {own.adapter.unit.name}, not of {name!r}", USAGE)
    return [adapted_target(own.adapter, own.before[0])]
