"""What is kept in the cache, as a list on the terminal and for machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TypedDict

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sim.toolchain.cache import KeptFile

_WORDS = {
    "aimed-*.pickle": "inputs aimed at code",
    "proof-*.json": "proofs",
    "synthesis-*.json": "figures of synthesis",
    "mutation-*.json": "verdicts on mutants",
    "equations-*.smt2": "hardware as equations",
    ".elf": "linked programs",
    ".a": "runtime of programs",
    ".so": "lanes as C, compiled",
    ".sim": "simulators of hardware",
    ".mutants": "simulators of mutants",
    ".loop": "loops over all operands",
    ".gch": "Verilator's headers",
    ".o": "Verilator's runtime",
    ".json": "origins of files",
    ".lock": "locks of builds",
}
"""What files are, by the end of their kind; sources given as texts are what they are called."""


class Kind(TypedDict):
    """The files of one kind: how many, their bytes, and the date and time of this computer when one was used last."""

    kind: str
    files: int
    bytes: int
    last_used: str


def summary(files: Iterable[KeptFile]) -> list[Kind]:
    """The files by kind, the largest kind first."""
    kinds = []
    for kind, group in groupby(sorted(files, key=attrgetter("kind")), attrgetter("kind")):
        same = list(group)
        used = datetime.fromtimestamp(max(file.used for file in same)).isoformat(" ", "minutes")
        kinds.append(Kind(kind=kind, files=len(same), bytes=sum(file.size for file in same), last_used=used))
    return sorted(kinds, key=lambda kind: -kind["bytes"])


def show_kept(folder: Path, kinds: Sequence[Kind], console: Console) -> None:
    """Print each kind and the sum."""
    if kinds:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
        for column in ("kind", "", "files", "MiB", "last used"):
            table.add_column(column, justify="right" if column in ("files", "MiB") else "left", overflow="fold")
        for kind in kinds:
            size = f"{kind['bytes'] / 2**20:.1f}"
            words = next((words for end, words in _WORDS.items() if kind["kind"].endswith(end)), "")
            table.add_row(escape(kind["kind"]), words, str(kind["files"]), size, kind["last_used"])
        console.print(table)
    files, total = sum(kind["files"] for kind in kinds), sum(kind["bytes"] for kind in kinds)
    console.print(f"{files} files, {total / 2**20:.1f} MiB in {escape(str(folder))}", highlight=False, soft_wrap=True)
