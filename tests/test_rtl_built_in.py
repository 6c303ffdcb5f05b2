"""Modules of one number a beat, and numbers that a module has built in where its unit has a port."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import pytest
from test_quickstarts import PAGES as QUICKSTARTS
from test_quickstarts import STEP, walk

from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.unit_bench import NothingFits, UnitBench, bench_of, with_built_in
from support.command import lanewise
from support.one_lane import written

OWN = (Path(__file__).parents[1] / "docs/own-hardware.md").read_text()
SOME = {
    "quantize_down": {"bias": 0, "multiplier": 1518500250, "shift": 7, "signed": 1},
    "offset_contribution": {"row_sum": -7, "a_offset": 128},
    "quantized_add": {"signed": 0, "left_shift": 20},
    "quantized_add_float": {"rounding": 1, "unfused": 0},
    "requantize": {"rounding": 2, "left_shift": 0, "minimum": 0, "maximum": 255},
    "quantized_multiplier": {"rounding": 1, "multiplier": 1 << 30},
    "integer_scale": {"multiplier": 37, "shift": 12, "bias": 5},
}


def numbers_of(bench: UnitBench, frame: UnitFrame, name: str) -> set[int]:
    """Those that a frame has of an operand or a setting."""
    return {frame.settings[name]} if name in bench.unit.settings else set(frame.operands[f"{name}_i"].ravel().tolist())


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("unit", SOME)
def test_every_frame_has_the_numbers_that_are_built_in(unit: str, lanes: int) -> None:
    bench = with_built_in(bench_of(unit), SOME[unit])
    frames = [*islice(bench.frames(Random(1), lanes), 20), *bench.rare_frames(Random(1), lanes)]
    frames += [bench.long_frame(Random(1), lanes, 50)]
    other = next(bench_of(unit).frames(Random(2), lanes))
    frames += [whole for whole in [bench.fitted(other, lanes)] if whole]
    assert len(frames) > 20
    for name, number in SOME[unit].items():
        assert {found for frame in frames for found in numbers_of(bench, frame, name)} == {number}


def test_without_any_the_bench_is_the_same() -> None:
    bench = bench_of("quantize_down")
    assert with_built_in(bench, {}) is bench


def test_numbers_that_no_frame_goes_with_are_refused() -> None:
    bench = with_built_in(bench_of("quantized_multiplier"), {"rounding": 2, "multiplier": -1})
    with pytest.raises(NothingFits, match="no frame of quantized_multiplier goes with the numbers built in"):
        next(bench.frames(Random(1), 1))


@pytest.mark.slow
@pytest.mark.rtl
def test_a_tie_at_numbers_that_are_built_in_is_met_and_the_rounding_of_the_module_named(tmp_path: Path) -> None:
    right, wrong = "(high[31] ? 33'sd0 - divided : divided)", "((high + 33'sd64) >>> 7)"
    done = lanewise("rtl", "test", "--adapter", written(tmp_path, right, wrong), columns=400)
    assert (done.exit_code, "frame 0: octet of beat " in done.output) == (1, True), done.output
    assert "all 4,000 results of no_stalls are those of double_rounding_ties_up, of which lanewise" in done.output


@pytest.mark.slow
@pytest.mark.rtl
def test_a_module_with_its_settings_built_in_is_tested_proved_and_mutated(tmp_path: Path) -> None:
    adapter = written(tmp_path)
    tested = lanewise("rtl", "test", "--adapter", adapter)
    assert (tested.exit_code, "quantize_down, lanes 1, " in tested.stdout) == (0, True), tested.output
    proved = lanewise("rtl", "prove", "--adapter", adapter)
    assert (proved.exit_code, "1 of 1 theorem" in proved.stdout) == (0, True), proved.output
    mutated = lanewise("rtl", "mutate", "--adapter", adapter, "--count", "12")
    assert (mutated.exit_code, "12 mutants of 1 module" in mutated.stdout) == (0, True), mutated.output
    refused = lanewise("rtl", "bulk", "--adapter", adapter)
    assert (refused.exit_code, "which brought_down has built in: use lanewise rtl test" in refused.output) == (2, True)


@pytest.mark.rtl
def test_a_proof_is_about_the_numbers_of_the_adapter(tmp_path: Path) -> None:
    adapter = written(tmp_path)
    adapter.write_text(adapter.read_text().replace("shift = 7", "shift = 6"))
    done = lanewise("rtl", "prove", "--adapter", adapter)
    assert (done.exit_code, "its data: sum[0+:32] = " in done.output) == (1, True), done.output


@pytest.mark.slow
@pytest.mark.rtl
def test_the_page_goes_as_it_says(tmp_path: Path) -> None:
    assert walk(OWN, tmp_path) == []


def test_every_file_of_the_page_is_named_above_its_block() -> None:
    assert {name for name, _, _ in STEP.findall(OWN) if name} == {
        "mine/rdhm.sv", "mine/rdhm.toml", "around/high_product.sv", "around/sqrdmulh.sv",
    }  # fmt: skip
    for page in ("hardware", "cycles", "kernel"):
        assert any(name for name, _, _ in STEP.findall(QUICKSTARTS[page]))
