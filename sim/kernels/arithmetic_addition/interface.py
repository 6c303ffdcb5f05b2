"""The operator of arithmetic_addition with calls that it accepts and refuses, in upstream's order."""

from dataclasses import replace
from typing import Any, Final

from sim.kernels.arithmetic_addition.configure import ArithmeticAddition
from sim.kernels.arithmetic_addition.golden import MODES
from sim.kernels.operator import OperatorInterface, TensorInfo


class ArithmeticAdditionInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "Arm Compute Library 19.08, NEArithmeticAddition"
    spec = "docs/spec/neighbours.md"
    operator = ArithmeticAddition

    def accepted(self, mode: str) -> dict[str, Any]:
        info = TensorInfo((3, 21), MODES[mode].data_type, quantization=(0.5, 3 if MODES[mode].dtype.kind == "u" else 0))
        return {"a": info, "b": replace(info), "output": replace(info), "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        given = self.accepted(mode)
        info, other = given["a"], "S16" if MODES[mode].data_type == "U8" else "U8"
        return [
            {"a": replace(info, data_type="S32")},
            {"a": replace(info, channels=2)},
            {"b": replace(info, data_type="S8")},
            {"b": replace(info, channels=2)},
            {"b": replace(info, shape=(3, 1))},
            {"b": replace(info, data_type=other)},
            {"output": replace(info, data_type="S32")},
            {"output": replace(info, shape=(21, 3))},
            {"a": replace(info, quantization=None)},
            {"a": replace(info, data_type=other), "b": replace(info, data_type=other),
             "output": replace(info, data_type=other)},
        ]  # fmt: skip

    def configured(self, mode: str) -> ArithmeticAddition:
        operator, given = ArithmeticAddition(), self.accepted(mode)
        operator.configure(given["a"], given["b"], given["output"], mode)
        return operator


INTERFACE: Final = ArithmeticAdditionInterface()
