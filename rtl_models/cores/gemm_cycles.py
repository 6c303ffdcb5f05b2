"""Every cycle of `gemm_core`: a formula where nothing stalls, and each beat's cycle whatever the three sides decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rtl_models.cores.gemm import GemmCore, GemmShape

Decided = Sequence[bool]
"""By cycle whether a side offers or takes; always, behind the end."""


@dataclass(frozen=True)
class GemmTraffic:
    """When beats of a and of b are offered, which then stay until they are accepted, and when results are taken."""

    a: Decided = ()
    b: Decided = ()
    takes: Decided = ()


class GemmCycles(NamedTuple):
    """The cycles in which beats of a and b are accepted, from which results are there, and in which these are taken."""

    a: list[int]
    b: list[int]
    there: list[int]
    taken: list[int]


def layer_cycles(core: GemmCore, shape: GemmShape) -> int:
    """From the first beat to the last result, both with their cycles, where no side ever waits.

    The first tile's last step is multiplied in cycle S + 1.  Each further one needs its S steps, and waits for the rows
    of the one before; the rows of the last one follow, and the stages behind the array.  Windows begin when their image
    is there: so many as there are rows are found, then read, which a single tile of a block of rows does not hide.
    """
    blocks, tiles = shape.row_blocks(core), len(shape.column_blocks(core))
    finding = core.rows if shape.image else 0
    first = shape.image + finding + 1 if shape.image else 0
    of_block = max(tiles * max(shape.steps, core.rows), shape.steps + finding)
    last = (tiles - 1) * max(shape.steps, blocks[-1]) + blocks[-1]
    return first + shape.steps + 1 + (len(blocks) - 1) * of_block + last + core.output_stages + 1


def beat_cycles(core: GemmCore, shape: GemmShape, traffic: GemmTraffic, layers: int = 1) -> GemmCycles:
    """Of so many layers of one shape, one right after the other, from a core on that has none."""
    a, b, output = _Input(traffic.a), _Input(traffic.b), _Output(core.output_stages, traffic.takes)
    read = multiplied = -1  # the cycles of the latest step
    for _ in range(layers):
        begin = read + 1  # words of this layer are accepted behind the last step of the one before
        image = [a.accepted(begin) for _ in range(shape.image)]
        rows_in = _Windows(image[-1], core.rows, shape.steps) if image else a
        a_words: list[int] = []
        b_words: list[int] = []
        room = [begin]  # by number of blocks whose rows are through, the cycle from which their words are free
        for block, rows in enumerate(shape.row_blocks(core)):
            for tile in range(len(shape.column_blocks(core))):
                for step in range(shape.steps):
                    a_word, b_word = block * shape.steps + step, tile * shape.steps + step
                    if a_word == len(a_words):
                        too_many = max(0, a_word + 1 - core.a_words)
                        a_words.append(rows_in.accepted(room[-(-too_many // shape.steps)]))
                    if b_word == len(b_words):
                        b_words.append(b.accepted(begin))
                    read = max(read + 1, multiplied, a_words[a_word] + 1, b_words[b_word] + 1)
                    multiplied = read + 1
                multiplied = max(multiplied, output.moved)  # the last step waits for the rows of the tile before
                output.moved = multiplied
                for _ in range(rows):
                    output.move()
            room.append(read + 1)
    return GemmCycles(a.cycles, b.cycles, output.there, output.taken)


def _first(decided: Decided, cycle: int) -> int:
    """The first cycle, from one on, in which a side does it."""
    while cycle < len(decided) and not decided[cycle]:
        cycle += 1
    return cycle


class _Input:
    """A side that offers beats, and the cycles in which they were accepted."""

    def __init__(self, offers: Decided) -> None:
        self._offers = offers
        self.cycles: list[int] = []

    def accepted(self, ready: int) -> int:
        """The cycle of the next beat, if the core is ready from one on."""
        offered = _first(self._offers, self.cycles[-1] + 1 if self.cycles else 0)
        self.cycles.append(max(offered, ready))
        return self.cycles[-1]


class _Windows:
    """The rows that are windows of an image, whose last beat came in a cycle."""

    def __init__(self, image: int, rows: int, steps: int) -> None:
        self._rows, self._steps = rows, steps
        self._read = self._accepted = image
        self._words = 0

    def accepted(self, ready: int) -> int:
        """The cycle of the next word, from one on: read when the last one goes, or when the next windows are found."""
        begins = self._words % self._steps == 0
        self._read = max(self._read + 1 + self._rows * begins, self._accepted)
        self._accepted = max(self._read + 1, ready)
        self._words += 1
        return self._accepted


class _Output:
    """The stages behind the array, which all move unless a result waits, and when results were there and taken.

    `moved` is the cycle in which the latest row went into them.
    """

    def __init__(self, stages: int, takes: Decided) -> None:
        self._stages, self._takes = stages, takes
        self._waits: set[int] = set()
        self.moved = -1
        self.there: list[int] = []
        self.taken: list[int] = []

    def move(self) -> None:
        """The next row goes in as soon as it may, and out when it is taken."""
        self.moved = self._moving(self.moved + 1)
        cycle = self.moved
        for _ in range(self._stages - 1):
            cycle = self._moving(cycle + 1)
        self.there.append(cycle + 1)
        self.taken.append(_first(self._takes, cycle + 1))
        self._waits.update(range(cycle + 1, self.taken[-1]))

    def _moving(self, cycle: int) -> int:
        """The first cycle, from one on, in which no result waits."""
        while cycle in self._waits:
            cycle += 1
        return cycle
