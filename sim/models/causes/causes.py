"""What single change of a layer makes the numbers that somebody's runtime gave: found by trying, on all elements.

A layer that is not what the others are is most often one number off: another multiplier, zero point or bound, or one
layer that rounds otherwise.  Each such change is tried under the convention of the others, and told where it gives
every element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from sim.explanation.addition import Addition, IntegerAddition
from sim.explanation.explanation import listed
from sim.explanation.question import Question, QuestionError, QuestionPart
from sim.explanation.rule import Candidate, CandidateRule, Integers, Operands, RuleStep
from sim.explanation.scaling import ByteRounding, FixedPoint, FloatScaling
from sim.models.computed import computed
from sim.models.layers import Several, ToReals
from sim.models.network import AnyArray, Network, NetworkLayer, NetworkTensor, NotComputed
from sim.models.questions import plain, question_of
from sim.models.rules.multiplied import SIDES, Multiplied, one_unit_off

CauseKind = Literal["rounding", "multiplier", "zero point", "bound", "bias", "move"]
Int64Array = npt.NDArray[np.int64]
Given = Mapping[int, AnyArray]
_BIASES: Final = {"TRANSPOSE_CONV": 3}
"""Which input is the bias, where it is not the third."""
_UNBIASED: Final = ("Clip", "Pad", "Max", "Min", "Concat", "QLinearConcat", "Resize")
"""Layers whose third input is something else."""
_FIRST: Final = 256
"""Elements that are tried before all are."""


@dataclass(frozen=True)
class Cause:
    """A change under which conventions give every element: its kind, what it is in words, and their names.

    Without names the change is that another convention gives the layer as it stands.
    """

    kind: CauseKind
    told: str
    of: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The change for machines."""
        return {"kind": self.kind, "told": self.told, "of": list(self.of)}


def causes_of(
    network: Network, layer: NetworkLayer, given: Given, question: Question, bases: Sequence[Candidate],
    matches: Sequence[Candidate],
) -> tuple[Cause, ...]:  # fmt: skip
    """Of an output that none of `bases`, candidates of its question, gives; `matches` are those that give it.

    Every change that makes all elements of one of the bases is told, each once, with the bases that it does it for.
    """
    (part,) = question.parts
    yours = question.output.astype(np.int64).ravel()
    wrong = _wrong(bases, part, yours)
    found: dict[tuple[CauseKind, str], dict[str, None]] = {}
    defined = [base for base in bases if base.rule.name in wrong]
    for base in defined:
        own = wrong[base.rule.name]
        staged = (one for one in _of_stage(part, base, own) if _gives(one.candidate, part, yours, own))
        bounded = (one for one in _of_bounds(base, yours) if _gives(one.candidate, part, yours, own))
        for change in (*staged, *islice(bounded, 1)):  # where one end does it, both do
            found.setdefault((change.kind, change.told), {})[base.rule.name] = None
    for kind, told, other, changed in _of_operands(network, layer):
        before = _zero_point(network, layer)
        by = _zero_point(other, changed) - before
        try:
            made = computed(other, changed, given)
            if isinstance(made, np.ndarray | ToReals | Several):
                continue
            (asked,) = question_of(made, question.output).parts
        except NotComputed:
            for base in defined if by else ():  # a zero point that is prescribed: the numbers before the bounds move
                moved = replace(base, rule=_Offset(base.rule, by))
                if _gives(moved, part, yours, wrong[base.rule.name]):
                    found.setdefault((kind, told), {})[base.rule.name] = None
            continue
        except QuestionError:
            continue
        limits = asked.candidates[0].limits
        if by and limits == part.candidates[0].limits:  # no bound moves with it: the same is told of the tensor
            found.pop(("zero point", _placed(before + by, before)), None)
        for one in asked.candidates:
            name = one.rule.name
            if one.limits == limits and name in wrong and _gives(one, asked, yours, wrong[name]):
                found.setdefault((kind, told), {})[name] = None
    changed_ones = (
        Cause(kind, f"with {told}, {_give(tuple(names))}", tuple(names)) for (kind, told), names in found.items()
    )
    return (*_of_matches(bases, matches), *changed_ones)


def _give(names: Sequence[str]) -> str:
    return f"{listed(names)} {'give' if len(names) > 1 else 'gives'} all elements"


@dataclass(frozen=True)
class _Offset:
    """A rule whose numbers are so many more."""

    rule: CandidateRule
    by: int
    rises: bool = False

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def note(self) -> str:
        return self.rule.note

    def run(self, operands: Operands) -> Integers:
        return self.rule.run(operands) + self.by

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        return self.rule.steps(element)


@dataclass(frozen=True)
class _Change:
    """Of the output stage: what it comes to in words, and the candidate with it."""

    kind: CauseKind
    told: str
    candidate: Candidate


def _wrong(bases: Sequence[Candidate], part: QuestionPart, yours: Int64Array) -> dict[str, Int64Array]:
    """By name, what each gives otherwise, of those that are defined for these parameters."""
    found = {}
    for base in bases:
        with suppress(ValueError):
            found[base.rule.name] = np.flatnonzero(base.run(part.operands) != yours)
    return found


