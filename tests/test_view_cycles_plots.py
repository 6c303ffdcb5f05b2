"""Pictures of cycles: that they draw the numbers they are given, and that their titles say what is to be seen."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from sim.cycles import estimate
from sim.plots.comparison import plot_comparison
from sim.plots.lengths import plot_cycles_by_length, plot_unroll_sweep
from sim.plots.pipes import plot_occupancy
from sim.plots.roofline import Attained, Roof, bytes_moved, plot_roofline, roof_of, roofline_of
from sim.plots.stalls import Stalls, plot_stalls
from sim.plots.style import looks, looks_of, number
from sim.timing.analysis.bounds import Bound, Bounds
from sim.timing.analysis.reasons import ReasonGroup
from sim.timing.model.core_file import core_names
from support.schedules_by_hand import OUT_OF_ORDER, scheduled

STALLS: Stalls = {
    "a55": {ReasonGroup.RESULT: 6.0, ReasonGroup.WIDTH: 3.0},
    "n1": {ReasonGroup.WIDTH: 4.0, ReasonGroup.PIPE: 1.0},
}
ROOFS = [Roof("a55", 8, 16), Roof("n1", 32, 32)]
RUNS = [Attained("mul", "a55", 160, 80, 40), Attained("mul", "n1", 160, 80, 10)]


def _axes(figure: Figure) -> Axes:
    return figure.axes[0]


def _bars(figure: Figure) -> list[tuple[float, float, float]]:
    """(left, width, height) of every bar."""
    patches = [patch for patch in _axes(figure).patches if isinstance(patch, Rectangle)]
    return [(patch.get_x(), patch.get_width(), patch.get_height()) for patch in patches]


def _title(figure: Figure) -> str:
    return figure.get_suptitle()


def _lines(figure: Figure) -> dict[str, list[tuple[float, float]]]:
    """The places of every line by its label."""
    labels = [str(line.get_label()) for line in _axes(figure).get_lines()]
    return dict(zip(labels, _drawn(figure), strict=True))


def _drawn(figure: Figure) -> list[list[tuple[float, float]]]:
    data = [np.column_stack(line.get_data()).tolist() for line in _axes(figure).get_lines()]
    return [[(x, y) for x, y in places] for places in data]


def test_occupancy_has_a_bar_for_each_use_of_a_pipe() -> None:
    bars = [(left, width) for left, width, _ in _bars(plot_occupancy(OUT_OF_ORDER))]

    uses = [(start, end - start) for uses in OUT_OF_ORDER.pipes for _, start, end in uses]
    assert sorted(bars) == sorted(uses)


def test_occupancy_is_cut_to_the_cycles_shown() -> None:
    assert sorted((left, width) for left, width, _ in _bars(plot_occupancy(OUT_OF_ORDER, range(2, 4)))) == [
        (2, 1),
        (3, 1),
    ]


def test_occupancy_names_every_pipe_that_is_used_with_its_share_and_the_busiest_above() -> None:
    figure = plot_occupancy(OUT_OF_ORDER)

    labels = [label.get_text() for label in _axes(figure).get_yticklabels()]
    assert labels == ["V0  50 %", "V1  25 %", "L  12 %"]
    assert _title(figure) == "Core <by> hand: V0 is the busiest pipe, 50 % of the time"


def test_the_share_of_a_pipe_is_that_of_the_cycles_shown() -> None:
    labels = [label.get_text() for label in _axes(plot_occupancy(OUT_OF_ORDER, range(1, 5))).get_yticklabels()]

    assert labels == ["V0  100 %", "V1  0 %", "L  0 %"]


def test_occupancy_of_nothing_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="needs at least one instruction"):
        plot_occupancy(scheduled("in", []))


def test_a_roof_is_the_lower_of_both_limits() -> None:
    for intensity, height in _lines(plot_roofline(ROOFS, RUNS))["a55\n8 operations, 16 bytes a cycle"]:
        assert height == min(8, 16 * intensity)


def test_a_run_is_a_point_at_its_intensity_and_its_speed_that_says_how_near_its_roof_is() -> None:
    figure = plot_roofline(ROOFS, RUNS)

    points = [list(places) for places in _drawn(figure) if len(places) == 1]
    assert points == [[(2, 4)], [(2, 16)]]
    assert [text.get_text() for text in _axes(figure).texts] == ["mul 50 %", "mul 50 %"]


def test_of_many_points_the_names_of_the_cores_say_how_near_they_are() -> None:
    cores = [f"core{number}" for number in range(7)]
    figure = plot_roofline([Roof(core, 8, 16) for core in cores], [RUNS[0]._replace(core=core) for core in cores])

    assert not list(_axes(figure).texts)
    named = [label for label in _lines(figure) if not label.startswith("_")]
    assert named == [f"{core}, 50 %\n8 operations, 16 bytes a cycle" for core in cores]


def test_no_two_of_twelve_cores_look_alike() -> None:
    assert len(set(looks_of(core_names()))) == len(core_names()) > 8


def test_a_roofline_says_which_run_comes_nearest_to_its_roof() -> None:
    runs = [RUNS[0], RUNS[1]._replace(cycles=40)]

    assert _title(plot_roofline(ROOFS, runs)) == "mul reaches 50 % of what the pipes of a55 allow, 12 % on n1"


def test_a_roof_is_what_the_binding_pipe_and_the_memory_allow() -> None:
    cycles = {"latency": 90, "pipe V0": 20, "issue": 5, "memory": 10}
    bounds = Bounds(tuple(Bound(name, Fraction(value), "") for name, value in cycles.items()))

    assert roof_of("n1", bounds, operations=160, moved=80) == Roof("n1", 160 / 20, 80 / 10)


def test_code_that_moves_nothing_has_no_roof() -> None:
    with pytest.raises(ValueError, match="there is no roof on n1"):
        roof_of("n1", Bounds((Bound("pipe V0", Fraction(1), ""),)), 1, 0)


DOT = """\
dot:
    ldr q1, [x1], #16
    sdot v0.4s, v1.16b, v2.16b
    subs x0, x0, #1
    b.ne dot
