"""A loop as one iteration, and how far its addresses move from each iteration to the next."""

from __future__ import annotations

from dataclasses import dataclass

from sim.timing.model.stream import Accesses, Executed


@dataclass(frozen=True)
class Loop:
    """A loop of which every iteration executes the same instructions.

    `body` is iteration 0.  `strides` has, for each instruction of the body, the bytes by which each of its accesses
    moves from one iteration to the next: those of its loads, then those of its stores.
    Raises ValueError for an empty body, and where the strides are not one for each access.
    """

    body: tuple[Executed, ...]
    strides: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.body:
            raise ValueError("a loop needs a body of at least one instruction")
        if len(self.strides) != len(self.body):
            raise ValueError(
                f"{len(self.strides)} tuples of strides do not fit a body of {len(self.body)} instructions"
            )
        for one, strides in zip(self.body, self.strides, strict=True):
            if len(strides) != (accesses := len(one.loads) + len(one.stores)):
                raise ValueError(f"{one.instruction.text!r} has {accesses} accesses, not {len(strides)} strides")

    def iteration(self, number: int) -> list[Executed]:
        """What that iteration executes; they count from 0."""
        done = []
        for one, strides in zip(self.body, self.strides, strict=True):
            if strides:
                split = len(one.loads)
                loads = _shifted(one.loads, strides[:split], number)
                done.append(one._replace(loads=loads, stores=_shifted(one.stores, strides[split:], number)))
            else:
                done.append(one)
        return done

    def repeated(self, times: int) -> Loop:
        """The loop whose iterations are so many of this one each: its iteration 0 is 0 to `times` - 1 of this.

        Raises ValueError for fewer than one.
        """
        body = tuple(one for number in range(times) for one in self.iteration(number))
        return Loop(body, tuple(tuple(times * stride for stride in strides) for strides in self.strides) * times)


def _shifted(accesses: Accesses, strides: tuple[int, ...], number: int) -> Accesses:
    """Addresses wrap at 2^64, as they do in a machine."""
    moved = zip(accesses, strides, strict=True)
    return tuple(((address + number * stride) % 2**64, size) for (address, size), stride in moved)
