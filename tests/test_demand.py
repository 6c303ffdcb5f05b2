"""Inputs that are asked of the solver: they are met when they are run, and what none can meet no input meets."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from isa.decode import decode
from isa.errors import LanewiseError
from isa.evaluate.exact import Evaluation, Occurrence
from isa.evaluate.smt import Found, Solver, SolverMissing, Undecided
from isa.evaluate.smt_terms import Untranslatable
from isa.lane import Lane, Place, Read, constant, load, read
from isa.rows import TABLE
from sim.call.prepared import Repeater
from sim.check.aim import demand, solving
from sim.check.aim.aiming import Aimed, aim
from sim.check.aim.demand import has_one_shape, never, sought
from sim.check.aim.mistakes import Mistake, differing
from sim.check.aim.solving import FollowedShape, Sought, cannot_hold, followed, parting
from sim.check.check import Job
from sim.check.operand_classes import OperandClass, class_conditions, vector_arithmetic
from sim.check.vectors import make_vectors
from sim.kernels import Domain, Kernel, Pointer, parse_prototype
from sim.prove.claim import any_of
from sim.symbolic.equality import Equality
from sim.symbolic.following.lookout import Goal
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image

FOUR = "void f(const int32_t x[4], int32_t out[4])"
ANY = "void f(const int32_t x[n], int32_t out[n], size_t n)"
FACTOR = 0x9E3779B1
RARE = f"""
        mov     w3, #{FACTOR & 0xFFFF:#x}
        movk    w3, #{FACTOR >> 16:#x}, lsl #16
        ldr     q0, [x0]
        dup     v1.4s, w3
        movi    v2.4s, #77
        mla     v2.4s, v0.4s, v1.4s
        mov     v0.16b, v2.16b
        srshr   v0.4s, v0.4s, #31
        str     q0, [x1]
        ret
"""
"""Two numbers of 2^32 are a tie of the shift: those that become 2^30 and 3 * 2^30."""
TIES = [int(np.uint32((to - 77) * pow(FACTOR, -1, 2**32) % 2**32).view(np.int32)) for to in (2**30, 3 * 2**30)]
LOOP = """
        mov     x3, #0
