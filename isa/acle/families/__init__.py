"""The rules that ACLE's Neon intrinsics follow, one a family; see `isa.acle.rules` for the notation."""

from __future__ import annotations

from isa.acle.families import conversions, crypto, floating, halves, integer, lanes, memory, scalars

RULES = (
    *integer.RULES,
    *floating.RULES,
    *conversions.RULES,
    *halves.RULES,
    *crypto.RULES,
    *lanes.RULES,
    *memory.RULES,
    *scalars.RULES,
)
