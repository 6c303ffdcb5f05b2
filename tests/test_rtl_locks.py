"""The lock between processes: who waits for another is told for what."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from threading import Timer

import pytest

from rtl_models.synthesis import figures
from rtl_models.synthesis.netlist import Size
from rtl_models.synthesis.nextpnr import PlacedDesign
from rtl_models.tools import locks
from rtl_models.tools.locks import alone
from support.command import lanewise


def hold(lock: Path, seconds: float) -> None:
    """Another has the lock, for so long."""
    holder = ExitStack()
    holder.enter_context(alone(lock, "not waited for"))
    Timer(seconds, holder.close).start()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 0.01)


@pytest.mark.usefixtures("impatient")
def test_who_waits_is_told_for_what_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hold(tmp_path / "lock", 0.5)
    with alone(tmp_path / "lock", "waiting for a test"):
        assert capsys.readouterr().err == "waiting for a test\n"


@pytest.mark.usefixtures("impatient")
def test_who_need_not_wait_is_told_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with alone(tmp_path / "lock", "waiting for a test"):
        Timer(0.1, lambda: None).run()
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("impatient")
def test_synthesis_says_that_it_waits_for_another_one(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "synthesize", lambda design, directory: Size(1, 0, 0, 0))
    monkeypatch.setattr(figures, "place_and_route", lambda *_: PlacedDesign(90.0, "a", "b"))
    hold(cache / "synthesis.lock", 0.5)
    done = lanewise("rtl", "synth", "srshl", "--lanes", "4")
    said = "waiting for another process that synthesizes; what it finishes is kept and not made again here\n"
    assert (done.exit_code, done.stderr.startswith(said)) == (0, True)
