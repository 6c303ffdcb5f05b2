"""Arrangements that many rows have: what `family` takes as the meanings of T, one after the other."""

from __future__ import annotations

BYTES = ".8b .16b"
"""Bytes: what has no lanes, or only these (bitwise operations, TBL, CNT)."""

HS = ".4h .8h .2s .4s"
"""16- and 32-bit lanes: by-element multiplications, vector immediates."""

BHS = f"{BYTES} {HS}"
"""All but 64-bit lanes: most three-same operations."""

BHSD = f"{BHS} .2d"
"""All but `.1d`, which few instructions have."""

NARROW = BHS
"""The narrow side of a long, wide or narrowing instruction; 128 bits are those of its `...2` form."""

ACROSS = f"{BYTES} .4h .8h .4s"
"""At least four lanes: reductions across a vector."""

SCALARS = "b h s d"
"""Scalars of all sizes: saturating operations."""

NARROW_OR_SCALAR = f"{NARROW} b h s"
"""The narrow side of a saturating narrowing instruction, which has scalar forms too."""
