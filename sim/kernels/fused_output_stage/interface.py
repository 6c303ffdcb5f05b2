"""The operator of fused_output_stage with calls that it accepts and refuses, in upstream's order."""

from dataclasses import replace
from typing import Any, Final

from sim.kernels.fused_output_stage.configure import FusedOutputStage
from sim.kernels.offset_contribution.golden import Parameters as Offsets
from sim.kernels.operator import OperatorInterface, TensorInfo
from sim.kernels.quantize_down.golden import Parameters as Stage

_MM, _OUTPUT = TensorInfo((13, 33), "S32"), TensorInfo((13, 33), "QASYMM8")
_COLUMNS, _ROWS = TensorInfo((33,), "S32"), TensorInfo((13,), "S32")


class FusedOutputStageInterface(OperatorInterface):
    """See `sim.kernels.operator.OperatorInterface`."""

    models = "Arm Compute Library 19.08, NEGEMMLowpOffsetContributionOutputStageKernel and the fused AArch64 path"
    spec = "docs/spec/neighbours.md"
    operator = FusedOutputStage

    def accepted(self, mode: str) -> dict[str, Any]:
        sums = {"column_sums": _COLUMNS, "row_sums": _ROWS, "bias": _COLUMNS, "a_offset": -2, "b_offset": 13}
        return {"mm": _MM, **sums, "output": _OUTPUT, "minimum": 10, "maximum": 210, "mode": mode}

    def faulty(self, mode: str) -> list[dict[str, Any]]:
        return [
            {"mm": replace(_MM, data_type="F32")},
            {"mm": replace(_MM, channels=2)},
            {"maximum": 300},
            {"minimum": -1},
            {"minimum": 211},
            {"stage_type": "NONE"},
            {"bias": replace(_COLUMNS, data_type="F32")},
            {"bias": replace(_COLUMNS, shape=(2, 33))},
            {"bias": replace(_COLUMNS, shape=(32,))},
            {"column_sums": None},
            {"column_sums": replace(_COLUMNS, data_type="U8")},
            {"column_sums": replace(_COLUMNS, shape=(21,))},
            {"row_sums": None},
            {"row_sums": replace(_ROWS, data_type="U8")},
            {"row_sums": replace(_ROWS, shape=(12,))},
            {"row_sums": replace(_ROWS, shape=(2, 13))},
            {"column_sums": replace(_COLUMNS, shape=(2, 33))},
            {"output": replace(_OUTPUT, data_type="S32")},
            {"output": replace(_OUTPUT, channels=2)},
            {"output": replace(_OUTPUT, shape=(33, 13))},
        ]

    def configured(self, mode: str) -> FusedOutputStage:
        operator = FusedOutputStage()
        offsets, stage = Offsets(21, -2, 13), Stage(254601600, 10, -2, 10, 210)
        operator.configure(replace(_MM), _COLUMNS, _ROWS, _COLUMNS, TensorInfo(), offsets, stage, mode)
        return operator


INTERFACE: Final = FusedOutputStageInterface()
