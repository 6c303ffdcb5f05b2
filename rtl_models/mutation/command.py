"""The command that plants mistakes in the hardware and says which are noticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from isa.evaluate.smt import SolverMissing
from rtl_models.build_cache import BuildError
from rtl_models.environment import SimulationUnavailable
from rtl_models.formal.smt2 import Unreadable
from rtl_models.mutation.judgement import Judgement, NoSuchMutant, WrongModule, judged
from rtl_models.mutation.kept import kept_or_judged, tools
from rtl_models.mutation.report import TIMEOUT, Asked, as_json, details, line, summary
from rtl_models.mutation.targets import Target, targets, targets_named
from rtl_models.scratch import ScratchUnusable
from rtl_models.writable import require_writable
from rtl_models.yosys import Refused, YosysMissing
from sim.terminal import (
    INTERRUPTED,
    MISMATCH,
    MISSING,
    USAGE,
    fail,
    print_json,
    print_progress,
    print_text,
    write_file,
)
from sim.toolchain import CacheUnusable, cache_directory
from sim.view.cycles_sentences import counted


def mutate(
    name: Annotated[str, typer.Argument(help="A module, also at parameters, or a glob; default: all.")] = "",
    count: Annotated[int, typer.Option(min=1, help="Mutants of each module; fewer where it has no more.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Chooses the mutants and draws the operands.")] = 1,
    json_wanted: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    certificates: Annotated[Path | None, typer.Option(help="Write what became of each mutant to this file.")] = None,
    timeout: Annotated[float, typer.Option(min=0.01, help="Seconds for one question to the solver.")] = TIMEOUT,
    mutant: Annotated[int | None, typer.Option(min=1, help="Only that one of the mutants, by its number.")] = None,
) -> None:
    """Plant one wrong bit at a time in the modules: benches must notice it, or proofs that it changes nothing.

    Exit code 1 where a mutant is neither killed nor proved to be equivalent, 2 for a name that no module has and for
    a number that no mutant has.
    """
    asked = Asked(name, count, seed, timeout, mutant)
    wanted = targets_named(name) or [target for target in targets() if str(target.subject) == name]
    if not wanted:
        fail(f"there is no module {name!r} to mutate; try one of lanewise rtl list", USAGE)
    require_writable("--certificates", certificates)
    found: list[Judgement] = []
    interrupted = _interrupted(wanted, asked, found)
    report = as_json(found, asked, tools())
    if certificates is not None:
        write_file(certificates, json.dumps(report, indent=1).encode())
    if json_wanted:
        print_json(report)
    elif found:
        print_text("\n".join([*_text(found, asked), summary(found, asked)]))
    if interrupted:
        fail(f"interrupted after {len(found)} of {counted(len(wanted), 'module')}", INTERRUPTED)
    raise typer.Exit(0 if report["passed"] else MISMATCH)


def _interrupted(wanted: list[Target], asked: Asked, found: list[Judgement]) -> bool:
    """Collect judgements until there are no more, or the user wants none; what cannot be judged ends the command."""
    try:
        for target in wanted:
            found.append(_judged(target, asked))
            print_progress(line(found[-1]))
    except WrongModule as wrong:
        fail(str(wrong), MISMATCH)
    except (NoSuchMutant, Refused, BuildError, Unreadable) as refused:
        fail(str(refused), USAGE)
    except (YosysMissing, SolverMissing, SimulationUnavailable, ScratchUnusable, CacheUnusable) as missing:
        fail(str(missing), MISSING)
    except OSError as error:
        fail(f"cannot keep what is found: {error}; name a directory in LANEWISE_CACHE", MISSING)
    except KeyboardInterrupt:
        return True
    return False


def _judged(target: Target, asked: Asked) -> Judgement:
    """One mutant alone is always judged anew."""
    how = (target, asked.count, asked.seed, asked.timeout, cache_directory())
    return kept_or_judged(*how) if asked.mutant is None else judged(*how, asked.mutant)


def _text(found: list[Judgement], asked: Asked) -> list[str]:
    return [text for judgement in found for text in (line(judgement), *details(judgement, asked))]
