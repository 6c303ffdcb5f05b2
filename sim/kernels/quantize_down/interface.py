"""The operator of quantize_down with calls that it accepts and refuses, in upstream's order."""

from dataclasses import replace
from typing import Any, Final

from sim.kernels.operator import OperatorInterface, TensorInfo
from sim.kernels.quantize_down.configure import QuantizeDown
from sim.kernels.quantize_down.golden import Parameters

_INPUT, _BIAS, _OUTPUT = TensorInfo((13, 21), "S32"), TensorInfo((21,), "S32"), TensorInfo((13, 21), "QASYMM8")


class QuantizeDownInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "Arm Compute Library 19.08, NEGEMMLowpQuantizeDownInt32ToUint8ScaleByFixedPoint"
    spec = "docs/spec/quantize_down.md"
    operator = QuantizeDown

    def accepted(self, mode: str) -> dict[str, Any]:
        return {"input": _INPUT, "bias": _BIAS, "output": _OUTPUT, "minimum": 0, "maximum": 205, "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        return [
            {"input": replace(_INPUT, data_type="F32")},
            {"input": replace(_INPUT, channels=2)},
            {"maximum": 300},
            {"minimum": -1},
            {"minimum": 206},
            {"bias": replace(_BIAS, data_type="F32")},
            {"bias": replace(_BIAS, shape=(13, 21))},
            {"bias": replace(_BIAS, shape=(20,))},
            {"output": replace(_OUTPUT, data_type="S32")},
            {"output": replace(_OUTPUT, channels=2)},
            {"output": replace(_OUTPUT, shape=(21, 13))},
        ]

    def configured(self, mode: str) -> QuantizeDown:
        operator = QuantizeDown()
        operator.configure(replace(_INPUT), _BIAS, TensorInfo(), Parameters(254601600, 1, 2, 0, 205), mode)
        return operator


INTERFACE: Final = QuantizeDownInterface()
