"""The operator: validate(), configure() and run() for every mode, those of conv2d on weights for each channel.

Source: docs/spec/layers.md section 5.
"""

from sim.kernels.conv2d.configure import Conv2d
from sim.kernels.depthwise_conv2d.golden import depthwise_conv2d, geometry_faults, output_shape


class DepthwiseConv2d(Conv2d):
    """The operator: `configure` once, then `run` on arrays of the configured shapes, whole or window by window."""

    _golden = staticmethod(depthwise_conv2d)
    _geometry_faults = staticmethod(geometry_faults)
    _output_shape = staticmethod(output_shape)
