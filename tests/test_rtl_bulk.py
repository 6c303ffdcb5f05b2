"""Many beats of each unit under stalls, and what is said of units that are wrong on purpose."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from subprocess import PIPE, Popen

import numpy as np
import pytest

from rtl_models.benches.driving.frame import UNKNOWN, Difference, UnitFrame
from rtl_models.bulk.compare import told
from rtl_models.bulk.harness import design
from rtl_models.bulk.images import Commands, operand_image, parts, results_in
from rtl_models.bulk.run import BEATS, BulkOutcome, Volume, all_volumes, run_volume
from rtl_models.bulk.stimulus import frames
from rtl_models.outcome import BenchOutcome
from rtl_models.register_map import cause, register_writes
from rtl_models.tools.build_cache import built
from rtl_models.tools.own_modules import modules_option
from rtl_models.unit_run import Built
from rtl_models.units import LANE_COUNTS, UNITS, Unit
from support.command import lanewise
from support.rtl_faults import planted

rtl = pytest.mark.rtl
FEW = 5_000
DOWN, ADD, TRANSPOSE, OFFSETS = (
    UNITS[name] for name in ("quantize_down", "quantized_add", "transpose1xw", "offset_contribution")
)
FLOWS = """\
  assign ready_o  = enable_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (enable_o) valid_q <= Depth'({valid_q, valid_i});"""
"""Of valid_pipeline."""
EVERY_OTHER_CYCLE = """\
  logic turn_q;

  assign ready_o  = enable_o & turn_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) turn_q <= '0;
    else turn_q <= ~turn_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (enable_o) valid_q <= Depth'({valid_q, valid_i & turn_q});"""


def running_in(folder: Path) -> list[str]:
    """The working directories of processes that are in the folder, there or not any more."""
    return [where for where in map(working_directory, Path("/proc").glob("[0-9]*")) if where.startswith(str(folder))]


def working_directory(process: Path) -> str:
    """Nothing for a process that has ended or belongs to somebody else."""
    try:
        return os.readlink(process / "cwd")
    except OSError:
        return ""


Failing = Callable[[Unit, int, Path], BenchOutcome]


@pytest.fixture(scope="module")
def failing() -> Failing:
    """What is said of a unit with a wrong module, by seed; several tests ask the same."""
    return cache(lambda unit, seed, wrong: run_volume(Volume(Built(unit), FEW, seed), before=[wrong]))


@pytest.fixture(scope="module")
def wrong_number(failing: Failing) -> BenchOutcome:
    """An offset that does not travel as far as its beat."""
    return failing(DOWN, 3, planted("quantize_down", "Depth(1 + RescaleDepth)", "Depth(1)"))


@pytest.mark.slow
@rtl
@pytest.mark.parametrize("name", UNITS)
def test_thousands_of_beats_agree_under_stalls(name: str) -> None:
    outcome = run_volume(Volume(Built(UNITS[name]), FEW, 1))
    assert outcome.passed, outcome.told()


@pytest.mark.slow
@rtl
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("ready_i | ~valid_o;", "1'b1;", " lost; "),
        ("ready_i | ~valid_o;", "1'b1;", "changed or vanished"),
        ("assign ready_o  = enable_o;", "assign ready_o  = enable_o & ~valid_q[0];", "without a beat"),
        ("ready_i | ~valid_o;", "ready_i & valid_o;", "hangs after 0"),
        (FLOWS, EVERY_OTHER_CYCLE, "0.999 are due"),
    ],
)
def test_a_broken_handshake_is_told(failing: Failing, right: str, wrong: str, said: str) -> None:
    outcome = failing(OFFSETS, 1, planted("valid_pipeline", right, wrong))
    assert (outcome.passed, said in outcome.told()) == (False, True), outcome.told()


@pytest.mark.slow
@rtl
def test_a_wrong_number_is_told_with_its_operands_and_settings(wrong_number: BenchOutcome) -> None:
    told = wrong_number.tests["volume"]
    assert all(word in told for word in ("number", "expected", "accumulator_i", "multiplier", "offset"))


@pytest.mark.slow
@rtl
def test_a_wrong_number_is_shrunk_and_shown(wrong_number: BenchOutcome) -> None:
    assert wrong_number.smallest_told.startswith("smallest case")
    assert wrong_number.waves is not None


