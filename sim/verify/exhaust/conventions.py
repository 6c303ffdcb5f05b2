"""Two conventions of the registry as functions of the operands that are not fixed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

import sim.golden
from sim.golden.registry.conventions import convention_named
from sim.golden.registry.record import Operand
from sim.verify.exhaust.functions import NumberRange, Numbers
from sim.verify.exhaust.space import NotExhaustible


class TwoConventions:
    """A convention against another of its family; parameters are the plainest, but for those that are `fixed`.

    Raises LookupError for a name that is none, NotExhaustible where the two take other operands or there is nothing to
    count, where `fixed` names no parameter, and for parameters that one of them refuses.
    """

    def __init__(self, one: str, other: str, fixed: Mapping[str, float]) -> None:
        self._conventions = convention_named(one), convention_named(other)
        first, second = self._conventions
        self._family = family = first.family
        if family is not second.family:
            raise NotExhaustible(
                f"{one} ({family.name}) and {other} ({second.family.name}) do not take the same operands: "
                "give two conventions of one family"
            )
        swept, parameters = family.operands[: family.swept], family.operands[family.swept :]
        if not swept or any(operand.kind not in ("int32", "uint8") for operand in swept):
            kinds = ", ".join(f"{operand.name}, {operand.kind}" for operand in swept or parameters)
            raise NotExhaustible(f"{family.name} takes {kinds}: of integers alone all values can be tried")
        names = [operand.name for operand in parameters]
        if unknown := sorted(set(fixed) - set(names)):
            raise NotExhaustible(f"{family.name} has no parameter {unknown[0]!r}: it has {', '.join(names) or 'none'}")
        plain = dict(zip(names, family.parameters[0], strict=True))
        self.given = plain | {operand.name: _as(operand, fixed) for operand in parameters if operand.name in fixed}
        self.operands = tuple(NumberRange(each.name, each.kind, int(each.low), int(each.high)) for each in swept)
        self.sides = one, other
        self.results([np.zeros(1, operand.dtype) for operand in self.operands])  # refusals are told at once

    @property
    def identity(self) -> object:
        """The names, and the sources of all conventions."""
        digest = hashlib.sha256(version("numpy").encode())
        for source in sorted(Path(sim.golden.__file__).parent.rglob("*.py")):
            digest.update(source.read_bytes())
        return [self.sides, digest.hexdigest()]

    def results(self, numbers: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
        """What each makes of them."""
        try:
            one, other = (
                self._family.evaluate(convention.function, *numbers, *self.given.values())
                for convention in self._conventions
            )
        except ValueError as error:
            given = ", ".join(f"{name} = {number:g}" for name, number in self.given.items())
            raise NotExhaustible(f"{' or '.join(self.sides)} refuses {given}: {error}") from error
        return one, other


def _as(operand: Operand, fixed: Mapping[str, float]) -> float:
    """A parameter that is given.  Raises NotExhaustible for one out of range, or with a fraction where it has none."""
    number = fixed[operand.name]
    if not operand.low <= number <= operand.high:
        raise NotExhaustible(f"{operand.name} is {operand.low:g}..{operand.high:g}, not {number:g}")
    if operand.kind.startswith("float"):
        return number
    if number != int(number):
        raise NotExhaustible(f"{operand.name} is an integer, not {number:g}")
    return int(number)
