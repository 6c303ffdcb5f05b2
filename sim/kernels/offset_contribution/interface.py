"""The operator of offset_contribution with calls that it accepts and refuses, in upstream's order."""

from dataclasses import replace
from typing import Any, Final

from sim.kernels.offset_contribution.configure import OffsetContribution
from sim.kernels.offset_contribution.golden import MODES, Parameters
from sim.kernels.operator import OperatorInterface, TensorInfo

_MM, _COLUMNS, _ROWS = TensorInfo((13, 33), "S32"), TensorInfo((33,), "S32"), TensorInfo((13,), "S32")


class OffsetContributionInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "Arm Compute Library 19.08, CLGEMMLowpOffsetContributionKernel and NEGEMMLowpOffsetContributionKernel"
    spec = "docs/spec/offset_contribution.md"
    operator = OffsetContribution

    def accepted(self, mode: str) -> dict[str, Any]:
        bias = _COLUMNS if MODES[mode].has_bias else None
        offsets = {"a_offset": -2, "b_offset": 13}
        return {"mm": _MM, "column_sums": _COLUMNS, "row_sums": _ROWS, "bias": bias, **offsets, "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        of_bias = [
            {"bias": replace(_COLUMNS, data_type="F32")},
            {"bias": replace(_COLUMNS, shape=(2, 33))},
            {"bias": replace(_COLUMNS, shape=(32,))},
        ]
        padding_of_bias = [{"bias": replace(_COLUMNS, resizable=False)}]
        has_bias = MODES[mode].has_bias
        return [
            {"mm": None},
            {"mm": replace(_MM, data_type="F32")},
            {"mm": replace(_MM, channels=2)},
            *(of_bias if has_bias else []),
            {"column_sums": None},
            {"column_sums": replace(_COLUMNS, data_type="U8")},
            {"column_sums": replace(_COLUMNS, shape=(21,))},
            {"row_sums": None},
            {"row_sums": replace(_ROWS, data_type="U8")},
            {"row_sums": replace(_ROWS, shape=(12,))},
            {"row_sums": replace(_ROWS, shape=(2, 13))},
            {"column_sums": replace(_COLUMNS, shape=(2, 33))},
            {"mm": replace(_MM, resizable=False)},
            {"column_sums": replace(_COLUMNS, resizable=False)},
            *(padding_of_bias if has_bias else []),
        ]

    def configured(self, mode: str) -> OffsetContribution:
        operator = OffsetContribution()
        mm, columns, rows = replace(_MM), replace(_COLUMNS), replace(_ROWS)
        bias = replace(_COLUMNS) if MODES[mode].has_bias else None
        operator.configure(mm, columns, rows, bias, Parameters(21, -2, 13), mode)
        return operator


INTERFACE: Final = OffsetContributionInterface()
