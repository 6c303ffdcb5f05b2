"""What may become of a mutant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rtl_models.mutation.mutants import Mutant

Fate = Literal["killed by bench", "killed by proof", "equivalent", "undecided"]
FATES: Final[tuple[Fate, ...]] = ("killed by bench", "killed by proof", "equivalent", "undecided")


@dataclass(frozen=True)
class MutantVerdict:
    """What became of a mutant.

    `by` is the scenario that kills it and what it finds there, the theorem refuted or the reason; `values` are the
    inputs of the killing row, or those of the counter-example; `seconds` are the solver's.  `evidence` is what shows
    that it is equivalent: the `theorems` that are proved with it in place, or a `relation` between the states of the
    module and of the mutant that every edge keeps and in which no output differs.  It is that all bits of registers are
    the same but for some, `spoilt`, by name; in any state after so many `edges` at which no result waits.
    """

    mutant: Mutant
    fate: Fate
    by: str
    values: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    evidence: Mapping[str, Any] = field(default_factory=dict)
