"""Core files: TOML with one line for each instruction class, every figure with its source.

    name = "tiny"                  title, order = "in" or "out", pipes = ["P"]
    [sources]                      key = "citation"
    [parameters]                   width = { value = 1, source = "key" }, and so on: all of them
    [queues]                       P = { entries = 8, source = "key" }
    [[levels]]                     name, size, ways, line, source, and latency where it is known
    [clock]                        megahertz, basis, source, where the core has one clock
    [about]                        not_modelled = ["what is left out"], and split, which goes with unseen
    [[validation]]                 kernels, error, source
    [[unseen]]                     project, family, rows, mean_absolute and source, and mean, largest and note
    [classes]                      "scalar csel" = { latency = 1, throughput = 0.5, uses = "P", basis = "model",
                                                     source = "key" }, with slots, accumulate and group, merge, first,
                                                     merges and status where they are not 1, none, latency, false,
                                                     true, "modelled"

The source of a figure is one key or several, separated by spaces.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from isa.errors import LanewiseError
from sim.timing.classes.all_classes import CLASSES
from sim.timing.model import entries
from sim.timing.model.core import (
    FRACTIONAL,
    WHOLE,
    About,
    Basis,
    CacheLevel,
    ClassTiming,
    Clock,
    Core,
    Status,
    Unseen,
    Validation,
    cycles_of,
    megahertz_of,
    parameter_of,
    parse_uses,
    time_of,
    whole_of,
)

_DIRECTORY = Path(__file__).parents[1] / "cores"
_KEYS = ("name", "title", "order", "pipes", "sources", "parameters", "about", "classes")
_MORE_KEYS = ("queues", "levels", "clock", "validation", "unseen")
_CLASS_KEYS = ("latency", "throughput", "uses", "basis", "source")
_LARGEST = 1 << 30
"""Bytes of a cache at most."""
_MORE_CLASS_KEYS = ("slots", "accumulate", "group", "merge", "first", "merges", "status")


class CoreError(LanewiseError):
    """A core file that is wrong, or a core that does not exist: one sentence that names it."""


def core_names() -> tuple[str, ...]:
    """The cores that come with the package."""
    return tuple(sorted(path.stem for path in _DIRECTORY.glob("*.toml")))


def load_core(name_or_path: str) -> Core:
    """The core of that name, or of the core file there.  Raises CoreError.

    What was measured of a core of the package is said of that core alone: a file that changes a copy does not have it.
    """
    known = name_or_path in core_names()
    path = _DIRECTORY / f"{name_or_path}.toml" if known else Path(name_or_path)
    if not path.is_file():
        near = [name for name in core_names() if name_or_path and name.endswith(f"-{name_or_path.lower()}")]
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise CoreError(f"there is no core {name_or_path!r}{meant}: give {', '.join(core_names())} or a core file")
    try:
        core = parse_core(path.read_text(encoding="utf-8"))
        return core if known else _as_its_own(core)
    except UnicodeDecodeError:
        raise CoreError(f"{path} is no core file: it is not text in UTF-8") from None
    except (OSError, ValueError, RecursionError) as error:
        raise CoreError(f"{path.name if known else path}: {error}") from None


def _as_its_own(core: Core) -> Core:
    """A core of a file outside of the package, without the errors that are those of the package's cores."""
    about = core.about
    if not (about.unseen or about.validation):
        return core
    cores = [load_core(name) for name in core_names()]
    if core in cores:  # the same text
        return core
    others = [one.about for one in cores]
    unseen = tuple(one for one in about.unseen if all(one not in other.unseen for other in others))
    validation = tuple(one for one in about.validation if all(one not in other.validation for other in others))
    split = about.split if unseen else ""
    return replace(core, about=replace(about, unseen=unseen, validation=validation, split=split))


