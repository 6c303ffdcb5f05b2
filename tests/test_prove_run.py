"""Many claims at once: processes, time limits, answers kept by content."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path

import pytest

from isa.lane import S8, S16
from sim.prove.cache import entry_of, keep, kept
from sim.prove.claim import BrokenClaim, Claim, Finding, sides_of
from sim.prove.run import in_processes, prove_all
from support.hard_claims import HARD

TRUE = Claim("true", {"x": S8}, lambda x: x + 1, lambda x: x - -1)
FALSE = Claim("false", {"x": S8}, lambda x: S8.wrap(x + 1), lambda x: x + 1)


def run(claims: list[Claim], cache: Path | None = None, seconds: float = 60, jobs: int = 2) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    prove_all(claims, seconds, jobs, cache, lambda claim, finding: found.update({claim.name: finding}))
    return found


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_every_claim_gets_its_verdict_whatever_the_number_of_processes(jobs: int) -> None:
    outcomes = {name: finding.outcome for name, finding in run([TRUE, FALSE], jobs=jobs).items()}
    assert outcomes == {"true": "proved", "false": "counter-example"}


@pytest.mark.slow
def test_a_hard_claim_ends_at_its_time_limit_and_leaves_the_others() -> None:
    found = run([HARD, TRUE], seconds=3)
    assert (found["hard"].outcome, found["true"].outcome) == ("unknown", "proved")


def test_a_process_that_does_not_stop_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.prove.run.prove_sides", lambda *_: time.sleep(3600))
    monkeypatch.setattr("sim.prove.run._GRACE", 0.1)
    assert "had to be stopped" in run([TRUE], seconds=0.1)["true"].reason


def test_a_process_that_dies_makes_its_claim_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.prove.run.prove_sides", lambda *_: os._exit(3))
    assert "without an answer" in run([TRUE])["true"].reason


@pytest.mark.slow
@pytest.mark.parametrize("end", [lambda: os._exit(3), lambda: time.sleep(3600)])
def test_behind_a_task_that_a_process_does_not_survive_another_goes_on(
    end: Callable[[], Finding], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.prove.run._PORTIONS", 2)
    monkeypatch.setattr("sim.prove.run._GRACE", 0.1)
    found: dict[int, Finding] = {}
    tasks = [(number, end if number in (1, 5) else partial(Finding, "proved", number)) for number in range(8)]
    assert not in_processes(tasks, 0.9, 2, lambda number, finding: found.update({number: finding}))
    assert {number: finding.outcome for number, finding in sorted(found.items())} == {
        number: "unknown" if number in (1, 5) else "proved" for number in range(8)
    }
    assert all(finding.seconds == number for number, finding in found.items() if finding.outcome == "proved")


@pytest.mark.parametrize("portions", [1, 2, 32])  # in one process, in two, and in one each
def test_what_is_no_longer_wanted_is_left_out(portions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.prove.run._PORTIONS", portions)
    found: dict[int, Finding] = {}
    tasks = [(number, partial(Finding, "proved", number)) for number in range(8)]
    assert not in_processes(
        tasks, 60, 1, lambda number, finding: found.update({number: finding}), lambda n: n == 6 or 2 not in found
    )
    assert set(found) == ({0, 1, 2, 3, 4, 5, 6} if portions == 1 else {0, 1, 2, 6})


def test_an_interrupt_ends_the_run_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(answers: list[Connection], seconds: float) -> Sequence[object]:
        """Waits for an answer, and is interrupted: not before, however slow the start was."""
        threading.Timer(0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
        return wait(answers, seconds)

    monkeypatch.setattr("sim.prove.run.wait", interrupted)
    assert prove_all([HARD], 600, 1, None, lambda *_: None)


def test_a_broken_claim_ends_the_run_before_anything_is_asked() -> None:
    broken = Claim("broken", {"x": S8}, lambda x: x << x, lambda x: x)
    with pytest.raises(BrokenClaim):
        run([TRUE, broken])


def test_an_answer_is_kept(tmp_path: Path) -> None:
    first, second = run([FALSE], tmp_path)["false"], run([FALSE], tmp_path)["false"]
    assert (first.cached, second.cached, second.values) == (False, True, {"x": 127})


def test_without_a_cache_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path))
    run([FALSE])
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_answer_is_not_kept(tmp_path: Path) -> None:
    run([HARD], tmp_path, seconds=0.2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("other", [
    Claim("false", {"x": S16}, lambda x: S8.wrap(x + 1), lambda x: x + 1),
    Claim("false", {"x": S8}, lambda x: S8.wrap(x + 2), lambda x: x + 2),
    Claim("false", {"x": S8}, lambda x: S8.wrap(x + 1), lambda x: x + 1, given=lambda x: x < 5),
    Claim("false", {"y": S8}, lambda y: S8.wrap(y + 1), lambda y: y + 1),
])  # fmt: skip
def test_another_claim_has_another_entry(other: Claim, tmp_path: Path) -> None:
    assert entry_of(sides_of(other), tmp_path) != entry_of(sides_of(FALSE), tmp_path)


def test_the_entry_depends_on_the_version_of_the_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = entry_of(sides_of(TRUE), tmp_path)
    monkeypatch.setattr("sim.prove.cache.solver_version", lambda: "bitwuzla 99")
    assert entry_of(sides_of(TRUE), tmp_path) != before


@pytest.mark.parametrize("text", [
    "", "[]", "{}", '{"outcome": "proved"}',
    json.dumps({"outcome": "counter-example", "seconds": 1, "values": {"x": 3}}),
    json.dumps({"outcome": "counter-example", "seconds": 1, "values": {"y": 3}}),
    json.dumps({"outcome": "counter-example", "seconds": 1, "values": {"x": 3000}}),
])  # fmt: skip
def test_a_damaged_or_wrong_entry_is_no_answer(text: str, tmp_path: Path) -> None:
    entry = tmp_path / "proof"
    entry.write_text(text)
    assert kept(entry, sides_of(FALSE)) is None


def test_a_cache_that_cannot_be_written_is_no_fault_of_the_proof(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    keep(blocked / "proof", Finding("proved", 1))
    assert run([TRUE], blocked)["true"].outcome == "proved"
