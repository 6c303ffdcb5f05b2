"""The operator of transpose1xw with calls that it accepts and refuses, in upstream's order."""

from dataclasses import replace
from typing import Any, Final

from sim.kernels.operator import OperatorInterface, TensorInfo
from sim.kernels.transpose1xw.configure import DEFAULT_MODE, Transpose1xW

_INPUT, _OUTPUT = (TensorInfo(shape, "QASYMM8", quantization=(0.5, 3)) for shape in ((2, 17), (2, 32)))


class Transpose1xWInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "Arm Compute Library 19.08, NEGEMMTranspose1xW"
    spec = "docs/spec/transpose1xw.md"
    operator = Transpose1xW

    def accepted(self, mode: str) -> dict[str, Any]:
        return {"input": _INPUT, "output": _OUTPUT, "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        of_19_08 = [{"input": replace(_INPUT, data_type="QSYMM8")}, {"input": replace(_INPUT, channels=2)}]
        return [
            {"input": replace(_INPUT, data_type="UNKNOWN")},
            *(of_19_08 if mode == DEFAULT_MODE else []),
            {"output": TensorInfo()},
            {"output": replace(_OUTPUT, data_type="U8")},
            {"output": replace(_OUTPUT, shape=(2, 17))},
            {"output": replace(_OUTPUT, quantization=(0.5, 4))},
            {"input": replace(_INPUT, resizable=False)},
        ]

    def configured(self, mode: str) -> Transpose1xW:
        operator = Transpose1xW()
        operator.configure(replace(_INPUT), replace(_OUTPUT), mode)
        return operator


INTERFACE: Final = Transpose1xWInterface()
