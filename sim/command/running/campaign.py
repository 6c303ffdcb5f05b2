"""`lanewise campaign`: many jobs from one file, and a store of what came of them."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack, chdir
from importlib.util import find_spec
from pathlib import Path

import typer

from isa.errors import INTERRUPTED, MISMATCH, MISSING, pip_install
from sim.campaign.file import read_campaign
from sim.campaign.groups import command_of
from sim.campaign.plan import ordered, planned, touching
from sim.campaign.result import VERDICTS
from sim.campaign.run import CampaignRun, on_this_machine, run_campaign
from sim.campaign.store import Store
from sim.terminal.output import fail, print_json, print_progress, print_text, progress_bar

_SECONDS_A_LINE = 30.0
"""Between lines of progress where stderr is no terminal."""


def campaign(
    file: Path,
    touched: list[Path] | None,
    store: Path | None,
    jobs: int,
    scheduler: str | None,
    plan: bool,
    again: bool,
    as_json: bool,
) -> None:
    """Do what `lanewise campaign` says: its options are those of `sim.command.signatures.many.campaign`."""
    wanted, files = read_campaign(file), [one.absolute() for one in touched or []]
    place = store.absolute() if store is not None else wanted.store
    if plan:
        with chdir(wanted.folder):
            coming = planned(wanted)
            coming = ordered(touching(wanted, coming, files) if files else coming, {})
        kinds = Counter(job.case.kind for job in coming)
        if as_json:
            print_json("campaign-plan", [{"kind": job.case.kind, "job": job.hash.hex(), "command": command_of(job.case)}
                        for job in coming])  # fmt: skip
        else:
            lines = [f"  {command_of(job.case) or job.case.title}" for job in coming]
            counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
            print_text("\n".join([f"{len(coming):,} jobs: {counts}", *lines]))
        return
    begun = said = time.monotonic()
    with Store(place) as opened, ExitStack() as ending:
        if scheduler is None:
            spread = on_this_machine(jobs, wanted.timeout, wanted.attempts)
        elif find_spec("distributed") is None:
            fail(
                f"--scheduler needs distributed, which is not installed; run: {pip_install('lanewise[dask]')}", MISSING
            )
        else:
            from sim.campaign.cluster import on_cluster  # needs Dask, which is optional

            spread = ending.enter_context(on_cluster(scheduler, jobs, wanted.timeout, wanted.attempts))
        progress = ending.enter_context(progress_bar())
        task = progress.add_task("", total=None)

        def tell(run: CampaignRun, words: str) -> None:
            nonlocal said
            passed = time.monotonic() - begun
            # nothing is behind a run that only makes cases small
            left = passed * max(run.ahead, 0.0) / run.behind if run.behind else 0.0
            line = f"{run.done / passed:,.1f} jobs/s, about {left:,.0f} s left"
            failed = run.jobs - run.left - run.verdicts["agrees"]
            progress.update(
                task, total=run.jobs, completed=run.jobs - run.left, description=f"{failed:,} failed; {line}"
            )
            if progress.disable and time.monotonic() - said > _SECONDS_A_LINE:
                print_progress(f"{run.jobs - run.left:,} of {run.jobs:,} jobs, {failed:,} failed, {line}; {words}")
                said = time.monotonic()

        run = run_campaign(wanted, opened, spread, tell, again, files)
    if as_json:
        verdicts = {verdict: run.verdicts[verdict] for verdict in VERDICTS}
        of_jobs = {"jobs": run.jobs, "kept": run.kept, "done": run.done, "left": run.left}
        which = {"run": run.number, "store": str(place)}
        print_json("campaign", {**which, **of_jobs, "interrupted": run.interrupted, "verdicts": verdicts})
    elif not run.number:
        print_text(f"no job of {wanted.name} reads {'this file' if len(files) == 1 else 'one of these files'}")
    else:
        told = [f"{run.verdicts[verdict]:,} {verdict}" for verdict in VERDICTS if run.verdicts[verdict]]
        print_text(
            f"run {run.number} of {run.name}: {run.jobs:,} jobs, {run.kept:,} kept, {run.done:,} done now"
            f"{f', {run.left:,} left' if run.left else ''}\n{', '.join(told) or 'nothing was done'}\n"
            f"next: lanewise results {_from_here(place)}"
        )
    if run.interrupted:
        raise typer.Exit(INTERRUPTED)
    if run.verdicts["differs"] or run.verdicts["not built"]:
        raise typer.Exit(MISMATCH)
    if run.verdicts["stopped"] or run.verdicts["unknown"]:
        raise typer.Exit(MISSING)


def _from_here(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
