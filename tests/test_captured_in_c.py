"""The writer of captured calls that docs/captured-calls.md shows, compiled for AArch64 and executed in lockstep."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.command import lanewise
from support.documents import compare
from support.page_examples import without_trailing_blanks

PAGE = (Path(__file__).parents[1] / "docs/captured-calls.md").read_text()
FILES = dict(re.findall(r"^`(\S+)`:\n\n```c\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))


@pytest.fixture(scope="module")
def written_down(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The call that the page's files write down when they are run, as text."""
    folder = tmp_path_factory.mktemp("board")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        outputs = json.loads(lanewise("run", "board.c", "record", "zeros:4096", "--json").stdout)["outputs"]
    written = bytes(number % 256 for number in outputs["text"])
    length: int = outputs["returned"]
    assert set(written[length:]) == {0}
    return written[:length].decode()


@pytest.fixture
def recorded(written_down: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """That text, in a folder that it can be put into."""
    monkeypatch.chdir(tmp_path)
    return written_down


def test_the_writer_writes_as_many_lines_and_characters_as_the_page_says(recorded: str) -> None:
    assert f"These {len(FILES['lanewise_call.h'].splitlines())} lines" in PAGE
    assert f"here {len(recorded)} characters" in PAGE


def test_what_it_writes_is_a_captured_call(recorded: str) -> None:
    compare("captured-call", json.loads(recorded))


def test_a_replay_of_it_passes_and_prints_what_the_page_says(recorded: str) -> None:
    Path("calls.jsonl").write_text(recorded)
    shown = PAGE.split("$ lanewise replay calls.jsonl\n")[1].split("```")[0]
    replayed = lanewise("replay", "calls.jsonl", columns=120)
    assert (replayed.exit_code, without_trailing_blanks(replayed.stdout)) == (0, without_trailing_blanks(shown))


def test_a_replay_notices_another_byte_in_the_record(recorded: str) -> None:
    call = json.loads(recorded)
    (address, length, content), *_ = call["outputs"]
    call["outputs"] = [[address, length, content[:-1] + ("0" if content[-1] != "0" else "1")]]
    Path("calls.jsonl").write_text(json.dumps(call) + "\n")
    replayed = lanewise("replay", "calls.jsonl")
    assert (replayed.exit_code, "output mismatch" in replayed.stdout) == (1, True)


def test_every_page_that_spans_touch_is_mapped_once(recorded: str) -> None:
    call = json.loads(recorded)
    pages = [int(address, 0) for address, *_ in call["maps"]]
    assert len(pages) == len(set(pages))
    for address, content in call["mem"]:
        last = int(address, 0) + (len(content) - len("hex:")) // 2 - 1
        assert {int(address, 0) & -4096, last & -4096} <= set(pages)


@pytest.mark.parametrize(
    ("key", "said"),
    [("hex:0", "'hex:0' is no bytes"), ("hex:0g", "'hex:0g' is no bytes"), ("ab", "must be the .npz beside the calls")],
)
def test_bytes_that_are_none_are_refused_in_a_sentence(key: str, said: str, recorded: str) -> None:
    call = json.loads(recorded)
    call["mem"][0][1] = key
    Path("calls.jsonl").write_text(json.dumps(call) + "\n")
    replayed = lanewise("replay", "calls.jsonl", columns=200)
    assert (replayed.exit_code, said in replayed.stdout) == (1, True)
