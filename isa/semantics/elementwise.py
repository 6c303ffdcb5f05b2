"""Lifting a lane function over the lanes of an instruction's operands.

The operands know their lanes: an element (`v2.s[1]`) or an immediate is the same in every lane, a 128-bit source of
a long form gives its upper half, and half as many results as the destination has lanes fill its upper half.  So the
same few words serve three-same, by-element, scalar, long, wide and narrow forms and their `...2` variants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from isa.lane import Int, Lane, Write

Writes = tuple[Write, ...]
Body = Callable[..., Writes]
LaneFunction = Callable[..., Lane]

SIGNED, UNSIGNED = True, False


class Source(Protocol):
    """An operand that is read lane by lane: a vector, a scalar, an element, an immediate, a general register."""

    def lanes(self, signed: bool, count: int) -> list[Lane]:
        """Its lanes for a destination of `count` lanes; 0 asks a vector for all of them."""


class Destination(Protocol):
    """An operand that is written lane by lane: a vector or a scalar."""

    @property
    def count(self) -> int:
        """The number of its lanes."""

    def element(self, signed: bool) -> Int:
        """The type of its lanes, read as signed or not."""

    def lanes(self, signed: bool, count: int) -> list[Lane]:
        """Its old lanes."""

    def write(self, lanes: list[Lane]) -> Writes:
        """The write that makes these its lanes; half as many become its upper half."""


def each(signed: bool, function: LaneFunction, of: bool | None = None) -> Body:
    """`function(element type of the result, lane of each source...)` in every lane.

    `signed` is how the result and the sources are read; `of` is how the sources are read where that differs.
    """
    source_signed = signed if of is None else of

    def body(destination: Destination, *sources: Source) -> Writes:
        columns = [source.lanes(source_signed, destination.count) for source in sources]
        return _written(destination, signed, function, columns)

    return body


def each_accumulating(signed: bool, function: LaneFunction, of: bool | None = None) -> Body:
    """As `each`, with the old lane of the destination as the first source."""
    source_signed = signed if of is None else of

    def body(destination: Destination, *sources: Source) -> Writes:
        columns = [source.lanes(source_signed, destination.count) for source in sources]
        return _written(destination, signed, function, [destination.lanes(signed, destination.count), *columns])

    return body


def _written(to: Destination, signed: bool, function: LaneFunction, columns: Sequence[list[Lane]]) -> Writes:
    lanes = [function(to.element(signed), *row) for row in zip(*columns, strict=False)]
    return to.write(lanes)


def across(signed: bool, function: LaneFunction) -> Body:
    """All lanes of the source folded into the one lane of the destination, from the first lane on."""

    def body(destination: Destination, source: Source) -> Writes:
        element = destination.element(signed)
        lanes = source.lanes(signed, 0)
        result = lanes[0]
        for lane in lanes[1:]:
            result = function(element, result, lane)
        return destination.write([result])

    return body


def pairwise(signed: bool, function: LaneFunction) -> Body:
    """Adjacent lanes of the sources, laid end to end, combined in pairs."""

    def body(destination: Destination, *sources: Source) -> Writes:
        lanes = [lane for source in sources for lane in source.lanes(signed, 0)]
        return destination.write([function(destination.element(signed), *pair) for pair in in_pairs(lanes)])

    return body


def pairwise_accumulating(signed: bool, function: LaneFunction) -> Body:
    """As `pairwise`, with the old lane of the destination as the first source."""

    def body(destination: Destination, source: Source) -> Writes:
        element = destination.element(signed)
        old = destination.lanes(signed, destination.count)
        pairs = in_pairs(source.lanes(signed, 0))
        return destination.write([function(element, lane, *pair) for lane, pair in zip(old, pairs, strict=True)])

    return body


def in_pairs(lanes: list[Lane]) -> list[tuple[Lane, Lane]]:
    """Lanes 0 and 1, 2 and 3, and so on."""
    return list(zip(lanes[::2], lanes[1::2], strict=True))
