"""Expressions without what does not matter on given inputs: what is constant, branches not taken, operands overruled.

if write_i then (u32 data_i) else (0 + offset_q)        where write_i is 0:    if write_i then 7 else offset_q
"""

from __future__ import annotations

from collections.abc import Mapping

from isa.evaluate.exact import Evaluation
from isa.lane import Lane, constant
from sim.check.prove import Inputs

_OVERRULING = {"and": 0, "or": 1}
"""What one operand makes of the other between truth values."""
_NEUTRAL = {"and": 1, "or": 0, "add": 0}
_SECOND_NEUTRAL = {"subtract": 0, "shift_left": 0, "shift_right": 0}


def on_path(results: Mapping[str, Lane], values: Mapping[str, int]) -> dict[str, Lane]:
    """Expressions of the same values on these inputs; what was left out of one is a constant in it."""
    path = _Path(values)
    return {name: path.of(lane) for name, lane in results.items()}


class _Path:
    """The shortened nodes, each made once."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self._evaluation = Evaluation(Inputs(values))
        self._known: dict[Lane, Lane] = {}

    def of(self, lane: Lane) -> Lane:
        """The node without what does not matter."""
        if lane not in self._known:
            self._known[lane] = self._shortened(lane)
        return self._known[lane]

    def _shortened(self, lane: Lane) -> Lane:
        if not lane.args:
            return lane
        matters = self._matters(lane)
        args = tuple(self.of(arg) if k in matters else self._value(arg) for k, arg in enumerate(lane.args))
        if all(arg.op == "constant" for arg in args):
            return constant(self._evaluation.value(lane))
        return _without_neutral(lane, args) or Lane(lane.op, args, lane.low, lane.high, lane.detail)

    def _value(self, lane: Lane) -> Lane:
        """Of what does not matter: a name if it has one, else the number."""
        return lane if lane.op == "read" else constant(self._evaluation.value(lane))

    def _matters(self, lane: Lane) -> set[int]:
        """The operands on which the value depends, by their positions."""
        if lane.op == "pick":
            index, last = self._evaluation.value(lane.args[0]), len(lane.args) - 1
            return {0, 1 + index if 0 <= index < last else last}
        if _is_truth(lane) and lane.op in _OVERRULING:
            overruling = [k for k, a in enumerate(lane.args) if self._evaluation.value(a) == _OVERRULING[lane.op]]
            return set(overruling[:1]) or {0, 1}
        return set(range(len(lane.args)))


def _is_truth(lane: Lane) -> bool:
    return all((arg.low, arg.high) in ((0, 1), (0, 0), (1, 1)) for arg in lane.args)


def _without_neutral(lane: Lane, args: tuple[Lane, ...]) -> Lane | None:
    """The operand that an operation leaves as it is, if it does."""
    if len(args) != 2 or (lane.op == "and" and not _is_truth(lane)):
        return None
    if args[0].value == _NEUTRAL.get(lane.op, "none"):
        return args[1]
    return args[0] if args[1].value == (_NEUTRAL | _SECOND_NEUTRAL).get(lane.op, "none") else None
