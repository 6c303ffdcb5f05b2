"""What a check can tell: which mistakes of the compiled code its inputs would have shown, and which not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

ENOUGH: Final = 0.5
"""A check is weak where its inputs show less than this share of the mistakes.

Some of them change nothing in any kernel: a sum that cannot overflow need not saturate.  Checks of correct kernels over
wide domains show eight of ten and more.
"""
SEVERAL: Final = 3
"""A line is blind where so many of its mistakes and more are hidden: one or two may change nothing in any kernel."""


@dataclass(frozen=True)
class TriedMistake:
    """A mistake that the code could have: at `place` in the source, with an instruction in the place of another.

    `kind` is round, saturate, sign, shift, constant, lane or bound.  `shown` says whether an output lane of the tried
    inputs tells it from the golden reference.
    """

    build: str
    place: str
    kind: str
    instruction: str
    instead: str
    shown: bool

    def __str__(self) -> str:
        return f"{self.place} {self.instruction} as {self.instead}"


@dataclass(frozen=True)
class Power:
    """How much the inputs of a check can tell: the output lanes that were aimed, and the mistakes that were tried."""

    lanes_aimed: int = 0
    mistakes: Sequence[TriedMistake] = ()

    @property
    def shown(self) -> list[TriedMistake]:
        """The mistakes that the inputs tell from the golden reference."""
        return [mistake for mistake in self.mistakes if mistake.shown]

    @property
    def blind_lines(self) -> list[str]:
        """The source lines that round or saturate, with several mistakes tried, none of which is shown."""
        told: dict[str, list[TriedMistake]] = {}
        for mistake in self.mistakes:
            told.setdefault(mistake.place, []).append(mistake)
        return sorted(
            place
            for place, some in told.items()
            if len(some) >= SEVERAL
            and any(mistake.kind in ("round", "saturate") for mistake in some)
            and not any(mistake.shown for mistake in some)
        )

    @property
    def weaknesses(self) -> list[str]:
        """Why a pass says little, as sentences; none for a strong check."""
        found = [f"no input would have shown a mistake at {place}" for place in self.blind_lines]
        if len(self.shown) < ENOUGH * len(self.mistakes):
            found.append(f"only {len(self.shown)} of {len(self.mistakes)} mistakes in the code would have been shown")
        return found

    def as_json(self) -> dict[str, object]:
        """As plain data."""
        return {
            "lanes_aimed": self.lanes_aimed,
            "mistakes_tried": len(self.mistakes),
            "mistakes_shown": len(self.shown),
            "not_shown": [asdict(mistake) for mistake in self.mistakes if not mistake.shown],
            "weaknesses": self.weaknesses,
        }
