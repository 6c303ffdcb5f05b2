"""The way of a lane, as it is told: the steps that made it, or that it reaches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sim.check.compare import Value
from sim.debug.spots import Spot


@dataclass(frozen=True, kw_only=True)
class WhyStep:
    """One lane on the way, and the instruction that wrote it, number `number` of the call.

    `lane` names it (v3.s[2], x5, output[7]), `value` is what it holds: of the type of its array, floating point where
    that was computed, else a signed number.  `events` say what was lost in it: "rounded", "tie", "truncated",
    "saturated", "wrapped".  `golden` is the step of the golden reference whose value it holds, `parts` says that here
    the way leaves the golden reference.  `is_copy`: it was only moved.  `made_of` are the steps that it was computed
    from, by their place among all.  `inlined` says by which calls the instruction came into its function, as
    `Image.inlined_at` does.  Of a branch `lane` is "pc" and `goes_to` where it leads, "" to what is behind it.
    """

    number: int
    pc: int
    source: str
    instruction: str
    lane: str
    value: int | float
    bits: int
    is_copy: bool = False
    events: tuple[str, ...] = ()
    golden: str = ""
    parts: bool = False
    made_of: tuple[int, ...] = ()
    inlined: str = ""
    goes_to: str = ""

    @property
    def result(self) -> str:
        """What it made, such as "v3.s[2] = 7"; of a branch where it leads."""
        if self.lane == "pc":
            return f"goes to {self.goes_to}" if self.goes_to else "is not taken"
        return f"{self.lane} = {self.value}"

    def __str__(self) -> str:
        notes = [*self.events]
        notes += [f"golden {self.golden}"] if self.golden else []
        notes += ["parts from the golden reference here"] if self.parts else []
        notes += [self.inlined] if self.inlined else []
        told = f"  {', '.join(notes)}" if notes else ""
        return f"#{self.number:<8} {self.source:18} {self.instruction:40} {self.result}{told}"


@dataclass(frozen=True, kw_only=True)
class LaneWay:
    """The way of a lane: its `steps` in the order of their execution.

    `inputs` are what it started from, or what it reaches: elements of arrays, registers, bytes of memory.  `addresses`
    are the steps that only made addresses, of what was loaded and stored on the way, and `decisions` the branches
    before it with what decided them.  `golden` are the steps of the golden reference and their values.  `unoptimized`
    are source lines that the way of the same lane at -O0 has too: of an optimised build some have no instruction left.
    `is_cut` says that there are more steps.  `ahead` is the instruction, still to come, that writes the lane first
    and at which the way ends; None where the way ends at what is there now.
    """

    spot: Spot
    steps: tuple[WhyStep, ...]
    inputs: tuple[str, ...]
    addresses: tuple[WhyStep, ...] = ()
    decisions: tuple[WhyStep, ...] = ()
    golden: Mapping[str, Value] = field(default_factory=dict)
    unoptimized: tuple[str, ...] = ()
    is_cut: bool = False
    is_forward: bool = False
    ahead: int | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """The source lines of the way, those of addresses, decisions and -O0 too, each once."""
        told = (*self.steps, *self.addresses, *self.decisions)
        return tuple(dict.fromkeys([*(step.source for step in told), *self.unoptimized]))

    @property
    def heading(self) -> str:
        """What it comes from, or reaches, in a sentence."""
        verb = "reaches" if self.is_forward else "comes from" if self.ahead is None else "will come from"
        told = f"{self.spot.name} {verb} {', '.join(self.inputs) or 'nothing'}"
        return told if self.ahead is None else f"{told}: it is not written yet, #{self.ahead} will write it"

    def __str__(self) -> str:
        parts = [self.heading]
        parts += ["  (there are more steps)"] if self.is_cut else []
        parts += [f"  {step}" for step in self.steps]
        if self.golden:
            parts += ["  golden: " + ", ".join(f"{name} {value}" for name, value in self.golden.items())]
        for title, steps in (("addresses", self.addresses), ("decided by", self.decisions)):
            parts += [f"  {title}:", *(f"    {step}" for step in steps)] if steps else []
        parts += [f"  at -O0 also through {', '.join(self.unoptimized)}"] if self.unoptimized else []
        return "\n".join(parts)
