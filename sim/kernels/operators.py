"""The operators of all built-in kernels with what their calls take: the documented interfaces made executable.

Each has `validate`, a configure step and a run on arrays, whole or window by window: see docs/operators.md.
"""

from sim.kernels.activation_table.configure import ActivationTable
from sim.kernels.arithmetic_addition.configure import ArithmeticAddition
from sim.kernels.conv2d.configure import Conv2d
from sim.kernels.conv2d.golden import Geometry
from sim.kernels.depthwise_conv2d.configure import DepthwiseConv2d
from sim.kernels.fully_connected.configure import FullyConnected
from sim.kernels.fully_connected.golden import FloatChannels
from sim.kernels.fully_connected.golden import Parameters as LayerParameters
from sim.kernels.fused_output_stage.configure import FusedOutputStage
from sim.kernels.interleave4x4.configure import Interleave4x4
from sim.kernels.matrix_product.configure import MatrixProduct
from sim.kernels.matrix_product.golden import panels_of
from sim.kernels.matrix_reduction.configure import MatrixReduction
from sim.kernels.offset_contribution.configure import OffsetContribution
from sim.kernels.offset_contribution.golden import Parameters as OffsetParameters
from sim.kernels.operator import BorderSize, ConfigurationError, ErrorCode, Status, TensorInfo
from sim.kernels.pool.configure import Pool2d, PoolWindow
from sim.kernels.quantize_down.configure import QuantizeDown
from sim.kernels.quantize_down.golden import Parameters as QuantizeDownParameters
from sim.kernels.quantized_add.configure import InputTensor, QuantizedAdd
from sim.kernels.quantized_multiplier.configure import InvalidArgumentException, QuantizedMultiplier
from sim.kernels.requantize.configure import Requantize
from sim.kernels.requantize.golden import Channels, FloatScale, IntegerScale
from sim.kernels.transpose1xw.configure import Transpose1xW

__all__ = [
    "ActivationTable",
    "ArithmeticAddition",
    "BorderSize",
    "Channels",
    "ConfigurationError",
    "Conv2d",
    "DepthwiseConv2d",
    "ErrorCode",
    "FloatChannels",
    "FloatScale",
    "FullyConnected",
    "FusedOutputStage",
    "Geometry",
    "InputTensor",
    "IntegerScale",
    "Interleave4x4",
    "InvalidArgumentException",
    "LayerParameters",
    "MatrixProduct",
    "MatrixReduction",
    "OffsetContribution",
    "OffsetParameters",
    "Pool2d",
    "PoolWindow",
    "QuantizeDown",
    "QuantizeDownParameters",
    "QuantizedAdd",
    "QuantizedMultiplier",
    "Requantize",
    "Status",
    "TensorInfo",
    "Transpose1xW",
    "panels_of",
]
