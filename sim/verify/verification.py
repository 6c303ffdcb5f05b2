"""What a differential run over the instruction table states: the denominator, the evidence, the differences."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from isa.encodings import EncodingRow, Kind
from sim.verify.verify import Evidence, FormResult

_COMPARISONS = {"emulation": 2, "definition": 2, "two evaluators": 1, "no word": 0}
"""With how many other values each lane of the machine is compared."""


def reproduce_command(forms: str, seed: int, vectors: int) -> str:
    """The command that repeats a run; `forms` is "" for all of them."""
    name = [forms] if forms else []
    return shlex.join(["lanewise", "isa", "verify", *name, "--seed", str(seed), "--vectors", str(vectors)])


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Results of the forms that were asked for; `rows` is the encoding space, empty where only some were."""

    asked: tuple[str, ...]
    results: tuple[FormResult, ...]
    rows: tuple[EncodingRow, ...]
    supported: frozenset[str]
    seed: int
    vectors: int
    name: str = ""
    interrupted: bool = False

    @property
    def reproduce(self) -> str:
        """The command that repeats it."""
        return reproduce_command(self.name, self.seed, self.vectors)

    @cached_property
    def differences(self) -> tuple[FormResult, ...]:
        """The forms on which the engines disagree."""
        return tuple(result for result in self.results if result.difference)

    @cached_property
    def uncompared(self) -> tuple[str, ...]:
        """The finished forms of which no lane was compared."""
        return tuple(result.form for result in self.results if result.vectors == 0 and not result.difference)

    @property
    def passed(self) -> bool:
        """Whether everything that was asked for was compared and agrees."""
        compared = self.vectors_compared > 0 and not self.uncompared
        return compared and not self.differences and not self.interrupted

    @property
    def vectors_compared(self) -> int:
        """Lane vectors: input sets of one output lane."""
        return sum(result.vectors for result in self.results)

    @property
    def lanes_compared(self) -> int:
        """Values of lanes compared with the machine's: by the exact evaluator, and by the emulator or a definition."""
        return sum(result.vectors * _COMPARISONS[result.evidence] for result in self.results)

    def rows_of(self, kind: Kind) -> list[EncodingRow]:
        """The rows of one kind."""
        return [row for row in self.rows if row.kind == kind]

    @cached_property
    def supported_rows(self) -> tuple[EncodingRow, ...]:
        """The rows that the instruction table has."""
        return tuple(row for row in self.rows if row.name in self.supported)

    @cached_property
    def unsupported_rows(self) -> tuple[EncodingRow, ...]:
        """The rows that it does not have."""
        return tuple(row for row in self.rows if row.name not in self.supported)

    def verified(self, evidence: Evidence, names: Sequence[str]) -> int:
        """How many of these forms were compared on that evidence and agree."""
        wanted = set(names)
        good = (r for r in self.results if r.vectors and not r.difference and r.evidence == evidence)
        return sum(result.form in wanted for result in good)

    @cached_property
    def elsewhere(self) -> tuple[str, ...]:
        """The forms that were asked for and lie outside of the encoding space: loads, stores, base, aliases."""
        inside = {row.name for row in self.rows}
        return tuple(name for name in self.asked if name not in inside)

    def as_json(self) -> dict[str, Any]:
        """The report for machines; names as in JUnit properties."""
        supported = [row.name for row in self.supported_rows]
        rows = {
            "enumerated": len(self.rows),
            **{kind: len(self.rows_of(kind)) for kind in get_args(Kind)},
            "supported": len(supported),
            "verified_by_emulation": self.verified("emulation", supported),
            "verified_by_defining_sum": self.verified("definition", supported),
            "unsupported": [row.name for row in self.unsupported_rows],
        }
        return {
            "vectors_compared": self.vectors_compared,
            "lanes_compared": self.lanes_compared,
            "instruction_forms": len(self.results),
            "rows": rows,
            "evidence": dict(Counter(result.evidence for result in self.results)),
            "differences": [result.difference for result in self.differences],
            "first_divergence": self.differences[0].difference if self.differences else None,
            "forms": [vars(result) for result in self.results],
            "seed": self.seed,
            "interrupted": self.interrupted,
            "passed": self.passed,
            "reproduce": self.reproduce,
        }
