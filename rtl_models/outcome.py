"""What the tests of a bench said, for a reader and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from isa.errors import MISMATCH, MISSING
from rtl_models.tools.environment import SimulatorName
from sim.toolchain.shell import typed

NEVER_ENDS: Final = "simulation"
"""In the place of the names of tests where the simulator was stopped."""


@dataclass(frozen=True, kw_only=True)
class BenchOutcome:
    """One run of the bench of an operator or a unit, built as `options` say: those of `lanewise rtl test`.

    `flags` are options without a value.

    `tests` has by name what a test said when it failed, "" where it passed; `figures` what was counted and measured,
    `smallest` the shrunk case of a mismatch, as a sentence too, `convention` which rounding gives what came instead,
    `waves` the VCD file that shows the case, `coverpoints` how often each coverpoint was met, and `warnings` what the
    linter says of modules that are not of the package.
    """

    COMMAND: ClassVar = "lanewise rtl test"

    name: str
    options: Mapping[str, str]
    simulator: SimulatorName
    seed: int
    tests: Mapping[str, str]
    figures: Mapping[str, float] = field(default_factory=dict)
    smallest: Mapping[str, Any] = field(default_factory=dict)
    smallest_told: str = ""
    convention: str = ""
    waves: Path | None = None
    coverpoints: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def lanes_compared(self) -> int:
        """Numbers of the hardware that were compared."""
        return int(self.figures.get("lanes_compared", 0))

    @property
    def coverpoints_met(self) -> int:
        """Of the coverpoints."""
        return sum(map(bool, self.coverpoints.values()))

    @property
    def passed(self) -> bool:
        """All tests did, of which there are some, and something was compared."""
        return bool(self.tests) and not any(self.tests.values()) and self.lanes_compared > 0

    @property
    def exit_code(self) -> int:
        """0 where it passed, 1 where a test did not; 3 where the simulator was stopped, or nothing was compared."""
        failed = any(said for name, said in self.tests.items() if name != NEVER_ENDS)
        return 0 if self.passed else MISMATCH if failed else MISSING

    @property
    def title(self) -> str:
        """Such as "sqadd, widths 8,16"."""
        return ", ".join([self.name, *(f"{name} {value}" for name, value in self.options.items()), *self.flags])

    @property
    def reproduce(self) -> str:
        """The command that gives the same again."""
        words = [word for name, value in self.options.items() for word in (f"--{name}", value)]
        words += [f"--{flag}" for flag in self.flags]
        run = ("--seed", str(self.seed), "--simulator", self.simulator)
        return typed([*self.COMMAND.split(), self.name, *words, *run])

    @property
    def counted(self) -> str:
        """The figures in a line."""
        shown = [f"{name.replace('_', ' ')} {value:,.6g}" for name, value in self.figures.items()]
        if self.coverpoints and self.lanes_compared:
            shown.append(f"coverpoints met {self.coverpoints_met:,} of {len(self.coverpoints):,}")
        return ", ".join(shown) or "nothing was compared"

    def told(self) -> str:
        """All of it as text."""
        lines = [f"{self.title} in {self.simulator}: {self.counted}"]
        lines += self._failures()
        lines += [self.smallest_told] if self.smallest_told else []
        lines += [self.convention] if self.convention else []
        lines += [f"waveform: {self.waves}"] if self.waves else []
        return "\n".join([*lines, f"seed {self.seed}; again: {self.reproduce}"])

    def _failures(self) -> Iterator[str]:
        """What tests said, each text once, with the first test that said it and how many more did."""
        for said, times in Counter(filter(None, self.tests.values())).items():
            first = next(name for name, text in self.tests.items() if text == said)
            yield f"{first}{f' and {times - 1} more' if times > 1 else ''}: {said}"

    def as_json(self) -> dict[str, object]:
        """The same for machines; the names of the design."""
        met = {"coverpoints_met": self.coverpoints_met, "coverpoints": len(self.coverpoints)}
        return {
            "name": self.name, **self.options, **dict.fromkeys(self.flags, True),
            "simulator": self.simulator, "seed": self.seed, "passed": self.passed,
            "tests": dict(self.tests), **self.figures, **(met if self.coverpoints else {}),
            "smallest": dict(self.smallest), "first_divergence": self.smallest_told, "convention": self.convention,
            "waves": str(self.waves or ""), "warnings": list(self.warnings), "reproduce": self.reproduce,
        }  # fmt: skip


def exit_code_of(outcomes: Iterable[BenchOutcome]) -> int:
    """0 where all passed; else 1 where a test of one did not, 3 where nothing is wrong and one has no verdict."""
    codes = {outcome.exit_code for outcome in outcomes}
    return MISMATCH if MISMATCH in codes else max(codes, default=0)
