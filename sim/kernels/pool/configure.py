"""The operator: validate(), configure() and run() for every mode, on images with the channels last.

Source: docs/spec/neighbours.md section 20.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from sim.kernels.conv2d import golden as convolution
from sim.kernels.conv2d.golden import Geometry
from sim.kernels.operator import (
    AnyArray,
    Shape,
    Status,
    TensorInfo,
    format_faults,
    output_shape_faults,
    require_array,
    require_configured,
    require_info,
    require_valid,
    status_of,
)
from sim.kernels.pool.golden import MODES, MOST, pool


class PoolWindow(NamedTuple):
    """The window's pixels each way, where it goes, and the bounds of the output."""

    height: int
    width: int
    geometry: Geometry
    minimum: int
    maximum: int


def validate(input: TensorInfo, output: TensorInfo, window: PoolWindow, mode: str = "average_s8") -> Status:
    """Whether the operator can be configured; the first fault in order.

    Order: input type, shape, window, strides and padding, bounds, output type and shape, pixels of each window: 1 to
    65,536. An empty output passes.
    `TypeError`: no TensorInfo. `ValueError`: an unknown mode.
    """
    require_info("input", input)
    require_info("output", output)
    return status_of(_faults(input, output, window, mode))


def _faults(input: TensorInfo, output: TensorInfo, window: PoolWindow, mode: str) -> Iterator[str]:
    limits = np.iinfo(MODES[mode].dtype)
    kind = "QASYMM8" if limits.min == 0 else "QASYMM8_SIGNED"
    yield from format_faults("input", input, kind)
    shape = input.shape or ()
    if len(shape) != 4:
        yield f"input has shape {shape}: give [batches, height, width, channels]"
        return
    taps = (shape[3], window.height, window.width, shape[3])
    wrong = list(convolution.geometry_faults(shape, taps, window.geometry))
    yield from wrong
    if wrong:
        return
    if not limits.min <= window.minimum <= window.maximum <= limits.max:
        what = f"give {limits.min} <= minimum <= maximum <= {limits.max}"
        yield f"bounds are {window.minimum} and {window.maximum}: {what}"
    outer = convolution.output_shape(shape, taps, window.geometry)
    if not output.is_empty:
        yield from format_faults("output", output, kind)
        yield from output_shape_faults(TensorInfo(outer, kind), output)
    places = (_inside(window, y, x, shape) for y, x in product(range(outer[1]), range(outer[2])))
    counts = {len(rows) * len(columns) for rows, columns in places}
    if 0 in counts:
        yield "a window lies outside of the image: it has no pixels, and so no average"
    if max(counts) > MOST:
        yield f"a window has {max(counts)} pixels of the image: give {MOST} at most"


def _inside(window: PoolWindow, y: int, x: int, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """The rows and the columns of the image that a window has: none of either where it lies outside that way."""
    by = window.geometry
    rows = np.arange(window.height) + y * by.stride_y - by.top
    columns = np.arange(window.width) + x * by.stride_x - by.left
    return rows[(rows >= 0) & (rows < shape[1])], columns[(columns >= 0) & (columns < shape[2])]


class _Configured(NamedTuple):
    input_shape: Shape
    output_shape: Shape
    window: PoolWindow
    mode: str


class Pool2d:
    """The operator: `configure` once, then `run` on arrays of the configured shapes."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(self, input: TensorInfo, output: TensorInfo, window: PoolWindow, mode: str = "average_s8") -> None:
        """Check as `validate` does, give an empty output its shape and type, and remember the shapes.

        `ConfigurationError` carries the status text; `TypeError` and `ValueError` as `validate`.
        """
        require_valid(validate(input, output, window, mode))
        shape = input.shape or ()
        taps = (shape[3], window.height, window.width, shape[3])
        output.shape, output.data_type = convolution.output_shape(shape, taps, window.geometry), input.data_type
        self._configured = _Configured(shape, output.shape, window, mode)

    def run(self, input: AnyArray, output: AnyArray) -> None:
        """Compute `output`, in place; both have the configured shapes and the mode's dtype.

        `ConfigurationError`: not configured. `ValueError`: shape. `TypeError`: dtype.
        """
        made = require_configured(self._configured)
        dtype, (*_, channels) = MODES[made.mode].dtype, made.input_shape
        require_array("input", input, made.input_shape, dtype)
        require_array("output", output, made.output_shape, dtype)
        for n, y, x in product(*(range(size) for size in made.output_shape[:3])):
            rows, columns = _inside(made.window, y, x, made.input_shape)
            pixels = input[n][np.ix_(rows, columns)].reshape(-1, channels)
            output[n, y, x] = pool(pixels, made.window.minimum, made.window.maximum, made.mode)
