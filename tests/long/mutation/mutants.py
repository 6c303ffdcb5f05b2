"""The mutants of our own modules, by area, and which of them are taken."""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from long.mutation.blocks import Source
from long.mutation.operators import Change, changes

ROOT: Final = Path(__file__).resolve().parents[3]
AREAS: Final[Mapping[str, tuple[str, ...]]] = {
    "lockstep": ("sim/call/*.py",),
    "guards": ("sim/call/guards/*.py",),
    "blame": ("sim/check/**/*.py", "sim/explanation/**/*.py"),
    "timing": ("sim/timing/**/*.py",),
    "golden": ("sim/golden/**/*.py",),
}
"""By area, where its modules are."""


@dataclass(frozen=True, eq=False)
class Mutant:
    """A mistake in a module of ours.

    Its name stays what it is while neither the line nor what is put there changes, wherever in its function it moves.
    """

    name: str
    file: str
    source: Source
    change: Change

    @property
    def area(self) -> str:
        return self.name.partition("-")[0]

    @property
    def module(self) -> str:
        return self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def text(self) -> bytes:
        """The module with the mistake."""
        return self.change.planted(self.source)

    @property
    def words(self) -> str:
        where = f" in {self.change.function}" if self.change.function else ""
        return f"{self.file}:{self.change.line}: {self.change.operator}{where}"

    def difference(self) -> list[str]:
        """The lines that differ, with - and +."""
        one, other = (text.decode().splitlines() for text in (self.source.text, self.text))
        return [
            line for line in difflib.unified_diff(one, other, n=0, lineterm="") if line[:2] not in ("--", "++", "@@")
        ]


def files_of(area: str) -> list[str]:
    """The modules of an area, as paths from the root of the checkout."""
    return sorted(str(path.relative_to(ROOT)) for glob in AREAS[area] for path in ROOT.glob(glob))


def mutants_of(area: str) -> list[Mutant]:
    """All mutants of an area."""
    return [mutant for file in files_of(area) for mutant in _of_module(area, file)]


def drawn(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many of them by the seed, in the order of the modules; a change elsewhere in a module draws no others."""
    ranked = sorted(mutants, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.name}".encode()).digest())
    chosen = {mutant.name for mutant in ranked[:count]}
    return [mutant for mutant in mutants if mutant.name in chosen]


def _of_module(area: str, file: str) -> Iterator[Mutant]:
    source = Source.of((ROOT / file).read_bytes())
    lines, met = source.text.decode().splitlines(), Counter[str]()
    for change in changes(source):
        replaced = source.text[change.start : change.end].decode()
        key = "\n".join([file, change.function, lines[change.line - 1].strip(), replaced, change.text])
        met[key] += 1
        digest = hashlib.sha256(f"{key}\n{met[key]}".encode()).hexdigest()
        yield Mutant(f"{area}-{digest[:8]}", file, source, change)
