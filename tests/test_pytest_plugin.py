"""The pytest plugin in runs of pytest of its own, over kernel files with a planted fault."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest

from sim.kernels import KernelError, kernel_names, quantize_down
from sim.kernels.quantize_down.golden import Parameters
from sim.pytest_plugin import assert_kernel_equal
from sim.pytest_plugin.naming import kernel_of, name_of
from support.command import lanewise

EXAMPLE = Path(__file__).resolve().parents[1] / "sim" / "command" / "example"
RIGHT = (EXAMPLE / "my_kernel.c").read_text()
WRONG = RIGHT.replace("vqrshrn_n_s16", "vrshrn_n_s16")
"""Products in whole steps of sixteen lanes do not saturate: wrong for -128 times -128 only."""
SHRUNK = "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -128]"
KEPT_HERE = """
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase
settings.register_profile("kept", database=DirectoryBasedExampleDatabase("kept"))
settings.load_profile("kept")
"""
ASSERTING = """
from sim.pytest_plugin import assert_kernel_equal

def test_my_kernel():
    assert_kernel_equal("my_kernel.py", levels=("O1",), vectors=50)
"""


class Run(NamedTuple):
    """What a run of pytest ended with."""

    code: int
    out: str
    errors: str


def pytest_in(folder: Path, *arguments: str) -> Run:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return Run(done.returncode, done.stdout, done.stderr)


def project(folder: Path, source: str, **files: str) -> Path:
    """A kernel file with its source, and test files by their names without .py."""
    (folder / "my_kernel.py").write_text((EXAMPLE / "my_kernel.py").read_text())
    (folder / "my_kernel.c").write_text(source)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


class Failed(NamedTuple):
    """A project with a wrong kernel, tested twice with seed 7, the second time with its source put right."""

    folder: Path
    first: Run
    again: Run
    corrected: Run
    properties: dict[str, str]


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Failed:
    folder = project(tmp_path_factory.mktemp("failed"), WRONG, test_it=ASSERTING, conftest=KEPT_HERE)
    first = pytest_in(folder, "--lanewise-seed=7", "--junit-xml=first.xml")
    again = pytest_in(folder, "--lanewise-seed=8")
    project(folder, RIGHT)
    corrected = pytest_in(folder)
    found = ElementTree.parse(folder / "first.xml").iter("property")
    return Failed(folder, first, again, corrected, {p.attrib["name"]: p.attrib["value"] for p in found})


@pytest.mark.slow
def test_the_inputs_are_shrunk_to_one_step_with_the_one_product_that_saturates(failed: Failed) -> None:
    assert f"a = np.array({SHRUNK}" in failed.first.out
    assert f"b = np.array({SHRUNK}" in failed.first.out


@pytest.mark.slow
def test_the_lane_table_marks_the_wrong_lane(failed: Failed) -> None:
    marked = [line for line in failed.first.out.splitlines() if line.endswith("<")]
    assert marked
    assert marked[0].split()[2:] == ["-128", "-128", "127", "-128", "-128", "-255", "<"]


@pytest.mark.slow
def test_the_seed_is_in_the_header_and_in_the_failure(failed: Failed) -> None:
    assert "lanewise seed: 7\n" in failed.first.out
    assert ["E", "seed", "7"] in [line.split() for line in failed.first.out.splitlines()]


@pytest.mark.slow
def test_properties_of_the_design_are_in_the_junit_file(failed: Failed) -> None:
    assert failed.properties.keys() == {
        "vectors_compared", "lanes_compared", "instruction_forms", "first_divergence", "seed", "reproduce",
    }  # fmt: skip


@pytest.mark.slow
def test_the_properties_say_what_the_run_did(failed: Failed) -> None:
    said = failed.properties
    assert int(said["lanes_compared"]) == 2 * int(said["vectors_compared"])
    assert (said["seed"], said["first_divergence"][:27]) == ("7", "my_kernel.c -O1: output[47]")


@pytest.mark.slow
def test_the_failure_names_the_command_that_opens_it_at_the_fault(
    failed: Failed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (command,) = set(re.findall(r"debug: (lanewise debug .*)", failed.first.out))  # under CI it is repeated
    assert command == "lanewise debug my_kernel.py --failing --opt O1 --seed 7 --vectors 50"
    monkeypatch.chdir(project(tmp_path, WRONG))
    (tmp_path / "script").write_text("")
    opened = lanewise(*shlex.split(command)[1:], "--script", "script")
    assert opened.exit_code == 0
    assert "machine -128, golden 127" in opened.stdout
    *_, before, golden, after = opened.stdout.splitlines()
    assert (before.split()[0], after.split()[0]) == ("before", "next")
    assert golden == "golden  saturate: output[15] is -128, golden 127"


@pytest.mark.slow
def test_what_failed_is_run_first_the_next_time_whatever_the_seed(failed: Failed) -> None:
    assert "run first, as they have failed before" in failed.again.out
    assert f"a = np.array({SHRUNK}" in failed.again.out


@pytest.mark.slow
def test_a_corrected_kernel_passes(failed: Failed) -> None:
    assert (failed.corrected.code, failed.again.code, failed.first.code) == (0, 1, 1)


@pytest.mark.slow
def test_what_fails_no_longer_is_forgotten(failed: Failed) -> None:
    kept = [file for file in (failed.folder / "kept").rglob("*") if file.is_file() and b"length" in file.read_bytes()]
    assert not kept


@pytest.mark.slow
def test_the_pasted_line_fails_on_the_wrong_kernel(
    failed: Failed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project(tmp_path, WRONG))
    with pytest.raises(AssertionError, match="machine -128, golden 127"):
        exec(failed.properties["reproduce"], {})


@pytest.mark.slow
def test_the_pasted_line_passes_on_the_right_kernel(
    failed: Failed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project(tmp_path, RIGHT))
    exec(failed.properties["reproduce"], {})
    assert "inputs={" in failed.properties["reproduce"]
    assert failed.properties["reproduce"].endswith("seed=7)")


OWN = """
import pytest

