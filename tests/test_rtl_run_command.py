"""`lanewise rtl run`: compiled functions on core128."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import Result

from isa.errors import USAGE
from support.command import lanewise

rtl = pytest.mark.rtl
SOURCE = """
int halve(int a) { return a / 2; }
float twice(float a) { return a * 2; }
"""


def run(*arguments: object) -> Result:
    return lanewise("rtl", "run", *arguments)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "mine.c"
    file.write_text(SOURCE)
    return file


@rtl
def test_a_function_of_a_file_runs_in_the_cycles_predicted(source: Path) -> None:
    """ADD W8, W0, W0, LSR #31; ASR W0, W8, #1; RET: one after the other, none taking longer."""
    result = run(source, "halve", "-7", "--opt", "O2")
    assert (result.exit_code, result.stdout) == (0, "halve -O2: agrees, 3 instructions in 3 cycles\n")


@rtl
def test_what_the_core_does_not_have_is_named(source: Path) -> None:
    result = run(source, "twice", "1.5")
    assert result.exit_code == USAGE
    assert "stops at fadd s0, s0, s0, which core128 does not have" in result.stdout


@pytest.mark.slow
@rtl
def test_a_kernel_with_a_tail_runs_at_each_level() -> None:
    result = run("quantize_down", "--opt", "O2,O3", "--length", "37", "--json")
    found = json.loads(result.stdout)
    assert [*found] == ["kernel.c -O2", "kernel.c -O3", "kernel_plain.c -O2", "kernel_plain.c -O3"]
    assert all(one["agrees"] and not one["refused"] for one in found.values())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nonsense",), "'nonsense' is no kernel"),
        (("mine.c", "halve", "-7", "--length", "9"), "--length is for a built-in kernel or a kernel file"),
    ],
)
def test_what_was_given_is_looked_at_before_a_simulator_is_built(
    arguments: tuple[str, ...], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To build one takes a minute."""
    monkeypatch.setattr("rtl_models.command.run.simulator", lambda *_, **__: pytest.fail("a simulator is built"))
    result = run(*arguments)
    assert (result.exit_code, says in result.stderr) == (USAGE, True), result.stderr


@rtl
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nonsense",), "'nonsense' is no kernel"),
        (("quantize_down", "--opt", "O9"), "--opt"),
        (("quantize_down", "--core", "cortex-a72"), "cortex-a72 is not in order"),
        (("missing.c", "f"), "missing.c"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(arguments: tuple[str, ...], says: str) -> None:
    result = run(*arguments)
    assert result.exit_code == USAGE
    assert says in result.stderr
    assert "Traceback" not in result.stderr
