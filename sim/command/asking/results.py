"""`lanewise results`: what failed in a campaign, and what is different from before."""

from __future__ import annotations

from collections import Counter
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import typer

from isa.errors import MISMATCH, MISSING, pip_install
from sim.campaign.page import results_page
from sim.campaign.report import render_results, report_of, show_results
from sim.campaign.result import FAILED
from sim.campaign.store import Store
from sim.terminal.output import fail, print_json, print_progress, print_shown, write_file
from sim.terminal.writable import require_writable


def results(
    store: Path,
    run: int | None,
    against: int | None,
    allow: int,
    new: bool,
    slower: float | None,
    junit_file: Path | None,
    html_file: Path | None,
    parquet_file: Path | None,
    as_json: bool,
) -> None:
    """Do what `lanewise results` says: its options are those of `sim.command.signatures.many.results`."""
    require_writable("--junit", junit_file)
    require_writable("--html", html_file)
    require_writable("--parquet", parquet_file)
    if parquet_file is not None and find_spec("pyarrow") is None:
        fail(f"--parquet needs pyarrow, which is not installed; run: {pip_install('lanewise[parquet]')}", MISSING)
    with Store(store, reading=True) as opened:
        report = report_of(opened, run, against)
        if parquet_file is not None:
            from sim.campaign.parquet import packed_results  # needs pyarrow, which is optional

            write_file(parquet_file, packed_results(opened, report.run))
    if report.trend is None and (new or slower is not None):
        no_other = f"{report.run.name} has no run before run {report.run.number}"
        print_progress(f"nothing to compare with: {no_other}, so nothing counts as new or slower")
    if as_json:
        print_json("results", report.as_json())
    else:
        print_shown(partial(show_results, report))
    if junit_file is not None:
        write_file(junit_file, render_results(report))
    if html_file is not None:
        write_file(html_file, results_page(report).encode())
    counted, cycles = () if new else report.rows, 0.0
    if report.trend is not None:
        counted = report.trend.new if new else counted
        cycles = max((100 * one.change for one in report.trend.cycles), default=0.0)
    verdicts = Counter(result.verdict for _, _, result in counted)
    if sum(verdicts[verdict] for verdict in FAILED) > allow or (slower is not None and cycles > slower):
        raise typer.Exit(MISMATCH)
    if report.run.results < report.run.jobs or report.verdicts["unknown"] or verdicts["stopped"]:
        raise typer.Exit(MISSING)
