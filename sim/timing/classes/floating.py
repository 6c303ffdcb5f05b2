"""The class table: floating-point arithmetic, of vectors and scalars.  A class named 64 is of half registers."""

from __future__ import annotations

from collections.abc import Iterator

from sim.timing.classes.row import ClassRow

_TO_INTEGER = "fcvt[amnpz][su]"
_PAIR = "D,D,D; D,D; D,Q; h,.2h"


def _kinds(name: str, mnemonics: str, whole: str, half: str, size: str = "") -> Iterator[ClassRow]:
    """The rows of 128-bit and 64-bit forms, those of 16-bit elements first: a core may lack them."""
    yield ClassRow(f"ASIMD FP {name} 8H (fp16)", mnemonics, whole, "fp16")
    yield ClassRow(f"FP {name} 64 (fp16)", mnemonics, half, "fp16")
    yield ClassRow(f"ASIMD FP {name}{size}", mnemonics, whole)
    yield ClassRow(f"FP {name} 64", mnemonics, half)


def _scalar(name: str, mnemonics: str, shapes: str) -> Iterator[ClassRow]:
    yield ClassRow(f"{name} (fp16)", mnemonics, shapes, "fp16")
    yield ClassRow(name, mnemonics, shapes)


def _sized(single: str, double: str, half: str, mnemonics: str) -> Iterator[ClassRow]:
    """The rows of operations that can take longer, the more elements they have."""
    name = half.removesuffix(" 64")
    yield ClassRow(f"ASIMD {name} 8H (fp16)", mnemonics, ".8h,*")
    yield ClassRow(f"{half} (fp16)", mnemonics, "D,D*", "fp16")
    yield ClassRow(single, mnemonics, ".4s,*")
    yield ClassRow(double, mnemonics, ".2d,*")
    yield ClassRow(half, mnemonics, "D,D*")


def _divider(name: str, mnemonic: str) -> Iterator[ClassRow]:
    yield ClassRow(f"ASIMD FP {name} 8H (fp16)", mnemonic, ".8h,*")
    yield ClassRow(f"FP {name} 4H (fp16)", mnemonic, ".4h,*; h,*")
    yield ClassRow(f"ASIMD FP {name} 4S", mnemonic, ".4s,*")
    yield ClassRow(f"ASIMD FP {name} 2D", mnemonic, ".2d,*")
    yield ClassRow(f"FP {name} single", mnemonic, ".2s,*; s,*")
    yield ClassRow(f"FP {name} double", mnemonic, "d,*")


ARITHMETIC = (
    *_kinds("add", "fadd fsub fabd", "Q,Q,Q", "D,D,D", " 4S"),
    *_kinds("abs", "fabs fneg", "Q,Q", "D,D"),
    *_kinds("pairwise add", "faddp", "Q,Q,Q", _PAIR),
    *_kinds("max", "fmax fmin fmaxnm fminnm", "Q,Q,Q", "D,D,D"),
    *_kinds("max pairwise", "fmaxp fminp fmaxnmp fminnmp", "Q,Q,Q", _PAIR),
    ClassRow("ASIMD FP max reduce 8H (fp16)", "fmaxv fminv fmaxnmv fminnmv", "h,.8h"),
    ClassRow("ASIMD FP max reduce 4H (fp16)", "fmaxv fminv fmaxnmv fminnmv", "h,.4h"),
    ClassRow("ASIMD FP max reduce 4S", "fmaxv fminv fmaxnmv fminnmv", "s,.4s"),
    *_kinds("multiply", "fmul fmulx fnmul", "Q,Q,Q; Q,Q,E", "D,D,D; D,D,E", " 4S"),
    *_kinds("fma", "fmla fmls fmadd fmsub fnmadd fnmsub", "Q,Q,Q", "D,D,D; D,D,D,D", " 4S"),
    *_kinds("fma by element", "fmla fmls", "Q,Q,E", "D,D,E", " 4S"),
    *_kinds("reciprocal step", "frecps frsqrts", "Q,Q,Q", "D,D,D"),
    *_kinds("compare", "fcmeq fcmge fcmgt fcmle fcmlt facge facgt", "Q,Q,Q; Q,Q,I", "D,D,D; D,D,I"),
    *_divider("divide", "fdiv"),
    *_divider("square root", "fsqrt"),
    *_sized(
        "ASIMD FP reciprocal estimate 4S",
        "ASIMD FP reciprocal estimate 2D",
        "FP reciprocal estimate 64",
        "frecpe frsqrte frecpx urecpe ursqrte",
    ),
    *_scalar("FP compare to flags (fcmp)", "fcmp fcmpe fccmp fccmpe", "*"),
    *_scalar("FP select (fcsel)", "fcsel", "*"),
    ClassRow("FP complex (fcmla, fcadd)", "fcmla fcadd", "*"),
    ClassRow("FP16 multiply-accumulate long (fmlal)", "fmlal fmlal2 fmlsl fmlsl2", "*"),
    ClassRow("BF16 (bfdot, bfmmla, bfcvt)", "bfdot bfmmla bfmlal[bt] bfcvt bfcvtn bfcvtn2", "*"),
)

CONVERSIONS = (
    *_sized(
        "ASIMD FP convert int->f32",
        "ASIMD FP convert int->f64",
        "FP convert int->float 64",
        "[su]cvtf",
    ),
    *_sized(
        "ASIMD FP convert f32->int nearest",
        "ASIMD FP convert f64->int nearest",
        "FP convert float->int 64",
        _TO_INTEGER,
    ),
    *_sized("ASIMD FP round 4S", "ASIMD FP round 2D", "FP round 64", "frint[aimnpxz]"),
    *_scalar("FP convert GPR->float", "[su]cvtf", "D,R*"),
    *_scalar("FP convert float->GPR", _TO_INTEGER, "R,D*"),
    ClassRow("FP convert JavaScript (fjcvtzs)", "fjcvtzs", "*"),
    ClassRow("FP round to 32 or 64 bits (frint32z)", "frint32[xz] frint64[xz]", "*"),
    ClassRow("FP convert precision (fcvt)", "fcvt", "*"),
    ClassRow("ASIMD FP convert f32->f16 narrow", "fcvtn fcvtn2", ".4h,*; .8h,*"),
    ClassRow("ASIMD FP convert f64->f32 narrow", "fcvtn fcvtn2 fcvtxn fcvtxn2", ".2s,*; .4s,*; s,*"),
    ClassRow("ASIMD FP convert f16->f32 long", "fcvtl fcvtl2", ".4s,*"),
    ClassRow("ASIMD FP convert f32->f64 long", "fcvtl fcvtl2", ".2d,*"),
)

MOVES = (
    *_kinds("move immediate", "fmov", "Q,I", "D,I"),
    *_scalar("FP move register (fmov)", "fmov", "D,D"),
    *_scalar("transfer GPR->vector (fmov)", "fmov", "D,R"),
    *_scalar("transfer vector->GPR whole (fmov)", "fmov", "R,D"),
)
