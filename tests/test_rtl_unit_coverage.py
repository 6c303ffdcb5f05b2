"""The functional coverage of units: what counts as an event, and what fails when a coverpoint is unmet."""

from __future__ import annotations

from itertools import islice
from random import Random

import numpy as np
import pytest

from rtl_models.benches.coverage.unit import UnitCoverage
from rtl_models.benches.coverage.unit_coverpoints import classes
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.driving.written import chosen_in_turn, coverpoints_of_writes
from rtl_models.benches.unit_bench import bench_of
from rtl_models.benches.units import quantize_down_bench, transpose1xw_bench
from rtl_models.units import UNITS

HALF = {"multiplier": 1 << 30, "shift": 0, "offset": 0, "minimum": 0, "maximum": 255, "signed": 0}


def met(accumulator: int, bias: int = 0, **settings: int) -> set[str]:
    """The events of one accumulator in quantize_down."""
    operands = {"accumulator_i": np.array([[accumulator]]), "bias_i": np.array([[bias]])}
    found = quantize_down_bench.COVERPOINTS(UnitFrame(HALF | settings, operands), 1)
    return {
        coverpoint
        for coverpoint, where in found.items()
        if where.any() and coverpoint in quantize_down_bench.COVERPOINTS.conditions
    }


@pytest.mark.parametrize(
    ("accumulator", "settings", "event"),
    [
        (1, {}, "rescale: tie of the product, positive"),
        (-1, {"offset": 7}, "rescale: tie of the product, negative"),
        (6, {"shift": 1}, "rescale: tie of the division, positive"),
        (-6, {"shift": 1, "offset": 7}, "rescale: tie of the division, negative"),
        (-(1 << 31), {"multiplier": -(1 << 31)}, "rescale: product saturates"),
        (1 << 30, {"offset": (1 << 31) - 1}, "offset wraps"),
        (-2, {}, "clamped to the minimum"),
        (600, {}, "clamped to the maximum"),
    ],
)
def test_an_event_is_counted_where_it_happens(accumulator: int, settings: dict[str, int], event: str) -> None:
    assert event in met(accumulator, **settings)


def test_a_bias_that_wraps_is_an_event() -> None:
    assert "bias wraps" in met((1 << 31) - 1, 1)


def test_a_tie_that_no_result_shows_is_no_event() -> None:
    """1 + 1000 is above the bounds, however it is rounded."""
    assert met(1, offset=1000) == {"clamped to the maximum"}


def test_classes_part_a_range_without_gap_or_overlap() -> None:
    for low, high in ((-128, 127), (0, 255), (0, 1), (1, 64), (0, 20), (0, 31)):
        numbers = [n for first, last in classes(low, high).values() for n in range(first, last + 1)]
        assert sorted(numbers) == list(range(low, high + 1))


def test_a_coverpoint_never_met_is_named_with_the_pattern_of_stalls() -> None:
    bench = transpose1xw_bench.BENCH
    coverage = UnitCoverage(bench.coverpoints, 4, ("never", "sometimes"))
    for frame in islice(bench.frames(Random(1), 4), bench.round):
        coverage.look("never", frame)
    assert "a row of one beat, stalls sometimes" in coverage.unmet()


def test_a_coverpoint_beside_those_of_frames_is_named_too() -> None:
    coverage = UnitCoverage(lambda frame, lanes: {}, 4, ())
    coverage.note("a full pipeline", 0)
    assert (coverage.unmet(), coverage.hits()) == (["a full pipeline"], {"a full pipeline": 0})


def test_every_setting_of_a_unit_has_a_coverpoint_of_its_write_with_a_beat() -> None:
    coverpoints = coverpoints_of_writes(UNITS["quantize_down_channels"], {0x40: 3, 0x1008: 1, 0x1018: 1})
    hits = {
        name.removesuffix(" written in the cycle of an accepted beat"): times for name, times in coverpoints.items()
    }
    assert hits == {
        "OFFSET": 0, "BOUNDS": 0, "CHANNELS": 3,
        "bias of a channel": 0, "multiplier of a channel": 0, "shift of a channel": 2,
    }  # fmt: skip


def test_every_register_and_every_channel_has_its_turn_to_be_written_with_a_beat() -> None:
    writes = [(0x1000, 7), (0x1010, 7), (0x1008, 7), (0x0C, 7), (0x40, 7)]
    assert [chosen_in_turn(writes, turn)[0] for turn in range(8)] == [
        0x1000, 0x1008, 0x0C, 0x40, 0x1010, 0x1008, 0x0C, 0x40,
    ]  # fmt: skip


@pytest.mark.parametrize("setting", ["a_multiplier", "constant"])
def test_each_bit_that_alone_makes_no_number_is_on_the_bench_of_the_float_addition(setting: str) -> None:
    """Of an infinite exponent: `lanewise rtl cover` told that hardly one of them ever was."""
    frames = bench_of("quantized_add_float").rare_frames(Random(1), 4)
    words = {frame.settings[setting] for frame in frames}
    assert words >= {0x7F800000 | 1 << bit for bit in range(23)}
