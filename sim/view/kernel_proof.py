"""What was proved of a kernel, as a table and sentences on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.kernels.kernel import Kernel
from sim.symbolic.proof import BuildProof, KernelProof

_COLOURS = {"proved": "green", "counter-example": "red", "unknown": "yellow"}
_MOST_SHOWN = 3


def show_kernel_proof(proof: KernelProof, kernel: Kernel, console: Console) -> None:
    """Print the verdict of each build, what it speaks of, what is assumed, and what is not proved with its reason."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("build", overflow="fold")
    table.add_column("elements proved", justify="right")
    table.add_column("verdict")
    for build in proof.compared:
        colour = _COLOURS[build.outcome]
        table.add_row(escape(build.build), f"{build.proved:,} of {build.elements:,}", f"[{colour}]{build.outcome}")
    console.print(table)
    for build in proof.compared:
        for sentence in _not_proved(proof, build):
            console.print(f"{escape(build.build)}: {escape(sentence)}", highlight=False, soft_wrap=True)
    other = (
        f"that {proof.builds[0].build} gives the same" if proof.same else "that it is what the golden reference gives"
    )
    lengths = sorted({shape.length for shape in proof.shapes})
    spoken = [f"asked of {kernel.title}: {other}, in {len(proof.shapes)} shapes of the lengths {_ranges(lengths)}"]
    if proof.each:
        spoken.append("each value of " + ", ".join(f"{name} {_ranges(of)}" for name, of in sorted(proof.each.items())))
    if proof.known:
        spoken.append("only as they are in the examples: " + ", ".join(sorted(proof.known)))
    if proof.refused_inputs:
        spoken.append("assumed: inputs that the golden reference does not refuse")
    spoken.append("all other numbers: any of their domains")
    if proof.outcome == "proved":
        spoken.append("on the way: no byte outside of the arrays, no undefined byte in an output, registers kept")
    ways = ", ".join(f"{number:,} by {how}" for how, number in sorted(proof.ways.items()))
    spoken.append(f"questions: {proof.questions:,} ({ways})")
    for sentence in spoken:
        console.print(escape(sentence), highlight=False, soft_wrap=True)
    if proof.untraceable:
        console.print(f"[yellow]unknown[/yellow]: {escape(proof.untraceable)}", highlight=False, soft_wrap=True)


def _not_proved(proof: KernelProof, build: BuildProof) -> list[str]:
    found = [*build.faults, *build.refused]
    for failure in build.failures:
        shape = proof.shapes[failure.element.shape].name
        what = f"{failure.element.output}[{failure.element.number}] in {shape}"
        alike = f" and {failure.elements - 1} like it" if failure.elements > 1 else ""
        found.append(f"{failure.outcome}, {what}{alike}: {failure.reason}")
    more = len(found) - _MOST_SHOWN
    return [*found[:_MOST_SHOWN], f"and {more} more"] if more > 0 else found


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers as "0..5, 7"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{low}..{high}" if low != high else str(low) for low, high in parts)
