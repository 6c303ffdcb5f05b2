"""Numbers of cycles and of MHz, as they are given: up to a million, the ends with them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from sim.timing.model.core import cycles_of, megahertz_of


@pytest.mark.parametrize(("given", "number"), [("6.27", Fraction(627, 100)), (1, 1), (1_000_000, 1_000_000)])
@pytest.mark.parametrize("read", [cycles_of, megahertz_of])
def test_a_number_or_its_text_is_taken_exactly(
    read: Callable[[object], Fraction], given: object, number: Fraction | int
) -> None:
    assert read(given) == number


def test_no_cycles_are_a_number_of_them() -> None:
    assert cycles_of(0) == 0


@pytest.mark.parametrize("given", [-1, 1_000_001, "1000000.5"])
def test_cycles_beyond_both_ends_are_refused(given: object) -> None:
    with pytest.raises(ValueError, match=f"^{given} is not between 0 and 1000000$"):
        cycles_of(given)


@pytest.mark.parametrize("given", [0, -1, 1_000_001, "x", None])
def test_what_is_no_frequency_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match=f"^{given!r} is not a number of MHz above 0, up to 1000000$"):
        megahertz_of(given)


@pytest.mark.parametrize("given", ["x", None])
def test_what_is_no_number_is_no_number_of_cycles(given: object) -> None:
    with pytest.raises(ValueError, match=f"^{given!r} is not a number of cycles$"):
        cycles_of(given)
