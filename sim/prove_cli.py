"""`lanewise prove`: claims about lane arithmetic, decided for all inputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from isa.evaluate.smt import SolverMissing, solver_version
from sim.check.processes import processors
from sim.check.prove import BrokenClaim, Claim, Finding
from sim.check.prove_file import claims_in
from sim.check.prove_report import ProofReport, built_in_claims, named
from sim.check.prove_run import prove_all
from sim.terminal import (
    INTERRUPTED,
    MISMATCH,
    MISSING,
    USAGE,
    fail,
    print_json,
    print_progress,
    print_shown,
    progress_bar,
)
from sim.toolchain import CacheUnusable, cache_directory
from sim.view.prove import show_claims, show_proofs

_CLAIMS_A_LINE = 25
"""So many claims give one line of progress where stderr is no terminal."""
_LONGEST = 86_400.0

_Findings = list[tuple[Claim, Finding]]


def prove(
    what: Annotated[str, typer.Argument(help="Part of a claim's name, a glob, or FILE.py; default: all claims.")] = "",
    list_only: Annotated[bool, typer.Option("--list", help="Name the claims, prove nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    timeout: Annotated[float, typer.Option(min=0.01, max=_LONGEST, help="Seconds for one claim.")] = 60,
    jobs: Annotated[int, typer.Option(min=1, help="Processes; default: one for each processor.")] = processors(),
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Prove anew what an earlier run decided.")] = False,
) -> None:
    """Decide claims for all inputs: that instructions compute what Arm's manual says, and how conventions relate.

    A verdict is proved, the smallest counter-example with both computations, or unknown with the reason.  FILE.py
    holds claims of your own, in a list named CLAIMS of sim.check.prove.Claim; the file is run.
    """
    claims = _claims(what)
    if list_only:
        _list(claims, as_json)
        return
    report = _proved(claims, what, timeout, jobs, None if no_cache else _cache())
    if as_json:
        print_json(report.as_json())
    else:
        print_shown(partial(show_proofs, report))
    raise typer.Exit(INTERRUPTED if report.interrupted else 0 if report.passed else MISMATCH)


def _claims(what: str) -> list[Claim]:
    try:
        claims = claims_in(Path(what)) if what.endswith(".py") else named(built_in_claims(), what)
    except BrokenClaim as broken:
        fail(str(broken), USAGE)
    if not claims:
        fail(f"no claim is called {what!r}; `lanewise prove --list` names them, a file of claims ends in .py", USAGE)
    return claims


def _list(claims: list[Claim], as_json: bool) -> None:
    if as_json:
        print_json([{"claim": c.name, "relation": c.relation, "covers": c.covers} for c in claims])
    else:
        print_shown(partial(show_claims, claims))


def _cache() -> Path | None:
    """The directory of earlier answers; None where there can be none."""
    try:
        return cache_directory()
    except CacheUnusable:
        return None


def _proved(claims: list[Claim], what: str, timeout: float, jobs: int, cache: Path | None) -> ProofReport:
    try:
        solver = solver_version()
        findings, interrupted = _run(claims, partial(prove_all, claims, timeout, jobs, cache))
    except SolverMissing as missing:
        fail(str(missing), MISSING)
    ordered = sorted(findings, key=lambda finding: claims.index(finding[0]))
    return ProofReport(tuple(ordered), what, len(claims), solver, timeout, interrupted)


def _run(claims: list[Claim], proving: Callable[[Callable[[Claim, Finding], None]], bool]) -> tuple[_Findings, bool]:
    """The findings as they came, and whether the run was interrupted.

    Progress is a bar where stderr is a terminal, else a line now and then.
    """
    findings: _Findings = []
    with progress_bar() as progress:
        task = progress.add_task("claims", total=len(claims))

        def found(claim: Claim, finding: Finding) -> None:
            findings.append((claim, finding))
            progress.advance(task)
            noteworthy = len(findings) % _CLAIMS_A_LINE == 0 or not finding.supports(claim)
            if progress.disable and (noteworthy or len(findings) == len(claims)):
                print_progress(f"{len(findings)}/{len(claims)} claims; {claim.name}: {finding.outcome}")

        return findings, proving(found)
