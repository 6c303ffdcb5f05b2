"""Rules whose multipliers are in question: each of them one unit in the last place off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, Protocol, TypeVar, runtime_checkable

from sim.explanation.rule import CandidateRule

SIDES: Final = ((1, "more"), (-1, "less"))
"""Units in the last place, and how that is said."""
Factors = TypeVar("Factors", bound=NamedTuple)


@runtime_checkable
class Multiplied(Protocol):
    """A rule that can be told with one of its multipliers off."""

    def one_off(self) -> Iterator[tuple[str, CandidateRule]]:
        """What is off, such as "the multiplier of a one more", and the rule with it."""


def one_unit_off(factors: Factors, of: Mapping[str, str]) -> Iterator[tuple[str, Factors]]:
    """Records of `Derived` with one multiplier one more or less; `of` says what that of each field multiplies.

    >>> from sim.golden.derivation import Derived
    >>> from sim.golden.layers.prelu import PreluFactors
    >>> by = PreluFactors(Derived(5, 0), Derived(7, 0))
    >>> [(told, other.above.multiplier) for told, other in one_unit_off(by, {"above": "positive numbers"})]
    [('the multiplier of positive numbers one more', 6), ('the multiplier of positive numbers one less', 4)]
    """
    for name, multiplied in of.items():
        derived = getattr(factors, name)
        for units, side in SIDES:
            other = derived._replace(multiplier=derived.multiplier + units)
            yield f"the multiplier of {multiplied} one {side}", factors._replace(**{name: other})
