"""What a bench puts a module through: cycles with given inputs, then a stream of beats with stalls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtl_models.mutation.scenarios.signals import Signals, packed, packed_known, row_count


@dataclass(frozen=True)
class Steps:
    """Rows of inputs and of the outputs that they must give; `silent` are rows of a stream without a beat."""

    inputs: Signals
    outputs: Signals
    silent: NDArray[np.bool_]

    def __len__(self) -> int:
        return row_count(self.inputs)

    def operands(self, row: int) -> dict[str, Any]:
        """The numbers on the inputs in a row."""
        return {port: signal.numbers[row].tolist() for port, signal in self.inputs.items()}

    def none(self) -> Steps:
        """The same ports without a row."""
        return self.part(slice(0))

    def part(self, rows: slice) -> Steps:
        """Some of the rows."""
        return Steps(_part(self.inputs, rows), _part(self.outputs, rows), self.silent[rows])

    def image(self) -> bytes:
        """The rows as they lie in the simulator's memory."""
        rows = [packed(self.inputs), packed(self.outputs), packed_known(self.outputs)]
        return np.hstack([*rows, self.silent.astype("<u4").view("u1").reshape(len(self), 4)]).tobytes()


def _part(signals: Signals, rows: slice) -> Signals:
    return {
        port: type(s)(s.bits, s.numbers[rows], None if s.defined is None else s.defined[rows])
        for port, s in signals.items()
    }


RESET_EDGES, LONG_RESET = 2, 16
"""For which a reset is held: of the package's modules, and of those that may need a clock for it."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A reset, then a cycle for each of `cycles`, then a stream of `beats`.

    `offers` and `takes` say cycle by cycle when the source offers a beat and when the sink is ready; within them every
    beat must come, in order and unchanged while it waits, unless `broken_off`: then the next scenario's reset meets
    whatever is on its way.  `latency` is the cycles from each beat to its result, where they are known.  For `drained`
    cycles behind the last result nothing more may come.  The reset is held for `reset_edges`.
    """

    name: str
    cycles: Steps
    beats: Steps
    offers: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    takes: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    broken_off: bool = False
    latency: int | None = None
    reset_edges: int = RESET_EDGES
    drained: int = 0

    def image(self) -> bytes:
        """All of it as the simulator reads it: counts as 32-bit numbers, then rows, then a byte for each cycle."""
        latency = -1 if self.latency is None else self.latency
        counts = [len(self.cycles), len(self.beats), len(self.offers), self.broken_off, latency]
        counts += [self.reset_edges, self.drained]
        both = (self.offers + 2 * self.takes.astype(np.uint8)).astype(np.uint8)
        return np.array(counts, "<i4").tobytes() + self.cycles.image() + self.beats.image() + both.tobytes()
