"""Two sessions of one call, of two builds: which output lanes differ, and where the data that reach one part first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sim.debug.calls import DebugError, DebuggedCall
from sim.debug.spots import bytes_at
from sim.debug.way import LaneWay, WhyStep
from sim.kernels.signature import RETURNED
from sim.kernels.tolerance import agreement

if TYPE_CHECKING:
    from sim.debug.session import Session

Array = np.ndarray[Any, Any]
_LEAST_BITS: Final = 8
"""Flags are alike by chance."""


@dataclass(frozen=True, kw_only=True)
class SessionDifference:
    """What two calls of the same inputs do otherwise, aligned by output lane; str() says it in lines.

    `titles` are theirs; of `compared` output lanes `different` differ.  `ways` are those of one lane, the first that
    differs if none was asked for, at the end of each call; None where all are the same.  `partings` are the first steps
    of each way that compute on the way to the lane what the other way never holds; None where the lane is the same, or
    inputs are only moved.
    """

    titles: tuple[str, str]
    compared: int
    different: int
    ways: tuple[LaneWay, LaneWay] | None = None
    partings: tuple[WhyStep | None, WhyStep | None] = (None, None)

    def __str__(self) -> str:
        counted = f"{self.different:,} of {self.compared:,} output lanes differ between {' and '.join(self.titles)}"
        if self.ways is None:
            return counted
        parts = [counted]
        for title, way, parting in zip(self.titles, self.ways, self.partings, strict=True):
            value = f" = {way.steps[-1].value}" if way.steps else ""
            parts += [f"{title}: {way.spot.name}{value} comes from {', '.join(way.inputs) or 'nothing'}"]
            if parting is not None:
                before = [way.steps[at] for at in parting.made_of]
                parts += [f"  {step}" for step in before]
                parts += [f"  {parting}  <- parts here"]
            else:
                parts += ["  it is only moved, or the same" if way.steps else "  it is never written"]
        return "\n".join(parts)


def difference(one: Session, other: Session, spot: str | None = None) -> SessionDifference:
    """What two sessions of the same inputs do otherwise; they stand where they stood.

    Raises DebugError where inputs or outputs are not the same ones, and SpotError for the spot.
    """
    mine, its = one.call.inputs, other.call.inputs
    for name in dict.fromkeys((*mine, *its)):
        if name not in mine or name not in its or not np.array_equal(mine[name], its[name]):
            raise DebugError(f"the input {name!r} of {one.call.title} and of {other.call.title} is not the same")
    sessions, here = (one, other), (one.position, other.position)
    for session in sessions:
        session.goto_end()
    try:
        outputs = [dict(outputs_of(session)) for session in sessions]
        if [(name, array.shape) for name, array in outputs[0].items()] != [
            (name, array.shape) for name, array in outputs[1].items()
        ]:
            raise DebugError(f"{one.call.title} and {other.call.title} have other outputs")
        differ = {name: ~agreement(array, outputs[1][name]) for name, array in outputs[0].items()}
        where = spot
        for name, wrong in differ.items():
            if where is None and wrong.any():
                where = one.spot_of(name, tuple(int(i) for i in np.argwhere(wrong)[0])).name
        titles = _title(one.call), _title(other.call)
        if titles[0] == titles[1]:
            titles = titles[0], f"{titles[1]}, the other"
        found = SessionDifference(
            titles=titles, compared=sum(each.size for each in differ.values()),
            different=sum(int(each.sum()) for each in differ.values()),
        )  # fmt: skip
        if where is None:
            return found
        ways = one.why(where), other.why(where)
        differs_there = bytes_at(one.spot(where), one.machine) != bytes_at(other.spot(where), other.machine)
        return replace(found, ways=ways, partings=_partings(*ways) if differs_there else (None, None))
    finally:
        for session, position in zip(sessions, here, strict=True):
            session.goto(position)


def _title(call: DebuggedCall) -> str:
    """Source and flags."""
    return call.title if call.job.source is None else " ".join([call.job.source.name, *call.job.flags])


def outputs_of(session: Session) -> Iterator[tuple[str, Array]]:
    """The outputs of a kernel's call that are in memory, and its result, as they are now, by name."""
    kernel = session.call.kernel
    if kernel is None:
        return
    for pointer in kernel.signature.outputs:
        if pointer.name in session.arrays:
            yield pointer.name, session.array(pointer.name)
    if session.call.result is not None:
        held = session.machine.read(session.call.result).to_bytes(16, "little")[: session.call.result_size]
        yield RETURNED, np.frombuffer(held, kernel.signature.returns).reshape(())


def _partings(one: LaneWay, other: LaneWay) -> tuple[WhyStep | None, WhyStep | None]:
    """In each way the first step that leads to the lane through steps of which the other way has none.

    Steps are the same that hold the same numbers in the same order; what the lane itself is at the end is not, though
    its number may have been on the way of the other.
    """
    compared = []
    for way in (one, other):
        used = {at for step in way.steps for at in step.made_of}
        compared.append([at for at, step in enumerate(way.steps) if not step.is_copy and at in used])
    same = _aligned([one.steps[at] for at in compared[0]], [other.steps[at] for at in compared[1]])
    return (
        _first_alone(one, {compared[0][pair[0]] for pair in same}),
        _first_alone(other, {compared[1][pair[1]] for pair in same}),
    )


def _first_alone(way: LaneWay, shared: set[int]) -> WhyStep | None:
    """The first step that reaches the end of a way through steps none of which is shared.

    What only repeats the number of a shared one, as an addition of 0 does, is shared too.
    """
    shared = set(shared)
    for at, step in enumerate(way.steps):
        if any(made_of in shared and _is_same(way.steps[made_of], step) for made_of in step.made_of):
            shared.add(at)
    reaches = [True] * len(way.steps)
    consumers: dict[int, list[int]] = {}
    for at, step in enumerate(way.steps):
        for made_of in step.made_of:
            consumers.setdefault(made_of, []).append(at)
    for at in reversed(range(len(way.steps))):
        if at in shared or way.steps[at].is_copy:
            reaches[at] = False
        elif at in consumers:
            reaches[at] = any(reaches[each] for each in consumers[at])
    return next((step for step, does in zip(way.steps, reaches, strict=True) if does), None)


def _aligned(one: Sequence[WhyStep], other: Sequence[WhyStep]) -> list[tuple[int, int]]:
    """A longest common subsequence, as pairs of numbers."""
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in reversed(range(len(one))):
        row, below = lengths[i], lengths[i + 1]
        for j in reversed(range(len(other))):
            row[j] = below[j + 1] + 1 if _is_same(one[i], other[j]) else max(below[j], row[j + 1])
    pairs, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        if _is_same(one[i], other[j]):
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _is_same(step: WhyStep, other: WhyStep) -> bool:
    """Whether two steps hold the same number, as far as the narrower one goes."""
    if isinstance(step.value, float) or isinstance(other.value, float):
        return step.value == other.value or (step.value != step.value and other.value != other.value)
    bits = min(step.bits, other.bits)
    return bits >= _LEAST_BITS and (step.value - other.value) % (1 << bits) == 0
