"""`gemm_core`: its cycles and results by hand, the bench of a small one, and that the bench notices what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

import numpy as np
import pytest

from rtl_models.benches.gemm_layers import corner_windows, random_windows
from rtl_models.benches.gemm_layers import layer as random_layer
from rtl_models.cores.gemm import GemmCore, GemmLayer, GemmShape, ResultBeat, WindowLayer, layer_of_json
from rtl_models.cores.gemm_cycles import GemmTraffic, beat_cycles, layer_cycles
from rtl_models.cores.gemm_run import run_gemm_core
from rtl_models.tools.environment import SimulatorName, execute, verilator_program, verilator_root
from rtl_models.tools.sources import LANES, sources_of
from sim.kernels.conv2d.golden import Geometry
from support.rtl_faults import planted

rtl = pytest.mark.rtl
SMALL = GemmCore(steps=2, channels=8)
WINDOWS = GemmCore(steps=16, channels=8, image=64)
HALVES = {
    f"{name}[{n}]": value
    for n in range(8)
    for name, value in (("bias", n), ("multiplier", 1 << 30), ("shift", 0), ("left_shift", 0))
}


def layer(a: list[list[int]], b: list[list[int]], **changed: int) -> GemmLayer:
    settings = {"a_offset": 0, "b_offset": 0, "offset": 0, "minimum": 0, "maximum": 255, "signed": 0, "rounding": 0}
    tables = {name: value for name, value in HALVES.items() if int(name[-2]) < len(b[0])}
    return GemmLayer({**settings, **tables, **changed}, np.array(a), np.array(b))


def windows(
    image: list[list[list[int]]], weights: list[list[list[list[int]]]], by: Geometry, **changed: int
) -> GemmLayer:
    """Of one column, with an input whose zero point is 9."""
    plain = layer([[0]], [[0]], a_offset=-9, **changed)
    return WindowLayer(plain.settings, np.array(image), np.array(weights), by)


def test_a_product_is_requantized_with_the_numbers_of_its_channel() -> None:
    """(1 * 5 + 2 * 7 + bias 0) / 2 = 9.5, which is a tie; (1 * 6 + 2 * 8 + bias 1) / 2 = 11.5."""
    assert layer([[1, 2]], [[5, 6], [7, 8]]).results().tolist() == [[10, 12]]


def test_a_product_is_rounded_as_the_setting_says() -> None:
    """-5 * 2^30 / 2^31 / 2 = -1.25; -6 / 4 = -1.5: up to -1 at once, or -3 in between and then away from or up."""
    halved = {"shift[0]": 1, "a_offset": -255, "offset": 9}
    found = [layer([[250], [249]], [[1]], rounding=how, **halved).results().tolist() for how in (0, 1, 2)]
    assert found == [[[8], [7]], [[8], [8]], [[8], [8]]]


def test_a_left_shift_comes_before_the_product_of_two_roundings_and_after_that_of_one() -> None:
    """3 * 2^30 / 2^31 is 1.5; a shift by 1 makes 3 of it.  2^30 * 2 wraps before the product, 2^31 / 2 fits behind."""
    small = [layer([[3]], [[1]], rounding=how, **{"left_shift[0]": 1}).results().item() for how in (0, 1, 2)]
    large = {"bias[0]": 1 << 30, "left_shift[0]": 1, "maximum": 255}
    wrapped = [layer([[0]], [[0]], rounding=how, **large).results().item() for how in (0, 1, 2)]
    assert (small, wrapped) == ([3, 3, 3], [0, 0, 255])


def test_the_sum_with_the_zero_point_does_not_wrap() -> None:
    numbers = {"bias[0]": (1 << 31) - 1, "multiplier[0]": (1 << 31) - 1, "offset": 100}
    assert layer([[0]], [[0]], **numbers).results().item() == 255


def test_offsets_are_added_to_bytes_as_the_setting_has_them_read() -> None:
    """200 - 255 = -55 and 0 - 255 of unsigned bytes; -56 + 128 = 72 and -128 + 127 = -1 of signed ones."""
    unsigned = layer([[200]], [[0]], a_offset=-255, b_offset=-255, offset=-7000)
    signed = layer([[200]], [[128]], signed=1, a_offset=128, b_offset=127, minimum=0x80, maximum=0x7F)
    assert (unsigned.results().tolist(), signed.results().tolist()) == ([[13]], [[256 - 36]])


def test_beats_are_blocks_of_rows_then_of_columns_then_rows() -> None:
    """Five rows and five columns: tiles of 4 x 4, 4 x 1, 1 x 4 and 1 x 1."""
    numbers = layer([[10 * row] for row in range(1, 6)], [[2 * column for column in range(1, 6)]])
    beats = numbers.expected(SMALL)
    assert [len(beat.numbers) for beat in beats] == [4] * 4 + [1] * 4 + [4, 1]
    assert beats[1] == ResultBeat((20, 41, 61, 82), False)  # 20 * 2 * column / 2 and half of the channel, ties up
    assert [beat.last for beat in beats] == [False] * 9 + [True]


def test_words_have_four_bytes_along_k_of_each_row_of_a_and_column_of_b() -> None:
    some = layer([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], [[1, 2]] * 5)
    first, second = (word.to_bytes(16, "little") for word in some.a_words(SMALL))
    assert (first[:8], second[0], second[4]) == (bytes([1, 2, 3, 4, 6, 7, 8, 9]), 5, 10)
    assert some.b_words(SMALL)[0].to_bytes(16, "little")[:8] == bytes([1] * 4 + [2] * 4)


def test_what_a_window_has_outside_of_the_image_counts_for_nothing() -> None:
    """Pixels 19 and 29, less 9; taps 2 and 4: 2 * 0 + 4 * 10 = 40, 2 * 10 + 4 * 20 = 100, 2 * 20 + 0 = 40; halved."""
    found = windows([[[19], [29]]], [[[[2]], [[4]]]], Geometry(left=1, right=1))
    assert (found.results().tolist(), found.shape) == ([[20], [50], [20]], GemmShape(3, 8, 1, image=1))


def test_an_image_comes_in_beats_of_four_words_filled_up_with_its_zero_point() -> None:
    """Five pixels of two channels; the second beat has one of them."""
    found = windows([[[k, 10 * k] for k in range(1, 6)]], [[[[1], [1]]]], Geometry())
    first, second = (word.to_bytes(16, "little") for word in found.a_words(SMALL))
    assert (first, second[:4]) == (bytes([1, 10, 9, 9, 2, 20, 9, 9, 3, 30, 9, 9, 4, 40, 9, 9]), bytes([5, 50, 9, 9]))


def test_the_registers_of_windows_are_those_of_their_geometry() -> None:
    found = windows([[[0] * 5] * 7] * 6, [[[[1]] * 5] * 3] * 2, Geometry(2, 3, 1, 0, 2, 0)).registers
    wanted = {
        "windows": 1, "image_width": 7, "image_height": 6, "pixel_words": 2, "out_width": 3, "window_width": 3,
        "window_height": 2, "stride_x": 3, "stride_y": 2, "left": 2, "top": 1, "width": 48, "height": 9,
    }  # fmt: skip
    assert {name: found[name] for name in wanted} == wanted


def test_windows_are_the_same_layer_when_they_were_written_down() -> None:
    some = random_layer(random_windows(WINDOWS, Random(1)), Random(1))
    again = layer_of_json(some.as_json())
    assert (again.registers, again.a_words(SMALL), again.expected(SMALL)) == (
        some.registers, some.a_words(SMALL), some.expected(SMALL),
    )  # fmt: skip


def test_windows_begin_when_the_image_is_there_and_the_next_ones_when_they_were_found() -> None:
    """In at 0; four found at 1 to 4, read at 5, in the buffer at 6; read, multiplied, out four stages later.

    Of the next four the word comes five cycles later, which the first four's rows do not fill.
    """
    found = beat_cycles(SMALL, GemmShape(8, 4, 1, image=1), GemmTraffic())
    assert (found.a, found.there) == ([0], [13, 14, 15, 16, 18, 19, 20, 21])


def test_the_least_layer_takes_two_cycles_more_than_the_stages_behind_the_array() -> None:
    """In at 0, read at 1, multiplied at 2, into four stages at 3, out at 7: eight cycles."""
    found = beat_cycles(SMALL, GemmShape(1, 1, 1), GemmTraffic())
    assert (found, layer_cycles(SMALL, GemmShape(1, 1, 1))) == (([0], [0], [7], [7]), 8)


def test_a_tile_of_few_steps_waits_for_the_rows_of_the_one_before() -> None:
    """Two tiles of one step and four rows: the second is multiplied with the last row of the first, at 6."""
    found = beat_cycles(SMALL, GemmShape(4, 4, 8), GemmTraffic())
    assert (found.b, found.taken) == ([0, 1], [7, 8, 9, 10, 11, 12, 13, 14])


def test_a_result_that_is_not_taken_holds_all_behind_it() -> None:
    found = beat_cycles(SMALL, GemmShape(2, 1, 1), GemmTraffic(takes=[False] * 12))
    assert (found.there, found.taken) == ([7, 13], [12, 13])


def test_a_beat_is_offered_when_its_side_decides_so() -> None:
    """The last words come at 4, are read at 5, multiplied at 6, go on at 7, and come out four stages later."""
    found = beat_cycles(SMALL, GemmShape(1, 8, 1), GemmTraffic(a=[False, True, False, False, True], b=[False] * 3))
    assert found == ([1, 4], [3, 4], [11], [11])


def test_rows_come_in_until_their_buffer_is_full() -> None:
    """Four words there are; the fifth comes when the first block, read at 3 and 4 behind b, has made room for it."""
    found = beat_cycles(SMALL, GemmShape(12, 8, 1), GemmTraffic(b=[False] * 20))
    assert (found.a, found.b) == ([0, 1, 2, 3, 22 + 1, 22 + 2], [20, 21])


def test_the_formula_is_what_the_beats_take_where_nothing_stalls() -> None:
    rng = Random(1)
    for _ in range(200):
        core = GemmCore(
            rows=rng.randint(4, 16),
            columns=rng.choice((4, 8, 16)),
            deep=rng.random() < 0.5,
            steps=2 ** rng.randint(1, 6),
        )
        shape = GemmShape(rng.randint(1, 40), rng.randint(1, 4 * core.steps), rng.randint(1, core.channels))
        of_windows = [random_windows(core, rng), *rng.sample(corner_windows(core), 1)]
        for given in (shape, *(random_layer(some, rng).shape for some in of_windows)):
            assert beat_cycles(core, given, GemmTraffic()).taken[-1] + 1 == layer_cycles(core, given), (core, given)


@pytest.mark.parametrize(("size", "share"), [(4, 0.997), (8, 0.986), (16, 0.920)])
def test_the_share_of_the_peak_of_one_layer(size: int, share: float) -> None:
    core, shape = GemmCore(rows=size, columns=size), GemmShape(64, 64, 64)
    assert shape.multiply_accumulates / core.peak / layer_cycles(core, shape) == pytest.approx(share, abs=1e-3)


@rtl
@pytest.mark.parametrize(
    "parameters", [{"Rows": 5, "Columns": 8, "Deep": 1}, {"Rows": 16, "Columns": 16}, {"Steps": 2, "Channels": 8}]
)
def test_verilator_has_no_warning_for_other_sizes(parameters: Mapping[str, int]) -> None:
    files = [name for name in sources_of("gemm_core") if name.endswith(".sv")]
    given = [f"-G{name}={value}" for name, value in parameters.items()]
    lint: list[str | Path] = [verilator_program(), "--lint-only", "-Wall", "--top-module", "gemm_core", *given, *files]
    done = execute(lint, LANES, VERILATOR_ROOT=str(verilator_root()))
    assert (done.status, "Warning" in done.output) == (0, False), done.output


@pytest.mark.slow
@rtl
def test_it_computes_what_the_golden_reference_says_in_the_cycles_that_are_predicted(simulator: SimulatorName) -> None:
    outcome = run_gemm_core(
        WINDOWS,
        simulator=simulator,
        layers=3,
        scenarios="corners/pattern=(never|sometimes)|random|windows/pattern=(never|bursts)|reset|refused|report",
    )
    assert outcome.passed, outcome.told()
    assert (outcome.figures["wrong_beats"], outcome.figures["cycles_off"]) == (0, 0)


@pytest.mark.slow
@rtl
def test_a_tile_that_does_not_wait_for_the_one_before_is_noticed() -> None:
    fault = planted("row_stream", "~valid_o | (last_o & ready_i);", "1'b1;")
    outcome = run_gemm_core(SMALL, before=[fault], scenarios="corners/pattern=sometimes")
    (said,) = outcome.tests.values()
    assert said.startswith("layers GemmShape(m=")
