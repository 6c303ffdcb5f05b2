"""Every layer of a network from the numbers that somebody's runtime gave it: which conventions make what it made.

Each layer is computed from the other side's own inputs, so that a difference is told where it is made, and not again in
every layer behind it.  What most layers of a kind are is the usual convention; a layer that is not is told with what
makes the difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from sim.explanation.answer import answer
from sim.explanation.explanation import Explanation, Trace
from sim.explanation.question import Question, QuestionError
from sim.explanation.rows import distinct_rows
from sim.explanation.rule import Candidate
from sim.explanation.survey import survey
from sim.explanation.trace import trace
from sim.golden.registry.conventions import rank_of
from sim.models.causes.causes import Cause, causes_of
from sim.models.causes.moves import Moved, moved
from sim.models.computed import computed
from sim.models.layers import (
    Activated,
    Added,
    Averaged,
    ByRules,
    Computed,
    FromReals,
    Normalized,
    Pooled,
    Requantized,
    Several,
    ToReals,
)
from sim.models.network import AnyArray, InputMissing, ModelError, Network, NetworkLayer, NotComputed
from sim.models.questions import OwnFirst, is_one_of, plain, question_of
from sim.models.rules.average import EXACT
from sim.models.rules.dequantizing import WAYS

LayerOutcome = Literal["equal", "departs", "differs", "skipped"]
MOVE: Final = "move"
"""The kind of layers that only move numbers."""
_KINDS: Final = {
    Requantized: "scaling",
    Added: "addition",
    Pooled: "pooling",
    FromReals: "quantization",
    Activated: "activation",
    Normalized: "softmax",
    Averaged: "mean",
    ByRules: "arithmetic",
}
_OWN_KERNELS: Final = {
    **dict.fromkeys(("MUL", "Mul", "QLinearMul"), "product"),
    **dict.fromkeys(("GlobalAveragePool", "QLinearGlobalAveragePool"), "average"),
    **dict.fromkeys(("AveragePool", "QLinearAveragePool"), "average of reals"),
    "QUANTIZE": "quantization",
    **dict.fromkeys(("RELU", "RELU6", "RELU_N1_TO_1"), "bounds alone"),
    "HARD_SWISH": "hard swish",
    "LEAKY_RELU": "leaky ReLU",
    "SUB": "subtraction",
    "PRELU": "PReLU",
    "ABS": "absolute value",
    "L2_NORMALIZATION": "L2 normalization",
    **dict.fromkeys(("RESIZE_BILINEAR", "Resize"), "interpolation"),
    "BATCH_MATMUL": "product of stacks",
    "CONCATENATION": "joining",
    **dict.fromkeys(("TRANSPOSE_CONV", "ConvTranspose"), "transposed convolution"),
    "ReduceMean": "mean",
}
"""Layers that are scaled as others are, but by kernels of their own: they may round otherwise."""
_BASES: Final = 8
"""Conventions that are tried as the usual one, of those that the same layers are."""
_TRIED: Final = 1 << 25
"""Elements times conventions up to which every convention is tried with something off, not only the nearest."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerReport:
    """What became of a layer: `equal` to some conventions, by name, `departs` from the one that most layers of its
    kind are but is another, `differs` from all, or is `skipped` with the reason.

    `usual` is the convention that it departs or differs from: by it `differing` of `elements` are other numbers,
    `first` is the first of them and `trace` what became of that one, or `moved` where nothing is rounded; `causes` are
    changes each of which would make them all.  `along` has for each axis of the output how many differ at each of its
    places.  `instead` are the layers that depart in this one's place where another convention, that as many layers are,
    is the usual one.  `users` says of the conventions that give it whose they are.  `output` is which of the layer's
    outputs is told of.  Of several pictures `pictures` are those in which it parts, and the rest is of the first.
    """

    layer: NetworkLayer
    outcome: LayerOutcome
    kind: str = ""
    conventions: tuple[str, ...] = ()
    usual: str = ""
    causes: tuple[Cause, ...] = ()
    instead: tuple[int, ...] = ()
    trace: Trace | None = None
    moved: Moved | None = None
    explanation: Explanation | None = None
    differing: int = 0
    elements: int = 0
    first: tuple[int, ...] = ()
    along: tuple[tuple[int, ...], ...] = ()
    reason: str = ""
    users: Mapping[str, str] = field(default_factory=dict)
    output: int = 0
    pictures: tuple[int, ...] = ()

    def __repr__(self) -> str:
        apart = f", {self.differing:,} of {self.elements:,} elements" if self.differing else ""
        told = self.usual or ", ".join(self.conventions[:1]) or self.reason
        return f"LayerReport({self.layer.number}, {self.layer.operator}: {self.outcome}{apart}, {told})"

    def as_json(self) -> dict[str, Any]:
        """The layer for machines, as `lanewise schema model` has it."""
        return {
            "number": self.layer.number,
            "operator": self.layer.operator,
            "outcome": self.outcome,
            "kind": self.kind,
            "conventions": list(self.conventions),
            "usual": self.usual,
            "causes": [cause.as_json() for cause in self.causes],
            "instead": list(self.instead),
            "output": self.output,
            "pictures": list(self.pictures),
            "trace": None if self.trace is None else self.trace.as_json(),
            "moved": None if self.moved is None else self.moved.as_json(),
            "differing": self.differing,
            "elements": self.elements,
            "first": list(self.first),
            "along": [list(counts) for counts in self.along],
            "reason": self.reason,
            "explanation": None if self.explanation is None else self.explanation.as_json(),
        }


