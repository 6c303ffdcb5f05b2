"""A report of proofs as a table on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.check.prove import Claim, Finding
from sim.check.prove_report import ProofReport, computations


def show_claims(claims: Sequence[Claim], console: Console) -> None:
    """List claims by name, with what they relate."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("claim", overflow="fold")
    table.add_column("claimed", no_wrap=True)
    table.add_column("inputs", overflow="fold")
    table.add_column("forms", justify="right")
    for claim in claims:
        inputs = ", ".join(f"{name} {_kind(kind)}" for name, kind in claim.inputs.items())
        table.add_row(escape(claim.name), claim.relation, escape(inputs), str(len(claim.covers) or ""))
    console.print(table)
    console.print(f"{len(claims)} claims", highlight=False)


def _kind(kind: object) -> str:
    low, high = getattr(kind, "low", None), getattr(kind, "high", None)
    return str(kind) if hasattr(kind, "bits") else f"{low}..{high}"


def show_proofs(report: ProofReport, console: Console) -> None:
    """Print the table of verdicts, the computations of counter-examples, and the totals.

    Counter-examples that were claimed are worked out only where the user named the claims.
    """
    console.print(_table(report))
    for claim, finding in report.findings:
        if finding.outcome == "counter-example" and (report.asked or not finding.supports(claim)):
            _show_computations(claim, finding, console)
    for name, value in _totals(report):
        console.print(f"[bold]{name:25}[/bold] {escape(value)}", highlight=False, soft_wrap=True)
    console.print(_verdict(report), highlight=False)


def _table(report: ProofReport) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("claim", overflow="fold")
    table.add_column("verdict", overflow="fold")
    table.add_column("forms", justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    for claim, finding in report.findings:
        colour = "green" if finding.supports(claim) else "red"
        verdict = f"[{colour}]{finding.outcome}[/{colour}]{escape(_addition(claim, finding))}"
        seconds = f"{finding.seconds:.2f}{' kept' if finding.cached else ''}"
        table.add_row(escape(claim.name), verdict, str(len(claim.covers) or ""), seconds)
    return table


def _addition(claim: Claim, finding: Finding) -> str:
    """What follows the verdict: the smallest inputs, or the reason why there is none."""
    if finding.outcome == "unknown":
        return f": {finding.reason}"
    if finding.outcome == "proved":
        return "" if finding.supports(claim) else ": the sides are equal for all inputs"
    inputs = ", ".join(f"{name} {value}" for name, value in finding.values.items())
    return f": {inputs}{'' if finding.smallest else ' (perhaps not the smallest)'}"


def _show_computations(claim: Claim, finding: Finding, console: Console) -> None:
    colour = "green" if finding.supports(claim) else "red"
    console.print(f"[{colour}]{escape(claim.name)}[/{colour}]{escape(_addition(claim, finding))}", highlight=False)
    for side, lines in zip(("left", "right"), computations(claim, finding), strict=True):
        for line in lines:
            console.print(f"  {side:5}  {escape(line)}", highlight=False, soft_wrap=True)
    console.print()


def _totals(report: ProofReport) -> list[tuple[str, str]]:
    outcomes = report.outcomes
    return [
        ("claims", f"{report.claims:,}"),
        ("proved for all inputs", f"{outcomes.get('proved', 0):,}"),
        ("counter-examples", f"{outcomes.get('counter-example', 0):,}"),
        ("unknown", f"{outcomes.get('unknown', 0):,}"),
        ("instruction forms covered", f"{report.forms:,}"),
        ("solver", f"{report.solver}, at most {report.timeout:g} s for a claim"),
    ]


def _verdict(report: ProofReport) -> str:
    if report.refuted:
        return f"[red]FAILED[/red]: {len(report.refuted)} of {report.claims} claims are refuted or unknown"
    if report.interrupted:
        return f"[yellow]INTERRUPTED[/yellow]: the {len(report.findings)} claims decided until then are as claimed"
    return f"[green]PASSED[/green]: {report.claims} claim{'s' * (report.claims > 1)} decided as claimed"
