"""What is said of a network: its layers, the conventions that all of them share, the first that parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sim.models.compare import MOVE, LayerReport
from sim.models.network import Network
from sim.models.questions import is_one_of, plain
from sim.models.rules.average import EXACT


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelReport:
    """The layers of a network beside what `against` computed of the same inputs; `seed` made them, or None.

    `expected` is the convention that they should be, "" where they are compared with each other.  `pictures` are the
    names of several that were compared, none where it was one.
    """

    network: Network
    against: str
    seed: int | None
    layers: Sequence[LayerReport]
    expected: str = ""
    pictures: Sequence[str] = ()

    def __repr__(self) -> str:
        return f"ModelReport({self.network.name} beside {self.against}: {self.verdict})"

    @property
    def compared(self) -> Sequence[LayerReport]:
        """The layers that are not skipped."""
        return [layer for layer in self.layers if layer.outcome != "skipped"]

    @property
    def quantized(self) -> Sequence[LayerReport]:
        """Those that were compared and have a tensor with a scale: a net of real numbers has none."""
        tensors = self.network.tensors
        return [
            one
            for one in self.compared
            if any(n >= 0 and tensors[n].scale is not None for n in (*one.layer.inputs, *one.layer.outputs))
        ]

    @property
    def first_apart(self) -> LayerReport | None:
        """The first layer that no convention reproduces from the other side's own inputs."""
        return next((layer for layer in self.layers if layer.outcome == "differs"), None)

    @cached_property
    def common(self) -> Mapping[str, tuple[str, ...]]:
        """By kind of layer (scaling, product, addition, pooling, ...), those that every layer of the kind shares."""
        return {
            kind: tuple(name for name, count in of.items() if count == len(self._by_kind[kind]))
            for kind, of in self.spread.items()
        }

    @cached_property
    def spread(self) -> Mapping[str, Mapping[str, int]]:
        """By kind of layer, of how many layers each convention is one, the widest first.

        Of as many layers, in the order in which the roundings are met, whatever the multiplier is derived by.
        """
        found = {}
        for kind, layers in self._by_kind.items():
            names = dict.fromkeys(name for own in layers for name in own)
            counts = {name: sum(is_one_of(tuple(own), name) for own in layers) for name in names}
            met = list(dict.fromkeys(map(plain, names)))
            found[kind] = {
                name: counts[name] for name in sorted(names, key=lambda one: (-counts[one], met.index(plain(one))))
            }
        return found

    @cached_property
    def _by_kind(self) -> Mapping[str, Sequence[Mapping[str, None]]]:
        """The conventions of each layer that rounds and that some give, whatever the bounds, in their order."""
        found: dict[str, list[dict[str, None]]] = {}
        for layer in self.compared:
            if layer.outcome == "equal" and layer.kind and layer.conventions[0] != EXACT:
                names = dict.fromkeys(name.split(" then ")[0] for name in layer.conventions)
                found.setdefault(layer.kind, []).append(names)
        return found

    def convention_of(self, layer: LayerReport) -> str:
        """The one of a layer's conventions that is told: the first of those that the most layers of its kind are.

        A convention counts with each way to derive its multiplier, and then the way.
        """
        counts = self.spread.get(layer.kind, {})
        most: dict[str, int] = {}
        for name, count in counts.items():
            most[plain(name)] = max(most.get(plain(name), 0), count)
        roundings = {name: name.split(" then ")[0] for name in layer.conventions}
        widest = max(map(plain, roundings.values()), key=lambda one: most.get(one, 0), default="")
        ways = (name for name, rounding in roundings.items() if plain(rounding) == widest)
        return max(ways, key=lambda name: counts.get(roundings[name], 0), default="")

    def outputs_of(self, layer: LayerReport) -> Sequence[str]:
        """The names of what a layer makes."""
        return [self.network.tensors[number].name for number in layer.layer.outputs]

    def users_of(self, convention: str) -> str:
        """Whose a convention is, by the first layer that it gives; "" where that is not known."""
        return next((layer.users[convention] for layer in self.layers if convention in layer.users), "")

    @property
    def apart(self) -> Sequence[LayerReport]:
        """The layers that are not what the others are, those that are another convention among them."""
        return [layer for layer in self.layers if layer.outcome in ("departs", "differs")]

    @property
    def verdict(self) -> str:
        """What became of the layers, and of how many nothing is said."""
        count, of = len(self.compared), len(self.layers)
        if not count:
            return f"no layer could be compared: {_were(of, 'skipped')}"
        skipped = f"; {_were(count, 'compared', of)}, {_were(of - count, 'skipped')}" if count < of else ""
        return f"{self._of_compared}{skipped}"

    @property
    def _of_compared(self) -> str:
        apart, count = self.first_apart, len(self.compared)
        if apart is not None:
            differ = "differs" if apart.differing == 1 else "differ"
            other = apart.usual or ("what it moves" if apart.kind == MOVE else "the nearest")
            return (
                f"{self._title(apart)} is the first that no convention here gives: {apart.differing:,} of "
                f"{apart.elements:,} elements {differ} from {other}"
                f"{self.in_pictures(apart.pictures)}"
            )
        if not self.quantized:
            return "nothing quantized was compared"
        if count == 1:
            return "the one layer that was compared is reproduced bit for bit"
        all_of_them = f"all {count} layers that were compared are reproduced bit for bit"
        if self.pictures and not self.apart:
            return f"{all_of_them} in all {len(self.pictures)} pictures"
        if not self.apart:
            return all_of_them
        first, others = self.apart[0], len(self.apart) - 1 - len(self.apart[0].instead)
        more = f" and {others} more" if others else ""
        if first.instead:
            places = " or ".join(map(str, first.instead))
            more = f" or in its place layer {places}, which these numbers do not tell,{more}"
        other = "what was expected" if self.expected else "the others"
        return (
            f"{all_of_them}, {self._title(first)}{more} by another convention than {other}: {first.differing:,} of "
            f"{first.elements:,} elements {'is' if first.differing == 1 else 'are'} not {first.usual}"
            f"{self.in_pictures(first.pictures)}"
        )

    def in_pictures(self, where: Sequence[int]) -> str:
        """In how many pictures, and in which first; "" where there is one."""
        if not self.pictures or not where:
            return ""
        count, of = len(where), len(self.pictures)
        return f", in {count} of {of} pictures, {'the first is ' if count > 1 else ''}{self.pictures[where[0]]}"

    def _title(self, layer: LayerReport) -> str:
        output = self.network.tensors[layer.layer.outputs[layer.output]]
        return f"layer {layer.layer.number}, {layer.layer.operator} to {output.name},"

    def as_json(self) -> dict[str, Any]:
        """The report for machines: `lanewise schema model` says what it holds."""
        return {
            "model": self.network.name,
            "against": self.against,
            "seed": self.seed,
            "pictures": list(self.pictures),
            "verdict": self.verdict,
            "common": {kind: list(names) for kind, names in self.common.items()},
            "layers": [layer.as_json() for layer in self.layers],
        }


def _were(count: int, what: str, of: int = 0) -> str:
    """Such as "1 of 14 layers was compared", or without `of` "13 were skipped"."""
    layers = f" of {of} layers" if of else ""
    return f"{count}{layers} {'was' if count == 1 else 'were'} {what}"