def compared(
    network: Network, tensors: Mapping[int, AnyArray], runtime: str = "", expected: str = ""
) -> tuple[LayerReport, ...]:
    """A report of each layer whose numbers are among `tensors`, by number, in the network's order.

    Of conventions that give a layer, those of the `runtime` that made the tensors come first.  With an `expected`
    convention the layers that may be it depart where they are not, and the others of their kind do not matter.
    """
    given = network.constants | dict(tensors)
    reports = [_surveyed(network, layer, given, runtime) for layer in network.layers]
    usual = {kind: _usual([one for one in reports if one.kind == kind]) for kind in {one.kind for one in reports}}
    return tuple(_told(network, report, given, usual.get(report.kind, ()), runtime, expected) for report in reports)


def tensors_by_name(network: Network, arrays: Mapping[str, AnyArray]) -> dict[int, AnyArray]:
    """Arrays by the number of the tensor that has their name; raises ModelError for other names, dtypes and shapes."""
    numbers = {tensor.name: tensor for tensor in network.tensors if tensor.data is None}
    found = {}
    for name, array in arrays.items():
        if name not in numbers:
            near = get_close_matches(name, numbers, n=8) or sorted(numbers)[:8]
            raise ModelError(f"{network.name} computes no tensor {name!r}: it has {', '.join(near)}")
        tensor = numbers[name]
        stated = tensor.shape if tensor.shape is not None else array.shape
        if (str(array.dtype), array.shape) != (tensor.dtype, stated):
            raise ModelError(
                f"{name} is {array.dtype}{list(array.shape)}: {network.name} has {tensor.dtype}{list(stated)}"
            )
        found[tensor.number] = array
    return found


def _surveyed(network: Network, layer: NetworkLayer, given: Mapping[int, AnyArray], runtime: str) -> LayerReport:
    """Which conventions give a layer's output."""
    if not any(number in given for number in layer.outputs):
        return LayerReport(layer=layer, outcome="skipped", reason="its output is not among the tensors")
    try:
        made = _made(network, layer, given)
        if isinstance(made, Several):
            return _moved_to_several(network, layer, made, given)
        output = given[layer.outputs[0]]
        if isinstance(made, np.ndarray):
            return _moved(network, layer, given, made)
        if isinstance(made, ToReals):
            return _of_reals(network, layer, made, output, runtime)
        question = OwnFirst(question_of(made, output), runtime)
        matches = _matches(question)
    except InputMissing as error:
        name = network.tensors[error.number].name if error.number >= 0 else ""
        told = f": {name!r} is not among the tensors" if name else ""
        return LayerReport(layer=layer, outcome="skipped", reason=f"{error}{told}")
    except NotComputed as error:
        return LayerReport(layer=layer, outcome="skipped", reason=str(error))
    except QuestionError as error:
        return LayerReport(layer=layer, outcome="skipped", reason=f"nothing can be said of it: {error}")
    return LayerReport(
        layer=layer, outcome="equal" if matches else "differs",
        conventions=tuple(_name(question, one) for one in matches),
        kind=_OWN_KERNELS.get(layer.operator, _KINDS[type(made)]),
        elements=output.size, users={one.rule.name: one.rule.note for one in matches},
    )  # fmt: skip


