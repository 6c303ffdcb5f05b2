"""A kernel with one planted arithmetic fault, and its correct twin.

A line of a source that ends in `//! KIND: TEXT` is replaced by TEXT in the kernel with that fault; without it, in all
others.  The correct twin is the source with none replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from long.planted.arithmetic import Array, Inputs
from sim.kernels import Domain, Kernel, parse_prototype

HEADER = Path(__file__).parent / "scalar.h"
_FAULT = re.compile(r"(?P<right>.*?)\s*//! (?P<kind>\w+):(?P<wrong>.*)")


class Planted(NamedTuple):
    """A source with its golden reference, whose name is that of the function, prototype, and domains: wide and narrow.

    `suffix` is that of the source.
    """

    golden: Callable[[Inputs], dict[str, Array]]
    prototype: str
    wide: Mapping[str, Domain]
    narrow: Mapping[str, Domain]
    suffix: str = ".c"

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.golden.__name__


@dataclass(frozen=True)
class PlantedKernel:
    """A kernel file's content: `kind` is that of the fault, "" in a correct twin; `line` is where it is, else 0."""

    folder: Path
    source: Planted
    domain: str
    kind: str
    line: int

    @property
    def title(self) -> str:
        """Such as "add_s8 narrow: lane"."""
        return f"{self.source.name} {self.domain}: {self.kind or 'correct'}"

    @property
    def stem(self) -> str:
        """The name of its source without the suffix."""
        return f"{self.source.name}_{self.kind or 'correct'}"

    @property
    def places(self) -> set[str]:
        """The source line of the fault; where a line was left out, the nearest that have what it assigned."""
        lines, right = self.text().splitlines(), replace(self, line=0).text().splitlines()[self.line - 1]
        numbers = {self.line}
        if lines[self.line - 1].strip() in ("", "nop"):
            target = right.split("=")[0].rstrip("+- ")
            assigned = right.split()[1].rstrip(",") if self.source.suffix == ".s" else target.split()[-1]
            variable = re.compile(rf"\b{assigned.partition('[')[0]}\b")
            with_it = [number for number, line in enumerate(lines, 1) if variable.search(line)]
            before, behind = [n for n in with_it if n < self.line], [n for n in with_it if n > self.line]
            numbers = {*before[-1:], *behind[:1]}
        return {f"{self.stem}{self.source.suffix}:{number}" for number in numbers}

    def kernel(self, folder: Path) -> Kernel:
        """The kernel, with its source written to a folder."""
        stem = self.stem
        source = folder / f"{stem}{self.source.suffix}"
        source.write_text(self.text())
        (folder / HEADER.name).write_text(HEADER.read_text())
        name, signature = parse_prototype(f"void {self.source.name}{self.source.prototype}")
        domain = self.source.wide if self.domain == "wide" else self.source.narrow
        golden = self.source.golden
        return Kernel(name=stem, symbol=name, sources=(source,), signature=signature, golden=golden, domain=domain)

    def text(self) -> str:
        """The source, with the fault."""
        lines = []
        for number, line in enumerate(_lines(self.folder, self.source), 1):
            match = _FAULT.fullmatch(line)
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(
                line if not match else indent + match["wrong"].strip() if number == self.line else match["right"]
            )
        return "\n".join((*lines, ""))


class Corpus(NamedTuple):
    """Sources in a folder; each fault is planted in both domains, or else in one of them, in turn.

    `cannot_show` has proofs, by title, that a fault changes no output on any input of its domain.
    """

    folder: Path
    sources: tuple[Planted, ...]
    each_in_both: bool = False
    cannot_show: Mapping[str, Callable[[], bool]] = MappingProxyType({})

    def kernels(self) -> Iterator[PlantedKernel]:
        """The correct twins in both domains, and the faulty kernels."""
        for source in self.sources:
            found = [
                (n, match) for n, line in enumerate(_lines(self.folder, source), 1) if (match := _FAULT.match(line))
            ]
            for number, domain in enumerate(("wide", "narrow")):
                yield PlantedKernel(self.folder, source, domain, "", 0)
                for line, match in found if self.each_in_both else found[number::2]:
                    yield PlantedKernel(self.folder, source, domain, match["kind"], line)


def _lines(folder: Path, source: Planted) -> list[str]:
    return (folder / f"{source.name}{source.suffix}").read_text().splitlines()
