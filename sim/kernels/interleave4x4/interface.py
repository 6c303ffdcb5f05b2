"""The operator of interleave4x4 with calls that it accepts and refuses, in upstream's order."""

from dataclasses import replace
from typing import Any, Final

from sim.kernels.interleave4x4.configure import Interleave4x4
from sim.kernels.operator import OperatorInterface, TensorInfo

_TYPES: Final = {"acl_19_08_8bit": "QASYMM8", "acl_19_08_16bit": "F16", "acl_19_08_32bit": "S32"}


class Interleave4x4Interface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "Arm Compute Library 19.08, NEGEMMInterleave4x4"
    spec = "docs/spec/neighbours.md"
    operator = Interleave4x4

    def accepted(self, mode: str) -> dict[str, Any]:
        input, output = (TensorInfo(shape, _TYPES[mode], quantization=(0.5, 3)) for shape in ((6, 5), (2, 20)))
        return {"input": input, "output": output, "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        given = self.accepted(mode)
        input, output = given["input"], given["output"]
        wider = "U32" if input.element_size < 4 else "U8"
        return [
            {"input": replace(input, data_type="QSYMM8")},
            {"input": replace(input, channels=2)},
            {"output": TensorInfo()},
            {"output": replace(output, data_type="U64")},
            {"output": replace(output, shape=(6, 5))},
            {"output": replace(output, quantization=(0.5, 4))},
            {"input": replace(input, resizable=False)},
            {"input": replace(input, shape=(1, 5)), "output": replace(output, shape=(1, 20))},
            {"input": replace(input, data_type=wider), "output": replace(output, data_type=wider)},
        ]

    def configured(self, mode: str) -> Interleave4x4:
        operator, given = Interleave4x4(), self.accepted(mode)
        operator.configure(given["input"], given["output"])
        return operator


INTERFACE: Final = Interleave4x4Interface()
