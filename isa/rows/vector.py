"""AdvSIMD integer arithmetic, comparison, bitwise and reductions (Arm ARM C7.2)."""

from __future__ import annotations

from isa.semantics import arithmetic, bitwise, compare
from isa.semantics.elementwise import (
    SIGNED,
    UNSIGNED,
    across,
    each,
    each_accumulating,
    pairwise,
    pairwise_accumulating,
)
from isa.table import family

BHS = ".8b .16b .4h .8h .2s .4s"
BHSD = f"{BHS} .2d"
BYTES = ".8b .16b"
HALVES_WORDS = ".4h .8h .2s .4s"
NARROW = ".8b .16b .4h .8h .2s .4s"
SCALARS = "b h s d"

ROWS = (
    family("add", "T,T,T", f"{BHSD} d", each(UNSIGNED, arithmetic.add)),
    family("sub", "T,T,T", f"{BHSD} d", each(UNSIGNED, arithmetic.subtract)),
    family("sqadd", "T,T,T", f"{BHSD} {SCALARS}", each(SIGNED, arithmetic.saturating_add)),
    family("uqadd", "T,T,T", f"{BHSD} {SCALARS}", each(UNSIGNED, arithmetic.saturating_add)),
    family("sqsub", "T,T,T", f"{BHSD} {SCALARS}", each(SIGNED, arithmetic.saturating_subtract)),
    family("uqsub", "T,T,T", f"{BHSD} {SCALARS}", each(UNSIGNED, arithmetic.saturating_subtract)),
    family(
        "suqadd", "T,T", f"{BHSD} {SCALARS}",
        each_accumulating(SIGNED, arithmetic.saturating_accumulate_mixed, of=UNSIGNED),
    ),
    family(
        "usqadd", "T,T", f"{BHSD} {SCALARS}",
        each_accumulating(UNSIGNED, arithmetic.saturating_accumulate_mixed, of=SIGNED),
    ),
    family("shadd", "T,T,T", BHS, each(SIGNED, arithmetic.halving_add)),
    family("uhadd", "T,T,T", BHS, each(UNSIGNED, arithmetic.halving_add)),
    family("shsub", "T,T,T", BHS, each(SIGNED, arithmetic.halving_subtract)),
    family("uhsub", "T,T,T", BHS, each(UNSIGNED, arithmetic.halving_subtract)),
    family("srhadd", "T,T,T", BHS, each(SIGNED, arithmetic.rounding_halving_add)),
    family("urhadd", "T,T,T", BHS, each(UNSIGNED, arithmetic.rounding_halving_add)),
    family("abs", "T,T", f"{BHSD} d", each(SIGNED, arithmetic.absolute)),
    family("neg", "T,T", f"{BHSD} d", each(UNSIGNED, arithmetic.negate)),
    family("sqabs", "T,T", f"{BHSD} {SCALARS}", each(SIGNED, arithmetic.saturating_absolute)),
    family("sqneg", "T,T", f"{BHSD} {SCALARS}", each(SIGNED, arithmetic.saturating_negate)),
    family("sabd", "T,T,T", BHS, each(SIGNED, arithmetic.absolute_difference)),
    family("uabd", "T,T,T", BHS, each(UNSIGNED, arithmetic.absolute_difference)),
    family("saba", "T,T,T", BHS, each_accumulating(SIGNED, arithmetic.accumulate_absolute_difference)),
    family("uaba", "T,T,T", BHS, each_accumulating(UNSIGNED, arithmetic.accumulate_absolute_difference)),
    family("smax", "T,T,T", BHS, each(SIGNED, arithmetic.larger)),
    family("umax", "T,T,T", BHS, each(UNSIGNED, arithmetic.larger)),
    family("smin", "T,T,T", BHS, each(SIGNED, arithmetic.smaller)),
    family("umin", "T,T,T", BHS, each(UNSIGNED, arithmetic.smaller)),
    # long and wide
    family("saddl%", "W,T,T", NARROW, each(SIGNED, arithmetic.add)),
    family("uaddl%", "W,T,T", NARROW, each(UNSIGNED, arithmetic.add)),
    family("ssubl%", "W,T,T", NARROW, each(SIGNED, arithmetic.subtract)),
    family("usubl%", "W,T,T", NARROW, each(UNSIGNED, arithmetic.subtract)),
    family("saddw%", "W,W,T", NARROW, each(SIGNED, arithmetic.add)),
    family("uaddw%", "W,W,T", NARROW, each(UNSIGNED, arithmetic.add)),
    family("ssubw%", "W,W,T", NARROW, each(SIGNED, arithmetic.subtract)),
    family("usubw%", "W,W,T", NARROW, each(UNSIGNED, arithmetic.subtract)),
    family("sabdl%", "W,T,T", NARROW, each(SIGNED, arithmetic.absolute_difference)),
    family("uabdl%", "W,T,T", NARROW, each(UNSIGNED, arithmetic.absolute_difference)),
    family("sabal%", "W,T,T", NARROW, each_accumulating(SIGNED, arithmetic.accumulate_absolute_difference)),
    family("uabal%", "W,T,T", NARROW, each_accumulating(UNSIGNED, arithmetic.accumulate_absolute_difference)),
    # comparison
    family("cmeq", "T,T,T", f"{BHSD} d", each(UNSIGNED, compare.equal)),
    family("cmge", "T,T,T", f"{BHSD} d", each(SIGNED, compare.greater_or_equal)),
    family("cmgt", "T,T,T", f"{BHSD} d", each(SIGNED, compare.greater)),
    family("cmhs", "T,T,T", f"{BHSD} d", each(UNSIGNED, compare.greater_or_equal)),
    family("cmhi", "T,T,T", f"{BHSD} d", each(UNSIGNED, compare.greater)),
    family("cmtst", "T,T,T", f"{BHSD} d", each(UNSIGNED, compare.bits_in_common)),
    family("cmeq", "T,T,#", f"{BHSD} d", each(SIGNED, compare.equal)),
    family("cmge", "T,T,#", f"{BHSD} d", each(SIGNED, compare.greater_or_equal)),
    family("cmgt", "T,T,#", f"{BHSD} d", each(SIGNED, compare.greater)),
    family("cmle", "T,T,#", f"{BHSD} d", each(SIGNED, compare.less_or_equal)),
    family("cmlt", "T,T,#", f"{BHSD} d", each(SIGNED, compare.less)),
    # bitwise
    family("and", "T,T,T", BYTES, each(UNSIGNED, bitwise.bitwise_and)),
    family("orr", "T,T,T", BYTES, each(UNSIGNED, bitwise.bitwise_or)),
    family("eor", "T,T,T", BYTES, each(UNSIGNED, bitwise.exclusive_or)),
    family("bic", "T,T,T", BYTES, each(UNSIGNED, bitwise.clear_bits)),
    family("orn", "T,T,T", BYTES, each(UNSIGNED, bitwise.or_not)),
    family("mvn", "T,T", BYTES, each(UNSIGNED, bitwise.bitwise_not)),
    family("bsl", "T,T,T", BYTES, each_accumulating(UNSIGNED, bitwise.choose)),
    family("bit", "T,T,T", BYTES, each_accumulating(UNSIGNED, bitwise.insert_where_true)),
    family("bif", "T,T,T", BYTES, each_accumulating(UNSIGNED, bitwise.insert_where_false)),
    family("bic", "T,#(| lsl)", HALVES_WORDS, each_accumulating(UNSIGNED, bitwise.clear_bits)),
    family("orr", "T,#(| lsl)", HALVES_WORDS, each_accumulating(UNSIGNED, bitwise.bitwise_or)),
    family("clz", "T,T", BHS, each(UNSIGNED, bitwise.leading_zeros)),
    family("cls", "T,T", BHS, each(SIGNED, bitwise.leading_sign_bits)),
    family("cnt", "T,T", BYTES, each(UNSIGNED, bitwise.ones)),
    family("rbit", "T,T", BYTES, each(UNSIGNED, bitwise.reverse_bits)),
    family("eor3", "T,T,T,T", ".16b", each(UNSIGNED, bitwise.exclusive_or_three), "sha3"),
    family("bcax", "T,T,T,T", ".16b", each(UNSIGNED, bitwise.clear_and_exclusive_or), "sha3"),
    family("rax1", "T,T,T", ".2d", each(UNSIGNED, bitwise.rotate_and_exclusive_or), "sha3"),
    # pairwise and across lanes
    family("addp", "T,T,T", BHSD, pairwise(UNSIGNED, arithmetic.add)),
    family("addp", "N,T", ".2d", pairwise(UNSIGNED, arithmetic.add)),
    family("smaxp", "T,T,T", BHS, pairwise(SIGNED, arithmetic.larger)),
    family("umaxp", "T,T,T", BHS, pairwise(UNSIGNED, arithmetic.larger)),
    family("sminp", "T,T,T", BHS, pairwise(SIGNED, arithmetic.smaller)),
    family("uminp", "T,T,T", BHS, pairwise(UNSIGNED, arithmetic.smaller)),
    family("saddlp", "P,T", ".8b .16b .4h .8h .4s", pairwise(SIGNED, arithmetic.add)),
    family("uaddlp", "P,T", ".8b .16b .4h .8h .4s", pairwise(UNSIGNED, arithmetic.add)),
    family("saddlp", ".1d,T", ".2s", pairwise(SIGNED, arithmetic.add)),
    family("uaddlp", ".1d,T", ".2s", pairwise(UNSIGNED, arithmetic.add)),
    family("sadalp", "P,T", NARROW, pairwise_accumulating(SIGNED, arithmetic.accumulate_pair)),
    family("uadalp", "P,T", NARROW, pairwise_accumulating(UNSIGNED, arithmetic.accumulate_pair)),
    family("addv", "N,T", ".8b .16b .4h .8h .4s", across(UNSIGNED, arithmetic.add)),
    family("smaxv", "N,T", ".8b .16b .4h .8h .4s", across(SIGNED, arithmetic.larger)),
    family("umaxv", "N,T", ".8b .16b .4h .8h .4s", across(UNSIGNED, arithmetic.larger)),
    family("sminv", "N,T", ".8b .16b .4h .8h .4s", across(SIGNED, arithmetic.smaller)),
    family("uminv", "N,T", ".8b .16b .4h .8h .4s", across(UNSIGNED, arithmetic.smaller)),
    family("saddlv", "L,T", ".8b .16b .4h .8h .4s", across(SIGNED, arithmetic.add)),
    family("uaddlv", "L,T", ".8b .16b .4h .8h .4s", across(UNSIGNED, arithmetic.add)),
)  # fmt: skip
