"""fused_output_stage: what the offsets add to a product, and its output stage to uint8, in one pass, as ACL 19.08 does.

Modes: `acl_19_08` and `acl_19_08_integer_scale`, NEGEMMLowpOffsetContributionOutputStageKernel with either stage;
`acl_19_08_assembly`, the AArch64 path that takes its place. Sources: docs/spec/neighbours.md sections 4, 5 and 25.
The compiled functions take contiguous tensors and the bounds that the stage applies.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from sim.golden.fixed_point import wrap_int32
from sim.kernels.domain import LONGEST, Domain
from sim.kernels.fused_output_stage import golden, program, vectors
from sim.kernels.fused_output_stage.golden import Mode
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.offset_contribution.golden import depth_of, folded
from sim.kernels.quantize_down.golden import effective_bounds
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent
_TERMS = ("mm", "column term", "row term", "k term", "contribution")


def _signature(bounds: str) -> Signature:
    return Signature(
        (
            Pointer("mm", "int32", ("batches", "rows", "columns")),
            Pointer("column_sums", "int32", ("column_batches", "columns"), nullable=True),
            Pointer("row_sums", "int32", ("batches", "rows"), nullable=True),
            Pointer("bias", "int32", ("columns",), nullable=True),
            Pointer("output", "uint8", ("batches", "rows", "columns"), direction="out"),
            *(ScalarArgument(name, "uint64") for name in ("columns", "rows", "batches", "column_batches")),
            *(ScalarArgument(name, "int32") for name in ("k", "a_offset", "b_offset")),
            *(ScalarArgument(name, "int32") for name in ("multiplier", "shift", "offset")),
            ScalarArgument("lower", bounds),
            ScalarArgument("upper", bounds),
        )
    )


def _lanes(inputs: Inputs) -> tuple[int, int, int]:
    """The shape of mm as the compiled functions see it: batches, rows and columns."""
    mm, offsets = inputs["mm"], inputs["offsets"]
    outer, planes, rows, columns = folded(mm.shape)
    depth = depth_of(mm.shape, inputs["row_sums"] if offsets.b_offset else None)
    return outer * planes // depth, depth * rows, columns


def _golden(inputs: Inputs, rule: Mode) -> Outputs:
    *_, last = _golden_steps(inputs, rule).values()
    return {"output": last.reshape(_lanes(inputs)).astype(np.uint8)}


def _golden_steps(inputs: Inputs, rule: Mode) -> golden.Steps:
    names = ("mm", "column_sums", "row_sums", "bias", "offsets", "stage")
    return golden.steps_by(rule, *(inputs[name] for name in names))


def _offsets_subtracted(inputs: Inputs, rule: Mode) -> Outputs:
    """Zero points passed as offsets, which are added: what users trip over (docs/spec/known_differences.md row 14)."""
    given = inputs["offsets"]
    negated = replace(given, a_offset=-given.a_offset, b_offset=-given.b_offset)
    return _golden({**inputs, "offsets": negated}, rule)


def _steps(inputs: Inputs, rule: Mode) -> golden.Steps:
    """The terms added one after the other, as kernel.c does it, then the steps of the stage."""
    found = _golden_steps(inputs, rule)
    mm, column, row, k, _ = (found.pop(name) for name in _TERMS)
    with_column = wrap_int32(mm.astype(np.int64) + column)
    with_bias = wrap_int32(with_column.astype(np.int64) + (0 if inputs["bias"] is None else inputs["bias"]))
    made = {
        "mm": mm,
        "add column term": with_column,
        "add bias": with_bias,
        "add row terms": found.pop("bias"),
        **found,
    }
    row_terms = {"row terms": wrap_int32(row.astype(np.int64) + k)}
    return {name: values.reshape(_lanes(inputs)) for name, values in (row_terms | made).items()}


def _arguments(inputs: Inputs, mode: str) -> Inputs:
    lanes, offsets, stage = _lanes(inputs), inputs["offsets"], inputs["stage"]
    column_sums, row_sums = inputs["column_sums"], inputs["row_sums"]
    sums = None if column_sums is None else np.atleast_2d(column_sums)
    of_assembly = golden.MODES[mode].stage is golden.by_assembly
    lower, upper = effective_bounds(stage, "acl_19_08_fused" if of_assembly else "acl_19_08")
    return {
        "mm": inputs["mm"].reshape(lanes),
        "column_sums": sums,
        "row_sums": None if row_sums is None else row_sums.reshape(lanes[:2]),
        "bias": inputs["bias"],
        **dict(zip(("batches", "rows", "columns"), lanes, strict=True)),
        "column_batches": 1 if sums is None else len(sums),
        "k": offsets.k,
        "a_offset": offsets.a_offset,
        "b_offset": offsets.b_offset,
        "multiplier": stage.multiplier,
        "shift": stage.shift,
        "offset": stage.offset,
        "lower": lower,
        "upper": upper,
    }


_FUNCTIONS: dict[str, tuple[str, str, Callable[..., None]]] = {
    "acl_19_08": ("fixed_point", "uint8", program.by_fixed_point),
    "acl_19_08_integer_scale": ("integer_scale", "uint8", program.by_integer_scale),
    "acl_19_08_assembly": ("assembly", "int32", program.by_assembly),
}
"""The end of the symbol, the type of the bounds and the program of each mode."""


def _kernel(mode: str) -> Kernel:
    ending, bounds, row = _FUNCTIONS[mode]
    rule = golden.MODES[mode]
    rivals = {name: partial(_golden, rule=rival) for name, rival in golden.rivals(mode).items()}
    return Kernel(
        name="fused_output_stage",
        symbol=f"fused_output_stage_{ending}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=_signature(bounds),
        golden=partial(_golden, rule=rule),
        steps=partial(_steps, rule=rule),
        arguments=partial(_arguments, mode=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.sample, mode=mode, longest=LONGEST // 4),
        program=row,
        conventions=rivals | {"offsets_subtracted": partial(_offsets_subtracted, rule=rule)},
        mode=mode,
        summary=rule.source,
        domain={"shift": Domain(0, 31)},
    )


MODES = {mode: _kernel(mode) for mode in _FUNCTIONS}
KERNEL = MODES["acl_19_08"]
