"""Whether a mutant can be told from its module at the outputs: by a relation between their states that no edge breaks.

Both are one netlist, in which an input selects the mutant, and get the same inputs.  The relation says that the
registers have the same bits but for some, the spoilt ones, of which nothing is known:

    low_q[5] of the mutant is inverted    spoilt: low_q[5], then product_q[5], of which nothing else depends
                                          so the outputs are the same for ever, whatever the inputs

It is found by beginning with no spoilt bit and adding those that an edge may spoil.  The state is any at all; or, where
a waiting result keeps every register as it is, any after an edge at which none waits: a module is in no other, except
by what its registers had before their first edge.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rtl_models.formal.equations.smt2 import Equations, parsed
from rtl_models.mutation.copies import MOST_SPOILT, NO_RANGES, READY, Copies, Late, Ranges


@dataclass(frozen=True)
class Sameness:
    """Whether no output ever differs from any state that had `edges` edges before it.

    `spoilt` are the bits of registers that may, by their numbers in the state.
    """

    outcome: Literal["same", "perhaps different", "undecided"]
    spoilt: frozenset[int] = frozenset()
    edges: int = 0


def sameness(equations: Equations, mutant: int, seconds: float, ranges: Ranges = NO_RANGES) -> Sameness:
    """Look for the relation in any state, then in any after an edge; in the states whose numbers are in the ranges.

    Raises UnreadableEquations.
    """
    deadline = time.monotonic() + seconds
    found = _related(equations, mutant, 0, deadline, ranges)
    if found.outcome == "perhaps different" and _waits(equations.text, seconds):
        return _related(equations, mutant, 1, deadline, ranges)
    return found


def kept(equations: Equations, ranges: Ranges, seconds: float) -> Ranges:
    """The same ranges if a reset begins with them and no edge leaves them, else none.  Raises UnreadableEquations."""
    try:
        copies = Copies(equations, 0, frozenset(), 0, time.monotonic() + seconds)
        return ranges if ranges and copies.keeps(ranges) else NO_RANGES
    except Late:
        return NO_RANGES


@lru_cache(maxsize=1)
def _waits(text: str, seconds: float) -> bool:
    """Whether no register of the module changes while a result waits: then every state is one after an edge without."""
    equations = parsed(text)
    if READY not in equations.inputs:
        return False
    try:
        return Copies(equations, 0, frozenset(), 0, time.monotonic() + seconds).waits()
    except Late:
        return False


def _related(equations: Equations, mutant: int, edges: int, deadline: float, ranges: Ranges) -> Sameness:
    spoilt = frozenset[int]()
    while True:
        try:
            more = Copies(equations, mutant, spoilt, edges, deadline, ranges).newly_spoilt()
        except Late:
            return Sameness("undecided", spoilt, edges)
        if not more:
            return Sameness("perhaps different" if more is None else "same", spoilt, edges)
        spoilt |= more
        if len(spoilt) > MOST_SPOILT:
            return Sameness("perhaps different", spoilt, edges)
