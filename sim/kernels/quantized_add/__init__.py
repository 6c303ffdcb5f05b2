"""quantized_add: the sum of two tensors, each uint8 or float32, as SynetQuantizedAdd of the Simd Library.

The modes of uint8 + uint8 -> uint8 are named by the backend (see `golden.FOLDED`) and take ad, bd and t as arguments;
`page` is what the public page says for the same types.  The other modes are named by their types, such as
`f32_u8_to_u8`; they take the quantization itself, and whether ReLU is asked for.  Apart from them stands `tflite`, the
integer add of TFLite and CMSIS-NN, which takes multipliers and shifts.
Sources: spec/quantized_add.md; spec/neighbours.md, "Integer quantized add"; what Init accepts is in
`sim.kernels.quantized_add.configure`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.quantized_add import conventions, golden, program, program_tflite, vectors, vectors_tflite
from sim.kernels.quantized_add.golden import Steps
from sim.kernels.signature import Pointer, Scalar, Signature

_FOLDER = Path(__file__).parent
_TYPES = {"u8": "uint8", "f32": "float32"}

_FOLDED_SIGNATURE = Signature(
    (
        Pointer("a", "uint8", ("length",)),
        Pointer("b", "uint8", ("length",)),
        Pointer("output", "uint8", ("length",), "out"),
        Scalar("length", "uint64"),
        Scalar("a_factor", "float32"),
        Scalar("b_factor", "float32"),
        Scalar("constant", "float32"),
    )
)


def _generic_signature(a_type: str, b_type: str, output_type: str) -> Signature:
    return Signature(
        (
            Pointer("a", a_type, ("length",)),
            Pointer("b", b_type, ("length",)),
            Pointer("output", output_type, ("length",), "out"),
            Scalar("length", "uint64"),
            Scalar("a_zero", "int32"),
            Scalar("a_scale", "float32"),
            Scalar("b_zero", "int32"),
            Scalar("b_scale", "float32"),
            Scalar("output_zero", "int32"),
            Scalar("output_scale", "float32"),
            Scalar("relu", "uint8"),
        )
    )


_TFLITE_SIGNATURE = Signature(
    (
        *_FOLDED_SIGNATURE.arguments[:4],
        Scalar("a_offset", "int32"),
        Scalar("a_multiplier", "int32"),
        Scalar("a_shift", "int32"),
        Scalar("b_offset", "int32"),
        Scalar("b_multiplier", "int32"),
        Scalar("b_shift", "int32"),
        Scalar("left_shift", "int32"),
        Scalar("offset", "int32"),
        Scalar("multiplier", "int32"),
        Scalar("shift", "int32"),
        Scalar("lower", "uint8"),
        Scalar("upper", "uint8"),
    )
)


def _folded_arguments(inputs: Inputs) -> Inputs:
    folded = inputs["folded"]
    return {
        "a": inputs["a"],
        "b": inputs["b"],
        "length": len(inputs["a"]),
        "a_factor": folded.a_factor,
        "b_factor": folded.b_factor,
        "constant": folded.constant,
    }


def _generic_arguments(inputs: Inputs) -> Inputs:
    parameters = inputs["parameters"]
    return {
        "a": inputs["a"],
        "b": inputs["b"],
        "length": len(inputs["a"]),
        "a_zero": parameters.a.zero_point,
        "a_scale": parameters.a.scale,
        "b_zero": parameters.b.zero_point,
        "b_scale": parameters.b.scale,
        "output_zero": parameters.output.zero_point,
        "output_scale": parameters.output.scale,
        "relu": int(parameters.relu),
    }


def _tflite_arguments(inputs: Inputs) -> Inputs:
    by = inputs["parameters"]
    return {
        "a": inputs["a"],
        "b": inputs["b"],
        "length": len(inputs["a"]),
        "a_offset": -by.a_zero,
        "a_multiplier": by.a.multiplier,
        "a_shift": by.a.shift,
        "b_offset": -by.b_zero,
        "b_multiplier": by.b.multiplier,
        "b_shift": by.b.shift,
        "left_shift": by.left_shift,
        "offset": by.output_zero,
        "multiplier": by.total.multiplier,
        "shift": by.total.shift,
        "lower": by.lower,
        "upper": by.upper,
    }


_PROGRAMS: Mapping[str, tuple[program.Sum, program.Round]] = {
    "neon_ties_away": (program.sum_fused, program.round_ties_away),
    "neon_ties_away_unfused": (program.sum_unfused, program.round_ties_away),
    "neon_ties_even": (program.sum_fused, program.round_ties_even),
    "neon_ties_even_unfused": (program.sum_unfused, program.round_ties_even),
    "base": (program.sum_in_double, program.round_ties_even),
}


def _folded_kernel(mode: str) -> Kernel:
    total, to_integers = _PROGRAMS[mode]
    return Kernel(
        name="quantized_add",
        symbol=f"quantized_add_{mode}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=_FOLDED_SIGNATURE,
        golden=conventions.BACKENDS[mode],
        steps=partial(conventions.folded_steps, mode=mode),
        arguments=_folded_arguments,
        corners=vectors.folded_corners,
        sample=vectors.folded_sample,
        program=partial(program.add_row, total=total, to_integers=to_integers),
        conventions={name: convention for name, convention in conventions.BACKENDS.items() if name != mode},
        mode=mode,
    )


def _page_kernel() -> Kernel:
    types = ("uint8", "uint8", "uint8")
    kernel = _generic_kernel("page", types, conventions.page_steps, program.store_page_bytes)
    return replace(kernel, conventions=conventions.of_page())


def _typed_kernel(a: str, b: str, output: str) -> Kernel:
    """Of one combination with a float32 tensor in it."""
    types = (_TYPES[a], _TYPES[b], _TYPES[output])
    store = program.store_bytes if output == "u8" else program.store_floats
    steps = partial(conventions.generic_steps, output_type=types[2])
    kernel = _generic_kernel(f"{a}_{b}_to_{output}", types, steps, store)
    return replace(kernel, conventions=conventions.of_types(*types))


def _generic_kernel(
    mode: str, types: tuple[str, str, str], steps: Callable[[Inputs], Steps], store: program.Store
) -> Kernel:
    a_type, b_type, _ = types
    return Kernel(
        name="quantized_add",
        symbol=f"quantized_add_{mode}",
        sources=(_FOLDER / "generic.c", _FOLDER / "generic_plain.c"),
        signature=_generic_signature(*types),
        golden=partial(conventions.output_of, steps=steps),
        steps=steps,
        arguments=_generic_arguments,
        corners=partial(vectors.generic_corners, a_type, b_type),
        sample=partial(vectors.generic_sample, a_type=a_type, b_type=b_type),
        program=partial(program.add_generic_row, store=store),
        mode=mode,
    )


_TFLITE = Kernel(
    name="quantized_add",
    symbol="quantized_add_tflite",
    sources=(_FOLDER / "tflite.c", _FOLDER / "tflite_plain.c"),
    signature=_TFLITE_SIGNATURE,
    golden=partial(conventions.output_of, steps=conventions.tflite_steps),
    steps=conventions.tflite_steps,
    arguments=_tflite_arguments,
    corners=vectors_tflite.corners,
    sample=vectors_tflite.sample,
    program=program_tflite.add_row_in_integers,
    conventions=conventions.INTEGER,
    mode="tflite",
)
_FOLDED = [_folded_kernel(mode) for mode in golden.FOLDED]
_TYPED = [_typed_kernel(*types) for types in product(_TYPES, repeat=3) if "f32" in types]
MODES = {kernel.mode: kernel for kernel in (*_FOLDED, _page_kernel(), *_TYPED, _TFLITE)}
KERNEL = MODES["neon_ties_away"]
