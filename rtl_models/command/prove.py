"""The command that proves theorems about lane modules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from isa.errors import INTERRUPTED, MISMATCH, MISSING, USAGE
from isa.evaluate.smt import solver_version
from rtl_models.command.options import AdapterFile, Modules, OwnHardware, chosen_hardware, lane_counts, own_words
from rtl_models.formal.own import NothingProved, OwnTheorem, adapted_theorem, own_theorems
from rtl_models.formal.report import as_json, details, line, summary
from rtl_models.formal.run import AnyTheorem, TheoremVerdict, theorems_named, verdicts
from rtl_models.tools.yosys import yosys_version
from sim.prove.report import is_meant
from sim.terminal.output import fail, print_json, print_progress, print_text
from sim.toolchain.tools import cache_directory
from sim.view.sentences import counted


def prove(
    what: Annotated[str, typer.Argument(help="Part of a theorem's name, or a glob; default: all theorems.")] = "",
    list_only: Annotated[bool, typer.Option("--list", help="Name the theorems, prove nothing.")] = False,
    json_wanted: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    lanes: Annotated[
        int | None,
        typer.Option(help="4, 8 or 16 lanes of the units that are not proved at all three; default: 4."),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.01, help="Seconds for one question to the solver.")] = 60,
    modules: Modules = None,
    adapter: AdapterFile = None,
    cuts: Annotated[
        Path | None, typer.Option(help="A TOML file with wires of your module and what each is: steps of a proof.")
    ] = None,
) -> None:
    """Prove for all inputs that the lane modules compute what the isa semantics say.

    Each theorem has a false claim, a fault in the module, which must be refuted.  Exit code 1 where a theorem does not
    hold or a false claim does, 2 for a name that no theorem has and for a module that yosys refuses, 3 where nothing is
    wrong and something is unknown.
    With --modules or --adapter they are about your own hardware: operators, and streams of any latency, whose results
    must be those that are due however long either side waits; the false claim is that they are one higher.
    """
    own = chosen_hardware(modules, adapter, strict=False)
    possible = lane_counts(own)
    if lanes is not None and lanes not in possible:
        fail(f"a beat of {lanes} lanes: give {', '.join(map(str, possible))}", USAGE)
    count = possible[0] if lanes is None else lanes
    if cuts is not None and not own.before:
        fail("--cuts names wires of a module of yours: give --modules or --adapter", USAGE)
    asked: Sequence[AnyTheorem] = _about_own(own, what, count, cuts) if own.before else theorems_named(what, count)
    if not asked:
        fail(f"no theorem is called {what!r}; --list names them", USAGE)
    if list_only:
        print_text("\n".join(theorem.name for theorem in asked))
        return
    found: list[TheoremVerdict] = []
    interrupted = False
    try:
        for verdict in verdicts(asked, cache_directory(), timeout):
            print_progress(line(verdict))
            found.append(verdict)
    except OSError as error:
        fail(f"cannot keep what yosys writes: {error}; name a directory in LANEWISE_CACHE", MISSING)
    except KeyboardInterrupt:
        interrupted = True
    print_progress(f"{sum(verdict.seconds for verdict in found):.1f} s in the solver")
    tools = f"{yosys_version()}, {solver_version()}"
    if json_wanted:
        print_json("rtl-prove", as_json(found, tools, finished=not interrupted))
    else:
        for verdict in found:
            if not verdict.holds:
                print_text("\n".join(details(verdict, count, own_words(modules=modules, adapter=adapter, cuts=cuts))))
        print_text(summary(found, tools))
    if interrupted:
        fail(f"interrupted after {len(found)} of {counted(len(asked), 'theorem')}", INTERRUPTED)
    failed = [verdict for verdict in found if not verdict.holds]
    raise typer.Exit(0 if not failed else MISSING if all(verdict.is_open for verdict in failed) else MISMATCH)


def _about_own(own: OwnHardware, what: str, lanes: int, cuts: Path | None) -> list[OwnTheorem]:
    """The theorems about a user's modules; ends the command where there can be none."""
    try:
        if own.adapter is None:
            known = own_theorems(own.before[0], lanes)
        else:
            known = [adapted_theorem(own.adapter, lanes, own.before[0])]
    except NothingProved as nothing:
        fail(str(nothing), USAGE)
    return [replace(theorem, cut_points=cuts) for theorem in known if is_meant(theorem.name, what)]
