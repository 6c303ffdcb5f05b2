"""offset_contribution: what the offsets of A and B add to their product, as ACL 19.08 does it in place.

Modes: `acl_19_08_cl`, CLGEMMLowpOffsetContributionKernel, and `acl_19_08_neon`, NEGEMMLowpOffsetContributionKernel with
its three faults. Source: spec/offset_contribution.md. The compiled functions take whole tensors with padded rows.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from sim.golden.fixed_point import Int32Array, wrap_int32
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.offset_contribution import golden, program, vectors
from sim.kernels.signature import Pointer, Scalar, Signature

_FOLDER = Path(__file__).parent
CL, NEON = "acl_19_08_cl", "acl_19_08_neon"

ADDED = {
    "k term": "k term",
    "add row term": "row term",
    "add column term": "column term",
    "add bias": "bias term",
    "add to mm": "mm",
}
"""The term that each step adds."""
CL_SIGNATURE = Signature(
    (
        Pointer("mm", "int32", ("batches", "depth", "rows", "stride"), "inout"),
        Pointer("column_sums", "int32", ("column_batches", "stride"), nullable=True),
        Pointer("row_sums", "int32", ("batches", "depth", "rows"), nullable=True),
        Pointer("bias", "int32", ("stride",), nullable=True),
        *(Scalar(name, "uint64") for name in ("columns", "stride", "rows", "depth", "batches", "column_batches")),
        *(Scalar(name, "int32") for name in ("k", "a_offset", "b_offset")),
    )
)
NEON_SIGNATURE = Signature(
    (
        Pointer("mm", "int32", ("outer", "planes", "rows", "stride"), "inout"),
        Pointer("column_sums", "int32", ("column_batches", "stride"), nullable=True),
        Pointer("row_sums", "int32", ("outer", "planes", "rows"), nullable=True),
        *(Scalar(name, "uint64") for name in ("columns", "stride", "rows", "planes", "outer", "depth")),
        *(Scalar(name, "uint64") for name in ("column_batches", "column_z_stride")),
        *(Scalar(name, "int32") for name in ("k", "a_offset", "b_offset")),
    )
)


def _terms(inputs: Inputs, kernel: str, mode: str) -> golden.Steps:
    """The golden terms of every lane of the padded rows; in those that the kernel does not touch, nothing is added."""
    step = golden.MODES[kernel].columns_per_step
    end = -(-inputs["columns"] // step) * step
    column_sums, bias = (_up_to(end, inputs[name]) for name in ("column_sums", "bias"))
    found = golden.steps(inputs["mm"][..., :end], column_sums, inputs["row_sums"], bias, inputs["parameters"], mode)
    whole = {name: np.zeros_like(inputs["mm"]) for name in found} | {
        "mm": inputs["mm"].copy(),
        "result": inputs["mm"].copy(),
    }
    for name, values in found.items():
        whole[name][..., :end] = values
    return {name: values.reshape(_lanes(inputs, kernel)) for name, values in whole.items()}


def _up_to(end: int, array: Int32Array | None) -> Int32Array | None:
    return None if array is None else array[..., :end]


def _lanes(inputs: Inputs, kernel: str) -> tuple[int, int, int, int]:
    """The shape of mm as the compiled function of that mode sees it."""
    outer, planes, rows, stride = golden.folded(inputs["mm"].shape)
    depth = golden.depth_of(inputs["mm"].shape, inputs["row_sums"])
    return (outer, planes, rows, stride) if kernel == NEON else (outer * planes // depth, depth, rows, stride)


def _golden(inputs: Inputs, kernel: str, mode: str) -> Outputs:
    return {"mm": _terms(inputs, kernel, mode)["result"]}


def _offsets_subtracted(inputs: Inputs, kernel: str) -> Outputs:
    """Zero points passed as offsets, which are added: what users trip over (spec/known_differences.md, row 14)."""
    parameters = inputs["parameters"]
    negated = replace(parameters, a_offset=-parameters.a_offset, b_offset=-parameters.b_offset)
    return _golden({**inputs, "parameters": negated}, kernel, kernel)


def _steps(inputs: Inputs, kernel: str) -> golden.Steps:
    """The terms added one after the other, as kernel.c does it, and at last to the product."""
    terms = _terms(inputs, kernel, kernel)
    sums = wrap_int32(np.cumsum([terms[name] for name in ADDED.values()], axis=0, dtype=np.int64))
    return dict(zip(ADDED, sums, strict=True))


def _arguments(inputs: Inputs, kernel: str) -> Inputs:
    mm, sums, rows, parameters = (inputs[name] for name in ("mm", "column_sums", "row_sums", "parameters"))
    lanes = _lanes(inputs, kernel)
    sums = None if sums is None else np.atleast_2d(sums)
    arguments = {
        "mm": mm.reshape(lanes),
        "column_sums": sums,
        "row_sums": None if rows is None else rows.reshape(lanes[:3]),
        "columns": inputs["columns"],
        "column_batches": 1 if sums is None else len(sums),
        "k": parameters.k,
        "a_offset": parameters.a_offset,
        "b_offset": parameters.b_offset,
    }
    if kernel == CL:
        batches = dict(zip(("batches", "depth", "rows", "stride"), lanes, strict=True))
        return arguments | batches | {"bias": inputs["bias"]}
    depth = golden.depth_of(mm.shape, rows)
    planes = dict(zip(("outer", "planes", "rows", "stride"), lanes, strict=True))
    return arguments | planes | {"depth": depth, "column_z_stride": 0}  # column sums of rank 2 have no Z stride


def _kernel(mode: str) -> Kernel:
    others = {other: partial(_golden, kernel=mode, mode=other) for other in golden.MODES if other != mode}
    is_cl = mode == CL
    return Kernel(
        name="offset_contribution",
        symbol="offset_contribution_cl" if is_cl else "offset_contribution_neon",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=CL_SIGNATURE if is_cl else NEON_SIGNATURE,
        golden=partial(_golden, kernel=mode, mode=mode),
        steps=partial(_steps, kernel=mode),
        arguments=partial(_arguments, kernel=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        program=program.add_like_cl if is_cl else program.add_like_neon,
        conventions=others | {"offsets_subtracted": partial(_offsets_subtracted, kernel=mode)},
        mode=mode,
    )


KERNEL = _kernel(CL)
MODES = {CL: KERNEL, NEON: _kernel(NEON)}
