"""What was found out about mutants, kept so that a run goes on where it was stopped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from long.mutation.reach import digest


@dataclass(frozen=True)
class Found:
    """How a mutant is killed and by which test, if by a certain one; "" where so many tests pass."""

    killer: str
    how: str
    passed: int

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Found:
        """What a process answers that has tried some tests."""
        return cls(answer.get("killed", ""), answer.get("how", ""), answer.get("survived", 0))

    @property
    def killed(self) -> bool:
        return bool(self.how)

    def __str__(self) -> str:
        if not self.killed:
            return f"{self.passed} tests pass"
        return f"{self.killer}, which {self.how}" if self.killer else self.how


class KeptFindings:
    """Findings in a file, a line each.

    One holds for as long as all code is the same, and the test that killed; or all tests, where no certain one did.
    """

    def __init__(self, file: Path, tests: Sequence[str]) -> None:
        self._file, self._tests = file, tests
        self._found: dict[str, Found] = {}
        with suppress(FileNotFoundError):
            for line in file.read_text().splitlines():
                with suppress(OSError, ValueError, KeyError, TypeError):  # of a file that is gone, or cut by an end
                    content = json.loads(line)
                    found = Found(**content["found"])
                    if content["digest"] == self._digest(found):
                        self._found[content["mutant"]] = found

    def get(self, mutant: str) -> Found | None:
        return self._found.get(mutant)

    def forget(self, mutants: Iterable[str]) -> None:
        """These are to be tried anew."""
        for mutant in mutants:
            self._found.pop(mutant, None)

    def add(self, mutant: str, found: Found) -> None:
        self._found[mutant] = found
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a") as file:
            file.write(json.dumps({"mutant": mutant, "digest": self._digest(found), "found": asdict(found)}) + "\n")

    def _digest(self, found: Found) -> str:
        return digest(*([found.killer.partition("::")[0]] if found.killer else self._tests))
