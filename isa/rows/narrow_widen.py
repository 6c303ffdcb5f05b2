"""AdvSIMD narrowing and widening (Arm ARM C7.2).  T is the narrow arrangement, W the wide one."""

from __future__ import annotations

from isa.rows.arrangements import NARROW, NARROW_OR_SCALAR
from isa.semantics import bitwise, narrow, shift
from isa.semantics.elementwise import SIGNED, UNSIGNED, each
from isa.table import family

ROWS = (
    family("xtn%", "T,W", NARROW, each(UNSIGNED, bitwise.copy)),
    family("sqxtn%", "T,W", NARROW_OR_SCALAR, each(SIGNED, narrow.saturate)),
    family("uqxtn%", "T,W", NARROW_OR_SCALAR, each(UNSIGNED, narrow.saturate)),
    family("sqxtun%", "T,W", NARROW_OR_SCALAR, each(UNSIGNED, narrow.saturate, of=SIGNED)),
    family("shrn%", "T,W,#", NARROW, each(UNSIGNED, shift.shift_right)),
    family("rshrn%", "T,W,#", NARROW, each(UNSIGNED, shift.rounding_right)),
    family("sqshrn%", "T,W,#", NARROW_OR_SCALAR, each(SIGNED, narrow.saturating_shift_right_narrow)),
    family("uqshrn%", "T,W,#", NARROW_OR_SCALAR, each(UNSIGNED, narrow.saturating_shift_right_narrow)),
    family("sqshrun%", "T,W,#", NARROW_OR_SCALAR, each(UNSIGNED, narrow.saturating_shift_right_narrow, of=SIGNED)),
    family("sqrshrn%", "T,W,#", NARROW_OR_SCALAR, each(SIGNED, narrow.saturating_rounding_shift_right_narrow)),
    family("uqrshrn%", "T,W,#", NARROW_OR_SCALAR, each(UNSIGNED, narrow.saturating_rounding_shift_right_narrow)),
    family(
        "sqrshrun%", "T,W,#", NARROW_OR_SCALAR,
        each(UNSIGNED, narrow.saturating_rounding_shift_right_narrow, of=SIGNED),
    ),
    family("addhn%", "T,W,W", NARROW, each(UNSIGNED, narrow.add_high_half)),
    family("subhn%", "T,W,W", NARROW, each(UNSIGNED, narrow.subtract_high_half)),
    family("raddhn%", "T,W,W", NARROW, each(UNSIGNED, narrow.rounding_add_high_half)),
    family("rsubhn%", "T,W,W", NARROW, each(UNSIGNED, narrow.rounding_subtract_high_half)),
    family("sshll%", "W,T,#", NARROW, each(SIGNED, shift.shift_left)),
    family("ushll%", "W,T,#", NARROW, each(UNSIGNED, shift.shift_left)),
    family("shll%", "W,T,#", NARROW, each(UNSIGNED, shift.shift_left)),
)  # fmt: skip
