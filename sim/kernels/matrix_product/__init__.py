"""matrix_product: the cores of a quantized matrix product, by UMLAL, UDOT and UMMLA and their signed kin, as ACL's.

Source: docs/spec/neighbours.md sections 2 and 22.  Panels are cut as `golden.panels_of` does.
"""

from functools import partial
from pathlib import Path
from typing import Final

from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.matrix_product import golden, program, vectors
from sim.kernels.matrix_product.configure import OVER_READ
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent
_FLAGS: Final = {1: (), 4: ("-march=armv8.2-a+dotprod",), 8: ("-march=armv8.2-a+dotprod+i8mm",)}
"""Those of the sources, by how many bytes one instruction sums up."""


def _golden(inputs: Inputs, mode: str) -> Outputs:
    return {"output": golden.matrix_product(inputs["a"], inputs["b"], mode)}


def _otherwise(inputs: Inputs, mode: str, by: str) -> Outputs:
    return {"output": getattr(golden, by)(inputs["a"], inputs["b"], mode)}


def _kernel(mode: str) -> Kernel:
    rule = golden.MODES[mode]
    others = ("in_16_bits", "of_other_bytes", *(("byte_by_byte",) if rule.depth > 1 else ()))
    whole: tuple[str | int, ...] = f"{rule.rows} * row_blocks", f"{rule.columns} * column_blocks"
    tiled = "row_blocks", "column_blocks", rule.rows, rule.columns
    return Kernel(
        name="matrix_product",
        symbol=f"matrix_product_{mode}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=Signature(
            (
                Pointer(
                    "a",
                    rule.dtype.name,
                    ("row_blocks", f"{rule.rows * rule.depth} * steps"),
                    over_read=OVER_READ if rule.depth == 1 else 0,
                ),
                Pointer("b", rule.dtype.name, ("column_blocks", f"{rule.columns * rule.depth} * steps")),
                Pointer("output", "int32", tiled if rule.is_tiled else whole, direction="out"),
                ScalarArgument("row_blocks", "uint64"),
                ScalarArgument("column_blocks", "uint64"),
                ScalarArgument("steps", "uint64"),
            )
        ),
        golden=partial(_golden, mode=mode),
        steps=partial(_golden, mode=mode),
        corners=partial(vectors.corners, mode),
        sample=partial(vectors.sample, mode=mode),
        long_sample=partial(vectors.sample, mode=mode, most=6),
        program=partial(program.PROGRAMS[rule.depth], program.BYTES[rule.dtype.name]),
        conventions={other: partial(_otherwise, mode=mode, by=other) for other in others},
        mode=mode,
        summary=f"{rule.source} ({rule.name})",
        flags=_FLAGS[rule.depth],
        work=(
            "multiply-accumulate",
            f"{rule.rows * rule.columns * rule.depth} * row_blocks * column_blocks * steps",
        ),
    )


MODES = {mode: _kernel(mode) for mode in golden.MODES}
KERNEL = MODES["umlal_u8"]