@pytest.mark.slow
@rtl
@pytest.mark.parametrize(
    ("unit", "wrong", "said"),
    [
        (TRANSPOSE, ("frame_walk", "{12'b0, height, 4'b0}", "{23'b0, height[4:0], 4'b0}"), ": address_o of beat"),
        (OFFSETS, ("valid_pipeline", "ready_i | ~valid_o;", "ready_i & valid_o;"), "the unit hangs after 0"),
    ],
    ids=["a height that few beats do not have", "no number at all"],
)
def test_what_no_few_beats_show_is_shown_in_the_frames_of_many(
    failing: Failing, unit: Unit, wrong: tuple[str, str, str], said: str
) -> None:
    outcome = failing(unit, 1, planted(*wrong))
    assert (outcome.smallest_told.startswith("shown alone"), said in outcome.smallest_told) == (True, True)
    assert outcome.waves is not None


@pytest.mark.slow
@rtl
@pytest.mark.parametrize("group", [True, False], ids=["the process group", "the command alone"])
def test_an_interrupt_is_one_word_and_leaves_neither_files_nor_a_simulator(group: bool, tmp_path: Path) -> None:
    built(design(Built(OFFSETS)), purpose="bulk")
    command = [sys.executable, "-m", "sim", "rtl", "bulk", "offset_contribution", "--beats", "1000000000"]
    run = Popen(command, env=os.environ | {"TMPDIR": str(tmp_path)}, stderr=PIPE, text=True, start_new_session=True)
    while run.poll() is None and not list(tmp_path.glob("*/results")):
        time.sleep(0.01)
    (os.killpg if group else os.kill)(run.pid, signal.SIGINT)
    assert (run.communicate(timeout=600)[1], run.returncode) == ("lanewise: interrupted\n", 130)
    assert (list(tmp_path.iterdir()), running_in(tmp_path)) == ([], [])


def test_what_reproduces_an_outcome_is_a_command_that_asks_for_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    volume, wrong, asked = (
        Volume(Built(ADD, 8, "deep"), FEW, 9),
        planted("place_byte", "+ offset_i", "- offset_i"),
        list[object](),
    )
    outcome = BulkOutcome(
        name="quantized_add",
        options={**volume.options, **modules_option([wrong])},
        flags=volume.unit.flags([wrong]),
        simulator="verilator",
        seed=volume.seed,
        tests={},
    )

    def noted(*given: object) -> BenchOutcome:
        asked.extend(given)
        return outcome

    monkeypatch.setattr("rtl_models.command.bulk.run_volume", noted)
    lanewise(*outcome.reproduce.split()[1:])
    assert asked == [volume, "verilator", [wrong]]


