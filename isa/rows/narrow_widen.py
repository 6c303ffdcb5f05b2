"""AdvSIMD narrowing and widening (Arm ARM C7.2).  T is the narrow arrangement, W the wide one."""

from __future__ import annotations

from isa.semantics import narrow, shift
from isa.semantics.elementwise import SIGNED, UNSIGNED, each
from isa.table import family

NARROW = ".8b .16b .4h .8h .2s .4s"
SCALARS = "b h s"

ROWS = (
    family("xtn%", "T,W", NARROW, each(UNSIGNED, narrow.truncate)),
    family("sqxtn%", "T,W", f"{NARROW} {SCALARS}", each(SIGNED, narrow.saturate)),
    family("uqxtn%", "T,W", f"{NARROW} {SCALARS}", each(UNSIGNED, narrow.saturate)),
    family("sqxtun%", "T,W", f"{NARROW} {SCALARS}", each(UNSIGNED, narrow.saturate, of=SIGNED)),
    family("shrn%", "T,W,#", NARROW, each(UNSIGNED, narrow.shift_right_narrow)),
    family("rshrn%", "T,W,#", NARROW, each(UNSIGNED, narrow.rounding_shift_right_narrow)),
    family("sqshrn%", "T,W,#", f"{NARROW} {SCALARS}", each(SIGNED, narrow.saturating_shift_right_narrow)),
    family("uqshrn%", "T,W,#", f"{NARROW} {SCALARS}", each(UNSIGNED, narrow.saturating_shift_right_narrow)),
    family("sqshrun%", "T,W,#", f"{NARROW} {SCALARS}", each(UNSIGNED, narrow.saturating_shift_right_narrow, of=SIGNED)),
    family("sqrshrn%", "T,W,#", f"{NARROW} {SCALARS}", each(SIGNED, narrow.saturating_rounding_shift_right_narrow)),
    family("uqrshrn%", "T,W,#", f"{NARROW} {SCALARS}", each(UNSIGNED, narrow.saturating_rounding_shift_right_narrow)),
    family(
        "sqrshrun%", "T,W,#", f"{NARROW} {SCALARS}",
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
