"""For each lane module a fault that every theorem about it must notice: a text of the file, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping

from rtl_models.formal.theorem import Fault

_NOT_ROUNDED = "halves[0]}", "1'b0}"
_ONE_TOO_FAR = ">>> (~shift_i[6:0])", ">>> (-shift_i[6:0])"
_ONE_TOO_FAR_UNSIGNED = ">> (~shift_i[6:0])", ">> (-shift_i[6:0])"
_CLAMPED_TOO_EARLY = "(shift_i[6:0] > Width[6:0])", "(shift_i[6:0] >= Width[6:0] - 7'd1)"

_TEXTS = {
    "add": ("a_i + b_i", "a_i | b_i"),
    "sub": ("a_i - b_i", "b_i - a_i"),
    "sqadd": ("{~sum[Width]}", "{1'b1}"),
    "sqsub": ("- {b_i[Width-1], b_i}", "- {1'b0, b_i}"),
    "uqadd": ("= sum[Width];", "= &sum;"),
    "uqsub": ("a_i < b_i", "a_i <= b_i"),
    "smin": ("$signed(b_i)", "b_i"),
    "smax": ("$signed(b_i)", "b_i"),
    "umin": ("(a_i < b_i)", "($signed(a_i) < $signed(b_i))"),
    "umax": ("(a_i > b_i)", "($signed(a_i) > $signed(b_i))"),
    "sqdmulh": ("!= product[2*Width-2]", "!= 1'b0"),
    "sqxtn": ("{~a_i[2*Width-1]}", "{1'b1}"),
    "sqxtun": ("{~a_i[2*Width-1]}", "{1'b1}"),
    "uqxtn": ("|a_i[2*Width-1:Width]", "&a_i[2*Width-1:Width]"),
    "sshl": _ONE_TOO_FAR,
    "srshl": _NOT_ROUNDED,
    "sqshl": _CLAMPED_TOO_EARLY,
    "sqrshl": _NOT_ROUNDED,
    "ushl": _ONE_TOO_FAR_UNSIGNED,
    "urshl": _NOT_ROUNDED,
    "uqshl": _CLAMPED_TOO_EARLY,
    "uqrshl": _NOT_ROUNDED,
    "rounding_divide_by_pot": ("a_i[Width-1] & count[7]", "1'b0"),
    "sdot4": ("$signed(b_i[3*Byte +: Byte])", "b_i[3*Byte +: Byte]"),
    "udot4": ("b_i[3*Byte +: Byte]", "b_i[2*Byte +: Byte]"),
}

FAULTS: Mapping[str, Fault] = {
    **{module: Fault(f"{module}.sv", *texts) for module, texts in _TEXTS.items()},
    "sqrdmulh": Fault("rounding_doubling_high.sv", "product_i + Half", "product_i + Half - 1'b1"),
}
"""By module."""