@pytest.mark.parametrize(
    "arguments",
    [[], ["sqadd"], ["transpose1xw", "--all"], ["transpose1xw", "--beats", "0"], ["transpose1xw", "--modules", "none"]],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    assert lanewise("rtl", "bulk", *arguments).exit_code == 2


@pytest.mark.parametrize("option", [("--beats", "5"), ("--lanes", "8"), ("--profile", "deep")], ids=lambda o: o[0])
def test_what_all_does_not_take_is_refused_not_forgotten(option: tuple[str, str]) -> None:
    result = lanewise("rtl", "bulk", "--all", *option)
    assert (result.exit_code, option[0] in result.stderr) == (2, True)


def test_a_missing_compiler_is_a_sentence_and_exit_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtl_models.tools.environment.shutil.which", lambda name: None)
    monkeypatch.setattr("rtl_models.tools.environment.importlib.util.find_spec", lambda name: None)
    result = lanewise("rtl", "bulk", "transpose1xw")
    assert (result.exit_code, len(result.stderr.splitlines())) == (3, 1)


def test_all_is_a_million_beats_of_each_unit_and_every_combination() -> None:
    volumes = all_volumes(seed=1)
    millions = [volume.unit.unit.name for volume in volumes if volume.beats >= BEATS]
    assert (sorted(millions), len({volume.unit for volume in volumes})) == (
        sorted(UNITS),
        len(UNITS) * len(LANE_COUNTS) * 2 + sum(len(unit.profiles) - 2 for unit in UNITS.values()),
    )


def test_the_first_port_and_the_first_number_are_in_the_low_bits_of_a_word() -> None:
    beat = UnitFrame({}, {"a_i": np.array([[1, 2, 3, 4]]), "b_i": np.array([[5, 6, 7, 255]])})
    assert operand_image(ADD, [beat]) == bytes([255, 7, 6, 5, 4, 3, 2, 1])


def test_numbers_of_five_bits_lie_side_by_side_in_the_bytes_of_their_port() -> None:
    plain = {name: np.zeros((1, 4), np.int64) for name in ("value_i", "multiplier_i", "shift_i")}
    beat = UnitFrame({}, plain | {"left_shift_i": np.array([[1, 2, 3, 31]])})
    packed = sum(number << 5 * lane for lane, number in enumerate((1, 2, 3, 31)))
    image = operand_image(UNITS["quantized_multiplier"], [beat])
    assert image == bytes(3) + packed.to_bytes(3, "big") + bytes(32)


def test_results_are_read_from_words_with_each_port_at_a_whole_byte(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("01010000001080000000000000030000000200000001\n")
    given = {port: numbers.tolist() for port, numbers in results_in(tmp_path / "results", TRANSPOSE, 4).items()}
    assert given == {"data_o": [[1, 2, 3, 1 << 31]], "address_o": [[16]], "write_o": [[1]], "last_o": [[1]]}


def test_unknown_bits_are_a_number_that_nothing_is_expected_to_be(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("// 0x00000000\n0xXx0102\n")
    assert results_in(tmp_path / "results", DOWN, 4)["result_o"].tolist() == [[2, 1, UNKNOWN, UNKNOWN]]


def test_a_number_with_unknown_bits_is_told_as_unknown() -> None:
    beat = UnitFrame({"signed": 1}, {"a_i": np.array([[1, 2, 3, 4]])})
    said = told(UNITS["quantized_add"], [beat], Difference("result_o", 0, 2, UNKNOWN, 7))
    assert said == "frame 0: result_o of beat 0, number 2: unknown, expected 7; operands a_i 3; settings signed 1"


def test_a_register_is_written_again_only_where_it_changes() -> None:
    sent = [UnitFrame({"multiplier": 5, "shift": shift}, {"a_i": np.zeros((3, 1), np.int64)}) for shift in (1, 2)]
    commands = Commands()
    commands.image(sent[:1])
    write, beats, end = (1, 0x08, 2), (2, 0, 3), (0, 0, 0)
    assert commands.image(sent[1:]) == b"".join(
        kind.to_bytes(2, "big") + address.to_bytes(2, "big") + data.to_bytes(4, "big")
        for kind, address, data in (write, beats, end)
    )


@pytest.mark.parametrize("name", UNITS)
def test_frames_are_as_many_beats_as_asked_and_the_same_for_a_seed(name: str) -> None:
    first, second = (list(frames(UNITS[name], 8, 5, FEW)) for _ in range(2))
    assert sum(frame.beats for frame in first) >= FEW
    assert [frame.as_json() for frame in first] == [frame.as_json() for frame in second]


@pytest.mark.parametrize("name", UNITS)
def test_every_frame_has_settings_that_the_registers_take(name: str) -> None:
    made = list(frames(UNITS[name], 4, 7, 200_000))
    refused = [word for f in made for word in register_writes(f.settings) if cause(*word)]
    assert (len(made) > 100, refused) == (True, [])


def test_parts_have_every_frame_once() -> None:
    made = list(frames(DOWN, 4, 5, FEW))
    assert [frame for part in parts(made, 100) for frame in part] == made


@pytest.mark.parametrize(
    "name",
    ["quantize_down", "quantize_down_channels", "quantized_add", "quantized_add_float", "requantize", "integer_scale"],
)
def test_frames_reach_every_byte(name: str) -> None:
    """Results that are all at a bound would show little."""
    unit = UNITS[name]
    results = [unit.expected(f.settings, f.operands, 4)["result_o"] for f in frames(unit, 4, 1, 20_000)]
    assert np.bincount(np.concatenate([r[r >= 0] for r in results]), minlength=256).all()


def test_a_million_beats_have_frames_with_every_bit_of_the_height_set() -> None:
    heights = [frame.settings["height"] for frame in frames(TRANSPOSE, 4, 1, BEATS)]
    assert (np.bitwise_or.reduce(heights), max(heights)) == (0xFFFF, 0xFFFF)
