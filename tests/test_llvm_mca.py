"""llvm-mca as a subprocess: which one is found, what it is given, what is made of its answers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from isa.decode import decode
from isa.rows import TABLE
from sim.cycles.llvm_mca import LlvmMcaError, LlvmMcaMissing, find_llvm_mca, mca_text
from support.fake_llvm_mca import install

Words = dict[str, tuple[int, ...]]

real = pytest.mark.skipif(shutil.which("llvm-mca") is None, reason="llvm-mca is not installed")
ADD = TABLE.instruction("add", "x0, x0, #1")
CALL = TABLE.instruction("bl", "#0x20000")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder with an llvm-mca, empty at first."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.delenv("LLVM_MCA", raising=False)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("b.ne #0x1001c", "b.ne #0"),
        ("b #0x10000000", "b #0"),
        ("tbz w1, #3, #0x10000", "tbz w1, #3, #0"),
        ("adrp x1, #0x7fff0000000", "adrp x1, #0"),
        ("ldr q0, #0x10008", "ldr q0, #0"),
        ("ldr q0, [x1], #0x10", "ldr q0, [x1], #0x10"),
        ("subs x0, x0, #0x10", "subs x0, x0, #0x10"),
        ("bl #0x10008", "b #0"),
        ("blr x3", "br x3"),
    ],
)
def test_branches_lose_their_targets_and_calls_are_jumps(text: str, given: str) -> None:
    assert mca_text(TABLE.instruction(*text.split(maxsplit=1))) == given


def test_the_newest_one_is_taken(path: Path) -> None:
    for name, version in (("llvm-mca", "9.0.1"), ("llvm-mca-14", "14.0.6"), ("llvm-mca-9", "9.0.0")):
        install(path, name, version)
    assert (find_llvm_mca().path, find_llvm_mca().version) == (str(path / "llvm-mca-14"), "14.0.6")


def test_other_names_and_what_does_not_run_are_passed_over(path: Path) -> None:
    install(path, "llvm-mca", "14.0.6")
    install(path, "llvm-mca-wrapper", "30.0.0")
    (path / "llvm-mca-99").write_text("no program")
    assert find_llvm_mca().version == "14.0.6"


def test_a_folder_that_nobody_may_look_into_is_passed_over(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, listed = tmp_path / "closed", Path.iterdir

    def iterdir(folder: Path) -> Iterator[Path]:
        if folder == closed:
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    closed.mkdir()
    install(path, "llvm-mca", "14.0.6")
    monkeypatch.setenv("PATH", f"{closed}{os.pathsep}{path}")
    monkeypatch.setattr(Path, "iterdir", iterdir)
    assert find_llvm_mca().version == "14.0.6"


def test_the_environment_names_another_one(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(path, "llvm-mca", "22.1.8")
    monkeypatch.setenv("LLVM_MCA", str(install(tmp_path / "own", "mca", "16.0.0")))
    assert find_llvm_mca().version == "16.0.0"


def test_none_is_one_sentence_that_says_how_to_get_it(path: Path) -> None:
    with pytest.raises(LlvmMcaMissing, match=r"no llvm-mca here: install it .* or set LLVM_MCA to its path$"):
        find_llvm_mca()


def test_a_named_one_that_does_not_run_is_no_reason_to_take_another(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(path, "llvm-mca", "14.0.6")
    monkeypatch.setenv("LLVM_MCA", "none")
    with pytest.raises(LlvmMcaMissing, match=r"^LLVM_MCA is 'none', which is no llvm-mca that runs$"):
        find_llvm_mca()


def test_a_stream_is_given_once_line_by_line(path: Path) -> None:
    install(path, "llvm-mca", "14.0.6")
    cycles = find_llvm_mca().stream([ADD, CALL], "neoverse-n1").cycles
    given, options = ((path / f"llvm-mca.{kind}").read_text() for kind in ("input", "options"))
    assert (given, options.split()[-2:], cycles) == (
        "add x0, x0, #1\nb #0\n",
        ["-mcpu=neoverse-n1", "-iterations=1"],
        107,
    )


@pytest.mark.parametrize(("count", "cycles"), [(1, 107), (999, 7093), (100_000_000, 700_000_100)])
def test_a_loop_goes_on_as_in_its_last_iterations(count: int, cycles: int, path: Path) -> None:
    install(path, "llvm-mca", "14.0.6")
    assert find_llvm_mca().loop([ADD], "neoverse-n1", count).cycles == cycles


def test_iterations_are_counted_without_the_first_ones(path: Path) -> None:
    install(path, "llvm-mca", "14.0.6")
    assert find_llvm_mca().loop([ADD], "neoverse-n1", 100).per_iteration == Fraction(7)


def test_whose_units_it_has_is_said(path: Path) -> None:
    install(path, "llvm-mca", "14.0.6")
    assert find_llvm_mca().stream([ADD], "cortex-a72").model == "N1"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("echo \"'x' is not a recognized processor\" >&2", "llvm-mca 14.0.6 does not know the core x"),
        (
            "echo 'error: found it\nnote: instruction: \tswp\tx2, x1, [x29]' >&2; exit 1",
            r"llvm-mca 14.0.6 has no timing of 'swp x2, x1, \[x29\]' on x",
        ),
        ("echo 'error: odd\nmore' >&2; exit 1", "llvm-mca 14.0.6 refuses the stream on x: error: odd"),
        ("kill -9 $$", "llvm-mca 14.0.6 refuses the stream on x: without a word"),
        ("echo text; exit 0", "the output of llvm-mca 14.0.6 cannot be read; versions from 14 on can"),
    ],
)
def test_what_it_cannot_answer_is_one_sentence(action: str, message: str, path: Path) -> None:
    install(path, "llvm-mca", "14.0.6", action)
    with pytest.raises(LlvmMcaError, match=f"^{message}$"):
        find_llvm_mca().stream([ADD], "x")


@real
def test_a_chain_of_additions_takes_a_cycle_each() -> None:
    assert find_llvm_mca().loop([ADD], "cortex-a72", 1000).per_iteration == 1


@real
def test_a_call_costs_what_a_jump_does() -> None:
    assert find_llvm_mca().stream([CALL, ADD], "cortex-a72").cycles < 100  # what it takes a call for


@real
def test_a_core_that_it_does_not_know_is_said() -> None:
    with pytest.raises(LlvmMcaError, match=r"llvm-mca \S+ does not know the core lane128"):
        find_llvm_mca().stream([ADD], "lane128")


@real
def test_it_takes_the_text_of_every_form(form_words: Words) -> None:
    forms = [decode(words[0].to_bytes(4, "little"), 0x7FFF_0000_0000) for words in form_words.values()]
    with pytest.raises(LlvmMcaError, match="has no timing of"):  # of the first atomic; with a text it refuses first
        find_llvm_mca().stream(forms, "cortex-a55")
