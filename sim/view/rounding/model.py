"""Networks and their layers on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from sim.explanation.explanation import place_of
from sim.golden.registry.conventions import CONVENTIONS
from sim.models.compare import MOVE, LayerReport
from sim.models.cycles import NetworkCycles
from sim.models.kernel_in_layer import KernelInLayer, TensorChange
from sim.models.network import Network, NetworkLayer
from sim.models.questions import comparable, plain
from sim.models.recorded.beside import BesideReport
from sim.models.report import ModelReport
from sim.view.rounding.explain import show_explanation
from sim.view.sentences import counted

_COLOURS = {"equal": "green", "departs": "red", "differs": "red", "skipped": "yellow"}
_SHOWN = 8
"""Layers that part of which all is told."""


def show_network(network: Network, console: Console) -> None:
    """The layers with types, scales and zero points."""
    table = _table("operator", "inputs", "output")
    for layer in network.layers:
        inputs = [str(network.tensors[number]) for number in layer.inputs if number >= 0]
        outputs = [f"{network.tensors[number].name} {network.tensors[number]}" for number in layer.outputs]
        table.add_row(
            str(layer.number), escape(operator_of(layer)), escape("\n".join(inputs)), escape("\n".join(outputs))
        )
    console.print(table)
    counts = counted(len(network.layers), "layer"), counted(len(network.tensors), "tensor")
    console.print(", ".join(counts), highlight=False)


def show_model(report: ModelReport, console: Console) -> None:
    """What became of each layer, the conventions that all share, and the first that parts, with what is known of it."""
    table = _table("operator", "output", "outcome", "convention")
    for layer in report.layers:
        colour = _COLOURS[layer.outcome]
        table.add_row(
            str(layer.layer.number), escape(operator_of(layer.layer)), escape("\n".join(report.outputs_of(layer))),
            f"[{colour}]{layer.outcome}[/{colour}]", escape(told_of_layer(report, layer)),
        )  # fmt: skip
    console.print(table)
    seed = f", inputs of seed {report.seed}" if report.seed is not None else ""
    seed += f", {len(report.pictures)} pictures" if report.pictures else ""
    console.print(f"{escape(report.network.name)} against {escape(report.against)}{seed}", highlight=False)
    for sentence in shared_sentences(report):
        console.print(escape(sentence), highlight=False)
    left = [names for names in report.common.values() if len(names) > 1]
    if left and report.seed is not None:
        two = next((pair for pair in map(comparable, left) if pair is not None), None)
        pair = f": lanewise conventions --between {' '.join(two)} gives numbers that do" if two else ""
        told = f"other inputs (--seed, --inputs) may tell apart what is left{pair}"
        console.print(escape(told), highlight=False)
    apart = report.first_apart
    colour = "red" if report.apart else "green" if report.quantized else "yellow"
    console.print(f"[{colour}]{escape(report.verdict)}[/{colour}]", highlight=False)
    for one in report.apart[:_SHOWN]:
        for sentence in apart_sentences(one):
            console.print(Padding(escape(sentence), (0, 0, 0, 2)), highlight=False)
    if len(report.apart) > _SHOWN:
        console.print(f"  ... and {len(report.apart) - _SHOWN:,} more layers; --json has them all", highlight=False)
    if apart is not None and apart.explanation is not None:
        console.print()
        show_explanation(apart.explanation, console)


def apart_sentences(layer: LayerReport) -> Iterator[str]:
    """Of a layer that is not what the others are: what would make it so, and its first element."""
    of_several = f", one of {len(layer.causes)} that would do" if len(layer.causes) > 1 else ""
    for cause in layer.causes:
        yield f"layer {layer.layer.number}, {cause.kind}{of_several}: {cause.told}"
    if layer.instead:
        others = " or ".join(map(str, layer.instead))
        yield f"layer {layer.layer.number} or layer {others}: as many layers are the one convention as the other"
    if layer.trace is not None:
        yield f"layer {layer.layer.number}, {layer.trace}"
    if layer.moved is not None:
        yield f"layer {layer.layer.number}, {layer.moved}"


def show_beside(report: BesideReport, console: Console) -> None:
    """Both sides layer by layer: whether the numbers are the same, and what each side is."""
    ours, theirs = report.recorded, report.runtime
    table = _table("operator", "output", "outcome", ours.against, theirs.against)
    for one in report.layers:
        colour = {"same": "green", "parts": "red"}.get(one.outcome, "yellow")
        count = f"{one.differing:,} of {one.elements:,} differ, " if one.differing else ""
        table.add_row(
            str(one.layer.number), escape(operator_of(one.layer)),
            escape("\n".join(ours.network.tensors[number].name for number in one.layer.outputs)),
            f"{count}[{colour}]{one.outcome}[/{colour}]", *map(escape, report.told(one)),
        )  # fmt: skip
    console.print(table)
    colour = "red" if report.apart else "green" if report.compared else "yellow"
    console.print(f"[{colour}]{escape(report.verdict)}[/{colour}]", highlight=False)


def show_kernel_in_layer(run: KernelInLayer, console: Console) -> None:
    """What a kernel made in the place of a layer, and what became of the network's outputs."""
    title = f"{run.kernel} as layer {run.layer.number}, {run.layer.operator}, of {run.network.name}"
    console.print(escape(f"{title}: {run.instructions:,} instructions in lockstep"), highlight=False)
    if run.output is None:
        console.print(f"[red]{escape(run.failure)}[/red]", highlight=False)
        return
    colour = "red" if run.output.differing else "green"
    console.print(f"[{colour}]{escape(_changed(run.output, run.against))}[/{colour}]", highlight=False)
    for change in run.outputs:
        behind = f"the same from there, the layers behind by {run.convention}"
        console.print(escape(f"output {_changed(change, behind)}"), highlight=False)
    for name in run.not_reached:
        console.print(f"output {escape(name)} was not reached: a layer before it is not computed", highlight=False)


