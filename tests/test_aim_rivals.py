"""Rivals of a golden reference: which of them the inputs of a check tell, and inputs that are sought for that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import floor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from isa.errors import LanewiseError
from sim.check.aim import rivals as rivals_module
from sim.check.aim.candidates import CandidateSet
from sim.check.aim.power import Rival, Rivals
from sim.check.aim.rivals import MOST_LANES, STEPS, _first_parting, _parting_set, _values, rivals_of
from sim.check.aim.solving import Sought
from sim.explanation.of_kernel.requantization import KernelLanes, Roles, _of_family
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


def of(kernel: Kernel, *x: int, multiplier: int = 1 << 30, shift: int = 1) -> CandidateSet:
    inputs = {"x": np.array(x, np.int32), "multiplier": multiplier, "shift": shift, "n": len(x)}
    return CandidateSet(inputs, kernel.expected(inputs))


def solver_that_says(monkeypatch: pytest.MonkeyPatch, answer: Callable[[Kernel], Sought]) -> None:
    """Instead of the solver, of which the example of a shape is the first that is checked; nothing else is sought."""
    monkeypatch.setattr(rivals_module, "traced_reference", lambda _, example: SimpleNamespace(example=example))
    monkeypatch.setattr(rivals_module, "parting", lambda mine, rival, rounds: answer(rival))
    monkeypatch.setattr(rivals_module, "_parting_set", lambda *_: None)


@pytest.mark.parametrize(("number", "is_apart"), [(-6, True), (8, False), (1 << 21, False)])
def test_what_the_solver_finds_is_added_where_it_tells_a_convention(
    number: int, is_apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tie of 1.5 tells, a whole number does not, and one that is in no domain is no input."""
    kernel = requantization()
    inputs = {**of_zeros(kernel).inputs, "x": np.full(4, number, np.int32)}
    solver_that_says(monkeypatch, lambda rival: Sought(inputs, False, 1))
    rivals, added = rivals_of(kernel, [of_zeros(kernel)], [], seed=1)
    assert Rival("single_rounding_ties_away", of_kernel=False, is_apart=is_apart) in rivals.rivals
    assert any(one.inputs is inputs for one in added) == is_apart


