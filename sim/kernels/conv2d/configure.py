"""The operator: validate(), configure() and run() for every mode, in the form of ACL's.

Source: docs/spec/layers.md section 4.
"""

from collections.abc import Iterator
from functools import partial

from sim.kernels.conv2d.golden import Geometry, conv2d, geometry_faults, output_shape
from sim.kernels.fully_connected.configure import ConfiguredLayer, LayerOperator, data_type_of, output_faults
from sim.kernels.fully_connected.golden import MODES, Parameters, parameter_faults
from sim.kernels.operator import (
    Status,
    TensorInfo,
    format_faults,
    require_info,
    require_valid,
    status_of,
)


class Conv2d(LayerOperator):
    """The operator: `configure` once, then `run` on arrays of the configured shapes, whole or window by window."""

    _golden = staticmethod(conv2d)
    _geometry_faults = staticmethod(geometry_faults)
    _output_shape = staticmethod(output_shape)

    @classmethod
    def validate(
        cls, input: TensorInfo, weights: TensorInfo, bias: TensorInfo | None, output: TensorInfo,
        parameters: Parameters, geometry: Geometry, mode: str = "s8_double_rounding",
    ) -> Status:  # fmt: skip
        """Whether the operator can be configured; the first fault in order.

        Order: input type, weights type, shapes and geometry, parameters, bias, output type and shape. An empty output
        passes.  `TypeError`: no TensorInfo.  `ValueError`: an unknown mode.
        """
        for name, info in (("input", input), ("weights", weights), ("output", output)):
            require_info(name, info)
        return status_of(cls._faults(input, weights, bias, output, parameters, geometry, mode))

    @classmethod
    def _faults(
        cls, input: TensorInfo, weights: TensorInfo, bias: TensorInfo | None, output: TensorInfo,
        parameters: Parameters, geometry: Geometry, mode: str,
    ) -> Iterator[str]:  # fmt: skip
        yield from format_faults("input", input, data_type_of(mode))
        yield from format_faults("weights", weights, data_type_of(mode))
        shapes = input.shape or (), weights.shape or ()
        wrong = list(cls._geometry_faults(*shapes, geometry))
        yield from wrong
        if wrong:
            return
        outer = cls._output_shape(*shapes, geometry)
        yield from parameter_faults(parameters, outer[3], mode)
        yield from output_faults(bias, output, outer, mode)

    def configure(
        self, input: TensorInfo, weights: TensorInfo, bias: TensorInfo | None, output: TensorInfo,
        parameters: Parameters, geometry: Geometry, mode: str = "s8_double_rounding",
    ) -> None:  # fmt: skip
        """Check as `validate` does, give an empty output its shape and type, and remember the shapes.

        `ConfigurationError` carries the status text; `TypeError` and `ValueError` as `validate`.
        """
        require_valid(self.validate(input, weights, bias, output, parameters, geometry, mode))
        shapes = input.shape or (), weights.shape or ()
        output.shape, output.data_type = self._output_shape(*shapes, geometry), data_type_of(mode)
        self._configured = ConfiguredLayer(
            shapes=(*shapes, output.shape),
            bias_shape=None if bias is None else bias.shape or (),
            golden=partial(self._golden, parameters=parameters, geometry=geometry, mode=mode),
            dtype=MODES[mode].dtype,
        )
