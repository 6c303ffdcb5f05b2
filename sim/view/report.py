"""A check's report as a table on the terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.check.aim.power import NOT_FOUND, OperandsMet, Power
from sim.check.report import Outcome, Report
from sim.view.sentences import counted, until_then, without_many_numbers

_COLUMNS = ("lanes", "instructions", "forms", "QC events", "code", "golden?")
_DROPPED_FIRST = ("code", "forms", "instructions", "QC events", "lanes")
"""What a narrow terminal goes without; the totals and the JSON form still tell most of it."""
_NEVER_SHOWN = 3
_COLOURS = {"agrees": "green", "differs": "red", "not built": "red", "stopped": "yellow"}


def show_report(report: Report, console: Console) -> None:
    """Print the table of implementations, every failure, the totals and the line that reproduces them.

    A table wider than the console loses columns, never the names and verdicts.
    """
    unlimited = console.options.update_width(10_000)
    for dropped in range(len(_DROPPED_FIRST) + 1):
        table = _table(report, without=_DROPPED_FIRST[:dropped])
        if console.measure(table, options=unlimited).maximum <= console.width:
            break
    console.print(table)
    _show_failures(report, console)
    if report.shrunk:
        shrunk = without_many_numbers(report.shrunk, "--json has them all")
        console.print(f"{escape(shrunk)}\n", highlight=False, soft_wrap=True)
    for note in _notes(report):
        console.print(f"note: {escape(note)}\n", highlight=False, soft_wrap=True)
    console.print(_totals(report))
    count = len(report.outcomes)
    if report.hindrance:
        verdict = f"[yellow]STOPPED[/yellow]: {escape(report.hindrance)}; {_until_then(report)}"
    elif report.interrupted:
        verdict = f"[yellow]INTERRUPTED[/yellow]: {_until_then(report)}"
    elif report.failures and all(_is_difference(outcome) for outcome in report.failures):
        verdict = f"[red]DIFFERENT[/red]: {counted(count, 'build')} of {escape(report.title)} do not give the same"
    elif report.failures:
        verdict = f"[red]FAILED[/red]: {len(report.failures)} of {count} implementations"
    elif report.lanes_compared == 0:
        verdict = "[red]FAILED[/red]: nothing was compared"
    else:
        agree = f"{count} implementations agree" if count > 1 else "the implementation agrees"
        compared = " that was compared" if any(outcome.outside for outcome in report.outcomes) else ""
        passed = "[yellow]PASSED, weak[/yellow]" if report.weak else "[green]PASSED[/green]"
        verdict = f"{passed}: {agree} on every lane{compared}"
    console.print(verdict, highlight=False)
    for command in report.questions:
        console.print(f"whether an input can: {escape(command)}", highlight=False, soft_wrap=True)
    console.print(f"reproduce: {escape(report.reproduce)}", highlight=False, soft_wrap=True)
    if report.debug:
        console.print(f"debug: {escape(report.debug)}", highlight=False, soft_wrap=True)
    if report.debug_beside:
        console.print(f"beside it: {escape(report.debug_beside)}", highlight=False, soft_wrap=True)


def _is_difference(outcome: Outcome) -> bool:
    """Whether it gives something else than another build, either of which may be the wrong one."""
    return outcome.mismatch is not None and outcome.mismatch.between is not None


def _until_then(report: Report) -> str:
    """What a check that did not come to its end has found."""
    if report.failures:
        return until_then(len(report.failures), len(report.outcomes), "implementation", "failed")
    return "what was compared until then agrees" if report.lanes_compared else "until then nothing was compared"


def _show_failures(report: Report, console: Console) -> None:
    """Every failure; of one in the lane of another, with the same numbers, only what is different."""
    told: dict[tuple[str, int], Outcome] = {}
    for outcome in report.failures:
        lines, alike = outcome.failure.splitlines(), ""
        first = told.setdefault((lines[0], len(lines)), outcome)
        if first is not outcome:
            others = first.failure.splitlines()
            lines = [line for line, other in zip(lines, others, strict=True) if line != other]
            alike = f": as {first.title}{', but' if lines else ''}"
        heading = f"[red]FAILED[/red] [bold]{escape(outcome.title)}[/bold]"
        if _is_difference(outcome):
            heading = (
                f"[red]DIFFERENT[/red] [bold]{escape(report.beside)}[/bold] and [bold]{escape(outcome.title)}[/bold]"
            )
        console.print(f"{heading}{escape(alike)}", highlight=False)
        console.print(escape("\n".join([*lines, ""])), highlight=False, soft_wrap=True)


def _notes(report: Report) -> list[str]:
    """The vectors that were not compared; levels that make the same program; the declared over-reads that reached
    nothing; of builds for elsewhere than Linux that use the platform register the first; what of the programs is not
    there or was not done.
    """
    outside = [
        f"{outcome.title}: {vectors:,} vectors were not compared, as it is not made for them: {reason}"
        for outcome in report.outcomes
        for reason, vectors in outcome.outside.items()
    ]
    found = [(outcome.title, f) for outcome in report.outcomes for f in outcome.findings if f.harmless]
    notes = [f"{title}: {finding}" for title, finding in found if finding.kind == "over-read"]
    platform = [
        f"{outcome.title} at {finding.source}"
        for outcome in report.outcomes
        for finding in outcome.findings
        if finding.kind == "platform register" and not _is_for_linux(outcome)
    ]
    write = "1 build writes" if len(platform) == 1 else f"{len(platform)} builds write"
    reserved = "x18, which platforms other than Linux reserve (AAPCS64 6.1.1)"
    weak = [f"weak: {why}" for why in report.power.weaknesses] if report.power is not None and report.passed else []
    writing = [f"{write} {reserved}; the first is {first}" for first in platform[:1]]
    once = [
        f"{outcome.title} is the same program at {', '.join(outcome.same_code_at)}: it was run once"
        for outcome in report.outcomes
        if outcome.same_code_at
    ]
    left_out = dict.fromkeys(said for outcome in report.outcomes for said in outcome.left_out)
    return weak + outside + once + notes + writing + list(left_out)


def _is_for_linux(outcome: Outcome) -> bool:
    """Whether it was compiled here, for Linux: where a user's flags name no other target."""
    return bool(outcome.flags) and "-target" not in outcome.flags


