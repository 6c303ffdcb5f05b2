"""offset_contribution: what the offsets of A and B add to their product, as ACL 19.08 does it in place.

Modes: `acl_19_08_cl`, CLGEMMLowpOffsetContributionKernel; `acl_19_08_cl_window`, the same as upstream launches it on a
window, with sums counted from its start; `acl_19_08_neon`, NEGEMMLowpOffsetContributionKernel with its three faults.
Source: docs/spec/offset_contribution.md. The compiled functions take whole tensors with padded rows.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from sim.golden.fixed_point import wrap_int32
from sim.kernels.domain import LONGEST, Domain
from sim.kernels.kernel import Inputs, Kernel, KernelError, Outputs
from sim.kernels.offset_contribution import golden, program, vectors
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent
CL, CL_WINDOW, NEON = "acl_19_08_cl", "acl_19_08_cl_window", "acl_19_08_neon"

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
        Pointer("mm", "int32", ("batches", "depth", "rows", "stride"), direction="inout"),
        Pointer("column_sums", "int32", ("column_batches", "stride"), nullable=True),
        Pointer("row_sums", "int32", ("batches", "depth", "rows"), nullable=True),
        Pointer("bias", "int32", ("stride",), nullable=True),
        *(
            ScalarArgument(name, "uint64")
            for name in ("columns", "stride", "rows", "depth", "batches", "column_batches")
        ),
        *(ScalarArgument(name, "int32") for name in ("k", "a_offset", "b_offset")),
    )
)
CL_WINDOW_SIGNATURE = Signature(
    (*CL_SIGNATURE.arguments, *(ScalarArgument(name, "uint64") for name in golden.Box._fields))
)
NEON_SIGNATURE = Signature(
    (
        Pointer("mm", "int32", ("outer", "planes", "rows", "stride"), direction="inout"),
        Pointer("column_sums", "int32", ("column_batches", "stride"), nullable=True),
        Pointer("row_sums", "int32", ("outer", "planes", "rows"), nullable=True),
        *(ScalarArgument(name, "uint64") for name in ("columns", "stride", "rows", "planes", "outer", "depth")),
        *(ScalarArgument(name, "uint64") for name in ("column_batches", "column_z_stride")),
        *(ScalarArgument(name, "int32") for name in ("k", "a_offset", "b_offset")),
    )
)


def _terms(inputs: Inputs, kernel: str, mode: str) -> golden.Steps:
    """The golden terms of every lane of the padded rows; in those that the kernel does not touch, nothing is added.

    An input set with a `box` is one launch of OpenCL on a window.  Raises KernelError where the padding that upstream
    asks for is missing.
    """
    step = golden.MODES[kernel].columns_per_step
    end = -(-inputs["columns"] // step) * step
    stride = inputs["mm"].shape[-1]
    if end > stride:
        raise KernelError(f"{end} columns, as steps of {step} take them, do not fit in rows of {stride}: pad them")
    given = (inputs["column_sums"], inputs["bias"])
    column_sums, bias = (None if array is None else array[..., :end] for array in given)
    found = golden.steps(inputs["mm"][..., :end], column_sums, inputs["row_sums"], bias, inputs["parameters"], mode)
    if "box" in inputs:
        found = golden.in_boxes(found, iter([inputs["box"]]), mode)
    whole = {name: np.zeros_like(inputs["mm"]) for name in found} | {
        "mm": inputs["mm"].copy(),
        "result": inputs["mm"].copy(),
    }
    for name, values in found.items():
        whole[name][..., :end] = values
    return {name: values.reshape(_lanes(inputs, kernel)) for name, values in whole.items()}


def _lanes(inputs: Inputs, kernel: str) -> tuple[int, int, int, int]:
    """The shape of mm as the compiled function of that mode sees it."""
    outer, planes, rows, stride = golden.folded(inputs["mm"].shape)
    depth = golden.depth_of(inputs["mm"].shape, inputs["row_sums"])
    return (outer, planes, rows, stride) if kernel == NEON else (outer * planes // depth, depth, rows, stride)


def _golden(inputs: Inputs, kernel: str, mode: str) -> Outputs:
    return {"mm": _terms(inputs, kernel, mode)["result"]}


def _offsets_subtracted(inputs: Inputs, kernel: str) -> Outputs:
    """Zero points passed as offsets, which are added: what users trip over (docs/spec/known_differences.md row 14)."""
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
    if kernel != NEON:
        batches = dict(zip(("batches", "depth", "rows", "stride"), lanes, strict=True))
        box = inputs["box"]._asdict() if kernel == CL_WINDOW else {}
        return arguments | batches | {"bias": inputs["bias"]} | box
    depth = golden.depth_of(mm.shape, rows)
    planes = dict(zip(("outer", "planes", "rows", "stride"), lanes, strict=True))
    return arguments | planes | {"depth": depth, "column_z_stride": 0}


_FUNCTIONS: dict[str, tuple[str, Signature, Callable[..., None]]] = {
    CL: ("offset_contribution_cl", CL_SIGNATURE, program.add_like_cl),
    CL_WINDOW: ("offset_contribution_cl_window", CL_WINDOW_SIGNATURE, program.add_like_cl_in_window),
    NEON: ("offset_contribution_neon", NEON_SIGNATURE, program.add_like_neon),
}
"""Symbol, signature and program of each mode."""


def _kernel(mode: str) -> Kernel:
    symbol, signature, row = _FUNCTIONS[mode]
    rivals = (CL,) if mode == CL_WINDOW else [other for other in golden.MODES if other not in (mode, CL_WINDOW)]
    others = {other: partial(_golden, kernel=mode, mode=other) for other in rivals}
    return Kernel(
        name="offset_contribution",
        symbol=symbol,
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=signature,
        golden=partial(_golden, kernel=mode, mode=mode),
        steps=partial(_steps, kernel=mode),
        arguments=partial(_arguments, kernel=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.sample, mode=mode, longest=LONGEST // 4),
        program=row,
        conventions=others | {"offsets_subtracted": partial(_offsets_subtracted, kernel=mode)},
        mode=mode,
        domain={"column_z_stride": Domain(0, 0)} if mode == NEON else {},  # that of column sums of rank 2
        summary=golden.MODES[mode].source,
    )


MODES = {mode: _kernel(mode) for mode in _FUNCTIONS}
KERNEL = MODES[CL]
