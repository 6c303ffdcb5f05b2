"""`gemm_core`: its parameters, a layer for it, and what it must give, by `sim.golden`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from rtl_models.latencies import latency
from rtl_models.register_map import CHANNELS
from rtl_models.unit_values import Settings, channel_setting, requantize
from sim.golden.fixed_point import Int64Array, wrap_int32

BYTES: Final = 4
"""That a lane multiplies in a step."""
CHANNEL_FIELDS: Final = ("bias", "multiplier", "shift", "left_shift")
"""The settings of a channel, in the order of their registers."""


@dataclass(frozen=True, kw_only=True)
class GemmCore:
    """The parameters of `lanes/gemm_core.sv`: `steps` is those of the longest k, four bytes each."""

    rows: int = 4
    columns: int = 4
    deep: bool = False
    steps: int = 64
    channels: int = CHANNELS

    @property
    def parameters(self) -> Mapping[str, int]:
        """As the module has them."""
        return {
            "Rows": self.rows, "Columns": self.columns, "Steps": self.steps, "Channels": self.channels,
            "Deep": int(self.deep),
        }  # fmt: skip

    @property
    def profile(self) -> str:
        """Of its pipeline: "shallow" or "deep"."""
        return "deep" if self.deep else "shallow"

    @property
    def peak(self) -> int:
        """Multiply-accumulates in a cycle."""
        return self.rows * self.columns * BYTES

    @property
    def a_words(self) -> int:
        """For which its buffer has room."""
        return 2 * self.steps

    @property
    def output_stages(self) -> int:
        """The register stages behind the array: those of requantize."""
        return latency("requantize", self.deep)


class GemmShape(NamedTuple):
    """A product of [m, k] by [k, n]."""

    m: int
    k: int
    n: int

    @property
    def steps(self) -> int:
        """Of a tile."""
        return -(-self.k // BYTES)

    @property
    def multiply_accumulates(self) -> int:
        """Those that count."""
        return self.m * self.k * self.n

    def row_blocks(self, core: GemmCore) -> list[int]:
        """The rows of each block."""
        return _blocks(self.m, core.rows)

    def column_blocks(self, core: GemmCore) -> list[int]:
        """The columns of each block."""
        return _blocks(self.n, core.columns)

    def marks(self, core: GemmCore) -> list[tuple[int, bool]]:
        """Of each beat of the result the bytes that are kept, and whether it is the last."""
        tiles = [(rows, columns) for rows in self.row_blocks(core) for columns in self.column_blocks(core)]
        kept = [columns for rows, columns in tiles for _ in range(rows)]
        return [(columns, number == len(kept) - 1) for number, columns in enumerate(kept)]


def _blocks(numbers: int, block: int) -> list[int]:
    return [min(block, numbers - first) for first in range(0, numbers, block)]


class ResultBeat(NamedTuple):
    """The bytes of one row, as many as are kept, and whether it is the layer's last."""

    numbers: tuple[int, ...]
    last: bool


@dataclass(frozen=True)
class GemmLayer:
    """Bytes 0..255, a [m, k] and b [k, n], and settings by name.

    The settings are a_offset, b_offset, rounding, offset, minimum, maximum, signed; of each channel `CHANNEL_FIELDS`.
    """

    settings: Settings
    a: Int64Array
    b: Int64Array

    @property
    def shape(self) -> GemmShape:
        """Of the product."""
        return GemmShape(len(self.a), len(self.b), self.b.shape[1])

    @property
    def registers(self) -> Settings:
        """All settings of the core."""
        m, k, n = self.shape
        return {**self.settings, "height": m, "width": k, "channels": n}

    def as_json(self) -> dict[str, Any]:
        """For `layer_of_json`."""
        return {"settings": dict(self.settings), "a": self.a.tolist(), "b": self.b.tolist()}

    def a_words(self, core: GemmCore) -> list[int]:
        """The beats of a."""
        return _words(self.a, core.rows)

    def b_words(self, core: GemmCore) -> list[int]:
        """The beats of b."""
        return _words(self.b.T, core.columns)

    def expected(self, core: GemmCore) -> list[ResultBeat]:
        """The beats of the result."""
        results = self.results()
        tiles = [
            results[row : row + core.rows, column : column + core.columns]
            for row in range(0, len(results), core.rows)
            for column in range(0, results.shape[1], core.columns)
        ]
        rows = [tuple(row.tolist()) for tile in tiles for row in tile]
        return [ResultBeat(row, number == len(rows) - 1) for number, row in enumerate(rows)]

    def results(self) -> Int64Array:
        """[m, n]: bytes 0..255."""
        sums, operands = self.sums(), {}
        for field in CHANNEL_FIELDS:
            row = [self.settings[channel_setting(field, channel)] for channel in range(self.shape.n)]
            operands[f"{field}_i"] = np.broadcast_to(np.array(row, np.int64), sums.shape)
        return requantize(self.settings, {"accumulator_i": sums, **operands}, self.shape.n)["result_o"]

    def sums(self) -> Int64Array:
        """[m, n]: the products with both offsets, wrapped in 32 bits; of the settings, the channels' are not needed."""
        a, b = (
            _read(numbers, self.settings["signed"]) + self.settings[offset]
            for numbers, offset in ((self.a, "a_offset"), (self.b, "b_offset"))
        )
        return wrap_int32(a @ b).astype(np.int64)


def layer_of_json(value: Mapping[str, Any]) -> GemmLayer:
    """What `GemmLayer.as_json` made."""
    return GemmLayer(value["settings"], *(np.array(value[name], np.int64) for name in "ab"))


def _read(octets: Int64Array, signed: int) -> Int64Array:
    return np.where(octets >= 128, octets - 256, octets) if signed else octets


def _words(numbers: Int64Array, block: int) -> list[int]:
    """Of numbers [rows, k], block by block of rows: four bytes along k of each row; 0xA5 where there are none."""
    rows, k = numbers.shape
    filled = np.full((rows + -rows % block, k + -k % BYTES), 0xA5, np.uint8)
    filled[:rows, :k] = numbers
    # [block, row, step, byte] as [block, step, row, byte]
    beats = filled.reshape(-1, block, filled.shape[1] // BYTES, BYTES).swapaxes(1, 2).reshape(-1, block * BYTES)
    return [int.from_bytes(beat.tobytes(), "little") for beat in beats]