def _gives(candidate: Candidate, part: QuestionPart, yours: Int64Array, wrong: Int64Array) -> bool:
    """Whether a candidate gives every element: those first that were wrong."""
    try:
        for some in (wrong[:_FIRST], slice(None)):
            operands = {name: array[some] for name, array in part.operands.items()}
            if (candidate.run(operands) != yours[some]).any():
                return False
    except ValueError:  # it does not define such parameters
        return False
    return True


def _of_matches(bases: Sequence[Candidate], matches: Sequence[Candidate]) -> Iterator[Cause]:
    """What gives all elements as it stands, by what it is that differs from one of the bases."""
    names: dict[CauseKind, list[str]] = {}
    of_bases = [base.rule.name for base in bases]
    for match in [one for one in matches if one.limits.saturates] or matches:  # lost bits explain an output or nothing
        kind: CauseKind = "rounding"
        if match.rule.name in of_bases:
            kind = "bound"
        elif plain(match.rule.name) in map(plain, of_bases):
            kind = "multiplier"  # derived by another rule
        names.setdefault(kind, []).append(match.name)
    for kind, same in names.items():
        yield Cause(kind, _give(same))


def _of_stage(part: QuestionPart, usual: Candidate, wrong: Int64Array) -> Iterator[_Change]:
    """Multipliers and scales one unit off, and the zero point of the output, by its own."""
    rule = usual.rule
    if isinstance(rule, Addition):
        try:
            rule = IntegerAddition.of(rule.convention, rule.parameters, 8)
        except (KeyError, ValueError):  # it has no multipliers
            return
    if isinstance(rule, IntegerAddition):
        for told, rescaling in one_unit_off(rule.rescaling, {"first": "a", "second": "b", "total": "the sum"}):
            yield _Change("multiplier", told, replace(usual, rule=replace(rule, rescaling=rescaling)))
        return
    if isinstance(rule, Multiplied):
        for told, other in rule.one_off():
            yield _Change("multiplier", told, replace(usual, rule=other))
        return
    if not isinstance(rule, FixedPoint | FloatScaling | ByteRounding):
        return
    count = rule.multiplier.size if isinstance(rule, FixedPoint) else rule.scale.size
    channels = np.unique(part.operands["channel"][wrong])
    where = f" of channel {channels[0]}" if count > 1 and channels.size == 1 else " of every channel" * (count > 1)
    at: Any = channels if count > 1 and channels.size == 1 else slice(None)
    for by, side in SIDES:
        if isinstance(rule, FixedPoint):
            multiplier = rule.multiplier.copy()
            multiplier[at] += by
            changed: CandidateRule = replace(rule, multiplier=multiplier)
            told = f"the multiplier{where} one {side}"
        else:
            scale = rule.scale.copy()
            scale[at] = np.nextafter(scale[at], np.float32(np.inf * by))
            changed, told = replace(rule, scale=scale), f"the float32 scale{where} one unit in the last place {side}"
        yield _Change("multiplier", told, replace(usual, rule=changed))
        zero = rule.zero_point + by
        yield _Change("zero point", _placed(zero, rule.zero_point), replace(usual, rule=replace(rule, zero_point=zero)))


def _placed(zero: int, before: int) -> str:
    return f"zero point {zero} instead of {before} of the output, its bounds as they were"


def _of_bounds(usual: Candidate, yours: Int64Array) -> Iterator[_Change]:
    """The ends of what was given in the place of either bound, then of both."""
    limits = usual.limits
    low, high = int(yours.min()), int(yours.max())
    for lower, upper in ((low, limits.upper), (limits.lower, high), (low, high)):
        pairs = (("lower", lower, limits.lower), ("upper", upper, limits.upper))
        told = " and ".join(f"the {name} bound {new} instead of {old}" for name, new, old in pairs if new != old)
        if told:
            yield _Change("bound", told, replace(usual, limits=replace(limits, lower=lower, upper=upper)))


def _of_operands(network: Network, layer: NetworkLayer) -> Iterator[tuple[CauseKind, str, Network, NetworkLayer]]:
    """Zero points of the layer's tensors one off or left out, and the bias left out."""
    bias = _BIASES.get(layer.operator, 2)
    for number in (*layer.inputs[:bias], *layer.outputs[:1]):
        tensor = network.tensors[number] if number >= 0 else None
        if tensor is None or tensor.scale is None:
            continue
        zero = tensor.scale.zero_point
        one_zero = len(set(tensor.scale.zero_points.tolist())) == 1
        for other in dict.fromkeys((zero + 1, zero - 1, 0)):
            if one_zero and other != zero:
                told = f"zero point {other} instead of {zero} of {tensor.name}"
                yield "zero point", told, _with_zero_point(network, tensor, other), layer
    if layer.operator not in _UNBIASED and len(layer.inputs) > bias and layer.inputs[bias] >= 0:
        yield "bias", "the bias left out", network, replace(layer, inputs=layer.inputs[:bias])


def _zero_point(network: Network, layer: NetworkLayer) -> int:
    scale = network.output_of(layer).scale
    return 0 if scale is None else scale.zero_point


def _with_zero_point(network: Network, tensor: NetworkTensor, zero: int) -> Network:
    assert tensor.scale is not None
    scale = replace(tensor.scale, zero_points=np.full_like(tensor.scale.zero_points, zero))
    tensors = list(network.tensors)
    tensors[tensor.number] = replace(tensor, scale=scale)
    return replace(network, tensors=tensors)
