"""Modules of a user's own: what the linter says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtl_models.command import exhaust as exhaust_command
from rtl_models.exhaustive.run import Disagreement, Exhausted
from rtl_models.operators import OPERATORS
from rtl_models.run import design
from rtl_models.tools.linter import warnings_of
from rtl_models.tools.sources import LANES
from support.command import lanewise

pytestmark = pytest.mark.rtl


@pytest.fixture
def narrow(tmp_path: Path) -> Path:
    """A folder, with a control character in its name, whose SQADD has a wire that is too narrow."""
    folder = tmp_path / "mine\x1b"
    folder.mkdir()
    text = (LANES / "sqadd.sv").read_text()
    assert text.count("  assign sum =") == 1
    wrong = text.replace("  assign sum =", "  logic [3:0] few;\n  assign few = a_i;\n  assign sum =")
    (folder / "sqadd.sv").write_text(wrong)
    return folder


@pytest.mark.slow
def test_a_warning_of_the_linter_is_shown_once_and_is_no_failure(narrow: Path) -> None:
    done = lanewise("rtl", "test", "sqadd", "--widths", "8", "--modules", narrow)
    shown = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert (done.exit_code, len(shown), "\x1b" in done.output) == (0, 1, False)
    assert shown[0].endswith("generates 8 bits. (WIDTHTRUNC)")
    assert "mine\\x1b/sqadd.sv:" in shown[0]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["prove", "mutate", "synth"])
def test_a_file_that_is_no_text_is_one_sentence(command: str, tmp_path: Path) -> None:
    (tmp_path / "sqadd.sv").write_bytes(b"// caf\xe9\n" + (LANES / "sqadd.sv").read_bytes())
    done = lanewise("rtl", command, "--modules", tmp_path, columns=400)
    said = f"lanewise: cannot read {tmp_path / 'sqadd.sv'}: it is not text in UTF-8\n"
    assert (done.exit_code, done.stderr) == (2, said)


def test_all_pairs_are_those_of_the_users_module(narrow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Exhausted(5, Disagreement((1, 2), (4, False), (3, False)))
    found = {(): Exhausted(9), (narrow,): wrong}
    monkeypatch.setattr(exhaust_command, "compare_every_pair", lambda _, __, before, seconds: found[tuple(before)])
    done = [lanewise("rtl", "exhaust", "sqadd", *words) for words in ([], ["--modules", narrow])]
    assert [one.exit_code for one in done] == [0, 1]
    folder = f"$'{narrow.parent}/mine\\x1b'"
    assert f"expected (3, False); again: lanewise rtl exhaust sqadd --modules {folder}\n" in done[1].stdout


def test_of_the_packages_own_modules_a_warning_stays_an_error() -> None:
    own = design(OPERATORS["sqadd"], (8,))
    assert (own.leniency, warnings_of(own), design(OPERATORS["sqadd"], (8,), Path("/mine")).leniency) == (
        [], (), ["-Wno-fatal"],
    )  # fmt: skip
