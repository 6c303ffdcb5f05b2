"""What became of a file of captured calls, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sim.call.native.share import NativeShare
from sim.replay.engines import Engine
from sim.replay.run import Kind, Replayed
from sim.toolchain.shell import typed


@dataclass(frozen=True, kw_only=True)
class ReplayReport:
    """All the calls of a file.  It passes only if there is one, and every one passed.

    `explanation` says, in sentences, what failing calls have for outputs, or why that is not known; where none fails,
    what the golden reference of the kernel says, if one was given; `wrong` is then the first call with a lane that it
    has otherwise, by its name, and where in memory that is.  `kernel` and `mode` are its words on the command line.
    """

    file: str
    engine: Engine
    limit: int
    results: Sequence[Replayed]
    interrupted: bool = False
    explanation: Sequence[str] = ()
    kernel: str | None = None
    mode: str | None = None
    wrong: tuple[str, str] | None = None

    @property
    def reproduce(self) -> str:
        """The command that runs the first failing call alone, or all of them."""
        command = ["lanewise", "replay", self.file, "--engine", self.engine, "--limit", str(self.limit)]
        for option, value in (("--kernel", self.kernel), ("--mode", self.mode)):
            command += [option, value] if value is not None else []
        return typed(command + [part for r in self.failures[:1] for part in ("--line", str(r.line))])

    @property
    def debug(self) -> str:
        """The command that opens the first failing call that can be run, or where none fails that of the first `wrong`
        one; "" where there is none.
        """
        if self.wrong is not None:
            return typed(["lanewise", "debug", self.file, "--call", self.wrong[0], "--wrong", self.wrong[1]])
        failed = [result for result in self.failures if result.kind not in ("unreadable", "crash") and result.name]
        if not failed:
            return ""
        is_repeated = [result.name for result in self.results].count(failed[0].name) > 1
        call = f"line {failed[0].line}" if is_repeated else failed[0].name
        return typed(["lanewise", "debug", self.file, "--call", call])

    @property
    def kinds(self) -> Counter[Kind]:
        """How many calls ended how."""
        return Counter(result.kind for result in self.results)

    @property
    def failures(self) -> list[Replayed]:
        """The calls that did not come out as recorded, in the file's order."""
        return [result for result in self.results if result.kind != "passed"]

    @property
    def passed(self) -> bool:
        """Whether there is a call, and every one came out as recorded."""
        return bool(self.results) and not self.failures and not self.interrupted

    @property
    def instructions(self) -> int:
        """Executed, in all calls."""
        return sum(result.instructions for result in self.results)

    @property
    def forms(self) -> frozenset[str]:
        """The names of the instruction forms executed in all calls."""
        return frozenset().union(*(result.forms for result in self.results))

    @property
    def unsupported(self) -> Counter[str]:
        """Unsupported instructions by mnemonic: how many calls each stopped."""
        return Counter(result.form for result in self.results if result.kind == "unsupported instruction")

    @property
    def unverified(self) -> Counter[str]:
        """Executions by form that the emulator could not check."""
        return sum((result.unverified for result in self.results), Counter())

    @property
    def native(self) -> NativeShare:
        """What ran in native code."""
        return NativeShare.of(result.native for result in self.results)

    def as_json(self) -> dict[str, object]:
        """The report as plain data."""
        return {
            "file": self.file,
            "engine": self.engine,
            "passed": self.passed,
            "interrupted": self.interrupted,
            "calls": len(self.results),
            "kinds": dict(self.kinds),
            "instructions": self.instructions,
            "values_compared": sum(result.values for result in self.results),
            "instruction_forms": len(self.forms),
            "forms": sorted(self.forms),
            "unsupported": dict(self.unsupported),
            "native": asdict(self.native),
            "unverified": dict(self.unverified),
            "reproduce": self.reproduce,
            "debug": self.debug,
            "explanation": list(self.explanation),
            "failures": [
                {"line": r.line, "id": r.name, "kind": r.kind, "detail": r.detail, "form": r.form}
                for r in self.failures
            ],
        }
