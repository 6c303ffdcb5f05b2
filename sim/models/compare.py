"""Every layer of a network from the numbers that somebody's runtime gave it: which conventions make what it made.

Each layer is computed from the other side's own inputs, so that a difference is told where it is made, and not again in
every layer behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sim.explanation.answer import explain
from sim.explanation.explanation import Explanation
from sim.explanation.question import QuestionError
from sim.models.computed import computed
from sim.models.layers import Added, Computed, Requantized
from sim.models.network import AnyArray, ModelError, Network, NetworkLayer, NotComputed

LayerOutcome = Literal["equal", "differs", "skipped"]


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerReport:
    """What became of a layer: `equal` to some conventions, by name, `differs` from all, or `skipped` with the reason.

    `differing` of `elements` are other numbers under the nearest convention; `first` is the first of them.
    """

    layer: NetworkLayer
    outcome: LayerOutcome
    conventions: tuple[str, ...] = ()
    explanation: Explanation | None = None
    differing: int = 0
    elements: int = 0
    first: tuple[int, ...] = ()
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "number": self.layer.number,
            "operator": self.layer.operator,
            "outcome": self.outcome,
            "conventions": list(self.conventions),
            "differing": self.differing,
            "elements": self.elements,
            "first": list(self.first),
            "reason": self.reason,
            "explanation": None if self.explanation is None else self.explanation.as_json(),
        }


def compared(network: Network, tensors: Mapping[int, AnyArray]) -> Iterator[LayerReport]:
    """A report of each layer whose numbers are among `tensors`, by number, in the network's order."""
    given = network.constants | dict(tensors)
    for layer in network.layers:
        yield _report(network, layer, given)


def tensors_by_name(network: Network, arrays: Mapping[str, AnyArray]) -> dict[int, AnyArray]:
    """Arrays by the number of the tensor that has their name; raises ModelError for other names, dtypes and shapes."""
    numbers = {tensor.name: tensor for tensor in network.tensors if tensor.data is None}
    found = {}
    for name, array in arrays.items():
        if name not in numbers:
            raise ModelError(f"{network.name} computes no tensor {name!r}: it has {', '.join(sorted(numbers)[:8])}")
        tensor = numbers[name]
        stated = tensor.shape if tensor.shape is not None else array.shape
        if (str(array.dtype), array.shape) != (tensor.dtype, stated):
            raise ModelError(
                f"{name} is {array.dtype}{list(array.shape)}: {network.name} has {tensor.dtype}{list(stated)}"
            )
        found[tensor.number] = array
    return found


def _report(network: Network, layer: NetworkLayer, given: Mapping[int, AnyArray]) -> LayerReport:
    if not layer.outputs or layer.outputs[0] not in given:
        return LayerReport(layer=layer, outcome="skipped", reason="its output is not among the tensors")
    output = given[layer.outputs[0]]
    try:
        made = computed(network, layer, given)
        shape = made.shape if isinstance(made, np.ndarray) else made.numbers.shape
        if shape != output.shape:
            raise NotComputed(f"it makes {list(shape)}, and its output is {list(output.shape)}")
        if isinstance(made, np.ndarray):
            return _exact(layer, made, output)
        explanation = _explained(made, output)
    except NotComputed as error:
        return LayerReport(layer=layer, outcome="skipped", reason=str(error))
    except QuestionError as error:
        return LayerReport(layer=layer, outcome="skipped", reason=f"nothing can be said of it: {error}")
    names = tuple(name for match in explanation.matches for name in match.names)
    if names:
        return LayerReport(
            layer=layer, outcome="equal", conventions=names, explanation=explanation, elements=output.size
        )
    nearest = explanation.nearest[0] if explanation.nearest else None
    return LayerReport(
        layer=layer,
        outcome="differs",
        explanation=explanation,
        conventions=nearest.names if nearest else (),
        differing=nearest.differing if nearest else output.size,
        elements=output.size,
        first=nearest.traces[0].element if nearest and nearest.traces else (),
    )


def _exact(layer: NetworkLayer, made: AnyArray, output: AnyArray) -> LayerReport:
    """Where nothing is rounded."""
    wrong = np.argwhere(made != output)
    return LayerReport(
        layer=layer,
        outcome="differs" if len(wrong) else "equal",
        conventions=() if len(wrong) else ("exact",),
        differing=len(wrong),
        elements=output.size,
        first=tuple(int(place) for place in wrong[0]) if len(wrong) else (),
    )


def _explained(made: Computed, output: AnyArray) -> Explanation:
    if isinstance(made, Requantized):
        return explain(
            output,
            accumulators=made.accumulators,
            scale=made.scale if made.scale.size > 1 else float(made.scale.reshape(-1)[0]),
            zero_point=made.zero_point,
            minimum=made.minimum,
            maximum=made.maximum,
            axis=made.axis,
        )
    assert isinstance(made, Added)
    if made.activation not in ("NONE", "RELU"):
        raise NotComputed(f"the fused activation {made.activation} of an addition is not computed")
    a, b, of_output = made.scales
    return explain(
        output,
        a=made.a,
        b=made.b,
        scale_a=float(a.scales[0]),
        scale_b=float(b.scales[0]),
        scale=float(of_output.scales[0]),
        zero_point_a=a.zero_point,
        zero_point_b=b.zero_point,
        zero_point=of_output.zero_point,
        relu=made.activation == "RELU",
    )
