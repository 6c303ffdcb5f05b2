"""The reader of VCD files, and the picture of a pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rtl_models.tools.waveform import UnreadableWaveform, Waves, read_waves
from rtl_models.view.waves import StageTrace, plot_waveform

TEXT = """\
$version by hand $end
$timescale 1ps $end
$scope module top $end
 $var wire 1 ! clk_i $end
 $var wire 8 "a data [7:0] $end
 $scope module unit $end
  $var wire 8 "a data [7:0] $end
  $var wire 8 # lane[0] [7:0] $end
 $upscope $end
 $var wire 1 $ late $end
$upscope $end
$enddefinitions $end
$dumpvars
#0
0!
b00000101 "a
bx #
#5
1!
b11 #
#10
0!
b110 "a
#15
1!
b1x #
x$
"""
CLOCK = (0, 1, None)


@pytest.fixture
def waves(tmp_path: Path) -> Waves:
    (tmp_path / "waves.vcd").write_text(TEXT)
    return read_waves(tmp_path / "waves.vcd")


def test_signals_have_the_names_of_their_scopes(waves: Waves) -> None:
    assert list(waves.signals) == ["top.clk_i", "top.data", "top.unit.data", "top.unit.lane[0]", "top.late"]


def test_a_signal_has_its_bits(waves: Waves) -> None:
    assert waves.signal("data").bits == 8


def test_the_end_of_a_name_finds_the_outermost_signal(waves: Waves) -> None:
    assert [waves.signal(name).name for name in ("data", "unit.data")] == ["top.data", "top.unit.data"]


def test_a_part_of_a_name_finds_nothing(waves: Waves) -> None:
    with pytest.raises(ValueError, match="no signal is called 'ata'"):
        waves.signal("ata")


def test_the_clock_rises_at_its_edges(waves: Waves) -> None:
    assert waves.edges() == [5, 15]


def test_a_value_is_sampled_before_the_edge_that_changes_it(waves: Waves) -> None:
    assert [waves.sampled(name, [5, 15]) for name in ("data", "unit.lane[0]")] == [[5, 6], [None, 3]]


@pytest.mark.parametrize(("time", "value"), [(0, None), (1, None), (6, 3), (15, 3), (16, None)])
def test_unknown_bits_make_a_value_unknown(waves: Waves, time: int, value: int | None) -> None:
    assert waves.signal("lane[0]").before(time) == value


@pytest.mark.parametrize("text", ["", "no waves", "$upscope $end $enddefinitions $end", "$var wire many ! a $end"])
def test_what_is_no_vcd_file_is_refused_with_its_name(text: str, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text(text)
    with pytest.raises(UnreadableWaveform, match=r"other\.txt is no VCD file"):
        read_waves(tmp_path / "other.txt")


def picture(holds: tuple[int, ...]) -> Figure:
    stages = [
        StageTrace("first", (1, 0, 0), [(7, 8, 9), (None, 5, 5)]),
        StageTrace("second", holds, [(1, -22, 3), (4, 5, 6)]),
    ]
    return plot_waveform("A beat", "two stages", {"valid_i": (1, 0, 0)}, stages)


def test_numbers_stand_where_a_beat_is_held() -> None:
    (axes,) = picture((0, 1, 0)).axes
    boxes = [box.get_x() for box in axes.patches if isinstance(box, Rectangle)]
    assert list(zip(boxes, [text.get_text() for text in axes.texts], strict=True)) == [
        (0, "7"),
        (0, "unknown"),
        (1, "-22"),
        (1, "5"),
    ]


def test_rows_are_named_from_the_top() -> None:
    (axes,) = picture((0, 1, 0)).axes
    names = [" ".join(label.get_text().split()) for label in axes.get_yticklabels()]
    assert names == ["clock", "valid_i", "first lane 0", "lane 1", "second lane 0", "lane 1"]


def test_rows_go_down() -> None:
    (axes,) = picture((0, 1, 0)).axes
    assert list(axes.get_yticks()) == sorted(axes.get_yticks(), reverse=True)


def test_signals_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="as many values of each signal as there are cycles"):
        picture((0, 1))
