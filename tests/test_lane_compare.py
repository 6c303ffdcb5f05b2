"""How a wrong lane's arguments are told."""

import numpy as np
import pytest

from sim.check.compare import WHOLE, arguments_at


def test_of_arrays_like_the_output_only_the_element_is_told() -> None:
    assert arguments_at({"x": np.array([5, 6, 7]), "n": 3}, (1,), (3,)) == "x[1]=6, n=3"
    assert arguments_at({"x": np.arange(6).reshape(2, 3)}, (1, 0), (2, 3)) == "x[1][0]=3"


def test_of_a_long_array_what_is_not_the_most_frequent_number_is_told() -> None:
    x = np.full((4, 9), -1)
    x[2, 7], x[0, 0] = 5, 0
    assert arguments_at({"x": x, "n": 36}, (0,), (3,)) == "x[0][0]=0, x[2][7]=5, the others of x -1, n=36"
    assert arguments_at({"x": np.arange(36)}, (0,), (3,)) == "x=[0 1 ... 34 35]"


@pytest.mark.parametrize(
    ("array", "told"),
    [
        ([1, 1, 1, 1, 1, 1, 1, 5], "x=[1 1 1 1 1 1 1 5]"),  # short enough to be shown whole
        ([1, 1, 1, 1, 1, 1, 1, 1, 5], "x[8]=5, the others of x 1"),
        ([1] * 9, "x=[1 1 ... 1 1]"),
        (
            [1] * 9 + [2, 3, 4, 5, 6, 7, 8, 9],
            ", ".join(f"x[{at}]={at - 7}" for at in range(9, 17)) + ", the others of x 1",
        ),
        ([1] * 9 + [2, 3, 4, 5, 6, 7, 8, 9, 10], "x=[1 1 ... 9 10]"),
        ([0.5] * 9 + [2.5], "x[9]=2.5, the others of x 0.5"),
        ([True] * 9 + [False], "x=[True True ... True False]"),
    ],
)
def test_a_long_array_is_told_by_eight_rare_numbers_at_most(array: list[float], told: str) -> None:
    assert arguments_at({"x": np.array(array)}, (0,), (3,)) == told


def test_elements_are_asked_for_by_the_whole_name_and_of_an_array_that_is_shown_whole_by_none() -> None:
    assert arguments_at({"w2": np.arange(10)}, (0,), (3,), ("w2[4]",)) == "w2=[0 1 ... 8 9], w2[4]=4"
    assert arguments_at({"w2": np.arange(8)}, (0,), (3,), ("w2[4]",)) == "w2=[0 1 2 3 4 5 6 7]"


def test_other_arrays_are_on_the_same_line_the_long_ones_by_their_ends() -> None:
    arguments = {"bias": np.arange(-1, 29) * 1000, "table": np.array([[1, 20], [300, 4]])}
    told = arguments_at(arguments, (0,), (64,))
    assert told == "bias=[-1000 0 ... 27000 28000], table=[[1 20] [300 4]]"


def test_of_a_long_array_the_elements_that_are_asked_for_are_shown_too() -> None:
    arguments = {"x": np.arange(64).reshape(32, 2), "short": np.array([4, 5])}
    told = arguments_at(arguments, (0,), (3,), ("x[17][1]", "x[9][0]", "short[1]", "y[1]"))
    assert told == "x=[[0 1] [2 3] ... [60 61] [62 63]], x[9][0]=18, x[17][1]=35, short=[4 5]"


def test_of_many_elements_that_are_asked_for_so_many_are_shown_as_of_an_array_that_is_whole() -> None:
    told = arguments_at({"x": np.arange(1000)}, (0,), (3,), [f"x[{number}]" for number in range(500, 600)])
    assert told.startswith("x=[0 1 ... 998 999], x[500]=500, x[501]=501, ")
    assert told.count("=") == 1 + WHOLE
