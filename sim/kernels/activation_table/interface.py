"""The operator of activation_table with calls that it accepts and refuses, in order."""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from sim.kernels.activation_table.configure import ActivationTable
from sim.kernels.activation_table.golden import FUNCTIONS, MODES
from sim.kernels.operator import OperatorInterface, TensorInfo


class ActivationTableInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "TFLite and TensorFlow Lite Micro, LOGISTIC and TANH of bytes"
    spec = "docs/spec/neighbours.md"
    operator = ActivationTable

    def accepted(self, mode: str) -> dict[str, Any]:
        rule = MODES[mode]
        kind = "QASYMM8" if rule.dtype == np.uint8 else "QASYMM8_SIGNED"
        prescribed = (2.0 ** -FUNCTIONS[rule.function].units, rule.output_zero)
        input = TensorInfo((3, 5), kind, quantization=(0.05, 7))
        return {"input": input, "output": replace(input, quantization=prescribed), "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        given = self.accepted(mode)
        input, output = given["input"], given["output"]
        return [
            {"input": replace(input, data_type="F32")},
            {"input": replace(input, channels=2)},
            {"input": replace(input, quantization=(0.05, 300))},
            {"output": replace(output, data_type="S32")},
            {"output": replace(output, shape=(5, 3))},
            {"output": replace(output, quantization=(0.05, 7))},
        ]

    def configured(self, mode: str) -> ActivationTable:
        operator, given = ActivationTable(), self.accepted(mode)
        operator.configure(given["input"], TensorInfo(), mode)
        return operator


INTERFACE: Final = ActivationTableInterface()
