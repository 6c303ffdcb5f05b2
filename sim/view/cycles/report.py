"""Timed calls and loops on the terminal: figures of all side by side, where the cycles go, and two versions of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.cycles.difference import differences
from sim.cycles.estimates import CyclesEstimate, EstimateRow
from sim.cycles.llvm_mca import Estimate
from sim.cycles.result import TimedResult
from sim.timing.analysis.advice import Advice, best_advice
from sim.timing.analysis.error_range import NONE, error_range, range_of
from sim.view.cycles.details import best_bounds, columns, cycles_text, iterations_of, show_details, show_side_by_side
from sim.view.cycles.sentences import range_in_words, unmodelled
from sim.view.sentences import counted

_DIFFERENT: Final = 12
"""Instructions of two versions; the JSON form has all."""


def show_results(
    title: str,
    groups: Sequence[Sequence[TimedResult]],
    console: Console,
    estimated: CyclesEstimate | None = None,
) -> None:
    """Groups of the same call or loop on all cores, side by side, with their work where it is estimated; then where the
    cycles go.

    On one core every group in every detail; on several the first group, a column for each core.
    """
    console.print(f"[bold]{escape(title)}[/bold]", highlight=False)
    for call in dict.fromkeys(results[0].call for results in groups if results[0].call):
        console.print(escape(call), highlight=False, soft_wrap=True)
    table = columns("", *(f">{result.report.core}" for result in groups[0]))
    table.columns[0].no_wrap = True
    rows = iter(() if estimated is None else estimated.rows)
    for results in groups:
        table.add_row(f"[bold]{escape(results[0].title)}[/bold]")
        figures = [_figures(result, next(rows, None)) for result in results]
        for name in figures[0]:
            cells = [one[name] for one in figures]
            if any(cells):
                table.add_row(f"  {name}", *(escape(cell or "-") for cell in cells))
    console.print(table)
    console.print(_errors(groups[0]))
    for note in dict.fromkeys(_notes(groups)):
        console.print(escape(note), highlight=False, soft_wrap=True)
    if len(groups[0]) > 1:
        show_side_by_side(groups[0], console)
        return
    for results in groups:
        show_details(results[0], console)


def _figures(result: TimedResult, row: EstimateRow | None) -> dict[str, str]:
    """By name; "" where there is nothing to say."""
    per_product = row.per_unit if row is not None and row.work.unit == "product" else None
    loop, report = result.loop, result.report
    copies = loop.copies if loop else 1
    if loop is None:
        steady = report.hottest.steady if report.hottest else ""
    elif period := loop.timing.period * copies:
        every = "every iteration" if period == 1 else f"every {period} iterations"
        steady = f"repeats itself {every}, after {loop.timing.warm_up * copies}"
    else:
        steady = "none: the average of all"
    binding = best_bounds(result)[0].binding
    said = result.llvm_mca if isinstance(result.llvm_mca, Estimate) else None
    per_iteration = None if said is None or said.per_iteration is None else said.per_iteration / copies
    return {
        "iterations": f"{loop.iterations:,}" if loop else "",
        "cycles": cycles_text(result.cycles),
        "does not run": f"lacks {row.lacks}" if row is not None and row.lacks else "",
        "range": _range(result),
        "microseconds": "" if result.microseconds is None else f"{float(result.microseconds):,.3f}",
        "per product": "" if per_product is None else f"{per_product:.3g}",
        "per element": cycles_text((loop or report).cycles_per_element),
        "per iteration": cycles_text((loop or report).cycles_per_iteration),
        "steady state": steady,
        "bound": f"{cycles_text(binding.cycles / copies)} {binding.name}",
        "llvm-mca": cycles_text(said.cycles) if said else "",
        "llvm-mca per iteration": cycles_text(per_iteration),
    }


def _range(result: TimedResult) -> str:
    known = result.error_range
    if known is None:
        return "unknown"
    least, most = known.cycles(result.cycles)
    return f"{least:,} to {most:,}"


def _errors(results: Sequence[TimedResult]) -> Table:
    """The errors on kernels out of sight, by family and core, and whose figures those of the instructions are."""
    cores = [result.schedule.core for result in results]
    table = columns("error on unseen kernels", *(f">{core.name}" for core in cores))
    families = dict.fromkeys(one.family for core in cores for one in core.about.unseen)
    for family in families:
        known = (range_of([one for one in core.about.unseen if one.family == family]) for core in cores)
        table.add_row(escape(family), *("-" if found is None else range_in_words(found) for found in known))
    whole = map(error_range, cores)
    table.add_row("all of them", *(NONE if found is None else range_in_words(found) for found in whole))
    shares = (
        "\n".join(f"{100 * count / sum(of.values()):.0f} % {basis}" for basis, count in of.items())
        for of in (result.bases for result in results)
    )
    table.add_row("figures of the instructions", *shares)
    return table


def _notes(groups: Sequence[Sequence[TimedResult]]) -> Iterator[str]:
    """What the figures are about, how kernels out of sight were split, what was assumed, how llvm-mca calculated."""
    for first, *_ in groups:
        if first.loop:
            yield f"{iterations_of(first)} of {first.title}: {counted(first.loop.instructions, 'instruction')}"
        elif loop := first.report.hottest:
            head = next((row.place for row in first.report.instructions if row.pc == loop.head and row.place), "")
            size = f"{cycles_text(loop.instructions)} instructions, {loop.iterations:,} times"
            yield f"an iteration of {first.title}: {size}, at {head or hex(loop.head)}"
        # what was assumed of all loops alike is one line, as the same lines are
        yield from (note if first.loop else f"{first.title}: {note}" for note in first.notes)
    splits = dict.fromkeys(result.schedule.core.about.split for result in groups[0])
    yield from (f"kernels were split {split}; --about CORE says more" for split in splits if split)
    for core in (result.schedule.core for result in groups[0]):
        if core.clock:
            yield f"{core.name}: microseconds at {float(core.clock.megahertz):g} MHz, {core.clock.source}"
    for result in (result for results in groups for result in results):
        for row in result.report.unmodelled:
            count = row.executed // (result.loop.reported if result.loop else 1)
            yield f"{result.title} on {result.report.core}: {unmodelled(row._replace(executed=count))}"
    for results in groups:
        models = []
        estimates = [result.llvm_mca for result in results if isinstance(result.llvm_mca, Estimate)]
        for said in estimates:
            own = bool(said.model) and said.core.replace("-", "").endswith(said.model.lower())
            model = "its own model" if own else f"the model of {said.model or 'an unknown core'}"
            models.append(f"{said.core} by {model}")
        if models:
            yield f"llvm-mca {estimates[0].version}: {', '.join(models)}"
        yield from (result.llvm_mca for result in results if isinstance(result.llvm_mca, str))


def show_estimate(found: CyclesEstimate, console: Console) -> None:
    """What was timed per unit of work, at a clock, and how far from measured cycles, with the reasons of that."""
    heads, rows = found.table()
    table = columns(*heads[:2], *(f">{head}" for head in heads[2:]))
    table.columns[1].no_wrap = True
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
    reasons = found.residual_by_reason
    if reasons:
        said = ", ".join(f"{reason} {cycles:+,.0f}" for reason, cycles in list(reasons.items())[:4])
        words = "too long" if sum(reasons.values()) > 0 else "too short"
        console.print(f"estimated less measured ({words}), by the reasons of the estimate: {said}", highlight=False)


def show_advice(result: TimedResult, tried: Sequence[Advice], console: Console) -> None:
    """The changes that save most of what was tried on a result, and how many brought nothing or cannot be made."""
    heading = f"what would help {result.title} on {result.report.core}, of {result.cycles:,} cycles"
    console.print(f"\n[bold]{escape(heading)}[/bold]", highlight=False)
    advised = best_advice(tried)
    table = columns(">saved", ">each", ">", "kind", "change, tried in the model")
    for one in advised:
        condition = f"\n{one.condition}" if one.condition else "\nwith the same results"
        each = cycles_text(one.before), cycles_text(one.after)
        table.add_row(f"{one.saved:,}", *each, one.kind, escape(one.what + condition))
    if advised:
        console.print(table)
    useless = sum(not one.refused and one.gain <= 0 for one in tried)
    brought = f"{counted(len(tried), 'change')} tried; {useless} saved nothing"
    console.print(brought if advised else f"nothing: {brought}", highlight=False)
    for kind, reason in dict.fromkeys((one.kind, f"{one.what}: {one.refused}") for one in tried if one.refused):
        console.print(f"cannot be made: {escape(f'{kind}, {reason}')}", highlight=False, soft_wrap=True)


class Swept(NamedTuple):
    """A result with its cycles by what is gone through; where there are none, the reason."""

    result: TimedResult
    cycles: Mapping[int, int]
    reason: str


def show_sweep(over: str, swept: Sequence[Swept], console: Console) -> None:
    """Cycles by what is gone through, a row for each call and core; or why there are none."""
    cold = over == "cache"
    heading = "every access so many bytes further on"
    if cold:
        heading = "caches empty at first, by the cycles of a hit in L2; warm: all data in the first cache"
    console.print(f"\n[bold]cycles with {heading}[/bold]", highlight=False)
    points = list(dict.fromkeys(at for one in swept for at in one.cycles))
    table = columns("timed", "core", *(f">{at}" for at in points), *([">warm"] if cold else []))
    table.columns[1].no_wrap = True
    for result, cycles, _ in swept:
        if cycles:
            cells = [*(cycles[at] for at in points), *([result.cycles] if cold else [])]
            table.add_row(escape(result.title), escape(result.report.core), *(f"{cell:,}" for cell in cells))
    if points:
        console.print(table)
    notes = [f"{result.title} on {result.report.core}: {reason}" for result, _, reason in swept if reason]
    if not cold:
        left_out = ((one.result.report.core, one.result.schedule.core.about.not_modelled) for one in swept)
        notes += [f"not modelled on {core}: {each}" for core, every in left_out for each in every if "aligned" in each]
    for note in dict.fromkeys(notes):
        console.print(escape(note), highlight=False, soft_wrap=True)


def show_differences(before: TimedResult, after: TimedResult, compilers: tuple[str, str], console: Console) -> None:
    """What the second version gains on a core, and with which instructions; who compiled each, where it is not one."""
    gained = before.cycles - after.cycles
    said = f"{after.title} on {after.report.core}: {before.cycles:,} to {after.cycles:,} cycles, {-gained:+,}"
    console.print(f"\n[bold]{escape(said)}[/bold]", highlight=False)
    if len(set(compilers)) > 1:
        console.print(f"before: {escape(compilers[0])}; after: {escape(compilers[1])}", highlight=False, soft_wrap=True)
    table = columns("before", "after", ">cycles", ">", ">change", "why")
    for one in differences(before, after)[:_DIFFERENT]:
        if one.gained:
            why = one.reason
            cells = one.before or "-", one.after or "-", f"{one.cycles_before:,}", f"{one.cycles_after:,}"
            table.add_row(*map(escape, cells), f"{-one.gained:+,}", escape(why))
    console.print(table)
