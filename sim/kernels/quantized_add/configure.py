"""The operator as Simd exposes it: SynetQuantizedAddInit, which may return NULL, and Forward.

Source: docs/spec/quantized_add.md section 4.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sim.golden.addition import ACTIVATIONS, Activation, AddParameters, Folded, Quantization, fold
from sim.kernels.operator import (
    ConfigurationError,
    Shape,
    Status,
    Window,
    region_of,
    require_array,
    require_valid,
    status_of,
)
from sim.kernels.quantized_add.golden import FOLDED, Tensor, folded_steps, generic_steps, page_steps

DTYPES: Final[dict[str, np.dtype[Any]]] = {"FP32": np.dtype(np.float32), "UINT8": np.dtype(np.uint8)}
APPLIED_BY_THE_LIBRARY: Final = ("Identity", "ReLU")
MODES: Final = (*FOLDED, "page")
Fold = Callable[[AddParameters], Folded]


@dataclass(frozen=True)
class InputTensor:
    """What Init is told of an input: shape, type, zero point, and the scale (None is the NULL pointer, taken as 1).

    `data_type` is Simd's name; only FP32 and UINT8 are accepted.  `shape` may have any rank, 0 included, and sizes
    of 0; `ValueError` for a negative size, and for a zero point outside int32.  Of the output the shape is not used.
    """

    data_type: str
    shape: Shape = ()
    zero_point: int = 0
    scale: float | None = None

    def __post_init__(self) -> None:
        if min(self.shape, default=0) < 0:
            raise ValueError(f"shape is {self.shape}: no axis can be negative")
        _ = self.quantization  # which refuses a zero point that is none

    @property
    def quantization(self) -> Quantization:
        """Scale and zero point; any scale is accepted: 0, negative, infinite, NaN."""
        return Quantization(1.0 if self.scale is None else self.scale, self.zero_point)


def validate(a: InputTensor, b: InputTensor, output: InputTensor) -> Status:
    """Whether Init returns an operator; the first reason for NULL, in upstream's order.

    Order: type of a, type of b, type of the output, then the shapes, which must be equal lists: nothing is broadcast,
    and (4,) is not (2, 2).  Scales, zero points and the activation are not looked at.
    """
    return status_of(_faults(a, b, output))


def _faults(a: InputTensor, b: InputTensor, output: InputTensor) -> Iterator[str]:
    for name, operand in (("a", a), ("b", b), ("output", output)):
        if operand.data_type not in DTYPES:
            yield f"Init returns NULL: {name} has data type {operand.data_type}, it must be FP32 or UINT8"
    if a.shape != b.shape:
        yield f"Init returns NULL: a has shape {a.shape} and b {b.shape}, they must be equal, nothing is broadcast"


class QuantizedAdd:
    """The operator: made once, as Init does, then `forward` on arrays of the shapes, whole or window by window."""

    validate = staticmethod(validate)

    def __init__(
        self,
        a: InputTensor,
        b: InputTensor,
        output: InputTensor,
        activation: str = "Identity",
        mode: str = "neon_ties_away",
        make_folded: Fold | None = None,
        activation_parameters: tuple[float, ...] | None = None,
    ) -> None:
        """Check as `validate` does; `ConfigurationError` carries the reason for which Init returns NULL.

        `mode` names the backend that adds uint8 to uint8 (`MODES`); `make_folded` is how it makes ad, bd and t, by
        default contracted where the mode is fused.  Where a tensor is FP32, all backends run the same code.  Any
        activation is accepted, as upstream does, though `forward` may then crash there.  `activation_parameters` are
        Simd's actParams, at most two numbers of `Activation`; None is the NULL pointer, taken as two zeros.  Only mode
        page has activations that use them.  `ValueError` for an unknown mode, or more parameters.
        """
        if mode not in MODES:
            raise ValueError(f"unknown mode {mode!r}: give one of {', '.join(MODES)}")
        require_valid(validate(a, b, output))
        self._a, self._b, self._output, self._activation, self._mode = a, b, output, activation, mode
        self._make_folded = make_folded or (FOLDED[mode].fold if mode in FOLDED else fold)
        applied = Activation(activation if self._is_applied else "Identity", tuple(activation_parameters or ()))
        self._parameters = AddParameters(a.quantization, b.quantization, output.quantization, applied)

    @property
    def is_folded(self) -> bool:
        """Whether all three tensors are UINT8: then the activation is ignored, but for mode page."""
        return {self._a.data_type, self._b.data_type, self._output.data_type} == {"UINT8"}

    @property
    def _is_applied(self) -> bool:
        """Whether the mode has code for the activation; of bytes only mode page applies any."""
        return self._activation in (ACTIVATIONS if self._mode == "page" else APPLIED_BY_THE_LIBRARY)

    def forward(self, a: Tensor, b: Tensor, output: Tensor, window: Window | None = None) -> None:
        """Compute `output`, written in place, inside `window`, leaving the rest of it untouched.

        The arrays have the operator's types and shape; `output` may be `a` or `b` itself.  `window` holds one slice for
        each axis, step 1; None is the whole tensor.  `ConfigurationError`: upstream would call a NULL pointer here, or
        the page does not say how the activation is computed.
        `ValueError`: shape or window.  `TypeError`: dtype.
        """
        is_page = self._mode == "page"
        if not self._is_applied and not (self.is_folded and self._mode == "base"):
            raise ConfigurationError(
                f"the activation is {self._activation}: Init accepts it but Forward then calls a NULL pointer"
                f"{', and the page leaves open how it is computed' if is_page else ''}, "
                f"give {' or '.join(ACTIVATIONS if is_page else APPLIED_BY_THE_LIBRARY)}"
            )
        for name, array, operand in (("a", a, self._a), ("b", b, self._b), ("output", output, self._output)):
            require_array(name, array, self._a.shape, DTYPES[operand.data_type])
        region = region_of(window, self._a.shape)
        operands, dtype = (np.asarray(a[region]), np.asarray(b[region])), DTYPES[self._output.data_type].name
        if is_page:
            steps = page_steps(*operands, self._parameters, dtype)
        elif self.is_folded:
            steps = folded_steps(*operands, self._make_folded(self._parameters), self._mode)
        else:
            steps = generic_steps(*operands, self._parameters, dtype)
        output[region] = steps["output"]
