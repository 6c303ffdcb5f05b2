"""How a wrong lane's arguments are told."""

import numpy as np

from sim.check.compare import arguments_at


def test_of_arrays_like_the_output_only_the_element_is_told() -> None:
    assert arguments_at({"x": np.array([5, 6, 7]), "n": 3}, (1,), (3,)) == "x[1]=6, n=3"


def test_other_arrays_are_on_the_same_line_the_long_ones_by_their_ends() -> None:
    arguments = {"bias": np.arange(-1, 29) * 1000, "table": np.array([[1, 20], [300, 4]])}
    told = arguments_at(arguments, (0,), (64,))
    assert told == "bias=[-1000 0 ... 27000 28000], table=[[1 20] [300 4]]"