"""


def test_what_was_timed_is_drawn_by_its_products_bytes_and_cycles_below_the_roof_of_each_core(tmp_path: Path) -> None:
    (tmp_path / "dot.s").write_text(DOT)
    cores = ["cortex-a55", "neoverse-n1"]
    timed = estimate(tmp_path / "dot.s", cores=cores, flags=["-march=armv8.2-a+dotprod"], count=1000)
    figure = roofline_of(timed)
    points = [places for places in _drawn(figure) if len(places) == 1]
    assert points == [[(2, 32_000 / row.result.cycles)] for row in timed.rows]  # 16 bytes, 16 products and additions
    roofs = [places for places in _drawn(figure) if len(places) > 2]
    for core, roof, ((_, height),) in zip(cores, roofs, points, strict=True):
        assert dict(roof)[2] >= height, core


def test_what_multiplies_nothing_has_no_roofline(tmp_path: Path) -> None:
    (tmp_path / "add.s").write_text(DOT.replace("sdot v0.4s, v1.16b, v2.16b", "add v0.4s, v0.4s, v1.4s"))
    with pytest.raises(ValueError, match="multiplies nothing, and a roofline counts products"):
        roofline_of(estimate(tmp_path / "add.s", cores=["cortex-a55"]))


def test_bytes_moved_are_those_loaded_and_stored() -> None:
    one = OUT_OF_ORDER.stream[0]._replace(loads=((0, 16), (64, 4)), stores=((128, 8),))

    assert bytes_moved([one, one]) == 56


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ([], "needs at least one kernel"),
        ([RUNS[0]._replace(core="a72")], "'a72' has no roof"),
        ([RUNS[0]._replace(cycles=0)], "needs operations, bytes and cycles above 0"),
    ],
)
def test_a_roofline_refuses_what_it_cannot_draw(runs: list[Attained], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        plot_roofline(ROOFS, runs)


def test_stalls_are_stacked_without_a_gap_up_to_the_total() -> None:
    bars = [bar for bar in _bars(plot_stalls(STALLS)) if bar[1]]

    assert sorted((left, left + width) for left, width, _ in bars) == [(0, 3), (0, 4), (3, 9), (4, 5)]


def test_stalls_name_the_largest_reason_of_each_core() -> None:
    assert _title(plot_stalls(STALLS)) == "Result latency takes 67 % on a55; issue width takes 80 % on n1"


def test_a_reason_looks_the_same_in_every_picture() -> None:
    alone = plot_stalls({"n1": {"pipe busy": 1.0}})
    among = plot_stalls(STALLS)

    colours = [{h.get_label(): h[0].get_facecolor() for h in _axes(f).containers} for f in (alone, among)]
    assert colours[0]["pipe busy"] == colours[1]["pipe busy"]


def test_a_core_looks_the_same_in_every_picture_and_others_otherwise() -> None:
    alone, among = looks_of(["neoverse-n1"]), looks_of(["mine", "cortex-a55", "neoverse-n1", "lane128", "yours"])
    assert among[2] == alone[0]
    assert len(set(among)) == 5


def test_lines_that_lie_upon_each_other_are_all_seen() -> None:
    (axes,) = plot_cycles_by_length([1, 2], {"cortex-a55": [4, 8], "lane128": [4, 8]}).axes
    first, second = (line.get_linewidth() for line in axes.lines[:2])
    assert first >= second + 1


def test_every_reason_has_a_look() -> None:
    figure = plot_stalls({"all": {str(group): 1.0 for group in ReasonGroup}})

    assert {str(bars.get_label()) for bars in _axes(figure).containers} == {group.value for group in ReasonGroup}


def test_a_reason_that_is_none_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="'bad luck' is not a reason: issue width"):
        plot_stalls({"a55": {"bad luck": 1.0}})


def test_stalls_of_nothing_are_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="needs cycles that are charged"):
        plot_stalls({"a55": {}})


def test_cycles_of_calls_are_shown_for_each_element() -> None:
    figure = plot_cycles_by_length([1, 4, 5], {"a55": [8, 12, 20]})

    assert _lines(figure)["a55"] == [(1, 8), (4, 3), (5, 4)]


def test_the_title_of_lengths_names_the_worst_tail_behind_a_whole_iteration() -> None:
    figure = plot_cycles_by_length([3, 4, 5, 7, 8], {"a55": [90, 12, 20, 21, 16]}, step=4)

    assert _title(figure) == "a55: 2 cycles per element at 8 elements, 4 with a tail at 5"


def test_a_sweep_has_the_numbers_and_the_bound_of_each_core() -> None:
    lines = _lines(plot_unroll_sweep([1, 2], {"a55": [4, 3], "n1": [2, 1]}, {"n1": 0.5}))

    assert (lines["a55"], lines["n1"]) == ([(1, 4), (2, 3)], [(1, 2), (2, 1)])
    assert [height for _, height in lines["bound of n1"]] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("cycles", "title"),
    [
        ({"a55": [4.0, 3.0, 3.0]}, "Unrolling by 2 takes 25 % off on a55"),
        ({"a55": [4.0, 3.03, 3.0]}, "Unrolling by 2 takes 25 % off on a55"),
        ({"a55": [4.0, 4.0, 4.2]}, "Unrolling gains nothing"),
    ],
)
def test_a_sweep_says_what_unrolling_gains(cycles: dict[str, list[float]], title: str) -> None:
    assert _title(plot_unroll_sweep([1, 2, 4], cycles)) == title


@pytest.mark.parametrize("draw", [plot_cycles_by_length, plot_unroll_sweep])
def test_a_series_of_the_wrong_length_is_refused_in_a_sentence(draw: Callable[..., Figure]) -> None:
    with pytest.raises(ValueError, match="'a55' has 1 numbers for 2"):
        draw([1, 2], {"a55": [3]})


def test_a_comparison_has_a_bar_for_each_number_and_none_where_there_is_none() -> None:
    figure = plot_comparison({"a55": {"compiled": 36, "llvm-mca": 51}, "n1": {"compiled": 12}})

    heights = {str(bars.get_label()): [bar.get_height() for bar in bars] for bars in _axes(figure).containers}
    assert heights == {"compiled": [36, 12], "llvm-mca": [51]}


def test_bars_of_a_comparison_do_not_overlap() -> None:
    bars = sorted(_bars(plot_comparison({"a55": {"a": 1, "b": 2, "c": 3}, "n1": {"a": 1, "b": 2, "c": 3}})))

    assert all(left + width <= right for (left, width, _), (right, _, _) in pairwise(bars))


def test_a_comparison_names_the_core_with_the_largest_difference() -> None:
    figure = plot_comparison({"a55": {"compiled": 36, "llvm-mca": 51}, "n1": {"compiled": 12, "llvm-mca": 13}})

    assert _title(figure) == "a55: llvm-mca 51, compiled 36"


@pytest.mark.parametrize(
    ("cycles", "title"),
    [
        ({"a55": {"compiled": 36}, "n1": {}, "v1": {"compiled": 9}}, "compiled: 36 on a55, 9 on v1"),
        ({"a55": {"compiled": 36}, "n1": {"llvm-mca": 12}}, "No core has numbers for two of them"),
    ],
)
def test_a_comparison_names_what_cores_have_numbers_for(cycles: dict[str, dict[str, float]], title: str) -> None:
    assert _title(plot_comparison(cycles)) == title


@pytest.mark.parametrize(("cycles", "says"), [({"a55": {}}, "at least one"), ({"a55": {"a": 0, "b": 1}}, "above 0")])
def test_a_comparison_of_nothing_is_refused(cycles: dict[str, dict[str, float]], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        plot_comparison(cycles)


def test_series_are_told_apart_by_colour_and_by_marker() -> None:
    assert len({look.colour for look in looks(7)}) == len({look.marker for look in looks(7)}) == 7


def test_colours_differ_in_lightness_or_hue_for_red_green_blind_eyes() -> None:
    """Each pair keeps apart in the two channels that protanopes and deuteranopes see: blue, and red with green."""
    seen = [((r + g) / 2, b) for r, g, b in (to_rgb(look.colour) for look in looks(7))]

    assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) > 0.1 for k, a in enumerate(seen) for b in seen[:k])


@pytest.mark.parametrize(("value", "text"), [(0.3125, "0.312"), (6.27, "6.27"), (12.0, "12"), (1234.4, "1,234")])
def test_numbers_are_shown_with_three_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.slow
def test_pictures_choose_no_backend() -> None:
    code = "import sys, sim.plots.stalls; print('matplotlib.pyplot' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
