"""The jobs of a campaign: lists multiplied out, equal work once, the cheapest and most telling first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from glob import glob, has_magic
from itertools import product
from pathlib import Path
from typing import Any, Final

from isa.catalogue import forms_called
from isa.errors import LanewiseError
from sim.call.captured import read_lines
from sim.campaign.case import JobCase, PlannedJob, digest_of
from sim.campaign.file import Campaign, CampaignError, near_names
from sim.campaign.kernels import WHEEL, files_of, kernel_named, kernel_of, told_of_source
from sim.campaign.mutants import mutation
from sim.campaign.result import FAILURES
from sim.contents import digests, versions
from sim.cycles.cores import named_core
from sim.kernels.kernel import kernel_modes
from sim.kernels.kernel_file import is_path, load_modes
from sim.kernels.names import kernel_names
from sim.prove.claim import Claim
from sim.prove.file import claims_in
from sim.prove.report import built_in_claims, named
from sim.toolchain.compilers import is_source

EVERY: Final = "all"
"""In the place of names: all modes, all built-in kernels."""
_NUMBERS: Final = (
    "vectors",
    "count",
    "grid",
    "seconds",
    "lengths",
    "rows",
    "length",
    "line",
    "lanes",
    "engine",
    "aimed",
)
Values = Mapping[str, Any]


def planned(campaign: Campaign) -> list[PlannedJob]:
    """The jobs, each once, in the order of the file.  The working directory is the campaign's folder.

    Raises CampaignError with one sentence, of what kernel files, cores and claims are refused with too.
    """
    jobs: dict[bytes, PlannedJob] = {}
    made_of: dict[str, str] = {}  # numbers of inputs apart, as what cases are made of is read from files
    for block in campaign.blocks:
        try:
            for case, cost in _EXPANDED[block.kind](block.values):
                files = {name: value for name, value in case.more.items() if name not in _NUMBERS}
                about = json.dumps([case.kind, case.kernel, case.mode, case.source, case.compiler, case.flags,
                                    case.core, files])  # fmt: skip
                if about not in made_of:
                    made_of[about] = json.dumps(made_of_case(case), sort_keys=True)
                job = PlannedJob(case, _digest(case, made_of[about]), made_of[about], cost)
                jobs.setdefault(job.hash, job)
        except LanewiseError as error:
            told = CampaignError(f"{block.place}: {error}")
            told.exit_code = error.exit_code
            raise told from None
    return list(jobs.values())


def touching(campaign: Campaign, jobs: Iterable[PlannedJob], files: Iterable[Path]) -> list[PlannedJob]:
    """Those of the jobs that read one of the files; all where the campaign's own file is among them.

    The working directory is the campaign's folder.
    """
    touched = {file.resolve() for file in files}
    if campaign.file.resolve() in touched:
        return list(jobs)

    @cache
    def reads_one(made_of: str) -> bool:
        return any(Path(name).resolve() in touched for name in json.loads(made_of))

    return [job for job in jobs if reads_one(job.made_of)]


def planned_job(case: JobCase, cost: float = 0.0) -> PlannedJob:
    """The job that a case is here and now: of these files and versions."""
    made_of = json.dumps(made_of_case(case), sort_keys=True)
    return PlannedJob(case, _digest(case, made_of), made_of, cost)


def _digest(case: JobCase, made_of: str) -> bytes:
    return digest_of([case.hash.hex(), made_of, versions()])


def ordered(jobs: Sequence[PlannedJob], earlier: Mapping[bytes, tuple[str, float]]) -> list[PlannedJob]:
    """What failed before first, then what is cheap and unlike what comes before it.

    `earlier` has verdict and seconds by case.  The n-th job about the same implementation counts as n times as dear.
    """
    met: Counter[object] = Counter()
    keyed = []
    for job in jobs:
        case = job.case
        verdict, seconds = earlier.get(case.hash, ("", job.cost))
        about = (case.kind, case.kernel, case.mode, case.source, case.core)
        keyed.append(((verdict not in FAILURES, (1 + met[about]) * seconds), job._replace(cost=seconds)))
        met[about] += 1
    return [job for _, job in sorted(keyed, key=lambda one: one[0])]


def made_of_case(case: JobCase) -> dict[str, str]:
    """By path digests of the files that the job reads."""
    files = [Path(str(one)) for one in case.more.get("depends", ())]
    match case.kind:
        case "check" | "cycles" | "prove":
            return {**digests(files), **_made_of_kernel(case)}
        case "rtl":
            return {**digests(files), **files_of(case, kernel_named(case.kernel, case.mode))}
        case "replay":
            files += [Path(case.kernel), Path(case.kernel).with_suffix(".npz")]
        case "model":
            files += [Path(case.kernel), Path(str(case.more["against"]))]
        case "claim":
            files += [Path(str(case.more["file"]))] if case.more.get("file") else []
        case "exhaust" | "mutants" | "idle":
            pass
    return digests(files)


def _made_of_kernel(case: JobCase) -> dict[str, str]:
    made_of = files_of(case, kernel_of(case))
    return {**made_of, **(digests([Path(case.core)]) if case.core.endswith(".toml") else {})}


def _paths(given: Iterable[str]) -> list[str]:
    """Paths, with patterns of the shell spelled out."""
    found: list[str] = []
    for one in given:
        matches = sorted(glob(one, recursive=True)) if has_magic(one) else [one]
        if not matches:
            raise CampaignError(f"no file is called as in {one!r}")
        found += matches
    for path in found:
        if not Path(path).is_file():
            raise CampaignError(f"there is no file {path}: paths are from the folder of the campaign")
    return list(dict.fromkeys(found))


def _kernels(values: Values) -> Iterator[tuple[str, str]]:
    """Kernels and modes; without modes the first of each, as "" where it has one only."""
    names: list[str] = []
    for one in values["kernels"]:
        names += kernel_names() if one == EVERY else _paths([one]) if is_path(one) else [one]
    for name in dict.fromkeys(names):
        usual = "" if is_path(name) else kernel_named(name, "").mode
        wanted: list[str] = values["modes"] or [usual]
        if EVERY in wanted:
            wanted = [*(load_modes(Path(name)) if is_path(name) else kernel_modes(name))] or [usual]
        for mode in dict.fromkeys(wanted):
            kernel_named(name, mode)
            yield name, mode


def _builds(values: Values) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The implementations of kernels: compilers, levels and flags for sources, and programs of intrinsics once.

    Fields of a case, and what else must be known of it: of a source that another compiler compiles.
    """
    chosen: list[str] = values["sources"]
    met = set[str]()
    for name, mode in _kernels(values):
        kernel = kernel_named(name, mode)
        about = {"kernel": name, "mode": mode}
        known = [*(source.name for source in kernel.sources), *(["program"] if kernel.program is not None else [])]
        if twice := [one for one, count in Counter(known).items() if count > 1]:
            raise CampaignError(f"{name} has two sources called {twice[0]}: a campaign tells them by their file names")
        met.update(known)
        for source in kernel.sources:
            if chosen and source.name not in chosen:
                continue
            if not is_source(source):
                yield {**about, "source": source.name}, {}
                continue
            for compiler, level, flags in product(values["compilers"], values["levels"], values["flags"]):
                build = {"source": source.name, "compiler": compiler, "level": level, "flags": flags}
                if compiler == WHEEL:
                    yield {**about, **build, "compiler": ""}, {}
                else:
                    yield {**about, **build}, told_of_source(name, kernel, source)
        if kernel.program is not None and (not chosen or "program" in chosen):
            yield {**about, "source": "program"}, {}
    if strangers := [one for one in chosen if one not in met]:
        raise CampaignError(f"none of the kernels has a source {strangers[0]!r}{near_names(strangers[0], sorted(met))}")