@lru_cache(maxsize=64)
def parse_core(text: str) -> Core:
    """The core that the text of a core file describes, the same for the same text.

    Raises ValueError, its text one sentence.
    """
    file = entries.table(tomllib.loads(text, parse_float=cycles_of), _KEYS, "the file", _MORE_KEYS)
    sources = _Sources(file["sources"])
    pipes = entries.names(file["pipes"], "pipes")
    parameters = {
        name: entries.table(entry, ("value", "source"), name)
        for name, entry in entries.table(file["parameters"], (*WHOLE, *FRACTIONAL), "parameters").items()
    }
    name, title = entries.text(file["name"], "name"), entries.text(file["title"], "title")
    order: Literal["in", "out"] = entries.choice(file["order"], ("in", "out"), "order")
    classes = _classes(file["classes"], pipes, sources)
    queues = _queues(file.get("queues", {}), pipes, sources)
    levels = tuple(_level(entry, sources) for entry in entries.array(file.get("levels", []), "levels"))
    about, clock = _about(file, parameters, sources), None
    if "clock" in file:
        line = entries.table(file["clock"], ("megahertz", "basis", "source"), "clock")
        basis: Basis = entries.choice(line["basis"], get_args(Basis), "clock: basis")
        megahertz = entries.located("clock", megahertz_of, line["megahertz"])
        clock = Clock(megahertz, basis, sources.cited(line["source"], "clock"))
    values: dict[str, Any] = {
        name: entries.located(name, parameter_of, name, entry["value"]) for name, entry in parameters.items()
    }
    sources.refuse_unused()
    return Core(
        name=name, title=title, order=order, pipes=pipes, classes=classes, queues=queues, levels=levels, about=about,
        clock=clock, **values,
    )  # fmt: skip


class _Sources:
    """The citations by key, and which of them were used."""

    def __init__(self, entry: object) -> None:
        table = entries.free_table(entry, "sources")
        self.citations = {key: entries.text(value, f"source {key}") for key, value in table.items()}
        self._used: set[str] = set()

    def cited(self, keys: object, where: str) -> str:
        """The citations of one key or several."""
        found = entries.text(keys, f"{where}: source").split()
        for key in found:
            if key not in self.citations:
                raise ValueError(f"{where}: {key!r} is not one of the sources {', '.join(self.citations)}")
        self._used.update(found)
        return "; ".join(self.citations[key] for key in found)

    def refuse_unused(self) -> None:
        """Raises ValueError where nothing comes from a source."""
        if unused := self.citations.keys() - self._used:
            raise ValueError(f"nothing comes from the source {min(unused)!r}: leave it out")


def _classes(entry: object, pipes: Collection[str], sources: _Sources) -> dict[str, ClassTiming]:
    found = entries.free_table(entry, "classes")
    for name in found:
        if name not in CLASSES:
            raise ValueError(f"{name!r} is not an instruction class")
    for name in CLASSES:
        if name not in found:
            raise ValueError(f"the class {name!r} is missing")
    return {name: entries.located(repr(name), _class, name, found[name], pipes, sources) for name in CLASSES}


def _class(name: str, entry: object, pipes: Collection[str], sources: _Sources) -> ClassTiming:
    line = entries.table(entry, _CLASS_KEYS, "the line", _MORE_CLASS_KEYS)
    if ("accumulate" in line) != ("group" in line):
        raise ValueError("accumulate and group go together")
    latency, merge = time_of(line["latency"]), time_of(line["merge"]) if "merge" in line else None
    if merge is not None and (merge > latency or "group" in line):
        raise ValueError("merge is no more than the latency, and without accumulate")
    return ClassTiming(
        name=name,
        latency=latency,
        throughput=time_of(line["throughput"]),
        uses=parse_uses(entries.string(line["uses"], "uses"), pipes),
        accumulate=time_of(line["accumulate"]) if "accumulate" in line else None,
        group=entries.text(line["group"], "group") if "group" in line else "",
        merge=merge,
        slots=entries.count(line.get("slots", 1), "slots"),
        first=entries.flag(line.get("first", False), "first"),
        merges=entries.flag(line.get("merges", True), "merges"),
        basis=entries.choice(line["basis"], get_args(Basis), "basis"),
        source=sources.cited(line["source"], "the line"),
        status=entries.choice(line.get("status", "modelled"), get_args(Status), "status"),
    )