def test_the_solver_is_asked_for_each_convention_by_what_that_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of both shapes; what it proves is said of each."""
    kernel, asked = requantization(), list[list[list[int]]]()
    sets = [of(kernel, -6, 6, 7, 250), of(kernel, 0)]

    def none_can(rival: Kernel) -> Sought:
        outputs = [rival.expected(one.inputs)["out"] for one in sets]
        asked.append([array.tolist() for array in outputs])
        return Sought(None, True, 1)

    solver_that_says(monkeypatch, none_can)
    rivals, added = rivals_of(kernel, [of_zeros(kernel), of(kernel, 0)], [], seed=1)
    close = [rival for rival in rivals.rivals if not rival.is_apart]
    assert {rival.same_with for rival in close} == {"1 or 4"}
    assert {rivals.recognised.split()[0], *(rival.name for rival in close)} == set(_of_family("scaling"))
    wanted = [[by_convention(rival.name, one.inputs).tolist() for one in sets] for rival in close for _ in range(2)]
    assert (asked, added) == (wanted, [])
    assert [[-2, 2, 2, 63], [0]] in asked  # of the ties, those away from zero


def test_what_the_solver_does_not_know_of_one_shape_is_not_said_of_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, asked = requantization(), list[str]()

    def not_known(rival: Kernel) -> Sought:
        asked.append(rival.name)
        return Sought(None, False, 1)

    solver_that_says(monkeypatch, not_known)
    rivals, _ = rivals_of(kernel, [of_zeros(kernel), of(kernel, 0)], [], seed=1)
    close = [rival for rival in rivals.rivals if not rival.is_apart]
    assert {rival.same_with for rival in close} == {""}
    assert len(asked) == len(close)


def test_where_no_set_that_is_sought_tells_any_the_search_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = requantization()
    solver_that_says(monkeypatch, lambda rival: Sought(None, False, 1))
    monkeypatch.setattr(rivals_module, "_parting_set", lambda *_: of_zeros(kernel))
    rivals, added = rivals_of(kernel, [of_zeros(kernel)], [], seed=1)
    assert not any(rival.is_apart for rival in rivals.rivals)
    assert added == []


def test_a_golden_reference_that_sets_sought_tell_from_all_conventions_is_none_of_them() -> None:
    """It is another at ties alone, and all that is checked has none."""
    kernel = requantization()

    def golden(inputs: Inputs) -> dict[str, Any]:
        is_tie = (
            inputs["x"].astype(np.int64) * inputs["multiplier"] % (1 << 31 + inputs["shift"])
            == 1 << 30 + inputs["shift"]
        )
        return {"out": np.where(is_tie, 5, kernel.golden(inputs)["out"]).astype(np.int8)}

    other = replace(kernel, golden=golden)
    rivals, added = rivals_of(other, [of(other, 0, 4, 9, 101)], [], seed=1)
    assert rivals.recognised == ""
    assert {"single_rounding", "single_rounding_ties_away"} <= {one.name for one in rivals.rivals if one.is_apart}
    assert added


ROLES = Roles(value="x", bias="", multiplier="multiplier", shift="shift", sign=-1, zero_point="", lower="", upper="")


def test_a_convention_is_told_by_the_first_set_that_it_takes_and_gives_something_else_for() -> None:
    """The first has a left shift, which one does not take; of the others only ties tell, of 1.5 and of -1.5."""
    kernel = replace(requantization(), domain={})
    sets = [of(kernel, 1, 2, 3, shift=-2), of(kernel, 4, 6), of(kernel, 4, 8, -6), of(kernel, -6)]
    lanes = KernelLanes(kernel, kernel.signature.outputs[0], [one.inputs for one in sets])
    golden = [one.golden["out"] for one in sets]
    assert _first_parting(lanes, ROLES, "double_rounding_floor", golden) == 1
    assert _first_parting(lanes, ROLES, "single_rounding_ties_away", golden) == 2
    assert _first_parting(lanes, ROLES, "single_rounding", golden) is None


@pytest.mark.parametrize(
    ("given", "numbers", "low", "high"),
    [
        ({}, {"multiplier": 1 << 30, "shift": 3}, -5000, 5000),
        ({}, {"multiplier": 1 << 30, "shift": 3}, -24, 40),  # two steps
        ({}, {"multiplier": 1 << 30, "shift": 3}, -25, 41),
        ({"sign": 1}, {"multiplier": 1 << 30, "shift": -2}, -5000, 5000),
        ({"multiplier": ""}, {"shift": 4}, -5000, 5000),
        ({"multiplier": str(3 << 28), "shift": "5"}, {}, -20_000, 20_000),
        ({"bias": "bias"}, {"multiplier": 1 << 30, "shift": 9, "bias": 100}, -100_000, 100_000),
        ({}, {"multiplier": 0, "shift": 3}, -500, 500),  # as if it were 1
        ({}, {"multiplier": 1 << 30, "shift": 63}, -(2**63), 2**63 - 1),  # a step is 2^63
    ],
)
def test_accumulators_lie_around_every_step_of_a_byte_and_at_the_ends_of_their_domain(
    given: dict[str, Any], numbers: dict[str, int], low: int, high: int
) -> None:
    """In fractions: a step is where what is scaled is halfway between two integers."""
    roles = replace(ROLES, **given)
    constants = {"multiplier": int(roles.multiplier or 1 << 31) if roles.multiplier != "multiplier" else 0}
    multiplier = numbers.get("multiplier", constants["multiplier"])
    shift = numbers["shift"] if roles.shift == "shift" else int(roles.shift)
    factor = multiplier * Fraction(2) ** (roles.sign * shift - 31) or 1
    steps = [Fraction(2 * k + 1, 2) / factor - numbers.get("bias", 0) for k in range(-STEPS, STEPS)]
    around = {floor(step) + by for step in steps for by in (-1, 0, 1, 2)} | {low, low + 1, high - 1, high}
    found = _values(roles, numbers, low, high).tolist()
    assert found == sorted(number for number in around if low <= number <= high)


BOUNDED = (
    "void f(const int32_t x[rows][n], const int32_t bias[n], const int32_t multiplier[n], int32_t shift, "
    "int32_t zero_point, int32_t lower, int32_t upper, int8_t out[rows][n], size_t rows, size_t n)"
)


@pytest.mark.parametrize(("bias", "zero_point"), [((5, 9), (-9, -4)), ((-9, -5), (4, 9)), ((-3, 3), (-3, 3))])
def test_a_set_in_which_two_conventions_part_has_nothing_that_hides_it(
    bias: tuple[int, int], zero_point: tuple[int, int]
) -> None:
    """Every number parts them; offsets are as near to 0 as they may be, bounds as far apart, all channels alike."""
    name, signature = parse_prototype(BOUNDED)
    one, other = "single_rounding", "single_rounding_ties_away"
    seen = list[Inputs]()

    def golden(inputs: Inputs) -> dict[str, Any]:
        seen.append(inputs)
        return {"out": np.zeros(inputs["x"].shape, np.int8)}

    domain = {
        "x": Domain(-5000, 5000), "multiplier": Domain(1 << 30, (1 << 31) - 1), "shift": Domain(2, 6),
        "bias": Domain(*bias), "zero_point": Domain(*zero_point), "lower": Domain(-100, 3), "upper": Domain(-2, 90),
    }  # fmt: skip
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, domain=domain)
    roles = replace(ROLES, bias="bias", zero_point="zero_point", lower="lower", upper="upper")
    output = signature.outputs[0]
    for seed in range(3):
        found = _parting_set(kernel, output, roles, [one, other], [], np.random.default_rng(seed))
        assert found is not None
        inputs = found.inputs
        nearest = {
            name: min(range(low, high + 1), key=abs) for name, (low, high) in (("bias", bias), ("zero", zero_point))
        }
        assert set(inputs["bias"].tolist()) == {nearest["bias"]}
        assert (inputs["zero_point"], inputs["lower"], inputs["upper"]) == (nearest["zero"], -100, 90)
        (multiplier,) = set(inputs["multiplier"].tolist())
        shift = inputs["shift"]
        assert (1 << 30 <= multiplier < 1 << 31, 2 <= shift <= 6) == (True, True)
        sums = inputs["x"].astype(np.int64) + nearest["bias"]
        first, second = (CONVENTIONS[each].function(sums, multiplier, -shift) for each in (one, other))
        assert (first != second).all()


def test_no_set_is_sought_of_what_cannot_be_set() -> None:
    """A scale in floating point, an accumulator that is a step, a number of which a kernel declares no domain."""
    kernel = requantization()
    output, names, rng = (
        kernel.signature.outputs[0],
        ["single_rounding", "single_rounding_ties_away"],
        np.random.default_rng(1),
    )
    assert _parting_set(kernel, output, ROLES, names, [], rng) is not None
    for roles in (replace(ROLES, shift=""), replace(ROLES, value="accumulator"), replace(ROLES, multiplier="other")):
        assert _parting_set(kernel, output, roles, names, [], rng) is None
    own = replace(kernel, sample=lambda rng: {})
    checked = [of_zeros(kernel)]
    assert _parting_set(own, output, ROLES, names, checked, rng) is not None
    assert _parting_set(own, output, ROLES, names, [], rng) is None
    no_shift = replace(own, domain={name: one for name, one in kernel.domain.items() if name != "shift"})
    assert _parting_set(no_shift, output, ROLES, names, checked, rng) is None
    assert _parting_set(no_shift, output, replace(ROLES, shift="1"), names, checked, rng) is not None


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
    assert sum(one is telling for one in added) == 1  # although it tells several
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


def test_a_convention_is_told_where_one_of_several_sets_tells_it_and_ours_where_the_reference_is_one() -> None:
    """A reference that is nothing known has no rivals but its own."""
    name, signature = parse_prototype("void f(const int32_t x[n], int32_t out[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=lambda inputs: {"out": inputs["x"] ^ 0x5A5A},
        conventions={"plus": lambda inputs: {"out": inputs["x"] + np.int32(0x5A5A)}}, sample=lambda rng: {},
    )  # fmt: skip
    numbers = np.arange(1 << 16, dtype=np.int32)
    alike = numbers[numbers & 0x5A5A == 0]  # those to which it may be added as well
    sets = [{"x": some, "n": len(some)} for some in (alike[:40], alike[40:80], numbers[:40])]
    checked = [CandidateSet(inputs, kernel.expected(inputs)) for inputs in sets]
    assert rivals_of(kernel, checked, [], seed=1) == (Rivals("", [Rival("plus", of_kernel=True, is_apart=True)]), [])


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


def test_the_steps_of_a_rival_are_sought_in_sets_of_four_elements_if_there_are_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rivals_module, "parting", not_followed)
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
    sets = [{"x": np.zeros(size, np.int32), "n": size} for size in (3, 0, 3, 3, 4)]
    checked = [CandidateSet(inputs, kernel.expected(inputs)) for inputs in sets]
    for seed in range(8):
        rivals_of(kernel, checked, [], seed)
    assert seen == {4}
    for seed in range(8):
        rivals_of(kernel, checked[:2], [], seed)
    assert seen == {3, 4}


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
