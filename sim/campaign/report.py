"""What came of a run: failures in groups, what is different from an earlier run, as data, tables and JUnit XML."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sim.campaign.groups import FailureGroup, Row, Trend, command_of, grouped, trend
from sim.campaign.result import VERDICTS
from sim.campaign.store import Store, StoredRun, StoreError
from sim.view.junit import xml_text
from sim.view.sentences import without_many_numbers

SHOWN = 20
"""Groups that are told in full."""


@dataclass(frozen=True, kw_only=True)
class CampaignReport:
    """The rows of a run, and of the one that it is compared with, None where there is none."""

    run: StoredRun
    rows: Sequence[Row]
    before: StoredRun | None
    trend: Trend | None

    @cached_property
    def verdicts(self) -> Counter[str]:
        """How many jobs have which."""
        return Counter(result.verdict for _, _, result in self.rows)

    @cached_property
    def groups(self) -> list[FailureGroup]:
        """The failures that belong together, the largest group first."""
        return grouped(self.rows)

    def as_json(self) -> dict[str, Any]:
        """Groups and differences, for machines."""
        return {
            "run": self.run._asdict(),
            "against": self.before and self.before._asdict(),
            "verdicts": {verdict: self.verdicts[verdict] for verdict in VERDICTS},
            "groups": [
                {
                    "kernel": group.kernel, "source": group.case.source, "verdict": group.verdict,
                    "place": group.place, "convention": group.convention, "flags": list(group.flags),
                    "count": group.count, "job": group.job.hex(), "failure": group.result.failure,
                    "smallest": group.smallest, "command": group.command,
                }
                for group in self.groups
            ],
            "trend": None if self.trend is None else {
                "new": [command_of(case) or case.title for case, *_ in self.trend.new],
                "gone": [command_of(case) or case.title for case, *_ in self.trend.gone],
                "added": self.trend.added,
                "removed": self.trend.removed,
                "cycles": [one._asdict() for one in self.trend.cycles],
            },
        }  # fmt: skip


def report_of(store: Store, run: int | None, against: int | None) -> CampaignReport:
    """Of a run, or of the last one, against another, or that of the same campaign before.  Raises StoreError."""
    runs = store.names()
    for number in (run, against):
        if number is not None and number not in runs:
            known = f"its runs are {', '.join(map(str, runs))}" if runs else "it has none"
            raise StoreError(f"{store.path} has no run {number}: {known}")
    if not runs:
        raise StoreError(f"{store.path} has no run: nothing was begun")
    chosen = store.run(run or max(runs))
    earlier = [number for number, name in runs.items() if number < chosen.number and name == chosen.name]
    compared = against if against is not None else earlier[-1] if earlier else None
    before = None if compared is None else store.run(compared)
    rows = list(store.rows(chosen.number))
    changed = trend(store.rows(before.number), rows) if before is not None else None
    return CampaignReport(run=chosen, rows=rows, before=before, trend=changed)


def show_results(report: CampaignReport, console: Console) -> None:
    """Print what failed, the smallest case of each group, and what is different."""
    groups = report.groups
    console.print(Text(told_of_run(report)))
    if groups:
        table = Table("jobs", "kernel", "verdict", "at", "is by", "with", box=None, header_style="bold")
        for group in groups[:SHOWN]:
            flags = ", ".join(group.flags[:3]) + (f" and {len(group.flags) - 3} more" if len(group.flags) > 3 else "")
            cells = (f"{group.count:,}", group.kernel, group.verdict, group.place, group.convention, flags)
            table.add_row(*map(Text, cells))
        console.print(table)
    for group in groups[:SHOWN]:
        console.print(Text(f"\n{group.kernel} {group.place or group.verdict}: {group.result.failure.strip()}"))
        if group.smallest:
            console.print(Text(f"  {without_many_numbers(group.smallest, '--json has them all')}"))
        if group.command:
            console.print(Text(f"  again: {group.command}"), soft_wrap=True)
    if len(groups) > SHOWN:
        console.print(Text(f"\nand {len(groups) - SHOWN:,} groups more: --json has all"))
    if report.trend is not None and report.before is not None:
        console.print(Text(f"since run {report.before.number}: {told_of(report.trend)}"))


def told_of_run(report: CampaignReport) -> str:
    """Which run it is, from when, and how many jobs have which verdict."""
    run, verdicts = report.run, report.verdicts
    began = time.strftime("%Y-%m-%d %H:%M", time.gmtime(run.started))
    told = ", ".join(f"{verdicts[verdict]:,} {verdict}" for verdict in VERDICTS if verdicts[verdict]) or "no results"
    left = f", {run.jobs - run.results:,} without a result" if run.results < run.jobs else ""
    return f"run {run.number} of {run.name}, {began} UTC: {run.jobs:,} jobs, {told}{left}"


def told_of(changed: Trend) -> str:
    """Such as "12 new, 3 gone, cycles +4.0 % on cortex-a55"."""
    said = [f"{len(changed.new):,} new, {len(changed.gone):,} gone"]
    said += [
        f"{count:,} cases {word}" for count, word in ((changed.added, "more"), (changed.removed, "fewer")) if count
    ]
    said += [f"cycles {100 * one.change:+.1f} % on {one.core}" for one in changed.cycles]
    return ", ".join(said)


def render_results(report: CampaignReport) -> bytes:
    """A test case for every job as JUnit XML, in UTF-8."""
    verdicts, missing = report.verdicts, report.run.jobs - report.run.results
    failures = verdicts["differs"] + verdicts["not built"]
    suites = Element("testsuites", name="lanewise")
    suite = SubElement(
        suites, "testsuite", name=xml_text(report.run.name), tests=str(len(report.rows) + bool(missing)),
        failures=str(failures), errors=str(verdicts["stopped"] + bool(missing)), skipped=str(verdicts["unknown"]),
    )  # fmt: skip
    for case, _, result in report.rows:
        seed = "" if case.seed is None else f" seed {case.seed}"
        one = SubElement(
            suite, "testcase", classname=xml_text(f"{case.kind}.{case.kernel}"), name=xml_text(case.title + seed),
            time=f"{result.seconds:.3f}",
        )  # fmt: skip
        properties = SubElement(one, "properties")
        SubElement(properties, "property", name="reproduce", value=xml_text(command_of(case)))
        if result.verdict != "agrees":
            kind = {"stopped": "error", "unknown": "skipped"}.get(result.verdict, "failure")
            told = SubElement(one, kind, message=xml_text(result.failure.partition("\n")[0]))
            told.text = xml_text("\n".join(part for part in (result.failure, result.smallest) if part))
    if missing:
        whole = SubElement(suite, "testcase", classname=xml_text(report.run.name), name="the whole campaign")
        SubElement(whole, "error", message=f"{missing} of {report.run.jobs} jobs have no result")
    indent(suites)
    document: bytes = tostring(suites, "utf-8", xml_declaration=True)
    return document + b"\n"
