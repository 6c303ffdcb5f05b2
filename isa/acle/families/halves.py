"""Intrinsics that multiply 16-bit floats into single precision, and that convert bfloat16."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from isa.acle.rules import Rule

_half = partial(Rule, kinds="f", widths=(16,))
_single = partial(Rule, kinds="f", widths=(32,))
_GROUP = "{0}, {2}, {3.hh}[{4}]"
_ELEMENT = "{0}, {2}, {3.e}[{4}]"


def _half_precision() -> Iterator[Rule]:
    """VFMLAL and VFMLSL of the lower and of the upper half of the products."""
    for op, part, mnemonic in (
        ("fmlal", "low", "fmlal"), ("fmlal", "high", "fmlal2"), ("fmlsl", "low", "fmlsl"), ("fmlsl", "high", "fmlsl2"),
    ):  # fmt: skip
        by_element = "{0}, {2.half}, {3.e}[{4}]"
        yield _half(f"{op}_{part}", mnemonic, "TP = +TP, T, T", "{0}, {2.half}, {3.half}")
        yield _half(f"{op}_lane_{part}", mnemonic, "TP = +TP, T, TH, lane", by_element)
        yield _half(f"{op}_laneq_{part}", mnemonic, "TP = +TP, T, TQ, lane", by_element)


def _bfloat() -> Iterator[Rule]:
    """What adds products of bfloat16 to single precision, the type that the names end with."""
    yield _single("bfdot bfmmla", "{op}", "T = +T, TR, TR")
    yield _single("bfdot_lane", "bfdot", "T = +T, TR, TRH, group", _GROUP)
    yield _single("bfdot_laneq", "bfdot", "T = +T, TR, TRQ, group", _GROUP)
    for op in ("bfmlalb", "bfmlalt"):
        yield _single(op, op, "T = +T, TR, TR")
        yield _single(f"{op}_lane", op, "T = +T, TR, TRH, lane", _ELEMENT)
        yield _single(f"{op}_laneq", op, "T = +T, TR, TRQ, lane", _ELEMENT)


RULES = (
    *_half_precision(),
    *_bfloat(),
    Rule("cvt_bf16", "bfcvtn", "TRH = T", "", form="128", kinds="f", widths=(32,)),
    Rule("cvt_low_bf16", "bfcvtn", "TR = T", "{0.half}, {1}", form="q", kinds="f", widths=(32,)),
    Rule("cvt_high_bf16", "bfcvtn2", "TR = +TR, T", "{0}, {2}", form="q", kinds="f", widths=(32,)),
    Rule("cvth_bf16", "bfcvt", "brain = T", "", form="number", kinds="f", widths=(32,)),
    Rule("cvt_f32", "shll", "TW = T", "{0}, {1}, #16", form="d", kinds="b"),
    Rule("cvt_low_f32", "shll", "TW = T", "{0}, {1.half}, #16", form="q", kinds="b"),
    Rule("cvt_high_f32", "shll2", "TW = T", "{0}, {1}, #16", form="q", kinds="b"),
    Rule("cvtah_f32", "shl", "TW = T", "{0.q}, {1.q}, #16", form="number", kinds="b"),
)