def _mistakes(power: Power) -> str:
    """How many of the mistakes that the code could have these inputs show, and some that they do not."""
    hidden = [str(mistake) for mistake in power.possible if not mistake.shown]
    never, more = ", ".join(dict.fromkeys(hidden[:_NEVER_SHOWN])), len(hidden) - _NEVER_SHOWN
    rest = f" and {more:,} more" if more > 0 else ""
    nothing = len(power.mistakes) - len(power.possible)
    told = f"{len(power.shown):,} of {len(power.mistakes):,}" + (f"; {nothing:,} change nothing" if nothing else "")
    return told + (f"; not {never}{rest}" if never else "")


def _met(classes: Sequence[OperandsMet], tried: str = "") -> str:
    """How many of these the inputs met, and of the others, which cannot be met and which were not found; `tried` says
    in what they were looked for.
    """
    missed = sorted((one for one in classes if not one.met), key=lambda one: one.name == "wrapped")
    told = [f"{len(classes) - len(missed):,} of {len(classes):,} {tried}".rstrip()]
    impossible, unknown = ([one for one in missed if bool(one.impossible) == wanted] for wanted in (True, False))
    for start, some in (("none can meet", impossible), (NOT_FOUND, unknown)):
        names = list(dict.fromkeys(map(str, some)))
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        told += [f"{start}: {names[0]}{more}"] if names else []
    return "; ".join(told)


