"""The operator: validate() and configure() stand for upstream's constructor, run() for its operator*.

Source: docs/spec/quantized_multiplier.md sections 2 and 6.
"""

from dataclasses import dataclass

import numpy as np

from sim.golden.derivation import Derived, Real
from sim.golden.fixed_point import Int32Array
from sim.kernels.operator import (
    ConfigurationError,
    ErrorCode,
    Shape,
    Status,
    Window,
    region_of,
    require_array,
    require_configured,
)
from sim.kernels.quantized_multiplier.golden import MODES, quantized_multiplier

ARMNN_MODES = ("armnn_24_08", "x86_count_mod_32")


class InvalidArgumentException(ConfigurationError):
    """What ArmNN's constructor throws for a factor outside of 0 <= factor < 1."""


def validate(factor: Real, mode: str = "armnn_24_08") -> Status:
    """Whether the constructor takes the factor, in ACL's form of an answer.

    A shift that the product then leaves undefined passes, as upstream. `TypeError`: not a real number. `ValueError`: an
    unknown mode.
    """
    derive = MODES[mode].derive
    try:
        derive(factor)
    except ValueError as refusal:
        return Status(ErrorCode.RUNTIME_ERROR, str(refusal))
    return Status()


@dataclass(frozen=True)
class _Configured:
    factor: Real
    shape: Shape
    mode: str


class QuantizedMultiplier:
    """The operator: `configure` once, then `run` on int32 arrays of that shape, whole or window by window."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(self, factor: Real, shape: Shape, mode: str = "armnn_24_08") -> Derived:
        """Remember the factor and the shape; returns the multiplier and the left shift, whatever the product defines.

        `InvalidArgumentException`: a factor that ArmNN's constructor refuses; `ConfigurationError`: one that another
        mode's does, with the status text. `ValueError`: a negative size, or an unknown mode.
        """
        if min(shape, default=0) < 0:
            raise ValueError(f"shape is {shape}: give sizes of 0 or more")
        status = validate(factor, mode)
        if not status:
            raise (InvalidArgumentException if mode in ARMNN_MODES else ConfigurationError)(status.description)
        self._configured = _Configured(factor, tuple(shape), mode)
        return MODES[mode].derive(factor)

    def run(self, values: Int32Array, products: Int32Array, window: Window | None = None) -> None:
        """Compute `products` (written in place) inside `window`, leaving the rest untouched.

        Both arrays are int32 of the configured shape; `window` holds one slice for each axis, step 1, None is all.
        `ValueError`: shape, window, not configured, or a shift that the product does not define. `TypeError`: dtype.
        """
        made = require_configured(self._configured)
        require_array("values", values, made.shape, np.dtype(np.int32))
        require_array("products", products, made.shape, np.dtype(np.int32))
        region = region_of(window, made.shape)
        products[region] = quantized_multiplier(np.asarray(values[region]), made.factor, made.mode)
