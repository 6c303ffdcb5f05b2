"""A report of proofs as a table on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.prove.claim import Claim, Finding, Range
from sim.prove.report import ProofReport, computations


def show_claims(claims: Sequence[Claim], console: Console) -> None:
    """List claims by name, with what they relate."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("claim", overflow="fold")
    table.add_column("claimed", no_wrap=True)
    table.add_column("inputs", overflow="fold")
    table.add_column("forms", justify="right")
    for claim in claims:
        inputs = ", ".join(
            f"{name} {f'{kind.low}..{kind.high}' if isinstance(kind, Range) else kind}"
            for name, kind in claim.inputs.items()
        )
        table.add_row(escape(claim.name), claim.relation, escape(inputs), str(len(claim.covers) or ""))
    console.print(table)
    console.print(f"{len(claims)} claims", highlight=False)


def show_proofs(report: ProofReport, console: Console) -> None:
    """Print the table of verdicts, the computations of counter-examples, and the totals.

    Counter-examples that were claimed are worked out only where the user named the claims.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("claim", overflow="fold")
    table.add_column("verdict", overflow="fold")
    table.add_column("forms", justify="right", no_wrap=True)
    for claim, finding in report.findings:
        colour = "green" if finding.supports(claim) else "red"
        verdict = f"[{colour}]{finding.outcome}[/{colour}]{escape(_addition(claim, finding))}"
        table.add_row(escape(claim.name), verdict, str(len(claim.covers) or ""))
    console.print(table)
    for claim, finding in report.findings:
        if finding.outcome == "counter-example" and (report.asked or not finding.supports(claim)):
            colour = "green" if finding.supports(claim) else "red"
            name = f"[{colour}]{escape(claim.name)}[/{colour}]"
            console.print(f"{name}{escape(_addition(claim, finding))}", highlight=False)
            for side, lines in zip(("left", "right"), computations(claim, finding), strict=True):
                for line in lines:
                    console.print(f"  {side:5}  {escape(line)}", highlight=False, soft_wrap=True)
            console.print()
    for name, value in (
        ("claims", f"{report.claims:,}"),
        ("proved for all inputs", f"{report.outcomes.get('proved', 0):,}"),
        ("counter-examples", f"{report.outcomes.get('counter-example', 0):,}"),
        ("unknown", f"{report.outcomes.get('unknown', 0):,}"),
        ("instruction forms covered", f"{report.forms:,}"),
        ("solver", f"{report.solver}, at most {report.timeout:g} s for a claim"),
    ):
        console.print(f"[bold]{name:25}[/bold] {escape(value)}", highlight=False, soft_wrap=True)
    if report.refuted:
        verdict = f"[red]FAILED[/red]: {len(report.refuted)} of {report.claims} claims are refuted or unknown"
    elif report.interrupted:
        verdict = f"[yellow]INTERRUPTED[/yellow]: the {len(report.findings)} claims decided until then are as claimed"
    else:
        verdict = f"[green]PASSED[/green]: {report.claims} claim{'s' * (report.claims > 1)} decided as claimed"
    console.print(verdict, highlight=False)


def _addition(claim: Claim, finding: Finding) -> str:
    """What follows the verdict: the smallest inputs, or the reason why there is none."""
    if finding.outcome == "unknown":
        return f": {finding.reason}"
    if finding.outcome == "proved":
        return "" if finding.supports(claim) else ": the sides are equal for all inputs"
    inputs = ", ".join(f"{name} {value}" for name, value in finding.values.items())
    return f": {inputs}{'' if finding.smallest else ' (perhaps not the smallest)'}"
