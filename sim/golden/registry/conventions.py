"""The registry: every convention of docs/spec/known_differences.md by the name of its function.

    convention_named("double_rounding").rows    # ("1", "1b", "2", ...)

What else there is to say of one is declared above its function, and its docstring; what it takes is in its `Family`.
"""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

from sim.golden import (
    addition,
    bounds,
    byte_rounding,
    derivation,
    factor_product,
    fixed_point,
    gemm_offsets,
    one_rounding,
    scaling,
    shift_direction,
    tail_lanes,
)
from sim.golden.pytorch import addition as pytorch_addition
from sim.golden.pytorch import real_bias
from sim.golden.registry import families
from sim.golden.registry.record import Convention, Family

_FUNCTIONS: Sequence[tuple[Family, tuple[Callable[..., Any], ...]]] = (
    (
        families.RIGHT_SHIFT,
        (
            fixed_point.divide_by_power_of_two_ties_away,
            fixed_point.divide_by_power_of_two_ties_up,
            fixed_point.shift_right_floor,
            fixed_point.vector_shift,
            fixed_point.tail_shift,
        ),
    ),
    (
        families.HIGH_MULTIPLY,
        (fixed_point.doubling_high_multiply, fixed_point.doubling_high_multiply_unsaturated),
    ),
    (families.LEFT_SHIFTS, (fixed_point.shift_left_wrap, fixed_point.shift_left_saturate)),
    (
        families.SCALING,
        (
            scaling.double_rounding,
            scaling.double_rounding_ties_up,
            scaling.double_rounding_floor,
            scaling.double_rounding_saturating_left,
            scaling.double_rounding_unsaturated,
            scaling.single_rounding,
            scaling.single_rounding_narrowed,
            scaling.single_rounding_by_vector,
            scaling.single_rounding_of_long,
            one_rounding.single_rounding_ties_away,
            one_rounding.single_rounding_floor,
            one_rounding.single_rounding_truncated,
            one_rounding.single_rounding_by_vector_saturating_left,
            one_rounding.single_rounding_of_long_narrowed,
            scaling.shift_after_rounding_in_lanes,
            scaling.shift_after_rounding_in_tail,
        ),
    ),
    (families.DIRECTION, (shift_direction.shift_counts_right, shift_direction.shift_counts_left)),
    (
        families.DERIVATION,
        (
            derivation.derive_acl_19_08,
            derivation.derive_acl_20_02,
            derivation.derive_acl_20_05_ignoring_epsilon,
            derivation.derive_armnn,
            derivation.derive_tflite,
            derivation.derive_tflite_single_rounding,
            derivation.derive_vela,
        ),
    ),
    (
        families.FACTOR_PRODUCT,
        (
            factor_product.product_acl_19_08,
            factor_product.product_acl_20_02,
            factor_product.product_armnn,
            factor_product.product_armnn_count_mod_32,
            factor_product.product_tflite,
            factor_product.product_tflite_single_rounding,
            factor_product.product_in_float,
            factor_product.product_xnnpack,
            factor_product.product_by_magic_number,
            factor_product.product_of_eight_bits,
        ),
    ),
    (
        families.REAL_BIAS,
        (
            real_bias.bias_divided,
            real_bias.bias_by_reciprocal,
            real_bias.bias_rounded,
            real_bias.bias_in_reals,
            real_bias.bias_in_reals_of_products,
        ),
    ),
    (families.INTEGER_SCALE, (scaling.integer_scale_floor, scaling.integer_scale_ties_away)),
    (
        families.SCALE_AND_OFFSET,
        (one_rounding.scale_then_offset_floor, one_rounding.scale_then_offset_floor_wrapped),
    ),
    (
        families.BOUNDS,
        (bounds.bounded_unless_equal, bounds.bounded_unless_whole_range, bounds.bounded_then_low_byte),
    ),
    (
        families.FLOAT_TO_BYTE,
        (
            byte_rounding.round_even_then_offset,
            byte_rounding.round_away_then_offset,
            byte_rounding.offset_then_round_even,
            byte_rounding.offset_then_round_even_fused,
            byte_rounding.offset_then_truncate,
            byte_rounding.reciprocal_round_even_then_offset,
        ),
    ),
    (
        families.FLOAT_TO_INT8,
        (
            byte_rounding.int8_round_even_then_offset,
            byte_rounding.int8_reciprocal_round_even_then_offset,
            byte_rounding.int8_offset_then_round_even,
            byte_rounding.int8_offset_then_round_even_fused,
        ),
    ),
    (
        families.QUANTIZED_ADD,
        (
            addition.add_page,
            addition.add_base,
            addition.add_base_x86,
            addition.add_avx2,
            addition.add_neon_ties_away,
            addition.add_neon_ties_away_unfused,
            addition.add_neon_ties_even,
            addition.add_neon_ties_even_unfused,
            addition.add_tflite,
            addition.add_tflite_single_rounding,
            addition.add_xnnpack,
            pytorch_addition.add_qnnpack,
            pytorch_addition.add_pytorch,
            pytorch_addition.add_pytorch_tail,
        ),
    ),
    (families.GEMM_OFFSETS, (gemm_offsets.offsets_added, gemm_offsets.zero_points_subtracted)),
    (families.COLUMN_SUMS, (gemm_offsets.column_sums_by_batch, gemm_offsets.column_sums_of_first_batch)),
    (families.TAIL_LANES, (tail_lanes.completed_by_padding, tail_lanes.completed_by_zeros)),
)

