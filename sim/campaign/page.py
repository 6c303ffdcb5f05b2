"""What a campaign found, packed for a page: columns of texts that are there once, compressed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any, Final

from sim.campaign.groups import command_of, flag_of
from sim.campaign.report import CampaignReport, told_of, told_of_run
from sim.debug.page.html import html_page
from sim.view.sentences import visible

SCRIPT: Final = "results.js"
STYLE: Final = "results.css"


def results_page(report: CampaignReport) -> str:
    """The whole document: no server, no network, nothing that a text of it could script."""
    return html_page(f"{report.run.name}, run {report.run.number}", results_contents(report), SCRIPT, STYLE)


def results_contents(report: CampaignReport) -> bytes:
    """What the page shows, as JSON, compressed."""
    cases = [case for case, _, _ in report.rows]
    found = [result for _, _, result in report.rows]
    columns: dict[str, Sequence[Any]] = {
        "verdict": [one.verdict for one in found],
        "kind": [case.kind for case in cases],
        "kernel": [f"{case.kernel}:{case.mode}" if case.mode else case.kernel for case in cases],
        "source": [case.source for case in cases],
        "flag": [flag_of(case) for case in cases],
        "seed": [case.seed for case in cases],
        "place": [one.place for one in found],
        "convention": [one.convention for one in found],
        "step": [one.step for one in found],
        "lane": [one.lane for one in found],
        "cycles": [one.cycles for one in found],
        "seconds": [one.seconds for one in found],
        "failure": [one.failure for one in found],
        "smallest": [one.smallest for one in found],
    }
    trend = "" if report.trend is None or report.before is None else told_of(report.trend)
    contents = {
        "title": visible(f"{report.run.name}, run {report.run.number}"),
        "summary": visible(told_of_run(report)),
        "trend": f"since run {report.before.number}: {trend}" if report.before is not None else "",
        "columns": {name: _packed(values) for name, values in columns.items()},
        "commands": [visible(command_of(case)) for case in cases],
        "groups": [
            {
                "title": visible(" ".join(filter(None, (group.kernel, group.verdict, group.place, group.convention)))),
                "failure": visible(group.result.failure), "smallest": visible(group.smallest),
                "command": visible(group.command), "count": group.count, "kernel": visible(group.kernel),
            }
            for group in report.groups
        ],
    }  # fmt: skip
    return zlib.compress(json.dumps(contents, separators=(",", ":")).encode(), 6)


def _packed(values: Sequence[Any]) -> dict[str, list[Any]]:
    """Each value once, texts as they can be shown, and for each row the number of its value."""
    numbers: dict[Any, int] = {}
    index = [numbers.setdefault(value, len(numbers)) for value in values]
    shown = [visible(value) if isinstance(value, str) else value for value in numbers]
    return {"values": shown, "index": index}
