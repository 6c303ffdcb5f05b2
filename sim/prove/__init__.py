"""Claims about lane arithmetic decided for all inputs, and what tells two conventions apart."""

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
