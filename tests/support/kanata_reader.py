"""A strict reader of Kanata logs, by the grammar that Konata documents (kanata-log-format.md in its repository).

Konata itself forgives much and then shows nothing: here every deviation is a ValueError with the line.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_FIELDS = {"C": 2, "I": 4, "L": 4, "S": 4, "E": 4, "R": 4, "W": 4}


@dataclass
class Read:
    """An instruction as the log has it: (name, from, to) of its stages by lane, its labels by type."""

    born: int
    stages: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)
    open: dict[str, tuple[str, int]] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)
    producers: list[int] = field(default_factory=list)
    retirement: int = -1
    retired: int = -1

    def end(self, lane: str, name: str, now: int) -> None:
        if self.open.get(lane, ("", 0))[0] != name:
            raise ValueError(f"stage {name} of lane {lane} is not open")
        self.stages.setdefault(lane, []).append((name, self.open.pop(lane)[1], now))

    def executes(self) -> bool:
        """Whether it has a stage at which arrows can begin and end."""
        return any("X" in name for name, _, _ in self.stages.get("0", []))


def read_kanata(text: str) -> list[Read]:
    """The instructions by id.  Raises ValueError for anything that the grammar does not allow."""
    lines = text.splitlines()
    if not lines or lines[0] != "Kanata\t0004":
        raise ValueError("line 1: the header is missing")
    reader = _Reader()
    for place, line in enumerate(lines[1:], 2):
        try:
            reader.take(line.split("\t"))
        except (ValueError, IndexError, KeyError) as error:
            raise ValueError(f"line {place}, {line!r}: {error}") from error
    return reader.finished()


class _Reader:
    def __init__(self) -> None:
        self.now = 0
        self.read: list[Read] = []

    def take(self, columns: list[str]) -> None:
        if columns[0] not in _FIELDS or len(columns) != _FIELDS[columns[0]]:
            raise ValueError("no such command, or not its number of columns")
        if columns[0] == "C":
            self._pass(int(columns[1]))
        elif columns[0] == "I":
            self._begin(int(columns[1]))
        else:
            getattr(self, f"_{columns[0]}")(self._living(int(columns[1])), columns)

    def finished(self) -> list[Read]:
        """Raises ValueError for instructions that never end, that retire as one, or whose arrows have no end."""
        if any(one.retired < 0 for one in self.read):
            raise ValueError("an instruction does not retire")
        if len({one.retirement for one in self.read}) != len(self.read):
            raise ValueError("two instructions retire as one")
        if any(not (one.executes() and self.read[p].executes()) for one in self.read for p in one.producers):
            raise ValueError("an arrow needs a stage with an X at both ends")
        return self.read

    def _pass(self, cycles: int) -> None:
        if cycles < 1:
            raise ValueError("time goes forward only")
        self.now += cycles

    def _begin(self, number: int) -> None:
        if number != len(self.read):
            raise ValueError("ids are given one after the other")
        self.read.append(Read(self.now))

    def _living(self, number: int) -> Read:
        if number < 0 or self.read[number].retired >= 0:
            raise ValueError("the instruction has retired")
        return self.read[number]

    def _S(self, one: Read, columns: list[str]) -> None:
        if columns[2] in one.open:
            raise ValueError("a stage is still open in this lane")
        one.open[columns[2]] = (columns[3], self.now)

    def _E(self, one: Read, columns: list[str]) -> None:
        one.end(columns[2], columns[3], self.now)

    def _L(self, one: Read, columns: list[str]) -> None:
        if columns[2] not in ("0", "1", "2") or (columns[2] == "2" and not one.open):
            raise ValueError("labels are of type 0, 1, or 2 within a stage")
        one.labels.setdefault(columns[2], []).append(columns[3])

    def _W(self, one: Read, columns: list[str]) -> None:
        if not 0 <= int(columns[2]) < len(self.read):
            raise ValueError("the producer is not known yet")
        one.producers.append(int(columns[2]))

    def _R(self, one: Read, columns: list[str]) -> None:
        if one.open or columns[3] not in ("0", "1"):
            raise ValueError("a stage is still open, or the type is none")
        one.retirement, one.retired = int(columns[2]), self.now