def _table(report: Report, without: Collection[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(escape(report.kernel), overflow="fold")
    shown = [name for name in _COLUMNS if name not in without]
    for name in shown:
        heading = "same?" if report.beside and name == "golden?" else name
        table.add_column(heading, justify="left" if name in ("code", "golden?") else "right", no_wrap=True)
    for outcome in report.outcomes:
        colour = _COLOURS[outcome.verdict]
        cells = dict.fromkeys(_COLUMNS, "-")
        cells["lanes"] = f"{outcome.lanes_compared:,}"
        if outcome.failure or outcome.title != report.beside:  # it is the same as itself
            cells["golden?"] = f"[{colour}]{outcome.verdict}[/{colour}]"
        if not outcome.made_as:  # else it executes no instructions
            cells |= {
                "instructions": f"{outcome.instructions:,}",
                "forms": f"{len(outcome.forms):,}",
                "QC events": f"{outcome.qc_events:,}",
                "code": outcome.code[:8] or "-",
            }
        table.add_row(escape(outcome.title), *(cells[name] for name in shown))
    return table


def _flags(report: Report) -> str:
    """The level of each build, and once what all have besides."""
    levels, _, others = zip(*(flags.partition(" ") for flags in report.flags), strict=True)
    same = f", each with {others[0]}" if any(others) else ""
    return " ".join(levels) + same if len(set(others)) == 1 else " ".join(report.flags)


def _totals(report: Report) -> Table:
    """What ran, what was compared, what the vectors tell apart and what they never reached."""
    rows = [
        *([("mode", report.mode)] if report.mode else []),
        *([("compiler", report.compiler)] if report.compiler else []),
        *([("flags", _flags(report))] if report.flags else []),
        *([("common flags", " ".join(report.common_flags))] if report.common_flags else []),
        *((outcome.implementation, outcome.made_as) for outcome in report.outcomes if outcome.made_as),
        ("vectors compared", f"{report.vectors_compared:,}"),
        ("lanes compared", f"{report.lanes_compared:,}"),
        ("distinct binaries", f"{report.distinct_binaries}"),
        ("instruction forms", f"{len(report.forms)}"),
    ]
    if report.engine == "lockstep":
        rows.append(("instructions in lockstep", f"{report.instructions_in_lockstep:,}"))
        rows.append(("in native code", str(report.native)))
    else:
        rows.append(("instructions", f"{report.instructions:,} on the machine alone"))
    if counts := report.unverified:
        total = f"{sum(counts.values()):,} instructions of {counted(len(counts), 'form')}"
        rows.append(("unverified by emulation", f"{total}: {'; '.join(counts)}"))
    if pairs := report.separation.of_own if report.separation is not None else []:
        apart = [f"{pair.other} {pair.lanes:,} lanes" for pair in pairs if pair.lanes]
        nothing = "nothing: these vectors cannot tell it from another convention"
        rows.append(("separated from", ", ".join(apart) or nothing))
        alike = [
            f"{pair.other} (refuses {pair.lanes_refused:,} lanes)" if pair.lanes_refused else pair.other
            for pair in pairs
            if not pair.lanes
        ]
        rows += [("not separated from", ", ".join(alike))] if alike else []
    if report.power is not None and report.power.lanes_aimed:
        beyond = f"; no domain is declared, so as its input sets show: {report.power.beyond}" * bool(
            report.power.beyond
        )
        rows.append(("lanes aimed", f"{report.power.lanes_aimed:,} besides, on the machine alone{beyond}"))
    if report.power is not None and report.power.rivals.rivals:
        rows.append(("rivals", str(report.power.rivals)))
    if report.power is not None and report.power.mistakes:
        rows.append(("mistakes shown", _mistakes(report.power)))
    if report.power is not None:
        ways = report.power.of_ways
        titles = {f"{outcome.implementation} {outcome.flags}".rstrip(): outcome.title for outcome in report.outcomes}
        builds = dict.fromkeys(titles.get(way.build, way.build) for way in ways)
        tried = f"in {', '.join(builds)}, with the aimed inputs"
        rows += [("operands met", _met(report.power.of_operands))] if report.power.of_operands else []
        rows += [("ways gone", _met(ways, tried))] if ways else []
    # what a guard stops has gone through a part of the inputs, the ways gone were asked of all
    built = [outcome for outcome in report.outcomes if outcome.coverage is not None]
    stopped = any(outcome.failure and outcome.mismatch is None for outcome in built)
    until = " in the calls before one was stopped" if stopped else ""
    for name, share in report.coverage.items():
        never, more = ", ".join(share.never[:_NEVER_SHOWN]), len(share.never) - _NEVER_SHOWN
        rest = f" and {more:,} more" if more > 0 else ""
        where = f" in {len(built)} builds, in lockstep" if len(built) > 1 and name == "branch outcomes" else ""
        met = f"{share.met:,} of {share.of:,}{where}{until}"
        rows.append((name, met + (f"; never {never}{rest}" if never else "")))
    rows += [("tolerance", report.tolerance)] if report.tolerance else []
    rows.append(("seed", f"{report.seed}"))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", overflow="fold")
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, escape(value))
    return table
