"""What long runs answer where nothing was run, so that it is not taken for a success."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from isa.errors import USAGE
from long import explore, interrupts, planted_kernels


@pytest.mark.parametrize(
    ("main", "arguments", "says"),
    [
        (interrupts.main, ["--only", "nonsense"], "no command has 'nonsense' in its name"),
        (planted_kernels.main, ["nonsense"], "no kernel has one of these words: nonsense"),
    ],
)
def test_what_names_nothing_is_refused(
    main: Callable[[], int],
    arguments: list[str],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["long", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, says in capsys.readouterr().err) == (USAGE, True)


def test_a_round_that_a_signal_ends_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = iter([SimpleNamespace(returncode=0), SimpleNamespace(returncode=-9)])
    monkeypatch.setattr(subprocess, "run", lambda command: next(ends))
    monkeypatch.setattr(sys, "argv", ["explore", "--rounds", "2", "--seed", "1", "a test"])
    assert explore.main() == 128 + 9
