"""The lock between processes: who waits for another is told for what."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Timer

import pytest

from rtl_models.synthesis import figures
from rtl_models.synthesis.netlist import Size
from rtl_models.synthesis.nextpnr import PlacedDesign
from rtl_models.tools import build_cache, locks
from rtl_models.tools.environment import Finished
from rtl_models.tools.locks import alone
from support.command import lanewise


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Another has a lock until it was said, without patience, that it is waited for."""
    holder = ExitStack()

    def said_and_released(say: Callable[[], None]) -> None:
        say()
        holder.close()

    def take(lock: Path) -> None:
        holder.enter_context(alone(lock, "not waited for"))
        monkeypatch.setattr(locks, "Timer", lambda _, say: Timer(0.01, said_and_released, [say]))

    return take


def test_who_waits_is_told_for_what_and_goes_on(
    tmp_path: Path, hold: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    hold(tmp_path / "lock")
    with alone(tmp_path / "lock", "waiting for a test"):
        assert capsys.readouterr().err == "waiting for a test\n"


def test_who_need_not_wait_is_told_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 0.01)
    with alone(tmp_path / "lock", "waiting for a test"):
        Timer(0.1, lambda: None).run()
    assert capsys.readouterr().err == ""


def test_synthesis_says_that_it_waits_for_another_one(
    cache: Path, hold: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "synthesize", lambda design, directory: Size(1, 0, 0, 0))
    monkeypatch.setattr(figures, "place_and_route", lambda *_: PlacedDesign(90.0, "a", "b"))
    hold(cache / "synthesis.lock")
    done = lanewise("rtl", "synth", "srshl", "--lanes", "4")
    said = "waiting for another process that synthesizes; what it finishes is kept and not made again here\n"
    assert (done.exit_code, done.stderr.startswith(said)) == (0, True)


def test_that_a_simulator_is_built_is_told_once_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build_cache, "execute", lambda *_, **__: Finished(0, ""))
    monkeypatch.setattr(build_cache, "verilator_root", lambda: tmp_path)
    build_cache._announce.cache_clear()
    for _ in range(2):
        build_cache.compiled(("c++",), tmp_path, [], [])
    assert capsys.readouterr().err == f"{build_cache.BUILDS}\n"
