"""Intrinsics that convert between integers and floating point, and between formats, on vectors and single numbers."""

from __future__ import annotations

from collections.abc import Iterator

from isa.acle.rules import Rule

_ROUNDINGS = {"": "z", "a": "a", "m": "m", "n": "n", "p": "p"}
"""The letter of FCVT* by the one of VCVT*, which truncates where it has none."""


def _to_integers() -> Iterator[Rule]:
    for how, letter in _ROUNDINGS.items():
        for sign in "su":
            convert, op = f"fcvt{letter}{sign}", f"cvt{how}"
            same = f"{op}_{{{sign}}}"
            yield Rule(same, convert, f"T{sign.upper()} = T", kinds="f")
            yield Rule(same, convert, f"T{sign.upper()} = T", form="scalar", kinds="f")
            kind = {"s": "signed", "u": "unsigned"}[sign]
            yield Rule(f"{op}_{sign}64", convert, f"{kind}64 = T", form="scalar", kinds="f", widths=(16, 32))
            yield Rule(f"{op}_{sign}32", convert, f"{kind}32 = T", form="scalar", kinds="f", widths=(16, 64))


RULES = (
    *_to_integers(),
    # fixed point
    *(
        rule
        for form in ("each", "scalar")
        for rule in (
            Rule("cvt_n_{s}", "fcvtzs", "TS = T, right", form=form, kinds="f"),
            Rule("cvt_n_{u}", "fcvtzu", "TU = T, right", form=form, kinds="f"),
            Rule("cvt_n_{f}", "{s}cvtf", "TF = T, right", form=form),
            Rule("cvt_{f}", "{s}cvtf", "TF = T", form=form),
        )
    ),
    # Half precision from integers of 32 and 64 bits, which lie in general registers.  The fixed-point ones
    # (`vcvth_n_f16_s32`) are left out: ACLE gives them the 16-bit register H as source, clang keeps to that and GCC
    # does not.
    *(
        Rule("cvth_f16", f"{sign}cvtf", "half = general", "", form="number", kinds=sign, widths=(bits,))
        for bits in (32, 64)
        for sign in "su"
    ),
    # other precisions
    Rule("cvt_{n}", "fcvtn", "TN = T", form="narrow", kinds="f"),
    Rule("cvt_{w}", "fcvtl", "TW = T", form="long", kinds="f"),
    Rule("cvtx_{n}", "fcvtxn", "TN = T", form="narrow", kinds="f", widths=(64,)),
    Rule("cvtx_{n}", "fcvtxn", "TN = T", form="scalar", kinds="f", widths=(64,)),
)
