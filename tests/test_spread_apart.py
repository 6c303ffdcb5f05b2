"""Work in processes that stand for themselves: one that dies, hangs or eats memory costs an attempt, then its item."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim.processes import LostItem, spread_apart

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ends processes by signals")
Item = tuple[str, str]
"""What is done, and a file in which an attempt is noted."""


def done(item: Item) -> str:
    what, file = item
    with Path(file).open("a") as notes:
        notes.write(f"{what}\n")
    match what:
        case "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "ends":
            os._exit(7)
        case "hangs":
            time.sleep(60)
        case "eats":
            bytearray(1 << 42)
        case "dies once" if Path(file).read_text().count(what) == 1:
            os.kill(os.getpid(), signal.SIGSEGV)
    return f"{what}, in {os.getpid()}"


@pytest.mark.slow
def test_what_ends_its_process_is_tried_again_and_then_lost_and_the_others_are_done(tmp_path: Path) -> None:
    words = ["a", "dies", "b", "ends", "eats", "c", "dies once", "d"]
    items = [(word, str(tmp_path / "notes")) for word in words]
    results = {item[0]: result for item, result in spread_apart(done, items, 2, 30.0, 2)}
    reasons = {word: result.reason for word, result in results.items() if isinstance(result, LostItem)}
    assert reasons == {
        "dies": "its process was ended by SIGKILL, as a system does that has no memory left",
        "ends": "its process was ended with exit code 7, by what it ran",
        "eats": "there is no memory left for it",
    }
    assert {word: result.attempts for word, result in results.items() if isinstance(result, LostItem)} == dict.fromkeys(
        reasons, 2
    )
    notes = (tmp_path / "notes").read_text().splitlines()
    assert sorted(notes) == sorted([*words, *reasons, "dies once"])


@pytest.mark.slow
def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    begun = time.monotonic()
    ((_, result),) = spread_apart(done, [("hangs", str(tmp_path / "notes"))], 1, 1.0, 1)
    assert isinstance(result, LostItem)
    assert result.reason == "it took more than 1 s"
    assert time.monotonic() - begun < 20


def test_items_are_taken_when_there_is_somebody_to_do_them(tmp_path: Path) -> None:
    taken = list[int]()

    def items() -> Iterator[Item]:
        for number in range(6):
            taken.append(number)
            yield str(number), str(tmp_path / "notes")

    results = spread_apart(done, items(), 1, 30.0, 1)
    next(results)
    assert taken == [0, 1]
    results.close()
    assert taken == [0, 1]
