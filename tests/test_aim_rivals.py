"""Rivals of a golden reference: which of them the inputs of a check tell, and inputs that are sought for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from isa.errors import LanewiseError
from sim.check.aim import rivals as rivals_module
from sim.check.aim.candidates import CandidateSet
from sim.check.aim.power import Rival, Rivals
from sim.check.aim.rivals import MOST_LANES, rivals_of
from sim.golden import single_rounding
from sim.golden.registry.conventions import CONVENTIONS
from sim.kernels import Domain, Kernel, Tolerance, parse_prototype

Inputs = Mapping[str, Any]


def requantization(**given: Any) -> Kernel:
    """single_rounding to int8, which is never built."""
    name, signature = parse_prototype(
        "void f(const int32_t x[n], int32_t multiplier, int32_t shift, int8_t out[n], size_t n)"
    )

    def golden(inputs: Inputs) -> dict[str, Any]:
        scaled = single_rounding(inputs["x"], inputs["multiplier"], -inputs["shift"])
        return {"out": np.clip(scaled, -128, 127).astype(np.int8)}

    domain = {"x": Domain(-(1 << 20), 1 << 20), "multiplier": Domain(1 << 30, (1 << 31) - 1), "shift": Domain(0, 20)}
    return Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=golden, domain=domain, **given
    )  # fmt: skip


def of_zeros(kernel: Kernel) -> CandidateSet:
    """An input set that tells nothing."""
    inputs = {"x": np.zeros(4, np.int32), "multiplier": 1 << 30, "shift": 1, "n": 4}
    return CandidateSet(inputs, kernel.expected(inputs))


def by_convention(name: str, inputs: Inputs) -> Any:
    scaled = CONVENTIONS[name].function(inputs["x"], inputs["multiplier"], -inputs["shift"])
    return np.clip(scaled, -128, 127).astype(np.int8)


def test_inputs_are_sought_that_tell_every_convention_which_takes_the_same_numbers() -> None:
    kernel = requantization()
    rivals, added = rivals_of(kernel, [of_zeros(kernel)], [], seed=1)
    assert rivals.recognised == "single_rounding of x by multiplier, right shift shift"
    apart = {rival.name for rival in rivals.rivals if rival.is_apart}
    assert {"double_rounding", "double_rounding_ties_up", "double_rounding_floor", "single_rounding_ties_away"} <= apart
    for name in apart:
        assert any((by_convention(name, one.inputs) != one.golden["out"]).any() for one in added), name
    names = [rival.name for rival in rivals.rivals]
    assert len(names) == len({*names, "single_rounding"}) - 1  # each once, and none its own rival


@pytest.mark.parametrize("is_apart", [True, False])
def test_what_the_solver_finds_is_added_where_it_tells_a_convention(
    is_apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tie of 1.5 tells, a whole number does not; nothing else is tried."""
    kernel = requantization()
    inputs = {"x": np.full(4, -6 if is_apart else 8, np.int32), "multiplier": 1 << 30, "shift": 1, "n": 4}
    solved = CandidateSet(inputs, kernel.expected(inputs))
    monkeypatch.setattr(rivals_module, "_by_solver", lambda *_: ([solved], ""))
    monkeypatch.setattr(rivals_module, "_parting_set", lambda *_: None)
    rivals, added = rivals_of(kernel, [of_zeros(kernel)], [], seed=1)
    assert Rival("single_rounding_ties_away", of_kernel=False, is_apart=is_apart) in rivals.rivals
    assert (solved in added) == is_apart


def test_bounds_and_offsets_that_are_arguments_hide_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rivals_module, "parting", not_followed)
    name, signature = parse_prototype(
        "void f(const int32_t x[n], int32_t multiplier, int32_t shift, int32_t zero_point, int32_t lower, "
        "int32_t upper, int8_t out[n], size_t n)"
    )

    def golden(inputs: Inputs) -> dict[str, Any]:
        scaled = single_rounding(inputs["x"], inputs["multiplier"], -inputs["shift"]) + inputs["zero_point"]
        return {"out": np.minimum(np.maximum(scaled, inputs["lower"]), inputs["upper"]).astype(np.int8)}

    byte = Domain(-128, 127)
    domain = {**requantization().domain, "zero_point": byte, "lower": byte, "upper": byte}
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, domain=domain)
    inputs = {
        "x": np.arange(-40, 40, 2, dtype=np.int32) << 20, "multiplier": 1 << 30, "shift": 19, "zero_point": 3,
        "lower": -100, "upper": 90, "n": 40,
    }  # fmt: skip
    rivals, _ = rivals_of(kernel, [CandidateSet(inputs, kernel.expected(inputs))], [], seed=1)
    assert rivals.recognised.startswith("single_rounding of x by multiplier, right shift shift, then + zero_point, ")
    apart = {rival.name for rival in rivals.rivals if rival.is_apart}
    assert {"double_rounding", "double_rounding_floor", "single_rounding_ties_away"} <= apart


