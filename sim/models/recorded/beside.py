"""What a device recorded beside what a runtime makes of the same inputs: in which layers the numbers are the same.

Where they are not, either the layer parts them, or it follows from what it was given: then one convention gives both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sim.explanation.explanation import place_of
from sim.models.compare import LayerReport, other_numbers
from sim.models.network import AnyArray, Network, NetworkLayer
from sim.models.recorded.pictures import Picture
from sim.models.report import ModelReport

BesideOutcome = Literal["same", "parts", "follows", "skipped"]


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerBeside:
    """A layer on both sides: `differing` of `elements` are others, `first` is where, with both `numbers` there.

    `pictures` are those in which they are others; numbers are those of the first.
    """

    layer: NetworkLayer
    outcome: BesideOutcome
    differing: int = 0
    elements: int = 0
    first: tuple[int, ...] = ()
    numbers: tuple[str, str] = ("", "")
    output: int = 0
    pictures: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "number": self.layer.number,
            "operator": self.layer.operator,
            "outcome": self.outcome,
            "differing": self.differing,
            "elements": self.elements,
            "first": list(self.first),
            "numbers": list(self.numbers),
            "output": self.output,
            "pictures": list(self.pictures),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class BesideReport:
    """Both sides, each compared with our conventions from its own inputs, and the layers with the numbers of both."""

    recorded: ModelReport
    runtime: ModelReport
    layers: Sequence[LayerBeside]

    @property
    def compared(self) -> Sequence[LayerBeside]:
        return [one for one in self.layers if one.outcome != "skipped"]

    @property
    def apart(self) -> Sequence[LayerBeside]:
        return [one for one in self.layers if one.outcome in ("parts", "follows")]

    def told(self, one: LayerBeside) -> tuple[str, str]:
        """What the layer is on either side."""
        return self._told(self.recorded, one), self._told(self.runtime, one)

    @staticmethod
    def _told(side: ModelReport, one: LayerBeside) -> str:
        report = next(each for each in side.layers if each.layer is one.layer)
        if report.outcome == "skipped":
            return report.reason
        if report.outcome == "differs":
            return f"no convention, {report.differing:,} from {report.usual or 'the nearest'}"
        return side.convention_of(report)

    @property
    def verdict(self) -> str:
        """The first layer that parts the two, with what it is on either side."""
        ours, theirs = self.recorded.against, self.runtime.against
        if not self.compared:
            return f"{ours} has no layer of those that {theirs} computes"
        count = len(self.compared)
        first = next((one for one in self.apart if one.outcome == "parts"), next(iter(self.apart), None))
        if first is None:
            many = f" in all {len(self.recorded.pictures)} pictures" if self.recorded.pictures else ""
            layers = "the one layer that was" if count == 1 else f"all {count} layers that were"
            return f"{ours} and {theirs} have the same numbers in {layers} compared{many}"
        name = self.recorded.network.tensors[first.layer.outputs[first.output]].name
        one, other = self.told(first)
        follow = sum(each.outcome == "follows" for each in self.apart)
        behind = f"; {follow} that follow{'s' if follow == 1 else ''} from their inputs" if follow else ""
        return (
            f"layer {first.layer.number}, {first.layer.operator} to {name}, is the first that parts {ours} from "
            f"{theirs}: {first.differing:,} of {first.elements:,} elements, the first is {place_of(first.first)}, "
            f"{first.numbers[0]} for {first.numbers[1]}{self.recorded.in_pictures(first.pictures)}; {ours} is {one}, "
            f"{theirs} is {other}{behind}"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.recorded.network.name,
            "verdict": self.verdict,
            "layers": [one.as_json() for one in self.layers],
            "recorded": self.recorded.as_json(),
            "runtime": self.runtime.as_json(),
        }


def beside(
    network: Network, recorded: ModelReport, runtime: ModelReport, pictures: Sequence[Picture], made: Sequence[Picture]
) -> BesideReport:
    """`pictures` are what was recorded, `made` what the runtime makes of the inputs of each."""
    pairs = zip(recorded.layers, runtime.layers, strict=True)
    layers = tuple(_layer(network, one, other, pictures, made) for one, other in pairs)
    return BesideReport(recorded=recorded, runtime=runtime, layers=layers)


def _layer(
    network: Network, one: LayerReport, other: LayerReport, pictures: Sequence[Picture], made: Sequence[Picture]
) -> LayerBeside:
    layer, found, is_compared = one.layer, list[tuple[int, LayerBeside]](), False
    for at, (ours, theirs) in enumerate(zip(pictures, made, strict=True)):
        for output, number in enumerate(layer.outputs):
            if number in ours.tensors and number in theirs.tensors:
                is_compared = True
                x, y = ours.tensors[number], theirs.tensors[number]
                wrong = np.ones(x.shape, bool) if x.shape != y.shape else other_numbers(x, y)
                if x.shape == y.shape and wrong.any():
                    first = tuple(int(place) for place in np.argwhere(wrong)[0])
                    parts = _parts(layer, one, other, ours.tensors, theirs.tensors)
                    found.append((at, LayerBeside(
                        layer=layer, outcome="parts" if parts else "follows", differing=int(wrong.sum()),
                        elements=wrong.size, first=first, numbers=(str(x[first]), str(y[first])), output=output,
                    )))  # fmt: skip
    if not found:
        return LayerBeside(layer=layer, outcome="same" if is_compared else "skipped")
    told = next((each for _, each in found if each.outcome == "parts"), found[0][1])
    where = tuple(dict.fromkeys(at for at, each in found if each.outcome == told.outcome))
    return LayerBeside(**{**vars(told), "pictures": where})


def _parts(
    layer: NetworkLayer, one: LayerReport, other: LayerReport, ours: Mapping[int, AnyArray],
    theirs: Mapping[int, AnyArray],
) -> bool:  # fmt: skip
    """Whether a layer makes other numbers of the same inputs, or may be no one convention on both sides."""
    given = [number for number in layer.inputs if number in ours and number in theirs]
    if all(np.array_equal(ours[number], theirs[number]) for number in given):
        return True
    names, others = ({name.split(" then ")[0] for name in side.conventions} for side in (one, other))
    return not (names & others and {one.outcome, other.outcome} <= {"equal", "departs"})
