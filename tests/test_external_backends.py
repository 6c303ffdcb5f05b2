"""What runs a kernel elsewhere beside the golden reference: which lanes are compared, what is outside, what fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sim.check.external import BackendFault, Outside, check_external_backend
from sim.check.report import Mismatch, Outcome
from sim.check.vectors import Vectors
from sim.kernels import Inputs, Kernel, parse_prototype
from sim.kernels.kernel import Outputs

NAME, SIGNATURE = parse_prototype("void f(const int32_t x[n], int32_t out[n], size_t n)")
SIZES = (2, 3, 1, 2)


def golden(inputs: Inputs) -> Outputs:
    return {"out": inputs["x"] + 1}


def one_more(inputs: Inputs) -> Outputs:
    return {"out": inputs["x"] + 2}


KERNEL = Kernel(
    name=NAME, symbol=NAME, sources=(), signature=SIGNATURE, golden=golden, conventions={"one more": one_more}
)


def vectors_of(*sizes: int) -> Vectors:
    inputs = [{"x": np.arange(10 * at, 10 * at + size, dtype=np.int32), "n": size} for at, size in enumerate(sizes)]
    return Vectors(inputs, [golden(one) for one in inputs], 1)


class Elsewhere:
    """Gives the golden numbers of each set with something added, or is not made for it."""

    name, made_as = "board", "rev 2"

    def __init__(self, **given: Any) -> None:
        self._given = given

    def run(self, inputs: Sequence[Inputs]) -> list[Outputs | Outside]:
        found: list[Outputs | Outside] = []
        for number, one in enumerate(inputs):
            what = self._given.get(f"at{number}", 0)
            if isinstance(what, Exception):
                raise what
            found.append(Outside(what) if isinstance(what, str) else {"out": golden(one)["out"] + np.int32(what)})
        return found

    def show(self, inputs: Inputs) -> str:
        return ""


def checked(*sizes: int, **given: Any) -> Outcome:
    return check_external_backend(KERNEL, Elsewhere(**given), vectors_of(*sizes))


def outcome(**given: Any) -> Outcome:
    made: dict[str, Any] = {
        "implementation": "board", "flags": "", "vectors": 0, "lanes_compared": 0, "instructions": 0,
        "forms": frozenset(), "qc_events": 0, "code": "", "made_as": "rev 2",
    }  # fmt: skip
    return Outcome(**(made | given))


def test_all_lanes_that_agree_are_counted_once_and_those_outside_by_reason() -> None:
    assert checked(*SIZES) == outcome(vectors=8, lanes_compared=8)
    found = checked(*SIZES, at0="too short", at2="too narrow", at3="too short")
    assert found == outcome(vectors=3, lanes_compared=3, outside={"too short": 4, "too narrow": 1})
    assert found.verdict == "agrees"


def test_where_nothing_is_compared_it_fails_with_the_reasons() -> None:
    found = checked(2, 1, 1, at0="too short", at1="too narrow", at2="too short")
    said = "nothing was compared: too narrow; too short"
    assert found == outcome(failure=said, outside={"too short": 3, "too narrow": 1})
    assert (checked().failure, checked().verdict) == ("nothing was compared: there are no vectors", "differs")
    assert checked(0).failure == "nothing was compared: there are no vectors"


def test_what_does_not_come_to_its_end_fails_with_its_words() -> None:
    assert checked(*SIZES, at1=BackendFault("no answer")) == outcome(failure="no answer")


def test_the_first_wrong_lane_is_told_with_the_number_of_its_input_set() -> None:
    found = checked(*SIZES, at0="too short", at1=[0, 0, 5], at3=1)
    mismatch = found.mismatch
    assert mismatch is not None
    assert (found.failed_set, found.failure, found.verdict) == (1, str(mismatch), "differs")
    assert (found.vectors, found.lanes_compared, found.outside) == (6, 6, {"too short": 2})
    assert mismatch == Mismatch(
        engine="board", output="out", lane=(2,), got=18, expected=13, inputs="x[2]=12, n=3", lanes_different=3,
        parted_at=None, golden_step=None, agreed=(), instruction="", source="", came_from=(), conventions=(),
        explanation=mismatch.explanation,
    )  # fmt: skip
    later = checked(*SIZES, at0="too short", at2=7)
    assert (later.failed_set, later.mismatch is not None) == (2, True)


def test_a_convention_that_gives_all_outputs_is_told() -> None:
    found = checked(2, 3, at0=1, at1=1).mismatch
    assert found is not None
    assert (found.conventions, found.lanes_different) == (("one more",), 5)


def test_outputs_of_fewer_input_sets_than_were_asked_for_are_no_answer() -> None:
    class Short(Elsewhere):
        def run(self, inputs: Sequence[Inputs]) -> list[Outputs | Outside]:
            return super().run(inputs)[:-1]

    found = check_external_backend(KERNEL, Short(), vectors_of(*SIZES))
    assert found == outcome(failure="it gives 3 results for 4 input sets")
