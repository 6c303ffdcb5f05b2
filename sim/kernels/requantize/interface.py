"""The operator of requantize with calls that it accepts and refuses, in order."""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from sim.kernels.operator import OperatorInterface, TensorInfo
from sim.kernels.requantize.configure import Parameters, Requantize, output_type
from sim.kernels.requantize.golden import FIXED_POINT, FLOAT_SCALE, INTEGER_SCALE, Channels, FloatScale, IntegerScale

_INPUT, _BIAS = TensorInfo((13, 2), "S32"), TensorInfo((2,), "S32")


def _parameters(mode: str) -> Parameters:
    if mode in FIXED_POINT:
        return Channels((2**30, 3 * 2**29), (-1, 0))
    return FloatScale(np.float32(0.25), 3, 0, 100) if mode in FLOAT_SCALE else IntegerScale(-2, 1, 2, 0, 171)


def _faulty_parameters(mode: str) -> list[Parameters]:
    given = _parameters(mode)
    if isinstance(given, Channels):
        wrong = [replace(given, left_shifts=(0, 0, 0)), replace(given, multipliers=(-1, 1))]
        return [*wrong, replace(given, left_shifts=(-32, 0)), replace(given, left_shifts=(0, 31))]
    if isinstance(given, FloatScale):
        wrong_scale = replace(given, scale=np.float32(256))
        return [wrong_scale, replace(given, zero_point=300), replace(given, minimum=-300),
                replace(given, maximum=300), replace(given, minimum=100)]  # fmt: skip
    return [
        replace(given, maximum=300), replace(given, minimum=-1), replace(given, minimum=172),
        replace(given, offset=2**31), replace(given, multiplier=2**31), replace(given, right_shift=32),
    ]  # fmt: skip


class RequantizeInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "TFLite, ruy, CMSIS-NN, XNNPACK; ACL 19.08 and gemmlowp, QuantizeDownInt32ToUint8Scale"
    spec = "docs/spec/neighbours.md"
    operator = Requantize

    def accepted(self, mode: str) -> dict[str, Any]:
        output, bias = TensorInfo((13, 2), output_type(mode)), _BIAS if mode in INTEGER_SCALE else None
        return {"input": _INPUT, "bias": bias, "output": output, "parameters": _parameters(mode), "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        output, biases = TensorInfo((13, 2), output_type(mode)), [_BIAS]
        if mode in INTEGER_SCALE:
            biases = [replace(_BIAS, data_type="F32"), replace(_BIAS, shape=(13, 2)), replace(_BIAS, shape=(3,))]
        return [
            {"input": replace(_INPUT, data_type="F32")},
            {"input": replace(_INPUT, channels=2)},
            *({"parameters": parameters} for parameters in _faulty_parameters(mode)),
            *({"bias": bias} for bias in biases),
            {"output": replace(output, data_type="U16")},
            {"output": replace(output, channels=2)},
            {"output": replace(output, shape=(2, 13))},
        ]

    def configured(self, mode: str) -> Requantize:
        operator = Requantize()
        operator.configure(replace(_INPUT), self.accepted(mode)["bias"], TensorInfo(), _parameters(mode), mode)
        return operator


INTERFACE: Final = RequantizeInterface()
