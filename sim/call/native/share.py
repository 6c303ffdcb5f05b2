"""How much of what ran in lockstep ran in native code, and why not more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class NativeShare:
    """So many `instructions` were executed and compared in native code.

    `left` counts those that it left to Python, by form and reason, as "smmla .4s,.16b,.16b: the emulator cannot check
    it".  `without` says why there was none though the run was long enough.
    """

    instructions: int = 0
    left: Mapping[str, int] = field(default_factory=dict)
    without: str = ""

    @classmethod
    def of(cls, parts: Iterable[NativeShare]) -> NativeShare:
        """That of several runs together."""
        parts = tuple(parts)
        left: Counter[str] = sum((Counter(part.left) for part in parts), Counter())
        without = next((part.without for part in parts if part.without), "")
        return cls(sum(part.instructions for part in parts), dict(left.most_common()), without)

    def __str__(self) -> str:
        if not self.instructions:
            return f"none: {self.without}" if self.without else "none: the runs are short"
        reasons = Counter[str]()
        for name, count in self.left.items():
            reasons[name.partition(": ")[2]] += count
        left = (f"{count:,} left to Python: {reason}" for reason, count in reasons.most_common())
        return "; ".join([f"{self.instructions:,} of them", *left])
