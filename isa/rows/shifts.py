"""AdvSIMD shifts that keep the element width (Arm ARM C7.2)."""

from __future__ import annotations

from isa.rows.arrangements import BHSD, SCALARS
from isa.semantics import shift
from isa.semantics.elementwise import SIGNED, UNSIGNED, each, each_accumulating
from isa.table import family

ROWS = (
    family("shl", "T,T,#", f"{BHSD} d", each(UNSIGNED, shift.shift_left)),
    family("sshr", "T,T,#", f"{BHSD} d", each(SIGNED, shift.shift_right)),
    family("ushr", "T,T,#", f"{BHSD} d", each(UNSIGNED, shift.shift_right)),
    family("srshr", "T,T,#", f"{BHSD} d", each(SIGNED, shift.rounding_right)),
    family("urshr", "T,T,#", f"{BHSD} d", each(UNSIGNED, shift.rounding_right)),
    family("ssra", "T,T,#", f"{BHSD} d", each_accumulating(SIGNED, shift.shift_right_accumulate)),
    family("usra", "T,T,#", f"{BHSD} d", each_accumulating(UNSIGNED, shift.shift_right_accumulate)),
    family("srsra", "T,T,#", f"{BHSD} d", each_accumulating(SIGNED, shift.rounding_right_accumulate)),
    family("ursra", "T,T,#", f"{BHSD} d", each_accumulating(UNSIGNED, shift.rounding_right_accumulate)),
    family("sli", "T,T,#", f"{BHSD} d", each_accumulating(UNSIGNED, shift.shift_left_insert)),
    family("sri", "T,T,#", f"{BHSD} d", each_accumulating(UNSIGNED, shift.shift_right_insert)),
    family("sqshl", "T,T,#", f"{BHSD} {SCALARS}", each(SIGNED, shift.saturating_shift_left)),
    family("uqshl", "T,T,#", f"{BHSD} {SCALARS}", each(UNSIGNED, shift.saturating_shift_left)),
    family("sqshlu", "T,T,#", f"{BHSD} {SCALARS}", each(UNSIGNED, shift.saturating_shift_left, of=SIGNED)),
    family("sshl", "T,T,T", f"{BHSD} d", each(SIGNED, shift.shift_by_register)),
    family("ushl", "T,T,T", f"{BHSD} d", each(UNSIGNED, shift.shift_by_register)),
    family("srshl", "T,T,T", f"{BHSD} d", each(SIGNED, shift.rounding_shift_by_register)),
    family("urshl", "T,T,T", f"{BHSD} d", each(UNSIGNED, shift.rounding_shift_by_register)),
    family("sqshl", "T,T,T", f"{BHSD} {SCALARS}", each(SIGNED, shift.saturating_shift_by_register)),
    family("uqshl", "T,T,T", f"{BHSD} {SCALARS}", each(UNSIGNED, shift.saturating_shift_by_register)),
    family("sqrshl", "T,T,T", f"{BHSD} {SCALARS}", each(SIGNED, shift.saturating_rounding_shift_by_register)),
    family("uqrshl", "T,T,T", f"{BHSD} {SCALARS}", each(UNSIGNED, shift.saturating_rounding_shift_by_register)),
    family("xar", "T,T,T,#", ".2d", each(UNSIGNED, shift.exclusive_or_rotate), "sha3"),
)
