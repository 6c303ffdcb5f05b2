"""`gemm_core`: its parameters, a layer for it, and what it must give, by `sim.golden`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rtl_models.latencies import latency
from rtl_models.register_map import CHANNELS
from rtl_models.unit_values import Settings, channel_setting, read_bytes, requantize
from sim.golden.fixed_point import Int64Array, wrap_int32
from sim.kernels.conv2d.golden import Geometry, output_shape, window_sums
from sim.kernels.fully_connected.golden import Parameters
from sim.kernels.requantize.golden import Channels

BYTES: Final = 4
"""That a lane multiplies in a step."""
IMAGE_WORDS: Final = 4
"""Of an image in a beat."""
_JUNK: Final = b"\xa5"
CHANNEL_FIELDS: Final = ("bias", "multiplier", "shift", "left_shift")
"""The settings of a channel, in the order of their registers."""


@dataclass(frozen=True, kw_only=True)
class GemmCore:
    """The parameters of `lanes/gemm_core.sv`: `steps` is those of the longest k, `image` those of the largest image.

    Both are words, four bytes each.
    """

    rows: int = 4
    columns: int = 4
    deep: bool = False
    steps: int = 64
    channels: int = CHANNELS
    image: int = 1024

    @property
    def parameters(self) -> Mapping[str, int]:
        """As the module has them."""
        return {
            "Rows": self.rows, "Columns": self.columns, "Steps": self.steps, "Channels": self.channels,
            "Image": self.image, "Deep": int(self.deep),
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
        return latency("requantize", self.profile)


class GemmShape(NamedTuple):
    """A product of [m, k] by [k, n]; the rows may be windows of an image of so many beats."""

    m: int
    k: int
    n: int
    image: int = 0

    @property
    def steps(self) -> int:
        """Of a tile."""
        return -(-self.k // BYTES)

    @property
    def multiply_accumulates(self) -> int:
        """With those of channels that fill up words."""
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
    def title(self) -> str:
        """Such as "GemmShape(m=1, k=2, n=2, image=0)"."""
        return str(self.shape)

    @property
    def registers(self) -> Settings:
        """All settings of the core."""
        m, k, n, _ = self.shape
        return {**self.settings, "height": m, "width": k, "channels": n, "windows": 0}

    @property
    def multiply_accumulates(self) -> int:
        """Those that count."""
        return self.shape.m * self.b.size

    def with_settings(self, settings: Settings) -> GemmLayer:
        """The same bytes."""
        return replace(self, settings=settings)

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
            read_bytes(numbers, self.settings) + self.settings[offset]
            for numbers, offset in ((self.a, "a_offset"), (self.b, "b_offset"))
        )
        return wrap_int32(a @ b).astype(np.int64)


@dataclass(frozen=True)
class WindowLayer(GemmLayer):
    """a is an image [height, width, channels], b [window height, window width, channels, columns]; rows are windows."""

    geometry: Geometry

    @property
    def shape(self) -> GemmShape:
        """Of the product: channels are filled up to whole words."""
        _, *outer, columns = output_shape((1, *self.a.shape), self.b.transpose(3, 0, 1, 2).shape, self.geometry)
        depth = math.prod(self.b.shape[:2]) * self._pixel_words * BYTES
        return GemmShape(math.prod(outer), depth, columns, -(-self.image_words // IMAGE_WORDS))

    @property
    def title(self) -> str:
        """Such as "(3, 3, 16, 8) windows of (5, 5, 16), Geometry(...)"."""
        return f"{self.b.shape} windows of {self.a.shape}, {self.geometry}"

    @property
    def image_words(self) -> int:
        """For which the core must have room."""
        return math.prod(self.a.shape[:2]) * self._pixel_words

    @property
    def registers(self) -> Settings:
        """All settings of the core."""
        height, width, _ = self.a.shape
        geometry, window = self.geometry, self.b.shape[:2]
        _, _, out_width, _ = output_shape((1, *self.a.shape), (1, *window, self.a.shape[2]), geometry)
        return {
            **super().registers, "windows": 1, "image_width": width, "image_height": height, "out_width": out_width,
            "pixel_words": self._pixel_words, "window_width": window[1], "window_height": window[0],
            "stride_x": geometry.stride_x, "stride_y": geometry.stride_y, "left": geometry.left, "top": geometry.top,
        }  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """For `layer_of_json`."""
        return {**super().as_json(), "geometry": asdict(self.geometry)}

    def a_words(self, core: GemmCore) -> list[int]:
        """The beats of the image: channels are filled up with its zero point, each beat to the width of the stream."""
        filled = _filled(self.a, -self.settings["a_offset"] & 0xFF).tobytes()
        size = IMAGE_WORDS * BYTES
        beats = (filled[at : at + size].ljust(core.rows * BYTES, _JUNK) for at in range(0, len(filled), size))
        return [int.from_bytes(beat, "little") for beat in beats]

    def b_words(self, core: GemmCore) -> list[int]:
        """The beats of b."""
        filled = _filled(self.b, _JUNK[0]).astype(np.int64)
        return _words(filled.reshape(-1, filled.shape[3]).T, core.columns)

    def sums(self) -> Int64Array:
        """[m, n], as `GemmLayer.sums`."""
        image, weights = (read_bytes(numbers, self.settings) for numbers in (self.a, self.b))
        zeros = Parameters(
            factors=Channels((1 << 30,), (0,)), input_zero=-self.settings["a_offset"],
            weights_zero=-self.settings["b_offset"], minimum=0, maximum=0,
        )  # fmt: skip
        sums = window_sums(image[None], weights.transpose(3, 0, 1, 2), zeros, self.geometry)
        return wrap_int32(sums).astype(np.int64).reshape(self.shape.m, self.shape.n)

    @property
    def _pixel_words(self) -> int:
        return -(-int(self.a.shape[2]) // BYTES)


def layer_of_json(value: Mapping[str, Any]) -> GemmLayer:
    """What `as_json` of a layer made."""
    a, b = (np.array(value[name], np.int64) for name in "ab")
    if "geometry" in value:
        return WindowLayer(value["settings"], a, b, Geometry(**value["geometry"]))
    return GemmLayer(value["settings"], a, b)


def _filled(numbers: Int64Array, value: int) -> npt.NDArray[np.uint8]:
    """Bytes up to whole words of the channels, which are the third axis."""
    missing = [(0, 0)] * numbers.ndim
    missing[2] = (0, -numbers.shape[2] % BYTES)
    return np.pad(numbers, missing, constant_values=value).astype(np.uint8)


def _words(numbers: Int64Array, block: int) -> list[int]:
    """Of numbers [rows, k], block by block of rows: four bytes along k of each row; junk where there are none."""
    rows, k = numbers.shape
    filled = np.full((rows + -rows % block, k + -k % BYTES), _JUNK[0], np.uint8)
    filled[:rows, :k] = numbers
    # [block, row, step, byte] as [block, step, row, byte]
    beats = filled.reshape(-1, block, filled.shape[1] // BYTES, BYTES).swapaxes(1, 2).reshape(-1, block * BYTES)
    return [int.from_bytes(beat.tobytes(), "little") for beat in beats]