1:
        cmp     x3, x2
        b.hs    3f
        ldr     w4, [x0, x3, lsl #2]
        and     w4, w4, #0xfffffffe
        {more}
2:
        fmov    s0, w4
        srshr   v0.2s, v0.2s, #1
        str     s0, [x1, x3, lsl #2]
        add     x3, x3, #1
        b       1b
3:
        ret
"""
"""Without more no number is odd, which would be a tie."""
FROM_THE_HUNDREDTH = "cmp x3, #99\n b.lo 2f\n orr w4, w4, #1"


def kernel_of(prototype: str, golden: Any = dict, **domain: Domain) -> Kernel:
    name, signature = parse_prototype(prototype)
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, domain=domain)


def text_of(code: str) -> str:
    return f".globl f\n.type f, %function\nf:\n{code}\n.size f, . - f\n"


def tie_in(image: Image, mnemonic: str = "srshr") -> Goal:
    """That the only instruction of a mnemonic meets a tie."""
    code, entry = image.code_of("f"), image.symbol("f").address
    instructions = {entry + at: decode(code[at : at + 4], entry + at, TABLE) for at in range(0, len(code), 4)}
    ((pc, found),) = [(pc, one) for pc, one in instructions.items() if one.text.startswith(mnemonic)]
    return Goal(pc, tuple(class_conditions(lane)["tie"] for w in vector_arithmetic(found) for lane in w.lanes))


def inputs_for(code: str, kernel: Kernel, example: Mapping[str, Any]) -> tuple[list[bool], set[Goal]]:
    """Whether each input set that was made meets the tie, and the goals that no input of the shape meets."""
    image = build_text(text_of(code), ".s")
    goal, repeater, met = tie_in(image), Repeater(image, kernel), list[bool]()

    def confirm(_: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Goal]:
        executions = repeater.executions(repeater.prepare(inputs, 1), 1000, {goal.pc})
        met.append(any(Evaluation(occurrence).value(any_of(goal.lanes)) for _, occurrence in executions))
        return [goal]

    return met, sought(kernel, image, [example], [goal], confirm)


def test_one_of_the_two_numbers_of_four_thousand_million_that_are_a_tie_is_found() -> None:
    assert inputs_for(RARE, kernel_of(FOUR), {"x": np.zeros(4, np.int32)}) == ([True], set())


@pytest.mark.slow
def test_that_no_input_of_a_shape_is_a_tie_is_proved_where_it_is_so() -> None:
    domain = {"x": Domain(choices=tuple(range(1000)))}  # none of these is one of the two
    met, impossible = inputs_for(RARE, kernel_of(FOUR, **domain), {"x": np.zeros(4, np.int32)})
    assert (met, len(impossible)) == ([], 1)


def test_inputs_keep_to_the_domain_whatever_else_would_meet_the_goal() -> None:
    image = build_text(text_of(RARE), ".s")
    for tie in TIES:
        made = list[int]()

        def confirm(_: Mapping[str, Any], inputs: Mapping[str, Any], made: list[int] = made) -> list[Goal]:
            made.extend(inputs["x"].tolist())
            return []

        kernel = kernel_of(FOUR, x=Domain(choices=(5, tie, 9)))
        sought(kernel, image, [{"x": np.full(4, 5, np.int32)}], [tie_in(image)], confirm)
        assert sorted(made) == sorted([5, 5, 5, tie])


def test_numbers_in_the_gaps_of_a_domain_are_no_inputs() -> None:
    """Both ties lie between its choices."""
    domain = {"x": Domain(choices=(-(2**31), 5, 2**31 - 1))}
    met, impossible = inputs_for(RARE, kernel_of(FOUR, **domain), {"x": np.full(4, 5, np.int32)})
    assert (met, len(impossible)) == ([], 1)


def test_a_tie_before_the_loop_is_not_excluded() -> None:
    """Of an odd length, which is not that of the example."""
    code = "fmov s1, w2\n srshr v1.2s, v1.2s, #1\n" + LOOP.format(more="nop").replace("srshr", "sshr")
    image, kernel = build_text(text_of(code), ".s"), kernel_of(ANY)
    assert never(kernel, image, {frozenset(): {"x": np.zeros(2, np.int32), "n": 2}}, [tie_in(image)]) == set()


def of_any_length(more: str) -> set[Goal]:
    image, kernel = build_text(text_of(LOOP.format(more=more)), ".s"), kernel_of(ANY)
    return never(kernel, image, {frozenset(): {"x": np.zeros(3, np.int32), "n": 3}}, [tie_in(image)])


def test_that_no_input_of_any_length_is_a_tie_is_proved() -> None:
    assert len(of_any_length("nop")) == 1


def test_a_tie_that_only_the_hundredth_element_can_be_is_not_excluded() -> None:
    """No input of the shapes that are followed has one."""
    code, example = LOOP.format(more=FROM_THE_HUNDREDTH), {"x": np.zeros(3, np.int32), "n": 3}
    assert len(inputs_for(code, kernel_of(ANY), example)[1]) == 1
    assert of_any_length(FROM_THE_HUNDREDTH) == set()


SEEN = ([frozenset[str]()], [frozenset(["x"])], [frozenset[str](), frozenset(["x"])])
"""Which arrays were null in input sets."""


def test_nothing_is_excluded_where_no_input_set_with_or_without_an_array_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image, kernel = build_text(text_of(LOOP.format(more="nop")), ".s"), kernel_of(ANY)
    signature, (x, *others) = kernel.signature, kernel.signature.arguments
    assert isinstance(x, Pointer)
    nullable = replace(kernel, signature=replace(signature, arguments=(replace(x, nullable=True), *others)))
    example, goals = {"x": np.ones(3, np.int32), "n": 3}, [tie_in(image)]
    assert never(kernel, image, {frozenset(): example}, goals)
    assert not never(nullable, image, {frozenset(): example}, goals)
    monkeypatch.setattr(demand, "never_met", lambda *_: set(goals))
    assert [bool(never(nullable, image, dict.fromkeys(seen, example), goals)) for seen in SEEN] == [False, False, True]


def test_what_cannot_be_followed_for_any_length_excludes_nothing() -> None:
    image, kernel = build_text(text_of("srshr v0.2s, v0.2s, #1\n br x3\n"), ".s"), kernel_of(ANY)
    example = {"x": np.zeros(2, np.int32), "n": 2}
    assert never(kernel, image, {frozenset(): example}, [tie_in(image)]) == set()
    assert never(kernel, image, {frozenset(["x"]): example}, [tie_in(image)]) == set()


FIRST, SECOND, THIRD = (Goal(pc, ()) for pc in range(3))


def asked_for(
    monkeypatch: pytest.MonkeyPatch, answers: Mapping[tuple[str, Goal], bool], met: Collection[Goal] = (),
) -> tuple[set[Goal], list[tuple[str, Goal]]]:  # fmt: skip
    """What is excluded by two examples where of each goal it is said that none is met, or that some input meets it;
    running one meets other goals too.  And what was asked.
    """
    seeks = list[tuple[str, Goal]]()

    def follow(kernel: object, image: object, example: Any, goals: object, most: int) -> Any:
        if (example["x"], FIRST) not in answers:
            raise LanewiseError("arguments that are no symbols")

        def seek(goal: Goal, rounds: int) -> Sought:
            seeks.append((example["x"], goal))
            never = answers[example["x"], goal]
            return Sought(None if never else {"x": goal}, never, 1)

        return SimpleNamespace(seek=seek)

    monkeypatch.setattr(demand, "followed", follow)
    nothing: Any = None
    goals = [FIRST, SECOND, THIRD]
    return sought(nothing, nothing, [{"x": "a"}, {"x": "b"}], goals, lambda _, inputs: [inputs["x"], *met]), seeks


NEVER = {(example, goal): True for example in "ab" for goal in (FIRST, SECOND, THIRD)}


def test_a_goal_is_excluded_that_no_example_meets_and_sought_no_more_that_is_met(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert asked_for(monkeypatch, NEVER) == ({FIRST, SECOND, THIRD}, [*NEVER])
    left = [(example, goal) for example, goal in NEVER if (example, goal) != ("b", FIRST)]
    assert asked_for(monkeypatch, {**NEVER, ("a", FIRST): False}) == ({SECOND, THIRD}, left)
    assert asked_for(monkeypatch, {**NEVER, ("a", FIRST): False}, [THIRD]) == (
        {SECOND}, [("a", FIRST), ("a", SECOND), ("b", SECOND)],
    )  # fmt: skip


@pytest.mark.parametrize("followed", ["a", "b"])
def test_where_one_example_is_not_followed_nothing_is_excluded(followed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {(example, goal): never for (example, goal), never in NEVER.items() if example == followed}
    assert asked_for(monkeypatch, answers) == (set(), [*answers])


def test_without_a_solver_nothing_is_sought(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise SolverMissing("there is none")

    monkeypatch.setattr(demand, "solver_version", missing)
    assert asked_for(monkeypatch, NEVER) == (set(), [])


def test_all_inputs_have_one_shape_where_no_extent_varies_and_no_array_may_be_missing() -> None:
    fixed, signature = kernel_of(FOUR), kernel_of(FOUR).signature
    x, *others = signature.arguments
    assert isinstance(x, Pointer)
    nullable = replace(fixed, signature=replace(signature, arguments=(replace(x, nullable=True), *others)))
    of_parts = replace(fixed, arguments=lambda inputs: {**inputs}, sample=lambda rng: {})
    assert [has_one_shape(each) for each in (fixed, kernel_of(ANY), nullable, of_parts)] == [True, False, False, False]


def rare(inputs: Mapping[str, Any]) -> dict[str, Any]:
    made = (inputs["x"].astype(np.int64) * FACTOR + 77).astype(np.int32).astype(np.int64)
    return {"out": (made + 2**30 >> 31).astype(np.int32)}


def aimed(tmp_path: Path, **domain: Domain) -> tuple[Aimed, bool]:
    """What is aimed at the rare tie, and whether some input set has one."""
    source = tmp_path / "f.s"
    source.write_text(text_of(RARE))
    kernel = kernel_of(FOUR, rare, **domain)
    found = aim(kernel, [Job(source, ())], make_vectors(kernel, 100, 1))
    return found, any(np.isin(inputs["x"], TIES).any() for inputs in found.inputs)


def tie_of(found: Aimed) -> tuple[bool, str]:
    (tie,) = [one for one in found.power.operands if one.name == "tie"]
    return tie.met, tie.why_not


def test_a_check_has_the_rare_tie_among_its_inputs_and_would_have_shown_that_it_rounds(tmp_path: Path) -> None:
    found, has_tie = aimed(tmp_path)
    assert (tie_of(found), has_tie) == ((True, ""), True)


@pytest.mark.slow
def test_a_check_says_that_no_input_can_be_a_tie(tmp_path: Path) -> None:
    found, has_tie = aimed(tmp_path, x=Domain(choices=tuple(range(0, 200, 2))))
    assert (tie_of(found), has_tie) == ((False, "none can: no input brings it about"), False)


def test_an_answer_of_the_solver_that_is_wrong_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lies(self: FollowedShape, goal: Goal, rounds: int) -> Sought:
        return Sought(self.arguments.example, False, 1)

    monkeypatch.setattr(FollowedShape, "seek", lies)
    found, has_tie = aimed(tmp_path)
    assert (tie_of(found), has_tie) == ((False, "not found within the budget"), False)


def test_a_solver_without_rounds_leaves_it_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.check.aim.demand.IN_ALL", 0)
    assert tie_of(aimed(tmp_path)[0]) == (False, "not found within the budget")


def test_the_search_of_the_solver_ends_after_so_many_rounds_each_time() -> None:
    a, b = (Read(Place(name), 2, 2**40) for name in "ab")
    ends = []
    for _ in range(2):
        solver = Solver(float("inf"), rounds=20)
        ends.append((type(solver.check((a * b).equals(1_000_003 * 999_983 * 7))), solver.searched))
    assert ends == [(Undecided, 21)] * 2
    assert isinstance(Solver(float("inf"), rounds=20).check((a + b).equals(9)), Found)


@pytest.mark.parametrize("shift", [1, 3, 7])
def test_a_tie_is_what_lies_halfway_between_two_multiples(shift: int) -> None:
    (write,) = vector_arithmetic(instruction := TABLE.instruction("srshr", f"v0.8b, v1.8b, #{shift}"))
    ties = {number for number in range(-128, 128) if is_met("tie", instruction, write.lanes[0], number)}
    assert ties == {number for number in range(-128, 128) if number % 2**shift == 2 ** (shift - 1)}


def test_a_saturating_narrowing_is_at_its_bounds_beyond_them() -> None:
    (write,) = vector_arithmetic(instruction := TABLE.instruction("sqxtn", "v0.8b, v1.8h"))
    numbers = (-129, -128, 127, 128)
    low, high = (
        [is_met(name, instruction, write.lanes[0], number) for number in numbers]
        for name in ("saturated low", "saturated high")
    )
    assert (low, high) == ([True, False, False, False], [False, False, False, True])


def is_met(name: OperandClass, instruction: Any, lane: Any, number: int) -> bool:
    occurrence = Occurrence(instruction, {Place("v", 1): number % 2**16}, {})
    return bool(Evaluation(occurrence).value(class_conditions(lane)[name]))


def shape_with(*conditions: Lane, is_open: str = "") -> tuple[FollowedShape, Goal]:
    """A shape in which a goal is met under these conditions, and which gives what is found as it is."""
    arguments: Any = SimpleNamespace(values=dict, input_set=lambda found: {str(at): n for at, n in found.items()})
    goal = Goal(0, ())
    return FollowedShape(arguments, {goal: conditions}, is_open), goal


X, ELSEWHERE = Read(Place("in.x", 0), 0, 2**20), Read(Place("v", 0), 0, 2**20)


def test_a_goal_is_impossible_where_no_condition_can_hold_and_all_were_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    never, can = X.equals(5) & X.equals(6), X.equals(7)
    shape, goal = shape_with(never)
    assert shape.seek(goal, 50)[:2] == (None, True)
    shape, goal = shape_with(never, can)
    found = shape.seek(goal, 50)
    assert (found.inputs, found.impossible) == ({str(Place("in.x", 0)): 7}, False)
    shape, goal = shape_with()
    assert shape.seek(goal, 50) == Sought(None, True, 0)
    for more, is_open in (((), "not followed"), ((ELSEWHERE.equals(3),), "")):
        shape, goal = shape_with(never, *more, is_open=is_open)
        assert shape.seek(goal, 50)[:2] == (None, False)

    def untranslatable(*_: object) -> None:
        raise Untranslatable("a number that it does not know")

    monkeypatch.setattr(Solver, "check", untranslatable)
    shape, goal = shape_with(never)
    assert shape.seek(goal, 50) == Sought(None, False, 0)


@pytest.mark.parametrize("known", [("x", ""), ("", "x"), ("", "")])
def test_that_two_references_never_part_is_said_where_no_number_was_as_in_the_example(
    known: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = (SimpleNamespace(known=frozenset(name), example={}) for name in known)
    monkeypatch.setattr(solving, "traced_reference", lambda *_: other)
    monkeypatch.setattr(solving, "differences", lambda *_: [("out", 0, Equality(X, X, constant(1)))])
    reference: Any = mine
    assert parting(reference, kernel_of(FOUR), 50) == Sought(None, not any(known), 0)


Y, BYTE = Read(Place("in.y", 0), 0, 2**20), load(read(Place("x", 1)), 1)
NO, MAY = (X + Y).equals(5) & X.equals(6), X.equals(7)


@pytest.mark.parametrize(
    ("lanes", "cannot"),
    [
        ((NO,), True), ((MAY,), False), ((NO, NO), True), ((NO, MAY), False), ((MAY, NO), False),
        ((constant(0), NO), True), ((constant(0),), True), ((constant(0), MAY), False), ((BYTE.equals(7),), False),
        (((BYTE + X).equals(5) & X.equals(6),), True),
    ],
)  # fmt: skip
def test_a_goal_cannot_hold_where_none_of_its_conditions_can_whatever_memory_holds(
    lanes: tuple[Lane, ...], cannot: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The solver has so many rounds, and a minute."""
    begun = list[tuple[float, int]]()

    class Noting(Solver):
        def __init__(self, until: float, rounds: int) -> None:
            begun.append((until - time.monotonic(), rounds))
            super().__init__(until, rounds)

    monkeypatch.setattr(solving, "Solver", Noting)
    assert cannot_hold(Goal(0, lanes), 50) == cannot
    assert all(solving.SECONDS - 5 < seconds <= solving.SECONDS and rounds == 50 for seconds, rounds in begun)


def test_a_goal_that_the_solver_cannot_read_may_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def untranslatable(*_: object) -> None:
        raise Untranslatable("a number that it does not know")

    monkeypatch.setattr(Solver, "check", untranslatable)
    assert not cannot_hold(Goal(0, (MAY,)), 50)


def test_conditions_on_inputs_alone_come_first_and_those_on_none_are_left_out() -> None:
    both, alone, decided = X.equals(ELSEWHERE), X.equals(3), constant(1)
    shape, goal = shape_with(both, ELSEWHERE.equals(3), alone, decided)
    assert shape.conditions(goal) == [alone, decided, both]


@pytest.mark.parametrize(("factor", "can"), [(2, False), (3, True)])
def test_a_goal_is_met_by_what_arguments_are_made_of(factor: int, can: bool) -> None:
    """Twice a number is never odd, which would be a tie."""
    image = build_text(text_of("ldr q0, [x0]\n srshr v0.4s, v0.4s, #1\n str q0, [x1]\n ret"), ".s")
    kernel = replace(
        kernel_of(FOUR), sample=lambda rng: {}, arguments=lambda inputs: {"x": inputs["part"] * np.int32(factor)}
    )
    goal = tie_in(image)
    found = followed(kernel, image, {"part": np.zeros(4, np.int32)}, [goal], 100).seek(goal, 50)
    assert found.impossible != can
    assert (found.inputs is not None and bool((found.inputs["part"] % 2).any())) == can


def test_why_code_was_not_followed_on_all_inputs_is_told() -> None:
    image, kernel = build_text(text_of("ldr w3, [x0]\n str w3, [x1]\n br x3\n"), ".s"), kernel_of(FOUR)
    example, goal = {"x": np.zeros(4, np.int32)}, Goal(0, ())
    assert followed(kernel, image, example, [goal], 100).open
    assert followed(kernel, image, example, [goal], 1).open
    whole = build_text(text_of("ret"), ".s")
    assert followed(kernel, whole, example, [goal], 100).open == ""


def test_two_instructions_differ_where_the_one_saturates_and_the_other_wraps() -> None:
    one, other = (TABLE.instruction(name, "v0.8b, v1.8b, v2.8b") for name in ("sqadd", "add"))
    goal = differing(Mistake(0, "saturate", one, other))
    assert goal is not None
    for a, b in ((100, 27), (100, 28), (-100, -28), (-100, -29)):
        state = Occurrence(one, {Place("v", 1): a % 256, Place("v", 2): b % 256}, {})
        assert bool(Evaluation(state).value(any_of(goal.lanes))) == (not -128 <= a + b <= 127)


def test_instructions_that_leave_numbers_in_other_places_are_not_compared() -> None:
    one, other = TABLE.instruction("add", "x0, x1, x2"), TABLE.instruction("add", "x3, x1, x2")
    assert differing(Mistake(0, "constant", one, other)) is None
