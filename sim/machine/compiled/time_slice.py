"""How many instructions run at a time outside of Python: what a moment takes, after which Python sees Ctrl-C."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class TimeSlice:
    """`size` instructions, at least `least` and at most `largest`, should take so many seconds."""

    seconds: float
    least: int
    largest: int
    size: int = 1 << 14

    def took(self, seconds: float) -> None:
        """Fit it to the time that a whole slice took; it grows fourfold at most."""
        fitting = int(self.size * self.seconds / seconds)
        self.size = min(max(fitting, self.least), 4 * self.size, self.largest)
