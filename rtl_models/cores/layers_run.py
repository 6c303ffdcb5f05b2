"""What `gemm_core` gives for layers: sent without stalls, from a reset on, every beat in the cycle predicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import numpy as np

from rtl_models.cores.gemm import GemmCore, GemmLayer
from rtl_models.cores.gemm_cycles import layer_cycles
from rtl_models.cores.gemm_harness import TOP, design
from rtl_models.cores.gemm_run import NAME, variables
from rtl_models.session import Session
from rtl_models.tools.build_cache import built
from rtl_models.tools.protocol import FRAMES, NUMBERS
from sim.golden.fixed_point import Int64Array

_BENCH: Final = "rtl_models.benches.layers_bench"


class LayersRun:
    """A core in Verilator; every call is a run of its own.

    Modules in the folders `before` go before those of the package.  Raises BuildError, and SimulationUnavailable where
    the environment lacks something.
    """

    def __init__(self, core: GemmCore, before: Sequence[Path] = ()) -> None:
        self._core, self._simulator = core, built(design(core, *before))

    def results(self, layers: Sequence[GemmLayer]) -> list[Int64Array]:
        """Of each layer its bytes 0..255, [m, n].  Raises WentWrong and SimulationUnavailable."""
        with self._sent(layers) as session:
            session.demand(_BENCH)
            rows = iter(session.read(NUMBERS)["rows"])
        return [self._joined(layer, rows) for layer in layers]

    def cycles(self, layers: Sequence[GemmLayer]) -> int:
        """That they take, one by one: each beat that the results are made of was in its cycle."""
        return sum(layer_cycles(self._core, layer.shape) for layer in layers)

    def waves(self, layers: Sequence[GemmLayer], file: Path) -> None:
        """Write the signals of such a run to a VCD file; its times count half cycles.  Raises as `results`."""
        with self._sent(layers) as session:
            session.demand(_BENCH, *self._simulator.tracing, str(file.absolute()))

    def _joined(self, layer: GemmLayer, rows: Iterator[Sequence[int]]) -> Int64Array:
        """The rows of all tiles at their places."""
        found = np.zeros((layer.shape.m, layer.shape.n), np.int64)
        for top, height in enumerate(layer.shape.row_blocks(self._core)):
            for left, width in enumerate(layer.shape.column_blocks(self._core)):
                for row in range(height):
                    first = left * self._core.columns
                    found[top * self._core.rows + row, first : first + width] = next(rows)
        return found

    def _sent(self, layers: Sequence[GemmLayer]) -> AbstractContextManager[Session]:
        session = Session(NAME, TOP, 1, self._simulator, variables(self._core))
        return session.holding(FRAMES, [layer.as_json() for layer in layers])
