"""Reports of proofs, of claims and of kernels, as tables and sentences on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Final

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.kernels.kernel import Kernel
from sim.prove.claim import Claim, Finding, Range
from sim.prove.report import ProofReport, computations
from sim.symbolic.kernel_proof import NOT_ASKED, BuildProof, KernelProof, in_runs
from sim.view.sentences import counted, until_then

_COLOURS = {"proved": "green", "counter-example": "red", "unknown": "yellow"}
_MOST_SHOWN = 3


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
    if report.interrupted:
        found = until_then(len(report.refuted), len(report.findings), "claim", "were refuted or unknown")
        verdict = f"[yellow]INTERRUPTED[/yellow]: {found}"
    elif report.refuted:
        verdict = f"[red]FAILED[/red]: {len(report.refuted)} of {report.claims} claims are refuted or unknown"
    else:
        verdict = f"[green]PASSED[/green]: {counted(report.claims, 'claim')} decided as claimed"
    console.print(verdict, highlight=False)


def _addition(claim: Claim, finding: Finding) -> str:
    """What follows the verdict: the smallest inputs, or the reason why there is none."""
    if finding.outcome == "unknown":
        return f": {finding.reason}"
    if finding.outcome == "proved":
        return "" if finding.supports(claim) else ": the sides are equal for all inputs"
    inputs = ", ".join(f"{name} {value}" for name, value in finding.values.items())
    return f": {inputs}{'' if finding.smallest else ' (perhaps not the smallest)'}"


_NOT_PROVED: Final = ("counter-example", "unknown", NOT_ASKED)
"""Answers to questions that are no ways of proving."""


def show_kernel_proof(proof: KernelProof, kernel: Kernel, console: Console) -> None:
    """Print the verdict of each build, what it speaks of, what is assumed, and what is not proved with its reason."""
    lengths = sorted({shape.length for shape in proof.shapes})
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("build", overflow="fold")
    table.add_column("elements proved", justify="right")
    table.add_column("verdict")
    if proof.longest is not None:
        table.add_column("lengths", overflow="fold")
    table.add_column("flow depends on", overflow="fold")
    for build in proof.compared:
        colour, names = _COLOURS[build.outcome], build.depends_on
        depends = "not known" if names is None else ", ".join(names) or "no data"
        proved = f"{build.proved:,} of {build.elements:,}"
        spoken_of = [] if proof.longest is None else ["all" if build.any_length == "" else f"only {in_runs(lengths)}"]
        table.add_row(escape(build.build), proved, f"[{colour}]{build.outcome}", *spoken_of, escape(depends))
    console.print(table)
    if proof.interrupted:
        console.print("interrupted: what is shown is what was proved until then")
    for build in proof.compared:
        for sentence in _not_proved(proof, build):
            console.print(f"{escape(build.build)}: {escape(sentence)}", highlight=False, soft_wrap=True)
    other = (
        f"that {proof.builds[0].build} gives the same" if proof.same else "that it is what the golden reference gives"
    )
    shapes = f"{counted(len(proof.shapes), 'shape')} of the length{'s' * (len(lengths) != 1)} {in_runs(lengths)}"
    spoken = [f"asked of {kernel.title}: {other}, in {shapes}"]
    if proof.longest is not None and any(build.any_length == "" for build in proof.compared):
        loops = sum(build.loops for build in proof.compared if build.any_length == "")
        spoken.append(f"for all lengths, those of up to {proof.longest:,}, by induction over {loops} loops")
    if proof.each:
        spoken.append("each value of " + ", ".join(f"{name} {in_runs(of)}" for name, of in sorted(proof.each.items())))
    sizes = proof.known & kernel.signature.sizes
    for held, so in ((sizes, "only of these sizes"), (proof.known - sizes, "only as they are in the examples")):
        if held:
            spoken.append(f"{so}: {', '.join(_held(proof, kernel, name) for name in sorted(held))}")
    if proof.refused_inputs:
        spoken.append("assumed: inputs that the golden reference does not refuse")
    if proof.is_floating:
        spoken.append("assumed of floating point: an FPCR of 0; which NaN a result is does not count")
    spoken.append(f"all {'other ' * bool(proof.each or proof.known)}numbers: any of their domains")
    if proof.outcome == "proved":
        spoken.append("on the way: no byte outside of the arrays, no undefined byte in an output, registers kept")
    if proof.reference_not_asked:
        spoken.append(f"which inputs the golden reference refuses is not known: {proof.reference_not_asked}")
    asked = {how: number - proof.alike * (how == "form") for how, number in sorted(proof.ways.items())}
    words = {how: how if how in _NOT_PROVED else f"by {how}" for how in asked}
    ways = ", ".join(f"{number:,} {words[how]}" for how, number in asked.items() if number)
    spoken.append(f"of the same form on both sides, so that nothing is asked: {proof.alike:,}")
    spoken.append(f"questions: {proof.questions:,}" + (f" ({ways})" if ways else ""))
    for sentence in spoken:
        console.print(escape(sentence), highlight=False, soft_wrap=True)
    if proof.untraceable:
        console.print(f"[yellow]unknown[/yellow]: {escape(proof.untraceable)}", highlight=False, soft_wrap=True)


def _held(proof: KernelProof, kernel: Kernel, name: str) -> str:
    """A number that shapes have as it is in their examples, with what it is there where it is an input or argument."""
    given = [{**kernel.arguments(shape.example), **shape.example}.get(name) for shape in proof.shapes]
    numbers = {int(number) for number in given if isinstance(number, Integral)}
    return f"{name} {in_runs(numbers)}" if all(isinstance(number, Integral) for number in given) else name


def _not_proved(proof: KernelProof, build: BuildProof) -> list[str]:
    found, refuted = [*build.faults, *build.refused], list[str]()
    if build.any_length:
        found.append(f"not for all lengths: {build.any_length}")
    for failure in build.failures:
        shape, element = proof.shapes[failure.element.shape].name, failure.element
        what = f"{element.output}[{element.number}] in {shape}" if element.output else f"a call in {shape}"
        alike = f" and {failure.elements - 1} like it" if failure.elements > 1 else ""
        called = "" if failure.call_seed is None else f" (called with the seed {failure.call_seed})"
        told = refuted if failure.outcome == "counter-example" else found
        told.append(f"{failure.outcome}, {what}{alike}: {failure.reason}{called}")
    found = refuted + found
    more = len(found) - _MOST_SHOWN
    return [*found[:_MOST_SHOWN], f"and {more} more"] if more > 0 else found