@pytest.fixture
def kernel():
    return "mine"

def test_fixture(kernel):
    assert kernel == "mine"

@pytest.mark.parametrize("kernel", ["given"])
def test_parameter(kernel):
    assert kernel == "given"
"""
THEIRS = """
def test_name(kernel):
    assert kernel.name in {names}
"""


@pytest.mark.slow
def test_an_own_fixture_and_an_own_parameter_named_kernel_win(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(OWN)
    assert "2 passed" in pytest_in(tmp_path).out


def test_a_run_without_a_kernel_imports_what_none_needs(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import sys\n\ndef test_it():\n    assert not {'numpy', 'sim.kernels.kernel', 'isa.lane'} & {*sys.modules}\n"
    )
    done = pytest_in(tmp_path, "-q", "-p", "no:hypothesispytest")
    assert (done.code, done.out.splitlines()[-1][:8]) == (0, "1 passed")


@pytest.mark.slow
def test_the_fixture_is_every_built_in_kernel(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(THEIRS.format(names=set(kernel_names())))
    assert f"{len(kernel_names())} passed" in pytest_in(tmp_path).out


@pytest.mark.slow
def test_the_ini_option_lists_kernels_and_files_beside_it(tmp_path: Path) -> None:
    project(tmp_path, RIGHT)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(THEIRS.format(names={"my_kernel", "quantize_down"}))
    (tmp_path / "pytest.ini").write_text("[pytest]\nlanewise_kernels =\n  my_kernel.py\n  quantize_down:page\n")
    run = pytest_in(tmp_path / "tests", "-v")
    assert "[my_kernel.py] PASSED" in run.out
    assert "[quantize_down:page] PASSED" in run.out


@pytest.mark.slow
def test_kernels_of_the_ini_option_on_one_line_are_told_to_have_one_each(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nlanewise_kernels = a.py b.py\n")
    (tmp_path / "test_it.py").write_text(THEIRS.format(names=set()))
    assert "; lanewise_kernels takes one on a line" in pytest_in(tmp_path).errors
    assert "one on a line" not in pytest_in(tmp_path, "--lanewise-kernel=a.py b.py").errors


@pytest.mark.slow
def test_the_option_takes_the_place_of_the_ini_option(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nlanewise_kernels = requantize\n")
    (tmp_path / "test_it.py").write_text(THEIRS.format(names={"quantize_down"}))
    run = pytest_in(tmp_path, "-v", "--lanewise-kernel=quantize_down:page")
    assert "1 passed" in run.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--lanewise-kernel=lost.py",), "ERROR: lanewise: there is no kernel file lost.py"),
        (("--lanewise-kernel=broken.py",), "ERROR: lanewise: broken.py cannot be imported, line 1: ZeroDivisionError"),
        (("--lanewise-kernel=quantize_up",), "ERROR: lanewise: there is no kernel 'quantize_up'"),
        (("--lanewise-seed=-1",), "give a number of 0 or more, not '-1'"),
    ],
)
def test_what_cannot_be_used_is_a_usage_error_in_a_sentence(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    run = pytest_in(tmp_path, *arguments)
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert sentence in run.errors
    assert "Traceback" not in run.out + run.errors


@pytest.mark.slow
def test_nothing_compared_fails() -> None:
    empty = replace(quantize_down.KERNEL, sources=(), program=None)
    with pytest.raises(AssertionError, match="nothing was compared"):
        assert_kernel_equal(empty)


def test_inputs_of_no_lanes_fail() -> None:
    nothing = {"accumulators": np.zeros(0, np.int32), "bias": None, "parameters": Parameters(1 << 30, 0)}
    with pytest.raises(AssertionError, match="nothing was compared"):
        assert_kernel_equal("quantize_down", levels=("O1",), inputs=nothing)


def test_a_source_that_does_not_compile_fails_with_the_compilers_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project(tmp_path, "int broken(;\n"))
    with pytest.raises(AssertionError, match=r"my_kernel.c -O2\n(.|\n)*expected(.|\n)*seed 1"):
        assert_kernel_equal("my_kernel.py", levels=("O2",), vectors=0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"levels": ("O9",)}, "levels takes some of O0, O1, O2, O3, Os, Oz, not 'O9'"),
        ({"engine": "abacus"}, "engine takes one of lockstep, machine, not 'abacus'"),
        ({"levels": "O2"}, r"levels takes some of O0, O1, O2, O3, Os, Oz as a tuple, such as \('O2',\)"),
        ({"vectors": -1}, "vectors takes a whole number of 0 or more, not -1"),
        ({"seed": "x"}, "seed takes a whole number of 0 or more, not 'x'"),
        ({"seed": 1.5}, "seed takes a whole number of 0 or more, not 1.5"),
    ],
)
def test_other_arguments_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        assert_kernel_equal("quantize_down", **options)


def test_inputs_that_the_golden_reference_refuses_are_refused() -> None:
    with pytest.raises(KernelError, match="accumulators"):
        assert_kernel_equal("quantize_down", inputs={})


@pytest.mark.parametrize("text", ["quantize_down", "quantize_down:page"])
def test_a_built_in_kernel_is_named_as_one_gives_it(text: str) -> None:
    assert name_of(kernel_of(text)) == text


def test_a_kernel_file_keeps_its_name_when_it_is_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path, RIGHT))
    first, again = kernel_of("my_kernel.py"), kernel_of("my_kernel.py", tmp_path)
    assert (name_of(first), name_of(again)) == ("my_kernel.py", "my_kernel.py")


def test_a_record_made_from_another_has_no_name() -> None:
    assert name_of(replace(quantize_down.KERNEL, symbol="other")) is None


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), [("sim/__init__.py", ""), ("sim.py", "")])
def test_a_sim_of_ones_own_in_the_folder_leaves_the_plugin_out(name: str, text: str, tmp_path: Path) -> None:
    """`python -m pytest` finds that one first."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    (tmp_path / "test_own.py").write_text("import sim\n\ndef test_own():\n    assert not hasattr(sim, 'Machine')\n")
    own = pytest_in(tmp_path)
    assert (own.code, own.errors) == (0, "")
    assert "1 passed" in own.out
    assert "lanewise: no fixture kernel in this run, as its package sim is hidden by " in own.out
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "test_own.py").write_text("def test_own(kernel):\n    assert kernel.name == 'quantize_down'\n")
    with_it = pytest_in(folder, "--lanewise-kernel", "quantize_down")
    assert (with_it.code, "lanewise: " in with_it.out) == (0, False)


def test_the_plugin_without_pytest_is_refused_with_what_to_install() -> None:
    """In a process of its own: here it is in use."""
    code = "import importlib.util as util; util.find_spec = lambda name: None; import sim.pytest_plugin"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: sim.pytest_plugin is for pytest: ")
    assert last.endswith("install 'lanewise[pytest]'")
