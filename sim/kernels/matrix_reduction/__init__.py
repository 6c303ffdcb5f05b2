"""matrix_reduction: sums of the rows or columns of a matrix of bytes, as NEGEMMLowpMatrixAReduction and ...BReduction.

Source: docs/spec/neighbours.md sections 3 and 17.
"""

from functools import partial
from pathlib import Path

from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.matrix_reduction import golden, program, vectors
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"sums": golden.matrix_reduction(inputs["matrix"], mode)}


def _in_16_bits(inputs: Inputs, mode: str) -> Outputs:
    return {"sums": golden.in_16_bits(inputs["matrix"], mode)}


def _kernel(mode: str) -> Kernel:
    rule = golden.MODES[mode]
    extent = "rows" if rule.of_rows else "columns"
    return Kernel(
        name="matrix_reduction",
        symbol=f"sums_of_{mode}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=Signature(
            (
                Pointer("matrix", rule.dtype.name, ("rows", "columns")),
                Pointer("sums", "int32", (extent,), direction="out"),
                ScalarArgument("rows", "uint64"),
                ScalarArgument("columns", "uint64"),
            )
        ),
        golden=partial(_golden, mode=mode),
        steps=partial(_golden, mode=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.long_sample, mode=mode),
        program=partial(
            program.sums_of_rows if rule.of_rows else program.sums_of_columns, program.BYTES[rule.dtype.name]
        ),
        conventions={"in_16_bits": partial(_in_16_bits, mode=mode)},
        mode=mode,
        summary=rule.source,
        work=("byte", "rows * columns"),
    )


MODES = {mode: _kernel(mode) for mode in golden.MODES}
KERNEL = MODES["rows_u8"]
