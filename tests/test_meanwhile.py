"""Work in two parts over copies of this process: nothing is lost, done twice, or waited for without need."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from sim.meanwhile import spread_meanwhile
from sim.processes import LostProcess

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are no copies of a process that are safe")
SECONDS = 30.0
"""After which what is waited for does not come any more."""


def wait_for(file: Path) -> None:
    until = time.monotonic() + SECONDS
    while not file.exists():
        assert time.monotonic() < until, f"{file.name} does not come"
        time.sleep(0.001)


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_item_is_begun_and_finished_once_by_one_process_with_what_is_given(tmp_path: Path, jobs: int) -> None:
    def begin(item: int) -> tuple[int, int]:
        with (tmp_path / "begun").open("a") as file:
            file.write(f"{item}\n")
        return item, os.getpid()

    def finish(begun: tuple[int, int], given: int) -> tuple[int, int, bool]:
        return begun[0], given, begun[1] == os.getpid()

    with spread_meanwhile(lambda: 7, begin, finish, range(10, 20), jobs) as (given, results):
        assert (given, sorted(results)) == (7, [(item, 7, True) for item in range(10, 20)])
    assert sorted(map(int, (tmp_path / "begun").read_text().split())) == list(range(10, 20))


def test_items_are_begun_while_what_is_first_is_done(tmp_path: Path) -> None:
    def first() -> str:
        wait_for(tmp_path / "2")
        return "done"

    with spread_meanwhile(first, lambda n: (tmp_path / str(n)).touch(), lambda _, given: given, range(3), 2) as (
        _,
        all_,
    ):
        assert list(all_) == ["done"] * 3


def test_what_has_done_what_is_first_takes_items_too(tmp_path: Path) -> None:
    """The copy that begins item 0 goes on only when another one has begun item 1."""

    def begin(item: int) -> int:
        (tmp_path / str(item)).touch()
        wait_for(tmp_path / str(1 - item))
        return os.getpid()

    with spread_meanwhile(os.getpid, begin, lambda pid, _: pid, range(2), 2) as (given, results):
        assert given in (found := set(results))
    assert len(found) == 2


Part = Callable[..., Any]


def failing(*_: Any) -> Any:
    raise ValueError("what was asked")


def given(*values: Any) -> Any:
    return values


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("parts", [(failing, given, given), (given, failing, given), (given, given, failing)])
def test_what_a_part_raises_is_raised(parts: tuple[Part, Part, Part], jobs: int) -> None:
    with (
        pytest.raises(ValueError, match="what was asked"),
        spread_meanwhile(*parts, range(4), jobs) as (_, results),
    ):
        list(results)


def ending(*_: Any) -> Any:
    os._exit(0)


@pytest.mark.parametrize("parts", [(ending, given, given), (given, ending, given), (given, given, ending)])
def test_a_copy_that_is_lost_is_told(parts: tuple[Part, Part, Part]) -> None:
    with pytest.raises(LostProcess), spread_meanwhile(*parts, range(4), 2) as (_, results):
        list(results)


def test_no_copy_stays_where_results_are_not_wanted(tmp_path: Path) -> None:
    def finish(item: int, _: None) -> int:
        (tmp_path / str(os.getpid())).touch()
        time.sleep(SECONDS * (item > 0))
        return item

    with spread_meanwhile(lambda: None, lambda item: item, finish, range(2), 2) as (_, results):
        assert next(results) == 0
    assert not any(Path("/proc", each.name).exists() for each in tmp_path.iterdir())


def test_an_interrupt_as_a_copy_is_told_ends_what_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy knows what to do already, and this process has noted nothing of it yet."""
    here, send = os.getpid(), Connection.send

    def send_interrupted(pipe: Connection, message: object) -> None:
        send(pipe, message)
        if os.getpid() == here and message is not None:
            raise KeyboardInterrupt

    def first() -> None:
        time.sleep(SECONDS)
        (tmp_path / "done").touch()

    monkeypatch.setattr(Connection, "send", send_interrupted)
    with pytest.raises(KeyboardInterrupt), spread_meanwhile(first, given, given, range(2), 2):
        pass
    assert not (tmp_path / "done").exists()
