"""What a word is that Capstone 5 does not know: the extension that has its encoding, else its top-level group.

After the index of A64 encodings (Arm ARM C4.1).  Only words that Capstone refuses are looked up here.
"""

from __future__ import annotations

from typing import NamedTuple

from isa.refusals import NO_INSTRUCTION, Extension


class _EncodingClass(NamedTuple):
    """Words with `value` under `mask`, and what they belong to: a name, and what compilers call it after a `+`."""

    mask: int
    value: int
    name: str
    option: str


_CLASSES = (
    _EncodingClass(0x9E000000, 0x80000000, "SME", "sme"),
    _EncodingClass(0x1E000000, 0x04000000, "SVE", "sve"),
    # data processing, immediate: SMAX to UMIN; AUTIASPPC, AUTIBSPPC
    _EncodingClass(0x7FF00000, 0x11C00000, "CSSC", "cssc"),
    _EncodingClass(0xFF80001F, 0xF380001F, "PAuth_LR", "pauth-lr"),
    # branches and system: CBGT to CBNE; RETAASPPC; RETAASPPCR; MRRS, MSRR, SYSP
    _EncodingClass(0x7E000000, 0x74000000, "CMPBR", "cmpbr"),
    _EncodingClass(0xFFC0001F, 0x5500001F, "PAuth_LR", "pauth-lr"),
    _EncodingClass(0xFFFFFBE0, 0xD65F0BE0, "PAuth_LR", "pauth-lr"),
    _EncodingClass(0xFFC00000, 0xD5400000, "D128", "d128"),
    # loads and stores: pairs in atomics, with and without checks; SETGOP; unprivileged; with order; vectors with order
    _EncodingClass(0xBF20C800, 0x19200800, "THE", "the"),
    _EncodingClass(0xBF20FC00, 0x19208000, "LSE128", "lse128"),
    _EncodingClass(0xBF20CC00, 0x19208000, "THE", "the"),
    _EncodingClass(0xBF20CC00, 0x19200000, "LSE128", "lse128"),
    _EncodingClass(0xBF20CC00, 0x38208000, "THE", "the"),
    _EncodingClass(0x3FFF0C00, 0x1DDF0000, "MOPS_GO", "mops-go"),
    _EncodingClass(0xBF200C00, 0x19200400, "LSUI", "lsui"),
    _EncodingClass(0x3F000000, 0x09000000, "LSUI", "lsui"),
    _EncodingClass(0xFA000000, 0xE8000000, "LSUI", "lsui"),
    _EncodingClass(0xBF20EC00, 0x99000800, "LRCPC3", "rcpc3"),
    _EncodingClass(0x3F200C00, 0x1D000800, "LRCPC3", "rcpc3"),
    _EncodingClass(0xBFBFFC00, 0x0D018400, "LRCPC3", "rcpc3"),
    _EncodingClass(0x3F200C00, 0x3C200000, "LSFE", "lsfe"),
    _EncodingClass(0xFFFFEC00, 0xD91F0C00, "GCS", "gcs"),
    _EncodingClass(0xFEC00000, 0x68800000, "MTE", "memtag"),
    _EncodingClass(0xFF400000, 0x69000000, "MTE", "memtag"),
    _EncodingClass(0xFF200400, 0xF8200400, "pointer authentication", "pauth"),
    # data processing, registers: ABS, CTZ, CNT, SMAX to UMIN; ADDPT, MADDPT; PACNBIASPPC and its kin
    _EncodingClass(0x7FFFFC00, 0x5AC01800, "CSSC", "cssc"),
    _EncodingClass(0x7FFFFC00, 0x5AC01C00, "CSSC", "cssc"),
    _EncodingClass(0x7FFFFC00, 0x5AC02000, "CSSC", "cssc"),
    _EncodingClass(0x7FE0F000, 0x1AC06000, "CSSC", "cssc"),
    _EncodingClass(0xBFE0E000, 0x9A002000, "CPA", "cpa"),
    _EncodingClass(0xFFE00000, 0x9B600000, "CPA", "cpa"),
    _EncodingClass(0xFFFF801E, 0xDAC1801E, "PAuth_LR", "pauth-lr"),
    # floating point and AdvSIMD: F1CVTL, FCVTN, FSCALE, FDOT and FMLAL, FMLALL, FMMLA; FAMAX; LUTI2; conversions
    _EncodingClass(0xBF3FFC00, 0x2E217800, "FP8", "fp8"),
    _EncodingClass(0xBFA0FC00, 0x0E00F400, "FP8", "fp8"),
    _EncodingClass(0xBFA0FC00, 0x2EA0FC00, "FP8", "fp8"),
    _EncodingClass(0xBFE0FC00, 0x2EC03C00, "FP8", "fp8"),
    _EncodingClass(0xBF20FC00, 0x0E00FC00, "FP8", "fp8"),
    _EncodingClass(0xBFA0FC00, 0x0E00C400, "FP8", "fp8"),
    _EncodingClass(0xBF00F400, 0x0F000000, "FP8", "fp8"),
    _EncodingClass(0xBF00F400, 0x2F008000, "FP8", "fp8"),
    _EncodingClass(0xFFE0FC00, 0x6E80EC00, "F8F32MM", "f8f32mm"),
    _EncodingClass(0xFFE0FC00, 0x6E00EC00, "F8F16MM", "f8f16mm"),
    _EncodingClass(0xFFE0FC00, 0x4E40EC00, "F16F32MM", "f16f32mm"),
    _EncodingClass(0x9FA0FC00, 0x0EA0DC00, "FAMINMAX", "faminmax"),
    _EncodingClass(0x9FE0FC00, 0x0EC01C00, "FAMINMAX", "faminmax"),
    _EncodingClass(0xFF208C00, 0x4E000000, "LUT", "lut"),
    _EncodingClass(0x5F2EFC00, 0x1E2A0000, "FPRCVT", "fprcvt"),
    _EncodingClass(0x5F3EFC00, 0x1E3C0000, "FPRCVT", "fprcvt"),
    _EncodingClass(0x5F3EFC00, 0x1E320000, "FPRCVT", "fprcvt"),
    _EncodingClass(0x5F3CFC00, 0x1E340000, "FPRCVT", "fprcvt"),
)  # fmt: skip
"""In order of precedence."""

_GROUPS = (
    (0x1E000000, 0x00000000, "the reserved words"),
    (0x1A000000, 0x02000000, "the words that Arm has left free"),
    (0x1C000000, 0x10000000, "data processing with an immediate"),
    (0x1C000000, 0x14000000, "branches, exceptions and system instructions"),
    (0x0A000000, 0x08000000, "loads and stores"),
    (0x0E000000, 0x0A000000, "data processing with registers"),
    (0x0E000000, 0x0E000000, "floating point and AdvSIMD"),
)
"""Mask, value and name of what bits 28 to 25 tell apart, SVE and SME aside (C4.1, table C4-1)."""


def no_instruction(word: int) -> str:
    """Why a word that Capstone does not know is refused, in one sentence that names what it belongs to."""
    for known in _CLASSES:
        if word & known.mask == known.value:
            return Extension("", known.name, f"compile with -march=armv8.6-a, without +{known.option}").reason
    group = next(name for mask, value, name in _GROUPS if word & mask == value)
    return NO_INSTRUCTION.format(group=group)
