"""What a simulator has written: the signals of a VCD file (IEEE 1364-2005, 18.2), and their values cycle by cycle."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from isa.errors import LanewiseError
from sim.view.sentences import counted

_DIGITS: Final = frozenset("01")


class UnreadableWaveform(LanewiseError):
    """A file that is no VCD file: one sentence."""


@dataclass(frozen=True)
class Signal:
    """A variable of so many bits, and when it became what: None where some bit is unknown."""

    name: str
    bits: int
    changes: Sequence[tuple[int, int | None]]

    def before(self, time: int) -> int | None:
        """The value that a flip-flop samples at an edge at that time: the last one from earlier."""
        at = bisect_left(self.changes, time, key=lambda change: change[0])
        return self.changes[at - 1][1] if at else None


@dataclass(frozen=True)
class Waves:
    """The signals of a file by their whole names, such as "configured_unit.u_quantize_down.shift_q"."""

    signals: Mapping[str, Signal]

    def signal(self, name: str) -> Signal:
        """The one whose name is this or ends in it, with a whole name of a scope; of several the outermost.

        Raises ValueError where there is none.
        """
        found = [signal for whole, signal in self.signals.items() if f".{whole}".endswith(f".{name}")]
        if not found:
            raise ValueError(f"no signal is called {name!r}: the file has {counted(len(self.signals), 'other')}")
        return min(found, key=lambda signal: signal.name.count("."))

    def edges(self, clock: str = "clk_i") -> list[int]:
        """The times at which the clock rises."""
        changes = self.signal(clock).changes
        return [time for (_, old), (time, new) in pairwise(changes) if (old, new) == (0, 1)]

    def sampled(self, name: str, times: Sequence[int]) -> list[int | None]:
        """The values of a signal just before each of these times, such as edges: one a cycle."""
        signal = self.signal(name)
        return [signal.before(time) for time in times]


def read_waves(file: Path) -> Waves:
    """The signals of a VCD file.  Raises UnreadableWaveform, and OSError."""
    try:
        head, _, body = file.read_text().partition("$enddefinitions")
        variables, changes = _variables(head), _changes(body.partition("$end")[2])
    except (ValueError, IndexError) as error:
        raise UnreadableWaveform(f"{file.name} is no VCD file: {error}") from error
    if not variables:
        raise UnreadableWaveform(f"{file.name} is no VCD file: it declares no variable")
    return Waves({name: Signal(name, bits, changes[code]) for name, bits, code in variables})


def _variables(head: str) -> list[tuple[str, int, str]]:
    """Name with scopes, bits, and code."""
    scopes: list[str] = []
    found = []
    for command in head.split("$end"):
        words = command.split()
        if words[:1] == ["$scope"]:
            scopes.append(words[2])
        elif words[:1] == ["$upscope"]:
            scopes.pop()
        elif words[:1] == ["$var"]:
            found.append((".".join([*scopes, words[4]]), int(words[2]), words[3]))
    return found


def _changes(body: str) -> dict[str, list[tuple[int, int | None]]]:
    """By code.  A vector is "b1010 code", a single bit "1code"; lines of other kinds change nothing."""
    found: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
    time = 0
    for line in body.splitlines():
        if line.startswith("#"):
            time = int(line[1:])
        elif line.startswith(("b", "B")):
            digits, code = line[1:].split()
            found[code].append((time, _number(digits)))
        elif line.startswith(("0", "1", "x", "X", "z", "Z")):
            found[line[1:].strip()].append((time, _number(line[0])))
    return found


def _number(digits: str) -> int | None:
    return int(digits, 2) if _DIGITS.issuperset(digits) else None
