"""Failures that belong together, and what is different between two runs."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sim.campaign.case import JobCase
from sim.campaign.kernels import foreign_command
from sim.campaign.result import FAILURES, JobResult
from sim.toolchain.shell import typed

Row = tuple[JobCase, bytes, JobResult]
"""A case, the hash of its job, and what came of it."""


@dataclass(frozen=True, kw_only=True)
class FailureGroup:
    """Failures of one kernel that part at the same place under the same convention, with flags that they were seen at.

    `case`, `job` and `result` are of the smallest of them: the one that was made small, else the one of least work.
    """

    kernel: str
    verdict: str
    place: str
    convention: str
    flags: tuple[str, ...]
    count: int
    case: JobCase
    job: bytes
    result: JobResult

    @property
    def smallest(self) -> str:
        """The failing case made small, as text, "" where that was not done."""
        return self.result.smallest

    @property
    def command(self) -> str:
        """What repeats the smallest alone."""
        return command_of(self.case)


class CoreTrend(NamedTuple):
    """How much longer cases take on a core than before: +0.04 is 4 %, the geometric mean of so many."""

    core: str
    change: float
    cases: int


@dataclass(frozen=True, kw_only=True)
class Trend:
    """What is different from an earlier run, of cases that both have but for `added` and `removed`."""

    new: tuple[Row, ...]
    gone: tuple[Row, ...]
    added: int
    removed: int
    cycles: tuple[CoreTrend, ...]


def flag_of(case: JobCase) -> str:
    """What a case was built with, or on what it was timed: the column of a heat map."""
    told = (f"-{case.level}" if case.level else "", case.flags, case.compiler, case.core)
    return " ".join(word for word in told if word) or (case.source if case.source in ("program", "rtl") else case.kind)


def grouped(rows: Iterable[Row]) -> list[FailureGroup]:
    """The failures in groups, the largest first."""
    found: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        case, _, result = row
        if result.verdict in FAILURES:
            kernel = f"{case.kernel}:{case.mode}" if case.mode else case.kernel
            # what has no place is told apart by what was said first, without its numbers
            said = "" if result.place else re.sub(r"\d", "", result.failure.partition("\n")[0])
            found[kernel, case.source, result.verdict, _line(result), result.convention, said].append(row)
    groups = []
    for (kernel, _, verdict, place, convention, _), failing in found.items():
        case, job, result = min(failing, key=_work)
        flags = tuple(dict.fromkeys(flag_of(one) for one, _, _ in failing))
        groups.append(
            FailureGroup(
                kernel=kernel, verdict=verdict, place=place, convention=convention, flags=flags, count=len(failing),
                case=case, job=job, result=result,
            )
        )  # fmt: skip
    return sorted(groups, key=lambda group: (-group.count, group.kernel, group.place))


def _line(result: JobResult) -> str:
    return result.place if result.verdict == "differs" else ""


def _work(row: Row) -> tuple[bool, float, bool, int, bytes]:
    case, job, result = row
    amount = float(case.more.get("vectors", 0)) or result.seconds
    return not result.smallest, amount, bool(case.compiler), case.seed or 0, job


def trend(before: Iterable[Row], now: Iterable[Row]) -> Trend:
    """What failures are new and gone, and how cycles changed on each core."""
    old = {case.hash: (case, job, result) for case, job, result in before}
    new, gone, added, seen = list[Row](), list[Row](), 0, set[bytes]()
    ratios: dict[str, list[float]] = defaultdict(list)
    for row in now:
        case, _, result = row
        seen.add(case.hash)
        earlier = old.get(case.hash)
        added += earlier is None
        failed = earlier is not None and earlier[2].verdict in FAILURES
        if result.verdict in FAILURES and not failed:
            new.append(row)
        if failed and result.verdict not in FAILURES:
            gone.append(row)
        if earlier is not None and earlier[2].cycles and result.cycles:
            ratios[case.core].append(result.cycles / earlier[2].cycles)
    cycles = (
        CoreTrend(core, math.exp(math.fsum(map(math.log, many)) / len(many)) - 1, len(many))
        for core, many in sorted(ratios.items())
    )
    return Trend(new=tuple(new), gone=tuple(gone), added=added, removed=len(old.keys() - seen), cycles=tuple(cycles))


def command_of(case: JobCase) -> str:
    """The command that does the same alone, from the folder of the campaign; "" for what has none."""
    more = case.more
    numbers: dict[str, object] = {"mode": case.mode or None, "seed": case.seed}
    build: dict[str, object] = {"opt": case.level or None, "cflags": case.flags or None}
    if case.compiler:
        build = {"opt": "O2", "compile": foreign_command(case)}
    given: dict[str, object]
    match case.kind:
        case "check":
            given = {**numbers, "vectors": more["vectors"], **build, "object": more.get("object")}
            given |= {"symbol": more.get("symbol"), "engine": None if more["engine"] == "lockstep" else more["engine"]}
            words = ["lanewise", "check", case.kernel]
        case "rtl":
            given = {**numbers, "opt": "O2", **{name: more[name] for name in ("vectors", "lanes", "profile")}}
            words = ["lanewise", "check", case.kernel, "--rtl"]
        case "cycles":
            given = {"mode": case.mode or None, "core": case.core, "length": more.get("length"), **build}
            words = ["lanewise", "cycles", case.kernel]
        case "prove":
            sizes = {name: ",".join(map(str, more[name])) for name in ("lengths", "rows") if name in more}
            given = {"mode": case.mode or None, **sizes, "timeout": more["seconds"], **build}
            words = ["lanewise", "prove", case.kernel]
        case "claim":
            words, given = ["lanewise", "prove", more.get("file") or case.kernel], {"timeout": more["seconds"]}
        case "exhaust":
            words, given = ["lanewise", "exhaust", case.kernel], {"seed": case.seed}
        case "replay":
            words = ["lanewise", "replay", case.kernel]
            given = {"engine": more["engine"], "line": more["line"]}
        case "model":
            words, given = ["lanewise", "model", case.kernel], {"against": more["against"]}
        case "mutants":
            words = ["lanewise", "rtl", "mutate", case.kernel]
            given = {"count": more["count"], "seed": case.seed, "timeout": more["seconds"]}
        case "idle":
            return ""
    for name, value in given.items():
        if value is not None:
            words += [f"--{name}", str(value)]
    for name, number in more.get("grid", {}).items():
        words += ["--hold", f"{name}={number}"]
    return typed(words)
