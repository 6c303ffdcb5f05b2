"""The operator of quantize_down with calls that it accepts and refuses, in upstream's order."""

from dataclasses import replace
from typing import Any, Final

from sim.kernels.operator import OperatorInterface, TensorInfo
from sim.kernels.quantize_down.configure import QuantizeDown
from sim.kernels.quantize_down.golden import MODES, Parameters

_INPUT, _BIAS = TensorInfo((13, 21), "S32"), TensorInfo((21,), "S32")


class QuantizeDownInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "Arm Compute Library 19.08, NEGEMMLowpQuantizeDownInt32ToUint8ScaleByFixedPoint; ToInt16, 20.02 ToInt8"
    spec = "docs/spec/quantize_down.md"
    operator = QuantizeDown

    def accepted(self, mode: str) -> dict[str, Any]:
        output, highest = TensorInfo((13, 21), MODES[mode].output_type), min(205, MODES[mode].range[1])
        return {"input": _INPUT, "bias": _BIAS, "output": output, "minimum": 0, "maximum": highest, "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        output, (low, high) = self.accepted(mode)["output"], MODES[mode].range
        return [
            {"input": replace(_INPUT, data_type="F32")},
            {"input": replace(_INPUT, channels=2)},
            {"maximum": high + 45},
            {"minimum": low - 1},
            {"minimum": 206},
            {"bias": replace(_BIAS, data_type="F32")},
            {"bias": replace(_BIAS, shape=(13, 21))},
            {"bias": replace(_BIAS, shape=(20,))},
            {"output": replace(output, data_type="S32")},
            {"output": replace(output, channels=2)},
            {"output": replace(output, shape=(21, 13))},
        ]

    def configured(self, mode: str) -> QuantizeDown:
        operator = QuantizeDown()
        rule = MODES[mode]
        parameters = Parameters(254601600, 1, 2 if rule.has_offset else 0, 0, min(205, rule.range[1]))
        operator.configure(replace(_INPUT), _BIAS, TensorInfo(), parameters, mode)
        return operator


INTERFACE: Final = QuantizeDownInterface()
