"""Runs of one built simulator in a folder of their own: cocotb's tests in, what they said out."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from isa.errors import MISMATCH, LanewiseError
from rtl_models.outcome import NEVER_ENDS, BenchOutcome
from rtl_models.tools.build_cache import Simulator
from rtl_models.tools.environment import NeverEnds, SimulationUnavailable, bench_variables, execute
from rtl_models.tools.protocol import FAILURE, SMALLEST
from rtl_models.tools.scratch import named_by_content

WAVES: Final = "waves.vcd"
SECONDS: Final = 1_200.0
"""After which a simulator is stopped: the longest run takes a tenth of it."""


class WentWrong(LanewiseError):
    """A module that hangs, gives unknown bits or breaks its protocol: one sentence."""

    exit_code = MISMATCH


class Session:
    """A folder for what the benches leave.  `variables` tell them what was built."""

    def __init__(self, name: str, top: str, seed: int, simulator: Simulator, variables: Mapping[str, str]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"lanewise-{name}-"))
        self._top, self._seed, self._simulator, self._variables = top, seed, simulator, variables

    def run(self, module: str, tests: str = ".*", *arguments: str) -> dict[str, str]:
        """By name what the tests of a module said that match the pattern: "" where they passed.

        A simulator that does not end is one that fails; an interrupt removes the folder.  Raises SimulationUnavailable
        where it ends without results.
        """
        results = self.folder / "results.xml"
        results.unlink(missing_ok=True)
        variables = bench_variables(self._top, module, self._seed, tests, results) | dict(self._variables)
        try:
            command = [*self._simulator.command, *arguments]
            done = execute(command, self.folder, SECONDS, "the simulator", **variables)
        except KeyboardInterrupt:
            shutil.rmtree(self.folder)
            raise
        except NeverEnds as stopped:
            return {NEVER_ENDS: str(stopped)}
        if not results.exists():
            raise SimulationUnavailable(f"the simulator ended with status {done.status}:\n{done.output.strip()}")
        said = {}
        for case in ElementTree.parse(results).iter("testcase"):
            if case.find("skipped") is None:
                problems = [*case.iter("failure"), *case.iter("error")]
                messages = (problem.get("message") or problem.text or "failed" for problem in problems)
                said[case.get("name", "")] = "; ".join(messages)
        return said

    def demand(self, module: str, *arguments: str) -> None:
        """Run all tests of a module, which must pass.  Raises WentWrong, and as `run`."""
        for said in self.run(module, ".*", *arguments).values():
            if said:
                raise WentWrong(said)

    @contextmanager
    def holding(self, name: str, content: object) -> Iterator[Session]:
        """The session with that in a file of its folder as JSON; the folder goes in the end."""
        try:
            (self.folder / name).write_text(json.dumps(content))
            yield self
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)  # an interrupt has removed it

    def show(self, module: str, tests: str) -> Path | None:
        """Run the tests once more, for a waveform; None where the simulator writes none."""
        waves = self.folder / WAVES
        if self._simulator.tracing:
            self.run(module, tests, *self._simulator.tracing, str(waves))
        return waves if waves.exists() else None

    def explained(self, module: str) -> tuple[Mapping[str, Any], Path | None]:
        """What a bench has noted as wrong, shrunk, and its waveform; nothing where it noted nothing.

        The tests `shrink` and `show` of the module do that.  Where they cannot, only why is told.
        """
        if not (self.folder / FAILURE).exists():
            return {}, None
        said = self.run(module, "shrink")
        if smallest := self.read(SMALLEST):
            return smallest, self.show(module, "show")
        return {"told": f"not shrunk: {'; '.join(said.values()) or 'the simulator ended before it began'}"}, None

    def read(self, name: str) -> dict[str, Any]:
        """The JSON in a file of the folder; nothing where no test has written it."""
        file = self.folder / name
        content: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        return content

    def outcome(self, outcome: BenchOutcome) -> BenchOutcome:
        """The same; the folder stays only where something failed, by a name that does not depend on the run."""
        if outcome.passed:
            shutil.rmtree(self.folder)
        return replace(outcome, waves=outcome.waves and named_by_content(outcome.waves))
