"""The operator of matrix_product with calls that it accepts and refuses, in upstream's order."""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from sim.kernels.matrix_product.configure import MatrixProduct
from sim.kernels.matrix_product.golden import MODES
from sim.kernels.operator import OperatorInterface, TensorInfo


class MatrixProductInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "Arm Compute Library 19.08, NEGEMMLowpMatrixMultiplyKernel; kernels 8x12 of its arm_gemm"
    spec = "docs/spec/neighbours.md"
    operator = MatrixProduct

    def accepted(self, mode: str) -> dict[str, Any]:
        rule = MODES[mode]
        kind, steps = "QASYMM8" if rule.dtype == np.uint8 else "S8", 3
        a = TensorInfo((5, 2, rule.rows * rule.depth * steps), kind)
        b = TensorInfo((2, rule.columns * rule.depth * steps), kind)
        output = TensorInfo((5, rule.rows + 1, rule.columns + 1), "S32")
        return {"a": a, "b": b, "output": output, "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        given, rule = self.accepted(mode), MODES[mode]
        a, b, output = given["a"], given["b"], given["output"]
        other = "S8" if rule.dtype == np.uint8 else "U8"
        (panels, width), columns = b.shape, output.shape[2]
        return [
            {"a": replace(a, data_type="S32")},
            {"a": replace(a, channels=2)},
            {"b": replace(b, data_type="F32")},
            {"b": replace(b, channels=2)},
            {"b": replace(b, data_type=other)},
            {"output": replace(output, data_type="U32")},
            {"output": replace(output, channels=2)},
            {"output": replace(output, shape=(4, *output.shape[1:]))},
            {"b": replace(b, shape=(3, *b.shape))},
            {"b": replace(b, shape=(panels, width + 1))},
            *([{"a": replace(a, resizable=False)}] if rule.depth == 1 else []),
            {"output": replace(output, resizable=False)},
            {"a": replace(a, data_type=other), "b": replace(b, data_type=other)},
            {"b": replace(b, shape=(panels + 1, width))},
            {"b": replace(b, shape=(panels, 2 * width))},
            {"a": replace(a, shape=(5, 1, a.shape[2])), "b": b, "output": replace(output, shape=(5, 1, columns))},
        ]

    def configured(self, mode: str) -> MatrixProduct:
        operator, given = MatrixProduct(), self.accepted(mode)
        operator.configure(given["a"], given["b"], given["output"], mode)
        return operator


INTERFACE: Final = MatrixProductInterface()
