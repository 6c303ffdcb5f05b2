"""The operator of matrix_reduction with calls that it accepts and refuses, in upstream's order."""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from sim.kernels.matrix_reduction.configure import MatrixReduction
from sim.kernels.matrix_reduction.golden import MODES
from sim.kernels.operator import OperatorInterface, TensorInfo

_SUMS = TensorInfo((5,), "S32")


class MatrixReductionInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "Arm Compute Library 19.08, NEGEMMLowpMatrixAReductionKernel and NEGEMMLowpMatrixBReductionKernel"
    spec = "docs/spec/neighbours.md"
    operator = MatrixReduction

    def accepted(self, mode: str) -> dict[str, Any]:
        kind = "QASYMM8" if MODES[mode].dtype == np.uint8 else "QASYMM8_SIGNED"
        return {"matrix": TensorInfo((5, 5), kind), "sums": _SUMS, "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        matrix = self.accepted(mode)["matrix"]
        return [
            {"matrix": replace(matrix, data_type="U8")},
            {"matrix": replace(matrix, channels=2)},
            {"sums": replace(_SUMS, data_type="U32")},
            {"sums": replace(_SUMS, channels=2)},
        ]

    def configured(self, mode: str) -> MatrixReduction:
        operator = MatrixReduction()
        operator.configure(self.accepted(mode)["matrix"], _SUMS, 5, mode)
        return operator


INTERFACE: Final = MatrixReductionInterface()
