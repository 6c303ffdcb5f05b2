"""requantize: int32 accumulators scaled to the output's unit, as TFLite, ruy, CMSIS-NN, XNNPACK, ACL and gemmlowp do.

Source: docs/spec/neighbours.md sections 6, 10, 11, 12 and 15.
"""

from sim.kernels.requantize import fixed_point, float_scale, integer_scale
from sim.kernels.requantize.golden import FIXED_POINT, FLOAT_SCALE, INTEGER_SCALE

MODES = {
    **{mode: fixed_point.kernel(mode) for mode in FIXED_POINT},
    **{mode: float_scale.kernel(mode) for mode in FLOAT_SCALE},
    **{mode: integer_scale.kernel(mode) for mode in INTEGER_SCALE},
}
KERNEL = MODES["tflite_double_rounding"]