CONVENTIONS = {
    function.__name__: Convention(family, function) for family, functions in _FUNCTIONS for function in functions
}
"""Every convention by name, those of a family together."""


def convention_named(name: str) -> Convention:
    """The convention of that name.  Raises LookupError with a sentence that names the nearest ones."""
    if name not in CONVENTIONS:
        near = [other for other in CONVENTIONS if name and name in other] or get_close_matches(name, CONVENTIONS)
        hint = f"the nearest are {', '.join(near)}" if near else "`lanewise conventions` lists them"
        raise LookupError(f"there is no convention {name!r}: {hint}")
    return CONVENTIONS[name]


RUNTIMES = {
    "litert": ("LiteRT", "XNNPACK's fp32", "XNNPACK", "but its reference"),
    "litert-no-delegate": (
        "without delegates",
        "but its reference",
        "NEON helper for four rows",
        "TFLite's default build",
        "optimised QUANTIZE",
        "TFLite",
        "ruy",
    ),
    "litert-reference": ("TFLite's reference", "TFLite's default build", "reference QUANTIZE of TFLite", "TFLite"),
    "tflite-micro": ("TensorFlow Lite Micro", "TFLite's reference", "TFLite's default build", "TFLite", "CMSIS-NN"),
    "onnxruntime": ("ONNX Runtime",),
    "onnx-reference": ("ONNX QuantizeLinear",),
}
"""By what `lanewise model --against` calls a runtime, the names that users of conventions have of its arithmetic.

Its own first: of XNNPACK's conventions LiteRT has those in float32, and each set of TFLite's kernels its own way.
"""


def rank_of(users: str, runtime: str) -> int:
    """Which of a runtime's names are among the users of a convention, as a text names them: 0 for its own.

    As many as it has names for none of them.
    """
    names = RUNTIMES.get(runtime, ())
    return next((rank for rank, name in enumerate(names) if name in users), len(names))


def conventions_of(whose: str) -> list[Convention]:
    """The conventions of a runtime of `RUNTIMES`, or of whoever its users name.  Raises LookupError with a sentence."""
    every = CONVENTIONS.values()
    found = [one for one in every if rank_of(one.users, whose) < len(RUNTIMES.get(whose, ()))]
    found = found or [one for one in every if whose and whose.lower() in one.users.lower()]
    if not found:
        known = ", ".join(RUNTIMES)
        raise LookupError(f"no convention is told to be used by {whose!r}: give {known}, or a library such as ACL")
    return found
