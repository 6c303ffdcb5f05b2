"""The calls of a file replayed, in processes that may end without the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from isa.errors import LanewiseError
from sim.call.captured import Bytes, read_line, read_lines
from sim.processes import spread
from sim.replay.engines import Engine
from sim.replay.report import ReplayReport
from sim.replay.run import Replayed, replay

LIMIT = 20_000_000
"""Instructions that a call may take."""
_CHUNK = 16
"""Lines that a process gets at a time."""

Lines = Sequence[tuple[int, str]]


class ReplayError(LanewiseError):
    """What cannot be replayed, in one sentence."""


def replay_calls(
    file: Path | str, *, engine: Engine = "lockstep", limit: int = LIMIT, line: int | None = None
) -> ReplayReport:
    """Run the captured calls of a file (.jsonl) again and compare what they leave with what was recorded.

    They are made in this process, one after the other: one on which the emulator crashes ends it, which `lanewise
    replay` survives.  On machine and emulator in "lockstep", or on the "machine" or the "emulator" alone; a call may
    take `limit` instructions.  `line` is the only one that is run, from 1.  A call that cannot be read, or stops, is a
    failure of the report.  Raises ReplayError for another engine or a line without a call, CaptureError for a file that
    is none.
    """
    if engine not in get_args(Engine):
        raise ReplayError(f"no engine is called {engine!r}: {', '.join(get_args(Engine))}")
    path = Path(file)
    lines = [item for item in read_lines(path) if line in (None, item[0])]
    Bytes(path.with_suffix(".npz"))  # that they can be read
    if line is not None and not lines:
        raise ReplayError(f"{path} has no call on line {line}")
    results = [result for some in replay_lines(path, lines, engine, limit, jobs=1) for result in some]
    results.sort(key=lambda result: result.line)
    return ReplayReport(file=str(path), engine=engine, limit=limit, results=results)


def replay_lines(path: Path, lines: Lines, engine: Engine, limit: int, jobs: int) -> Iterator[list[Replayed]]:
    """What became of some lines of a file at a time, in no order, in at most so many processes."""
    work = _Work(path.with_suffix(".npz"), engine, limit)
    chunks = [lines[at : at + _CHUNK] for at in range(0, len(lines), _CHUNK)]
    return spread(work, chunks, min(jobs, max(2, len(chunks))), work.crashed)


@dataclass(frozen=True)
class _Work:
    """Replays some lines; made once, sent to every process."""

    data: Path
    engine: Engine
    limit: int

    def __call__(self, lines: Lines) -> list[Replayed]:
        data = Bytes(self.data)
        return [replay(read_line(number, text, data), self.engine, self.limit) for number, text in lines]

    def crashed(self, lines: Lines) -> list[Replayed]:
        """What is said of lines that ended their process; only the one at fault, if they are many."""
        if len(lines) == 1:
            return [
                Replayed(line=lines[0][0], name="", kind="crash", detail="the emulator ended its process on this call")
            ]
        return [result for item in lines for (result,) in spread(self, [[item]], 2, self.crashed)]