def _depends(values: Values) -> dict[str, Any]:
    return {"depends": _paths(values["depends"])} if values["depends"] else {}


def _checks(values: Values) -> Iterator[tuple[JobCase, float]]:
    grids = [dict(zip(values["grid"], one, strict=True)) for one in product(*values["grid"].values())]
    builds: Iterable[tuple[dict[str, Any], dict[str, Any]]] = _builds(values)
    if values["objects"]:
        if sources := [one for one in _paths(values["objects"]) if is_source(Path(one))]:
            raise CampaignError(f"{sources[0]} is a source, and no object: name it in the kernel file's sources")
        of_object = {"symbol": values["symbol"]} if values["symbol"] else {}
        builds = [
            ({"kernel": name, "mode": mode, "source": Path(path).name}, {"object": path, **of_object})
            for name, mode in _kernels(values)
            for path in _paths(values["objects"])
        ]
    elif values["symbol"]:
        raise CampaignError("symbol is the function in objects: name these too")
    more = {"vectors": values["vectors"], "engine": values["engine"], **_depends(values)}
    more |= {"aimed": True} if values["aimed"] else {}
    for build, of_build in builds:
        slow = (4 if build.get("level") == "O0" else 1) * (10 if values["engine"] == "lockstep" else 1)
        cost = 0.1 + values["vectors"] * slow / 50_000 + 8 * values["aimed"]
        for grid, seed in product(grids, values["seeds"]):
            case = JobCase(
                kind="check", **build, seed=seed, more={**more, **of_build, **({"grid": grid} if grid else {})}
            )
            if grid:
                kernel_of(case)
            yield case, cost


