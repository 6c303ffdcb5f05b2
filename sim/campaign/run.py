"""A campaign run: its jobs spread, and every result kept as it comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import chdir, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from isa.errors import MISSING, LanewiseError
from sim.campaign.file import Campaign
from sim.campaign.groups import grouped
from sim.campaign.plan import ordered, planned, touching
from sim.campaign.result import JobResult
from sim.campaign.store import Store
from sim.campaign.work import JobRefused, JobTask, do_job
from sim.contents import versions
from sim.processes import LostItem, spread_apart
from sim.view.sentences import counted

Spread = Callable[[Iterable[JobTask]], Generator[tuple[JobTask, "JobResult | JobRefused | LostItem"], None, None]]
"""Does tasks somewhere, in no order."""
PER_JOB: Final = 0.002
"""Seconds that a job takes besides its work."""
SMALL: Final = ("check",)
"""Kinds of which a failing case can be made small."""


class WorkerRefused(LanewiseError):
    """A worker that is not what the campaign is; what was done is kept."""

    exit_code = MISSING


@dataclass(kw_only=True)
class CampaignRun:
    """How far a run is: `kept` results were there before, `done` came since; verdicts of both, by their number.

    `behind` and `ahead` are the guessed seconds of the jobs that were done and that are left.
    """

    number: int = 0
    name: str = ""
    jobs: int = 0
    kept: int = 0
    done: int = 0
    behind: float = 0.0
    ahead: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter)
    interrupted: bool = False

    @property
    def left(self) -> int:
        """The jobs without a result."""
        return self.jobs - self.kept - self.done


def on_this_machine(jobs: int, timeout: float, attempts: int) -> Spread:
    """Tasks in so many processes here."""
    return partial(_spread_here, jobs=jobs, timeout=timeout, attempts=attempts)


def _spread_here(
    tasks: Iterable[JobTask], *, jobs: int, timeout: float, attempts: int
) -> Generator[tuple[JobTask, JobResult | JobRefused | LostItem], None, None]:
    return spread_apart(do_job, tasks, jobs, timeout, attempts)


def run_campaign(
    campaign: Campaign, store: Store, spread: Spread, tell: Callable[[CampaignRun, str], None], again: bool = False,
    touched: Sequence[Path] = (),
) -> CampaignRun:  # fmt: skip
    """Do what has no result yet, then make the smallest case of every new group of failures small.

    `tell` is called with every result, and with a few words of it.  With `again` also what was stopped is done again.
    With `touched` files only jobs that read one of them are done, in a run under a name of its own; none where none do.
    An interrupt ends it; what came until then is kept.  Raises WorkerRefused, StoreStopped, and what planning raises.
    """
    with chdir(campaign.folder):
        jobs = planned(campaign)
        jobs = ordered(touching(campaign, jobs, touched) if touched else jobs, store.earlier(campaign.name))
    if touched and not jobs:
        return CampaignRun()
    name = f"{campaign.name}, of touched files" if touched else campaign.name
    run = CampaignRun(number=store.begin(name, versions(), jobs), name=name, jobs=len(jobs))
    before = store.kept(run.number)
    kept = {digest for digest, verdict in before.items() if not (again and verdict == "stopped")}
    run.kept, run.verdicts = len(kept), Counter(verdict for digest, verdict in before.items() if digest in kept)
    folder = str(campaign.folder)
    try:
        left = [JobTask(job.case, job.hash, folder, cost=job.cost + PER_JOB) for job in jobs if job.hash not in kept]
        run.ahead = sum(task.cost for task in left)
        with closing(spread(left)) as results:
            for task, found in results:
                result = _result(found)
                store.add(task.hash, result)
                run.done += 1
                run.behind += task.cost
                run.ahead -= task.cost
                run.verdicts[result.verdict] += 1
                tell(run, f"{task.case.title}: {result.verdict}")
        store.end(run.number)
        if run.verdicts["differs"]:
            smallest = [
                JobTask(group.case, group.job, folder, small=True)
                for group in grouped(store.rows(run.number))
                if not group.smallest and group.verdict == "differs" and group.case.kind in SMALL
            ]
            with closing(spread(smallest)) as results:
                for task, found in results:
                    made = _result(found)
                    text = made.smallest or f"not shrunk: {made.failure or 'it does not fail alone'}"
                    store.add_smallest(task.hash, text, made.place)
                    tell(run, f"{task.case.title}: the smallest failing case")
    except KeyboardInterrupt:
        run.interrupted = True
    return run


def _result(found: JobResult | JobRefused | LostItem) -> JobResult:
    if isinstance(found, JobRefused):
        raise WorkerRefused(f"a worker is not what this campaign is: {found.why}; what was done is kept")
    if isinstance(found, LostItem):
        return JobResult(
            verdict="stopped", seconds=round(found.seconds, 6), attempts=found.attempts,
            failure=f"no result in {counted(found.attempts, 'attempt')}: {found.reason}",
        )  # fmt: skip
    return found