def _queues(entry: object, pipes: Collection[str], sources: _Sources) -> dict[str, int]:
    found = entries.free_table(entry, "queues")
    for pipe in found:
        if pipe not in pipes:
            raise ValueError(f"queues: there is no pipe {pipe!r}; the pipes are {', '.join(pipes)}")
    queues = {}
    for pipe, line in found.items():
        where = f"the queue of {pipe}"
        queue = entries.table(line, ("entries", "source"), where)
        sources.cited(queue["source"], where)
        queues[pipe] = entries.count(queue["entries"], f"{where}: entries")
    return queues


def _level(entry: object, sources: _Sources) -> CacheLevel:
    level = entries.table(entry, ("name", "size", "ways", "line", "source"), "levels", ("latency",))
    name = entries.text(level["name"], "levels: name")
    sources.cited(level["source"], name)
    size, ways, line = (entries.count(level[key], f"{name}: {key}", _LARGEST) for key in ("size", "ways", "line"))
    if size % (ways * line):
        raise ValueError(f"{name}: {size} bytes are not {ways} ways of lines of {line} bytes")
    latency = entries.located(name, whole_of, level["latency"]) if "latency" in level else None
    return CacheLevel(name, size, ways, line, latency)


def _about(file: Mapping[str, Any], parameters: Mapping[str, Mapping[str, object]], sources: _Sources) -> About:
    about = entries.table(file["about"], ("not_modelled",), "about", ("split",))
    omitted = tuple(entries.text(item, "not_modelled") for item in entries.array(about["not_modelled"], "not_modelled"))
    cited = {name: sources.cited(entry["source"], name) for name, entry in parameters.items()}
    validation = []
    for entry in entries.array(file.get("validation", []), "validation"):
        found = entries.table(entry, ("kernels", "error", "source"), "validation")
        kernels, error = (entries.text(found[key], f"validation: {key}") for key in ("kernels", "error"))
        validation.append(Validation(kernels, error, sources.cited(found["source"], "validation")))
    unseen = tuple(_unseen(entry, sources) for entry in entries.array(file.get("unseen", []), "unseen"))
    split = entries.text(about["split"], "about: split") if "split" in about else ""
    if bool(unseen) != bool(split):
        raise ValueError("unseen and the split of about go together")
    return About(tuple(sources.citations.values()), cited, omitted, tuple(validation), unseen, split)


def _unseen(entry: object, sources: _Sources) -> Unseen:
    keys, more = ("project", "family", "rows", "mean_absolute", "source"), ("mean", "largest", "note")
    line = entries.table(entry, keys, "unseen", more)
    family = entries.text(line["family"], "unseen: family")
    where = f"unseen, {family}"
    mean, largest = (
        entries.percent(line[key], f"{where}: {key}") if key in line else None for key in ("mean", "largest")
    )
    mean_absolute = entries.located(f"{where}: mean_absolute", cycles_of, line["mean_absolute"])
    if (mean or 0) - mean_absolute <= -100 and (largest is None or abs(largest) >= 100):
        raise ValueError(
            f"{where}: mean_absolute: {mean_absolute} below a mean of {mean or 0} percent is no error of an estimate"
        )
    return Unseen(
        project=entries.text(line["project"], f"{where}: project"),
        family=family,
        rows=entries.count(line["rows"], f"{where}: rows"),
        mean_absolute=mean_absolute,
        mean=mean,
        largest=largest,
        note=entries.text(line["note"], f"{where}: note") if "note" in line else "",
        source=sources.cited(line["source"], where),
    )