def _hardware(values: Values) -> Iterator[tuple[JobCase, float]]:
    for name, mode in _kernels(values):
        for lanes, profile, seed in product(values["lanes"], values["profiles"], values["seeds"]):
            more = {"lanes": lanes, "profile": profile, "vectors": values["vectors"], **_depends(values)}
            yield JobCase(kind="rtl", kernel=name, mode=mode, source="rtl", seed=seed, more=more), 60.0


def _timings(values: Values) -> Iterator[tuple[JobCase, float]]:
    cores: list[str] = values["cores"]
    for core in cores:
        named_core(core)
    lengths: list[dict[str, Any]] = [{"length": length} for length in values["lengths"]] or [{}]
    for (build, of_build), core, length in product(_builds(values), cores, lengths):
        yield JobCase(kind="cycles", **build, core=core, more={**length, **of_build, **_depends(values)}), 1.0


def _proofs(values: Values) -> Iterator[tuple[JobCase, float]]:
    more = {"lengths": values["lengths"], "seconds": values["seconds"], **_depends(values)}
    more |= {"rows": values["rows"]} if values["rows"] else {}
    for build, of_build in _builds(values):
        if build["source"] != "program":
            yield JobCase(kind="prove", **build, more={**more, **of_build}), 20.0


def _claims(values: Values) -> Iterator[tuple[JobCase, float]]:
    file: str = values["file"]
    known = claims_of(file)
    more = {"seconds": values["seconds"], **({"file": file} if file else {}), **_depends(values)}
    for pattern in values["names"]:
        found = list(known.values()) if pattern == EVERY else named(known.values(), pattern)
        if not found:
            raise CampaignError(f"no claim is called {pattern!r}: `lanewise prove --list` names them")
        for claim in found:
            yield JobCase(kind="claim", kernel=claim.name, more=more), 1.0


def claims_of(file: str) -> Mapping[str, Claim]:
    """By name the claims of a file in its present state, or those of lanewise itself."""
    return _claims_in(Path(file).absolute(), json.dumps(digests([Path(file)]))) if file else _built_in_claims()


@cache
def _claims_in(file: Path, _made_of: str) -> Mapping[str, Claim]:
    return {claim.name: claim for claim in claims_in(file)}


@cache
def _built_in_claims() -> Mapping[str, Claim]:
    return {claim.name: claim for claim in built_in_claims()}


def _exhaustions(values: Values) -> Iterator[tuple[JobCase, float]]:
    for name, seed in product(values["instructions"], values["seeds"]):
        forms_called(name)
        yield JobCase(kind="exhaust", kernel=name, seed=seed), 60.0


def _replays(values: Values) -> Iterator[tuple[JobCase, float]]:
    for path in _paths(values["calls"]):
        for line, _ in read_lines(Path(path)):
            yield JobCase(kind="replay", kernel=path, more={"line": line, "engine": values["engine"]}), 0.1


def _models(values: Values) -> Iterator[tuple[JobCase, float]]:
    for file, against in product(_paths(values["files"]), _paths(values["against"])):
        yield JobCase(kind="model", kernel=file, more={"against": against}), 2.0


def _mutants(values: Values) -> Iterator[tuple[JobCase, float]]:
    known = mutation().modules()
    more = {"count": values["count"], "seconds": values["seconds"]}
    for pattern in values["modules"]:
        found = [one for one in known if pattern in (EVERY, one) or fnmatchcase(one.partition(" at ")[0], pattern)]
        if not found:
            names = sorted({one.partition(" at ")[0] for one in known})
            raise CampaignError(f"there is no module {pattern!r} to mutate{near_names(pattern, names)}")
        for module, seed in product(found, values["seeds"]):
            yield JobCase(kind="mutants", kernel=module, source="rtl", seed=seed, more=more), 10 + values["count"] / 5


def _idle(values: Values) -> Iterator[tuple[JobCase, float]]:
    for number in range(values["jobs"]):
        yield JobCase(kind="idle", kernel="idle", seed=number, more={"seconds": values["seconds"]}), values["seconds"]


_EXPANDED: Final[Mapping[str, Callable[[Values], Iterator[tuple[JobCase, float]]]]] = {
    "check": _checks, "rtl": _hardware, "cycles": _timings, "prove": _proofs, "claims": _claims,
    "exhaust": _exhaustions, "replay": _replays, "model": _models, "mutants": _mutants, "idle": _idle,
}  # fmt: skip
