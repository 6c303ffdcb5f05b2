"""Claims about lane arithmetic decided for all inputs, and what tells two conventions apart.

`lanewise prove FILE.py` takes claims of your own: a Python file that has them in a list named CLAIMS.

    from isa import S32, constant
    from isa.semantics import rounding_right
    from sim.prove import Claim, Range

    CLAIMS = [
        Claim("my rounding is SRSHR", {"x": S32, "n": Range(1, 31)},
              left=lambda x, n: (x + (constant(1) << (n - 1))) >> n,
              right=lambda x, n: rounding_right(S32, x, n)),
    ]

The file is run: it is a program like any other, with all that a program may do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from isa.evaluate.smt import SolverMissing
    from sim.prove.claim import BrokenClaim, Claim, Finding, Range, prove
    from sim.prove.file import claims_in
    from sim.prove.separation import NotComparable, Separated, separate

__all__ = [
    "BrokenClaim",
    "Claim",
    "Finding",
    "NotComparable",
    "Range",
    "Separated",
    "SolverMissing",
    "claims_in",
    "prove",
    "separate",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "BrokenClaim": "sim.prove.claim",
            "Claim": "sim.prove.claim",
            "Finding": "sim.prove.claim",
            "NotComparable": "sim.prove.separation",
            "Range": "sim.prove.claim",
            "Separated": "sim.prove.separation",
            "SolverMissing": "isa.evaluate.smt",
            "claims_in": "sim.prove.file",
            "prove": "sim.prove.claim",
            "separate": "sim.prove.separation",
        },
    )