def _made(network: Network, layer: NetworkLayer, given: Mapping[int, AnyArray]) -> Computed:
    """What a layer makes, in the shape of the output that was given; raises NotComputed."""
    made = computed(network, layer, given)
    if isinstance(made, Several):
        return made
    output = given[layer.outputs[0]]
    shape = made.shape if isinstance(made, np.ndarray) else made.numbers.shape
    if shape != output.shape:
        raise NotComputed(f"it makes {list(shape)}, and its output is {list(output.shape)}")
    return made


def other_numbers(one: AnyArray, other: AnyArray) -> npt.NDArray[np.bool_]:
    """Where two arrays of one shape have other numbers; what is no number is alike."""
    wrong: npt.NDArray[np.bool_] = (one != other) & ((one == one) | (other == other))
    return wrong


def _moved(
    network: Network, layer: NetworkLayer, given: Mapping[int, AnyArray], made: AnyArray, which: int = 0
) -> LayerReport:
    """Where numbers are only put elsewhere, and nothing is rounded: of one output of the layer."""
    output = given[layer.outputs[which]]
    wrong = other_numbers(made, output)
    report = LayerReport(
        layer=layer, outcome="differs" if wrong.any() else "equal", kind=MOVE, output=which, elements=output.size
    )
    if not wrong.any():
        return replace(report, conventions=(EXACT,))
    first, causes = moved(network, layer, given, which, made, output, int(np.flatnonzero(wrong)[0]))
    return _differing(replace(report, moved=first, causes=causes), wrong)


def _moved_to_several(
    network: Network, layer: NetworkLayer, made: Several, given: Mapping[int, AnyArray]
) -> LayerReport:
    """Of every output that is among the tensors; the first that is other numbers is told of."""
    elements = 0
    for place, (number, part) in enumerate(zip(layer.outputs, made.parts, strict=True)):
        if number not in given:
            continue
        if part.shape != given[number].shape:
            raise NotComputed(f"it makes {list(part.shape)}, and its output {place} is {list(given[number].shape)}")
        report = _moved(network, layer, given, part, place)
        if report.outcome == "differs":
            return report
        elements += part.size
    return LayerReport(layer=layer, outcome="equal", kind=MOVE, conventions=(EXACT,), elements=elements)


def _of_reals(network: Network, layer: NetworkLayer, made: ToReals, output: AnyArray, runtime: str) -> LayerReport:
    """Which ways make the real numbers, each bit of them."""
    scale = made.scale
    names = tuple(
        way.__name__
        for way in sorted(WAYS, key=lambda one: rank_of(WAYS[one], runtime))
        if np.array_equal(way(made.numbers, scale.scales[0], scale.zero_point), output)
    )
    report = LayerReport(
        layer=layer, outcome="equal" if names else "differs", kind="dequantization", conventions=names,
        elements=output.size, users={way.__name__: whose for way, whose in WAYS.items()},
    )  # fmt: skip
    if names:
        return report
    wrong = made.exact != output
    element = tuple(int(one) for one in np.argwhere(wrong)[0])
    name = network.tensors[layer.inputs[0]].name
    first = Moved(element=element, tensor=name, place=element, expected=made.exact[element].item(),
                  yours=output[element].item(), read=made.numbers[element].item())  # fmt: skip
    return _differing(replace(report, moved=first), wrong)


def _differing(report: LayerReport, wrong: npt.NDArray[np.bool_]) -> LayerReport:
    """With how many elements are wrong, the first of them, and where they lie."""
    axes = range(wrong.ndim)
    along = (wrong.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes)
    return replace(
        report, differing=int(wrong.sum()), elements=wrong.size, first=tuple(map(int, np.argwhere(wrong)[0])),
        along=tuple(tuple(map(int, np.atleast_1d(counts))) for counts in along),
    )  # fmt: skip


def _matches(question: Question) -> list[Candidate]:
    (part,) = question.parts
    rows = distinct_rows(part.operands, question.output.astype(np.int64).ravel())
    return [tally.candidate for tally in survey(part.candidates, rows, counted=0).matches]


