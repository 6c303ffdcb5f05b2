"""What a unit gives for frames: sent without stalls, from a reset on, and not compared."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import numpy as np

from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.session import Session
from rtl_models.tools.build_cache import built
from rtl_models.tools.protocol import FRAMES, NUMBERS
from rtl_models.unit_harness import TOP
from rtl_models.unit_run import Built
from rtl_models.unit_values import Results

_BENCH: Final = "rtl_models.benches.frames_bench"


class FramesRun:
    """A unit behind its configuration registers in Verilator; every call is a run of its own.

    Modules in the folders `before` go before those of the package.  Raises BuildError, and SimulationUnavailable where
    the environment lacks something.
    """

    def __init__(self, unit: Built, before: Sequence[Path] = ()) -> None:
        self._unit, self._simulator = unit, built(unit.design(*before))

    def results(self, frames: Sequence[UnitFrame]) -> list[Results]:
        """Of each frame, by port the numbers of its beats.  Raises WentWrong and SimulationUnavailable."""
        with self._sent(frames) as session:
            session.demand(_BENCH)
            numbers = {port: np.array(rows, np.int64) for port, rows in session.read(NUMBERS).items()}
        ends = np.cumsum([frame.beats for frame in frames])[:-1]
        parts = {port: np.split(rows, ends) for port, rows in numbers.items()}
        return [{port: rows[k] for port, rows in parts.items()} for k in range(len(frames))]

    def waves(self, frames: Sequence[UnitFrame], file: Path) -> None:
        """Write the signals of such a run to a VCD file; its times count half cycles.  Raises as `results`."""
        with self._sent(frames) as session:
            session.demand(_BENCH, *self._simulator.tracing, str(file.absolute()))

    def _sent(self, frames: Sequence[UnitFrame]) -> AbstractContextManager[Session]:
        session = Session(self._unit.unit.name, TOP, 1, self._simulator, self._unit.variables)
        return session.holding(FRAMES, [frame.as_json() for frame in frames])
