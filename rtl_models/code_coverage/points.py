"""The file of counts that a simulator for coverage writes: which points of a module were executed, how often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

Kind = Literal["line", "branch", "expr"]
KINDS: Final[tuple[Kind, ...]] = ("line", "branch", "expr")
"""Blocks of statements; sides of if and ?:; and the ways in which the parts of a condition make it true or false."""
_COUNT: Final = re.compile(r"^C '(.*)' (\d+)$", re.MULTILINE)
_SIZE: Final = re.compile(r"\b\d+'(?=s?h)")
"""The width of a constant, which differs with the parameters of the module."""


@dataclass(frozen=True)
class Point:
    """A place of a module; `line` is its text, `what` the side of the branch or the values of the condition's parts."""

    module: str
    number: int
    column: int
    kind: Kind
    line: str
    what: str

    def __str__(self) -> str:
        return f"{self.module}.sv:{self.number}: {self.kind} {self.what}: {self.line}"


Counts = Counter[Point]
"""Of all instances of a module together, whatever their parameters; 0 where a point was never executed."""


def added(several: Iterable[Counts]) -> Counts:
    """All together; a point that none of them executed stays, which the sum of counters would leave out."""
    total = Counts()
    for counts in several:
        total.update(counts)
    return total


def points_in(text: str, folders: Sequence[Path]) -> Counts:
    """The points of modules in the folders, from the content of a file of counts."""
    counts: Counts = Counter()
    lines: dict[Path, list[str]] = {}
    for key, times in _COUNT.findall(text):
        fields = dict(part.split("\x02", 1) for part in key.split("\x01") if part)
        if Path(fields["f"]).parent in folders:
            file, number = Path(fields["f"]), int(fields["l"])
            if file not in lines:  # Verilator takes comments in any encoding, and ends a line by a newline alone
                lines[file] = file.read_text(encoding="utf-8", errors="replace").split("\n")
            line = lines[file][number - 1].strip()
            kind, what = cast(Kind, fields["t"]), _SIZE.sub("'", fields["o"])
            counts[Point(file.stem, number, int(fields["n"]), kind, line, what)] += int(times)
    return counts
