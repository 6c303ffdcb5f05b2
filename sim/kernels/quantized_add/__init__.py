"""quantized_add: the sum of two tensors, each uint8 or float32, as SynetQuantizedAdd of the Simd Library.

The modes of uint8 + uint8 -> uint8 are named by the backend (see `golden.FOLDED`) and take ad, bd and t as arguments;
`page` is what the public page says for the same types.  The other modes are named by their types, such as
`f32_u8_to_u8`; they take the quantization itself, and whether ReLU is asked for.  Apart from them stand `tflite`, the
integer add of TFLite and CMSIS-NN, which takes multipliers and shifts, and TFLite's of 16 bits, `tflite_s16` of any
scales and `tflite_s16_pot` of powers of two.
Sources: docs/spec/quantized_add.md; docs/spec/neighbours.md sections 13 and 24; what Init accepts is in
`sim.kernels.quantized_add.configure`.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from sim.golden.addition import LEFT_SHIFT
from sim.golden.fixed_point import INT32_MAX
from sim.kernels.domain import LONGEST, Domain
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.quantized_add import (
    conventions,
    golden,
    golden_tflite_pot,
    golden_tflite_s16,
    program,
    program_tflite,
    vectors,
    vectors_tflite,
    vectors_tflite_pot,
    vectors_tflite_s16,
)
from sim.kernels.signature import Pointer, ScalarArgument, Signature

_FOLDER = Path(__file__).parent
_TYPES = {"u8": "uint8", "f32": "float32"}

_FOLDED_SIGNATURE = Signature(
    (
        Pointer("a", "uint8", ("length",)),
        Pointer("b", "uint8", ("length",)),
        Pointer("output", "uint8", ("length",), direction="out"),
        ScalarArgument("length", "uint64"),
        ScalarArgument("a_factor", "float32"),
        ScalarArgument("b_factor", "float32"),
        ScalarArgument("constant", "float32"),
    )
)


def _generic_signature(a_type: str, b_type: str, output_type: str) -> Signature:
    return Signature(
        (
            Pointer("a", a_type, ("length",)),
            Pointer("b", b_type, ("length",)),
            Pointer("output", output_type, ("length",), direction="out"),
            ScalarArgument("length", "uint64"),
            ScalarArgument("a_zero", "int32"),
            ScalarArgument("a_scale", "float32"),
            ScalarArgument("b_zero", "int32"),
            ScalarArgument("b_scale", "float32"),
            ScalarArgument("output_zero", "int32"),
            ScalarArgument("output_scale", "float32"),
            ScalarArgument("relu", "uint8"),
        )
    )


_PAGE_SIGNATURE = Signature(
    (
        *_generic_signature("uint8", "uint8", "uint8").arguments[:-1],
        ScalarArgument("activation", "uint8"),
        ScalarArgument("parameter_0", "float32"),
        ScalarArgument("parameter_1", "float32"),
    )
)
ACTIVATION_NUMBERS = {"Identity": 0, "ReLU": 1, "LeakyRelu": 2, "RestrictRange": 3, "Hswish": 6, "HardSigmoid": 8}
"""Those of Simd, which numbers the others between them."""
_TFLITE_SIGNATURE = Signature(
    (
        *_FOLDED_SIGNATURE.arguments[:4],
        ScalarArgument("a_offset", "int32"),
        ScalarArgument("a_multiplier", "int32"),
        ScalarArgument("a_shift", "int32"),
        ScalarArgument("b_offset", "int32"),
        ScalarArgument("b_multiplier", "int32"),
        ScalarArgument("b_shift", "int32"),
        ScalarArgument("left_shift", "int32"),
        ScalarArgument("offset", "int32"),
        ScalarArgument("multiplier", "int32"),
        ScalarArgument("shift", "int32"),
        ScalarArgument("lower", "uint8"),
        ScalarArgument("upper", "uint8"),
    )
)
_TFLITE_S16_SIGNATURE = Signature(
    (
        Pointer("a", "int16", ("length",)),
        Pointer("b", "int16", ("length",)),
        Pointer("output", "int16", ("length",), direction="out"),
        ScalarArgument("length", "uint64"),
        *(argument for argument in _TFLITE_SIGNATURE.arguments[4:-2] if "offset" not in argument.name),
        ScalarArgument("lower", "int16"),
        ScalarArgument("upper", "int16"),
    )
)

_TFLITE_S16_POT_SIGNATURE = Signature(
    (
        *_TFLITE_S16_SIGNATURE.arguments[:4],
        ScalarArgument("a_shift", "int32"),
        ScalarArgument("b_shift", "int32"),
        *_TFLITE_S16_SIGNATURE.arguments[-2:],
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


def _page_arguments(inputs: Inputs) -> Inputs:
    arguments, activation = dict(_generic_arguments(inputs)), inputs["parameters"].activation
    del arguments["relu"]
    first, second = activation.parameters
    number = ACTIVATION_NUMBERS[activation.name]
    return arguments | {"activation": number, "parameter_0": first, "parameter_1": second}


def _tflite_s16_arguments(inputs: Inputs) -> Inputs:
    by = inputs["parameters"]
    return {
        "a": inputs["a"],
        "b": inputs["b"],
        "length": len(inputs["a"]),
        "a_multiplier": by.a.multiplier,
        "a_shift": by.a.shift,
        "b_multiplier": by.b.multiplier,
        "b_shift": by.b.shift,
        "left_shift": by.left_shift,
        "multiplier": by.total.multiplier,
        "shift": by.total.shift,
        "lower": by.lower,
        "upper": by.upper,
    }


def _tflite_s16_pot_arguments(inputs: Inputs) -> Inputs:
    by = inputs["parameters"]
    return {
        "a": inputs["a"],
        "b": inputs["b"],
        "length": len(inputs["a"]),
        "a_shift": by.a_shift,
        "b_shift": by.b_shift,
        "lower": by.lower,
        "upper": by.upper,
    }


def _tflite_arguments(inputs: Inputs) -> Inputs:
    by = inputs["parameters"]
    zeros = {"a_offset": -by.a_zero, "b_offset": -by.b_zero, "offset": by.output_zero}
    return {**_tflite_s16_arguments(inputs), **zeros}


_FOLDED_PROGRAMS: Mapping[str, tuple[program.Sum, program.Round]] = {
    "neon_ties_away": (program.sum_fused, program.round_ties_away),
    "neon_ties_away_unfused": (program.sum_unfused, program.round_ties_away),
    "neon_ties_even": (program.sum_fused, program.round_ties_even),
    "neon_ties_even_unfused": (program.sum_unfused, program.round_ties_even),
    "base": (program.sum_in_double, program.round_ties_even),
}


_FOLDED = [
    Kernel(
        name="quantized_add",
        symbol=f"quantized_add_{mode}",
        sources=(_FOLDER / "kernel.c", _FOLDER / "kernel_plain.c"),
        signature=_FOLDED_SIGNATURE,
        golden=conventions.BACKENDS[mode],
        steps=partial(conventions.folded_steps, mode=mode),
        arguments=_folded_arguments,
        corners=vectors.folded_corners,
        sample=vectors.folded_sample,
        long_sample=partial(vectors.folded_sample, longest=LONGEST),
        program=partial(program.add_row, total=total, to_integers=to_integers),
        conventions={name: convention for name, convention in conventions.BACKENDS.items() if name != mode},
        mode=mode,
        summary=f"three uint8 tensors: {golden.FOLDED[mode].source}; no activation is applied",
    )
    for mode, (total, to_integers) in _FOLDED_PROGRAMS.items()
]


def _generic_kernel(a: str, b: str, output: str) -> Kernel:
    """Of one combination of types."""
    mode, types = f"{a}_{b}_to_{output}", (_TYPES[a], _TYPES[b], _TYPES[output])
    steps = partial(conventions.generic_steps, output_type=types[2])
    store = program.store_bytes if output == "u8" else program.store_floats
    return Kernel(
        name="quantized_add",
        symbol=f"quantized_add_{mode}",
        sources=(_FOLDER / "generic.c", _FOLDER / "generic_plain.c"),
        signature=_generic_signature(*types),
        golden=partial(conventions.output_of, steps=steps),
        steps=steps,
        arguments=_generic_arguments,
        corners=partial(vectors.generic_corners, types[0], types[1]),
        sample=partial(vectors.generic_sample, a_type=types[0], b_type=types[1]),
        long_sample=partial(vectors.generic_sample, a_type=types[0], b_type=types[1], longest=LONGEST),
        program=partial(program.add_generic_row, store=store),
        conventions=conventions.of_types(*types),
        mode=mode,
        summary=f"Base, which every backend runs for {types[0]} + {types[1]} -> {types[2]}; ReLU is applied",
        domain={"relu": Domain(0, 1)},
    )


_TYPED = [_generic_kernel(*types) for types in product(_TYPES, repeat=3) if "f32" in types]
_PAGE = replace(
    _generic_kernel("u8", "u8", "u8"),
    symbol="quantized_add_page",
    signature=_PAGE_SIGNATURE,
    golden=partial(conventions.output_of, steps=conventions.page_steps),
    steps=conventions.page_steps,
    arguments=_page_arguments,
    corners=vectors.page_corners,
    sample=vectors.page_sample,
    long_sample=partial(vectors.page_sample, longest=LONGEST),
    program=program.add_page_row,
    conventions=conventions.of_page(),
    mode="page",
    summary="three uint8 tensors as the public page says, step by step in float32, the activation applied",
    domain={"activation": Domain(choices=tuple(ACTIVATION_NUMBERS.values()))},
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
    long_sample=partial(vectors_tflite.sample, longest=LONGEST),
    program=program_tflite.add_row_in_integers,
    conventions=conventions.INTEGER,
    mode="tflite",
    summary="TFLite's and CMSIS-NN's integer add in their default builds: three rescalings with double rounding",
    domain={
        **dict.fromkeys(("a_offset", "b_offset"), Domain(-255, 0)),
        **dict.fromkeys(("a_shift", "b_shift", "shift"), Domain(-31, 0)),
        "left_shift": Domain(0, LEFT_SHIFT),
        "offset": Domain(0, 255),
    },
)
_TFLITE_S16 = Kernel(
    name="quantized_add",
    symbol="quantized_add_tflite_s16",
    sources=_TFLITE.sources,
    signature=_TFLITE_S16_SIGNATURE,
    golden=partial(conventions.output_of, steps=golden_tflite_s16.steps),
    steps=golden_tflite_s16.steps,
    arguments=_tflite_s16_arguments,
    corners=vectors_tflite_s16.corners,
    sample=vectors_tflite_s16.sample,
    long_sample=partial(vectors_tflite_s16.sample, longest=LONGEST),
    program=program_tflite.add_row_of_16_bits,
    conventions=golden_tflite_s16.OTHERS,
    mode="tflite_s16",
    summary="TFLite's integer add of int16 tensors of any scales: three rescalings with double rounding",
    domain={
        **dict.fromkeys(("a_multiplier", "b_multiplier", "multiplier"), Domain(0, INT32_MAX)),
        **dict.fromkeys(("a_shift", "b_shift", "shift"), Domain(-31, 0)),
        "left_shift": Domain(0, golden_tflite_s16.LEFT_SHIFT),
    },
)
_TFLITE_S16_POT = Kernel(
    name="quantized_add",
    symbol="quantized_add_tflite_s16_pot",
    sources=_TFLITE.sources,
    signature=_TFLITE_S16_POT_SIGNATURE,
    golden=partial(conventions.output_of, steps=golden_tflite_pot.steps),
    steps=golden_tflite_pot.steps,
    arguments=_tflite_s16_pot_arguments,
    corners=vectors_tflite_pot.corners,
    sample=vectors_tflite_pot.sample,
    long_sample=partial(vectors_tflite_pot.sample, longest=LONGEST),
    program=program_tflite.add_row_by_powers_of_two,
    conventions=golden_tflite_pot.OTHERS,
    mode="tflite_s16_pot",
    summary="TFLite's add of int16 tensors whose scales are powers of two: one operand is shifted, ties away",
    domain=dict.fromkeys(("a_shift", "b_shift"), Domain(golden_tflite_pot.SHIFTS[0], 0)),
)
MODES = {kernel.mode: kernel for kernel in (*_FOLDED, _PAGE, *_TYPED, _TFLITE, _TFLITE_S16, _TFLITE_S16_POT)}
KERNEL = MODES["neon_ties_away"]