def show_cycles_of_layers(estimate: NetworkCycles, console: Console) -> None:
    """The layers with their multiply-accumulates and cycles, the sum, and what is not in it."""
    cores = list(estimate.total)
    table = _table("operator", "kernel", "multiply-accumulates", *cores)
    for one in estimate.layers:
        cells = [f"{count:,}" for _, count in one.cycles] or ["-"] * len(cores)
        kernel = one.kernel or f"none: {one.reason}"
        work = f"{one.work:,}" if one.work else "-"
        table.add_row(str(one.layer.number), escape(operator_of(one.layer)), escape(kernel), work, *cells)
    table.add_row("", "all that are estimated", "", "", *(f"{count:,}" for count in estimate.total.values()))
    console.print(table)
    count, of = sum(bool(one.kernel) for one in estimate.layers), len(estimate.layers)
    what = f"cycles of {count} of {of} layers, {of - count} are not estimated"
    how = f"the built-in kernels at -O2 ({estimate.convention}), with caches that always hit"
    console.print(escape(f"{estimate.network.name}: {what}; by {how}"), highlight=False)


def _changed(change: TensorChange, other: str) -> str:
    if not change.differing or change.numbers is None:
        return f"{change.name}: all {change.elements:,} elements are those of {other}"
    where = f"first {place_of(change.first)}, {change.numbers[0]} for {change.numbers[1]}"
    largest = ""
    if change.largest is not None:
        largest = f"; the largest of the first row is element {change.largest[0]}, it was {change.largest[1]}"
    are = "is another than that" if change.differing == 1 else "are others than those"
    count = f"{change.differing:,} of {change.elements:,} elements {are} of {other}"
    return f"{change.name}: {count}: {where}, by {change.distance} at most{largest}"


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", justify="right", no_wrap=True)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def operator_of(layer: NetworkLayer) -> str:
    """With its activation."""
    activation = layer.options.get("FusedActivationFunction", "NONE")
    return layer.operator if activation == "NONE" else f"{layer.operator}, {activation}"


def shared_sentences(report: ModelReport) -> Iterator[str]:
    """By kind of layer the conventions that all layers share, those apart not counted, and who uses the first."""
    of_apart = {layer.kind for layer in report.apart}
    for kind, names in report.common.items():
        which = "every other layer" if kind in of_apart else "every layer"
        if names:
            yield f"{kind}: {_told_of_shared(names, which, report.users_of(names[0]))}"
        else:
            widest, count = next(iter(report.spread[kind].items()))
            of = which.replace("every", "all")
            yield f"{kind}: no convention is shared by {of}s; the most that are one, {count}, are {widest}"


def _told_of_shared(names: Sequence[str], which: str, whose: str) -> str:
    known = CONVENTIONS.get(plain(names[0]))
    users = f"used by {known.users}" if known is not None else f"used by {whose}" if whose else ""
    if len(names) == 1:
        return f"{which} is {names[0]}{f', {users}' if users else ''}"
    more = f" and {len(names) - 3} more (--json has all)" if len(names) > 3 else ""
    return (
        f"{len(names)} conventions give {which}, and these numbers do not tell them apart: "
        f"{', '.join(names[:3])}{more}{f'; the first is {users}' if users else ''}"
    )


def told_of_layer(report: ModelReport, layer: LayerReport) -> str:
    """Its convention, or how it parts, in a line."""
    if layer.outcome == "skipped":
        return layer.reason
    if layer.outcome in ("departs", "differs"):
        usual = f" from {layer.usual}" if layer.usual else ""
        names = report.outputs_of(layer)
        which = f" of {names[layer.output]}" if len(names) > 1 else ""
        differ = "differs" if layer.differing == 1 else "differ"
        count = f"{layer.differing:,} of {layer.elements:,}{which} {differ}{usual}"
        told = f"{count}, the first is {place_of(layer.first)}"
        told += report.in_pictures(layer.pictures)
        causes = ", ".join(dict.fromkeys(cause.kind for cause in layer.causes))
        return f"{told}: {causes or layer.kind}" if causes or layer.kind == MOVE else told
    others = len(layer.conventions) - 1
    return report.convention_of(layer) + (f" and {others} more" if others else "")
