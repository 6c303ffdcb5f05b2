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


def _half_from_integers() -> Iterator[Rule]:
    """The integers lie in general registers."""
    for bits in (32, 64):
        for sign in "su":
            yield Rule("cvth_f16", f"{sign}cvtf", "half = general", "", form="number", kinds=sign, widths=(bits,))


def _half_in_fixed_point() -> Iterator[Rule]:
    """VCVTH_N with integers of 32 and 64 bits, to which ACLE gives the 16-bit register H, as argument and as result.

    So the low 16 bits are converted, and what is converted to is 16 bits that stand in a wider integer with zeros above
    (-1 becomes 65535).  clang does that; GCC converts all bits.
    """
    for bits in (32, 64):
        for sign in "su":
            to_half, from_half = f"{sign}cvtf", f"fcvtz{sign}"
            yield Rule(
                "cvth_n_f16", to_half, "half = T, right16", "{0}, {1.h}, {2}", form="number", kinds=sign, widths=(bits,)
            )
            yield Rule(
                f"cvth_n_{sign}{bits}", from_half, f"low_{sign}{bits} = T, right16", "{0.h}, {1}, {2}",
                form="number", kinds="f", widths=(16,),
            )  # fmt: skip


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
    # half precision and integers of 32 and 64 bits
    *_half_from_integers(),
    *_half_in_fixed_point(),
    # other precisions
    Rule("cvt_{n}", "fcvtn", "TN = T", form="narrow", kinds="f"),
    Rule("cvt_{w}", "fcvtl", "TW = T", form="long", kinds="f"),
    Rule("cvtx_{n}", "fcvtxn", "TN = T", form="narrow", kinds="f", widths=(64,)),
    Rule("cvtx_{n}", "fcvtxn", "TN = T", form="scalar", kinds="f", widths=(64,)),
)
