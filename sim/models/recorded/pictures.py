"""Recordings of several pictures, one behind the other in one file or in files of their own: each is compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.models.compare import LayerReport, compared, tensors_by_name
from sim.models.network import AnyArray, ModelError, Network


@dataclass(frozen=True, eq=False)
class Picture:
    """What was recorded of one picture: tensors by number."""

    name: str
    tensors: Mapping[int, AnyArray]


def pictures_of(network: Network, arrays: Mapping[str, AnyArray], file: str) -> list[Picture]:
    """The pictures of one file, whose arrays by name have more of them than the network takes at once.

    They lie behind each other along the first axis, or along an axis before it.  Raises ModelError as
    `tensors_by_name` does, and where one array has another number of pictures than another.
    """
    stated = {tensor.name: tensor.shape for tensor in network.tensors if tensor.data is None}
    counts = {name: _count(stated.get(name), array.shape) for name, array in arrays.items()}
    most = max(counts.values(), default=1)
    if most == 1 or 0 in counts.values():
        return [Picture(file, tensors_by_name(network, arrays))]
    for name, count in counts.items():
        if count != most:
            other = next(one for one, of in counts.items() if of == most)
            raise ModelError(f"{file} has {count} of {name} and {most} of {other}: record each tensor of every picture")
    split = {name: np.split(array, most) for name, array in arrays.items()}
    return [
        Picture(
            f"picture {at} of {file}",
            tensors_by_name(network, {name: parts[at].reshape(stated[name] or ()) for name, parts in split.items()}),
        )
        for at in range(most)
    ]


def _count(stated: tuple[int, ...] | None, given: tuple[int, ...]) -> int:
    """How many pictures an array of a shape has, of tensors whose shape is stated; 0 where it is none of these."""
    if stated is None or given == stated:
        return 1
    if given[1:] == stated:
        return given[0]
    if len(given) == len(stated) and given[1:] == stated[1:] and given[0] and stated[0] and not given[0] % stated[0]:
        return given[0] // stated[0]
    return 0


def compared_pictures(
    network: Network, pictures: Sequence[Picture], runtime: str = "", expected: str = ""
) -> tuple[LayerReport, ...]:
    """A report of each layer: the first picture in which it parts is told, and `pictures` has all that do.

    A layer is equal to the conventions that give it in every picture.
    """
    each = [compared(network, one.tensors, runtime, expected) for one in pictures]
    if len(pictures) == 1:
        return each[0]
    found = []
    for layers in zip(*each, strict=True):
        for outcome in ("differs", "departs"):
            where = tuple(at for at, one in enumerate(layers) if one.outcome == outcome)
            if where:
                found.append(replace(layers[where[0]], pictures=where))
                break
        else:
            found.append(_in_all(network, layers, pictures, runtime))
    return tuple(found)


def _in_all(network: Network, layers: Sequence[LayerReport], pictures: Sequence[Picture], runtime: str) -> LayerReport:
    """Of a layer that some convention gives in each picture: those that do in all, or what most pictures are."""
    equal = {at: one for at, one in enumerate(layers) if one.outcome == "equal"}
    if not equal:
        return layers[0]
    first = next(iter(equal.values()))
    counts = Counter(name for one in equal.values() for name in one.conventions)
    shared = tuple(name for name in first.conventions if counts[name] == len(equal))
    if shared:
        return replace(first, conventions=shared, elements=sum(one.elements for one in equal.values()))
    most = max(first.conventions, key=lambda name: counts[name])
    where = tuple(at for at, one in equal.items() if most not in one.conventions)
    usual = most.split(" then ")[0].split(" of ")[0]
    number = first.layer.number
    layer = next(one for one in compared(network, pictures[where[0]].tensors, runtime, usual)
                 if one.layer.number == number)  # fmt: skip
    return replace(layer, pictures=where)
