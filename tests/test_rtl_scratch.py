"""Temporary folders without room: what the commands say of them."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import NoReturn

import pytest

import rtl_models.formal.equations.written
import rtl_models.mutation.netlist
import rtl_models.synthesis.netlist
from rtl_models.tools import scratch
from rtl_models.tools.scratch import ScratchUnusable, scratch_folder
from support.command import lanewise

BYTES_OF_A_DISK = 1 << 30


class Usage:
    """Of a disk."""

    def __init__(self, free: int) -> None:
        self.free = free


def with_free(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(scratch, "disk_usage", lambda _: Usage(free))


def test_an_error_in_a_full_folder_is_said_to_be_that(monkeypatch: pytest.MonkeyPatch) -> None:
    with_free(monkeypatch, 0)
    said = r"^no space left in the temporary folder .+ \(there: half of it\)$"
    with pytest.raises(ScratchUnusable, match=said), scratch_folder():
        raise ValueError("half of it\nand more")


def test_an_error_in_a_folder_with_room_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with_free(monkeypatch, BYTES_OF_A_DISK)
    with pytest.raises(ValueError, match="half of it"), scratch_folder():
        raise ValueError("half of it")


def test_a_full_folder_is_an_error_though_no_tool_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with_free(monkeypatch, 0)
    with pytest.raises(ScratchUnusable, match=r"name another one in TMPDIR$"), scratch_folder():
        pass


def test_a_folder_with_room_goes_with_its_block(monkeypatch: pytest.MonkeyPatch) -> None:
    with_free(monkeypatch, BYTES_OF_A_DISK)
    with scratch_folder() as folder:
        (folder / "file").touch()
    assert not folder.exists()


def test_where_there_can_be_no_temporary_folder_the_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(**_: object) -> NoReturn:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(scratch, "TemporaryDirectory", none)
    with pytest.raises(ScratchUnusable, match=r"name one in TMPDIR$"), scratch_folder():
        pass


@pytest.mark.parametrize(
    ("command", "module", "arguments"),
    [
        ("synth", rtl_models.synthesis.netlist, ("sqadd", "--lanes", "4")),
        ("mutate", rtl_models.mutation.netlist, ("sqadd", "--count", "1")),
        ("prove", rtl_models.formal.equations.written, ("sqadd at 8 bits",)),
    ],
)
def test_a_full_folder_ends_a_command_with_its_own_variable(
    command: str,
    module: object,
    arguments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def full(script: str, directory: Path) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    with_free(monkeypatch, 0)
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path))
    monkeypatch.setattr(module, "run_script", full)
    result = lanewise("rtl", command, *arguments)
    assert (result.exit_code, "TMPDIR" in result.stderr, "LANEWISE_CACHE" in result.stderr) == (3, True, False)