def test_ties_of_a_shift_alone_are_sought() -> None:
    """Ties are all that tells the two: a shift of 9 and more leaves them rare."""
    name, signature = parse_prototype("void f(const int32_t x[n], int32_t shift, int32_t out[n], size_t n)")

    def golden(inputs: Inputs) -> dict[str, Any]:
        return {"out": CONVENTIONS["divide_by_power_of_two_ties_up"].function(inputs["x"], inputs["shift"])}

    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=golden,
        domain={"x": Domain(-(1 << 16), 1 << 16), "shift": Domain(9, 12)},
    )  # fmt: skip
    inputs = {"x": np.zeros(4, np.int32), "shift": 9, "n": 4}
    rivals, _ = rivals_of(kernel, [CandidateSet(inputs, kernel.expected(inputs))], [], seed=1)
    assert Rival("divide_by_power_of_two_ties_away", of_kernel=False, is_apart=True) in rivals.rivals


def test_ties_are_sought_of_two_that_are_alike_in_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the domain, whose numbers are all that are tried; the solver, which would find them too, is not asked."""
    monkeypatch.setattr(rivals_module, "parting", not_followed)
    name, signature = parse_prototype("void f(const int32_t x[n], int32_t shift, int32_t out[n], size_t n)")
    up, away = "divide_by_power_of_two_ties_up", "divide_by_power_of_two_ties_away"

    def golden(inputs: Inputs) -> dict[str, Any]:
        return {"out": CONVENTIONS[up].function(inputs["x"], inputs["shift"])}

    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=golden,
        domain={"x": Domain(-300, 90), "shift": Domain(3, 5)},
    )  # fmt: skip
    inputs = {"x": np.array([x for x in range(-20, 20) if x % 8 != 4], np.int32), "shift": 3, "n": 35}
    rivals, added = rivals_of(kernel, [CandidateSet(inputs, kernel.expected(inputs))], [], seed=1)
    assert Rival(away, of_kernel=False, is_apart=True) in rivals.rivals
    (telling,) = added
    x, shift = telling.inputs["x"], telling.inputs["shift"]
    assert -300 <= x.min() <= x.max() <= 90
    assert set((x % (1 << shift)).tolist()) == {1 << shift - 1}


def not_followed(*_: object) -> None:
    raise LanewiseError("it is not followed")


@pytest.mark.parametrize("domain", [{}, {"x": Domain(0, 800_000)}])
def test_a_drawn_number_without_a_domain_is_changed_too(
    domain: dict[str, Domain], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rivals_module, "parting", not_followed)
    name, signature = parse_prototype("void f(const int32_t x[n], float out[n], size_t n)")

    def from_edge(edge: int) -> Any:
        return lambda inputs: {"out": (inputs["x"] >= edge).astype(np.float32)}

    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=from_edge(100_000), domain=domain,
        conventions={"other": from_edge(100_001)},
    )  # fmt: skip
    inputs = {"x": np.zeros(4, np.int32), "n": 4}
    checked = [CandidateSet(inputs, kernel.expected(inputs))]
    assert [one.is_apart for one in rivals_of(kernel, checked, [], seed=1)[0].rivals] == [True]
    own = replace(kernel, sample=lambda rng: inputs)
    assert [one.is_apart for one in rivals_of(own, checked, [], seed=1)[0].rivals] == [bool(domain)]


def test_what_is_equal_on_the_domain_is_not_told_apart_and_said() -> None:
    """The vector form differs for left shifts only."""
    kernel = requantization()
    rivals, _ = rivals_of(kernel, [of_zeros(kernel)], [], seed=1)
    assert Rival("single_rounding_by_vector", of_kernel=False, is_apart=False) in rivals.rivals
    assert (
        "single_rounding_by_vector"
        in str(rivals).partition("not from: ")[2].partition(" (equal on this domain, or ")[0]
    )


def test_a_tried_input_set_that_tells_a_rival_is_added() -> None:
    kernel = requantization()
    inputs = {"x": np.array([-1], np.int32), "multiplier": 1 << 30, "shift": 0, "n": 1}  # -1/2: up or away
    telling = CandidateSet(inputs, kernel.expected(inputs))
    rivals, added = rivals_of(kernel, [of_zeros(kernel)], [telling], seed=1)
    assert telling.inputs["x"] is added[0].inputs["x"]
    assert Rival("single_rounding_ties_away", of_kernel=False, is_apart=True) in rivals.rivals


@pytest.mark.parametrize(("off", "is_apart"), [(0.25, False), (0.75, True)])
def test_a_rival_within_the_kernel_s_tolerance_is_not_told_apart(off: float, is_apart: bool) -> None:
    name, signature = parse_prototype("void f(const float x[n], float out[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature, tolerance=Tolerance(absolute=0.5),
        golden=lambda inputs: {"out": inputs["x"]}, conventions={"off": lambda inputs: {"out": inputs["x"] + off}},
        sample=lambda rng: {"x": np.ones(4, np.float32), "n": 4},
    )  # fmt: skip
    inputs = kernel.sample(np.random.default_rng(1))
    rivals, _ = rivals_of(kernel, [CandidateSet(inputs, kernel.expected(inputs))], [], seed=1)
    assert [rival.is_apart for rival in rivals.rivals] == [is_apart]


def thresholds(edge: int) -> Any:
    def golden(inputs: Inputs) -> dict[str, Any]:
        if inputs["x"].size and inputs["x"].max() > 900_000:
            raise ValueError("too large")
        return {"out": (inputs["x"] >= edge).astype(np.float32)}

    return golden


@pytest.mark.parametrize(("edge", "is_apart"), [(100_001, True), (100_000, False)])
def test_a_convention_of_the_kernel_is_told_at_its_own_steps(edge: int, is_apart: bool) -> None:
    name, signature = parse_prototype("void f(const int32_t x[n], float out[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=thresholds(100_000),
        domain={"x": Domain(0, 800_000)}, conventions={"other": thresholds(edge)},
    )  # fmt: skip
    inputs = {"x": np.zeros(4, np.int32), "n": 4}
    rivals, added = rivals_of(kernel, [CandidateSet(inputs, kernel.expected(inputs))], [], seed=1)
    assert rivals == Rivals("", [Rival("other", of_kernel=True, is_apart=is_apart, same_with="" if is_apart else "4")])
    assert [bool((one.inputs["x"] == 100_000).any()) for one in added] == [True] * is_apart


def test_the_steps_of_a_rival_are_sought_in_sets_of_four_elements_and_more() -> None:
    seen = set[int]()

    def noting(inputs: Inputs) -> Any:
        if inputs["x"].any():  # none that is checked already
            seen.add(inputs["x"].size)
        return thresholds(100_001)(inputs)

    name, signature = parse_prototype("void f(const int32_t x[n], float out[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=thresholds(100_000),
        domain={"x": Domain(0, 800_000)}, conventions={"noting": noting}, sample=lambda rng: {},
    )  # fmt: skip
    sets = [{"x": np.zeros(size, np.int32), "n": size} for size in (3, 3, 3, 4)]
    rivals_of(kernel, [CandidateSet(inputs, kernel.expected(inputs)) for inputs in sets], [], seed=1)
    assert seen == {4}


def doubled(inputs: Inputs) -> dict[str, Any]:
    return {"out": inputs["x"].astype(np.int64) * 2}


def but_for(number: int, start: int) -> Any:
    """Twice each number, but for one of them from some element on."""

    def golden(inputs: Inputs) -> dict[str, Any]:
        out = inputs["x"].astype(np.int64) * 2
        out[start:] = np.where(inputs["x"][start:] == number, 1, out[start:])
        return {"out": out}

    return golden


def refusing(inputs: Inputs) -> dict[str, Any]:
    raise ValueError(f"never {len(inputs)}")


@pytest.mark.parametrize(
    ("other", "sizes", "is_apart", "same_with"),
    [
        (but_for(770_001, 0), (4,), True, ""),
        (but_for(770_001, 8), (4, 12), True, ""),
        (but_for(770_001, 8), (4,), False, "4"),
        (but_for(800_001, 0), (4, 12), False, "4 or 12"),
        (refusing, (4,), False, ""),
    ],
)
def test_the_solver_finds_the_one_number_that_tells_a_rival_or_that_there_is_none(
    other: Any, sizes: tuple[int, ...], is_apart: bool, same_with: str
) -> None:
    name, signature = parse_prototype("void f(const int32_t x[n], int64_t out[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=doubled, domain={"x": Domain(0, 800_000)},
        conventions={"other": other},
    )  # fmt: skip
    sets = [{"x": np.zeros(size, np.int32), "n": size} for size in sizes]
    rivals, added = rivals_of(kernel, [CandidateSet(one, kernel.expected(one)) for one in sets], [], seed=1)
    assert rivals.rivals == [Rival("other", of_kernel=True, is_apart=is_apart, same_with=same_with)]
    assert [770_001 in one.inputs["x"] for one in added] == [True] * is_apart


def test_where_none_can_be_told_is_said_of_the_shortest_and_the_longest_set_that_are_followed() -> None:
    name, signature = parse_prototype("void f(const int32_t x[n], int64_t out[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=doubled,
        conventions={"same": but_for(1 << 40, 0)}, sample=lambda rng: {},
    )  # fmt: skip
    sets = [{"x": np.zeros(size, np.int32), "n": size} for size in (0, 3, 2, 5, MOST_LANES, MOST_LANES + 1)]
    rivals, _ = rivals_of(kernel, [CandidateSet(inputs, kernel.expected(inputs)) for inputs in sets], [], seed=1)
    assert [rival.same_with for rival in rivals.rivals] == [f"2 or {MOST_LANES}"]
