"""What is said of a network: its layers, the conventions that all of them share, the first that parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from sim.models.compare import LayerReport
from sim.models.network import Network

_ADDITIONS: Final = ("ADD", "QLinearAdd")


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelReport:
    """The layers of a network beside what `against` computed of the same inputs; `seed` made them, or None."""

    network: Network
    against: str
    seed: int | None
    layers: Sequence[LayerReport]

    @property
    def compared(self) -> Sequence[LayerReport]:
        return [layer for layer in self.layers if layer.outcome != "skipped"]

    @property
    def first_apart(self) -> LayerReport | None:
        """The first layer that no convention reproduces from the other side's own inputs."""
        return next((layer for layer in self.layers if layer.outcome == "differs"), None)

    @cached_property
    def common(self) -> Mapping[str, tuple[str, ...]]:
        """By kind of layer, "scaling" and "addition", the conventions that every layer of the kind shares."""
        found: dict[str, list[dict[str, None]]] = {}
        for layer in self.compared:
            if layer.outcome == "equal" and layer.explanation is not None:
                kind = "addition" if layer.layer.operator in _ADDITIONS else "scaling"
                names = dict.fromkeys(name.split(" then ")[0] for name in layer.conventions)
                found.setdefault(kind, []).append(names)
        every = {kind: dict.fromkeys(name for names in layers for name in names) for kind, layers in found.items()}
        return {kind: tuple(name for name in names if _is_shared(name, found[kind])) for kind, names in every.items()}

    def convention_of(self, layer: LayerReport) -> str:
        """The one of a layer's conventions that is told: of those that all layers share where there is one."""
        shared = {name for names in self.common.values() for name in names}
        plain = {name.split(" of ")[0] for name in shared}
        return next(
            (name for name in layer.conventions if name.split(" then ")[0] in shared | plain),
            (*layer.conventions, "")[0],
        )

    @property
    def verdict(self) -> str:
        apart, count = self.first_apart, len(self.compared)
        if apart is not None:
            name = self.network.output_of(apart.layer).name
            return (
                f"layer {apart.layer.number}, {apart.layer.operator} to {name}, is the first that no convention here "
                f"gives: {apart.differing:,} of {apart.elements:,} elements differ from the nearest"
            )
        if not count:
            return "no layer could be compared"
        if count == 1:
            return "the one layer that was compared is reproduced bit for bit"
        return f"all {count} layers that were compared are reproduced bit for bit"

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.network.name,
            "against": self.against,
            "seed": self.seed,
            "verdict": self.verdict,
            "common": {kind: list(names) for kind, names in self.common.items()},
            "layers": [layer.as_json() for layer in self.layers],
        }


def _is_shared(name: str, layers: Sequence[Mapping[str, None]]) -> bool:
    """Whether each layer is that convention, or that one whatever the multiplier is derived by."""
    return all(name in names or name.split(" of ")[0] in names for names in layers)
