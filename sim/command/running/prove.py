"""`lanewise prove`: claims about lane arithmetic, decided for all inputs."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

import typer

from isa.errors import INTERRUPTED, MISMATCH, USAGE
from isa.evaluate.smt import solver_version
from sim.prove.claim import Claim, Finding
from sim.prove.file import claims_in
from sim.prove.report import ProofReport, built_in_claims, named
from sim.prove.run import prove_all
from sim.terminal.output import fail, print_json, print_progress, print_shown, progress_bar
from sim.toolchain.compilers import CacheUnusable, cache_directory
from sim.view.prove import show_claims, show_proofs

_CLAIMS_A_LINE = 25
"""So many claims give one line of progress where stderr is no terminal."""


def prove(
    what: str,
    list_only: bool,
    as_json: bool,
    timeout: float,
    jobs: int,
    no_cache: bool,
) -> None:
    """Do what `lanewise prove` says: its options are those of `sim.command.signatures.prove`."""
    claims = claims_in(Path(what)) if what.endswith(".py") else named(built_in_claims(), what)
    if not claims:
        fail(f"no claim is called {what!r}; `lanewise prove --list` names them, a file of claims ends in .py", USAGE)
    if list_only:
        if as_json:
            print_json([{"claim": c.name, "relation": c.relation, "covers": c.covers} for c in claims])
        else:
            print_shown(partial(show_claims, claims))
        return
    cache: Path | None = None
    if not no_cache:
        with suppress(CacheUnusable):  # nothing is kept then
            cache = cache_directory()
    solver = solver_version()
    findings: list[tuple[Claim, Finding]] = []
    with progress_bar() as progress:
        task = progress.add_task("claims", total=len(claims))

        def found(claim: Claim, finding: Finding) -> None:
            findings.append((claim, finding))
            progress.advance(task)
            noteworthy = len(findings) % _CLAIMS_A_LINE == 0 or not finding.supports(claim)
            if progress.disable and (noteworthy or len(findings) == len(claims)):
                print_progress(f"{len(findings)}/{len(claims)} claims; {claim.name}: {finding.outcome}")

        interrupted = prove_all(claims, timeout, jobs, cache, found)
    ordered = sorted(findings, key=lambda finding: claims.index(finding[0]))
    report = ProofReport(tuple(ordered), what, len(claims), solver, timeout, interrupted)
    print_progress(report.time_taken)
    if as_json:
        print_json(report.as_json())
    else:
        print_shown(partial(show_proofs, report))
    raise typer.Exit(INTERRUPTED if report.interrupted else 0 if report.passed else MISMATCH)