def _name(question: Question, candidate: Candidate) -> str:
    """That of the rounding alone, where the bounds are those that the file states."""
    (part,) = question.parts
    return candidate.rule.name if candidate.limits == part.candidates[0].limits else candidate.name


@dataclass(frozen=True)
class _Usual:
    """Conventions that the same layers of a kind are, most of them, and the numbers of the layers that are not."""

    names: tuple[str, ...]
    others: tuple[int, ...]


def _usual(layers: Sequence[LayerReport]) -> tuple[_Usual, ...]:
    """What most layers of a kind are, if more than half of at least two are one convention; else nothing.

    Several where as many layers are one convention as another, but not the same ones.
    """
    kind = layers[0].kind
    names = dict.fromkeys(name for one in layers for name in one.conventions if kind and " then " not in name)
    others = {name: tuple(one.layer.number for one in layers if not is_one_of(one.conventions, name)) for name in names}
    fewest = min(map(len, others.values()), default=len(layers))
    if len(layers) - fewest <= max(len(layers) / 2, 1):
        return ()
    alike: dict[tuple[int, ...], list[str]] = {}
    for name, apart in others.items():
        if len(apart) == fewest:
            alike.setdefault(apart, []).append(name)
    return tuple(_Usual(tuple(same), apart) for apart, same in alike.items())


def _is_alike(name: str, usual: str) -> bool:
    """Whether one is the other, of which either may be told whatever its multiplier is derived by."""
    return is_one_of((name,), usual) or is_one_of((usual,), name)


def _told(
    network: Network, report: LayerReport, given: Mapping[int, AnyArray], usual: Sequence[_Usual], runtime: str,
    expected: str,
) -> LayerReport:  # fmt: skip
    """With what parts a layer from the usual conventions, where it does; those of the runtime come first."""
    layer = report.layer
    parts_from = [] if expected else [one for one in usual if layer.number in one.others]
    is_expected = not expected or expected in map(plain, report.conventions)
    if not report.kind or (report.outcome == "equal" and not parts_from and is_expected):
        return report
    made, output = _made(network, layer, given), given[layer.outputs[0]]
    if isinstance(made, np.ndarray | ToReals | Several):
        return report
    question = OwnFirst(question_of(made, output), runtime)
    (part,), matches = question.parts, _matches(question)
    if expected and any(plain(one.rule.name) == expected for one in part.candidates):
        parts_from = [_Usual((expected,), (layer.number,))]
    elif matches and not parts_from:  # what is expected is nothing that it may be
        return report
    explanation = answer(question)
    nearest = tuple(one.split(" then ")[0] for near in explanation.nearest for one in near.names)
    plain_ones = [one for one in part.candidates if one.limits == part.candidates[0].limits]
    near = dict[str, Candidate]()
    # each of the nearest by itself: they are in their order, the nearest first
    for names in [one.names for one in parts_from] or [(name,) for name in nearest[:_BASES]]:
        same = [one for one in plain_ones if any(_is_alike(one.rule.name, name) for name in names)]
        near |= {one.rule.name: one for one in same[:_BASES]}
    own = {number for one in parts_from for number in one.others}
    told = replace(
        report, outcome="departs" if matches else "differs", explanation=explanation,
        conventions=report.conventions or (explanation.nearest[0].names if explanation.nearest else ()),
        instead=tuple(dict.fromkeys(
            number for one in usual if one not in parts_from for number in one.others if number not in own
        )),
    )  # fmt: skip
    if not near:
        return replace(told, differing=output.size)
    # with one number off, others may be nearer than the one that it is
    is_any = not parts_from and output.size * len(plain_ones) <= _TRIED
    bases = {one.rule.name: one for one in plain_ones} if is_any else near
    causes = causes_of(network, layer, given, question, tuple(bases.values()), matches)
    base = bases[next((name for cause in causes for name in cause.of), next(iter(near)))]
    wrong = (base.run(part.operands) != output.ravel()).reshape(output.shape)
    at = int(np.flatnonzero(wrong)[0])
    shown = trace(part, base, matches or tuple(near.values()), at, output.shape, int(output.ravel()[at]))
    return _differing(replace(told, usual=base.rule.name, causes=causes, trace=shown), wrong)
