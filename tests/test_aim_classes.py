"""What numbers registers can hold, and which classes of operands no input of a kernel can bring about."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from isa.decode import decode
from isa.evaluate.exact import Occurrence
from isa.evaluate.smt import Impossible, Solver, SolverMissing
from isa.lane import Int, Lane, Place, read
from isa.rows import TABLE
from long.planted.held_out.kernels import CORPUS
from sim.call.prepared import Repeater
from sim.check.aim import classes, demand, solving
from sim.check.aim.aiming import IN_VAIN, LOOKED_AT, _Target, aim
from sim.check.aim.classes import EXECUTIONS, ClassesMet, edges_of, goals_of
from sim.check.aim.demand import IN_ALL, ROUNDS
from sim.check.aim.power import OperandsMet, Power
from sim.check.aim.ranges import Elements, Ranges, held
from sim.check.aim.solving import Sought
from sim.check.check import Job, jobs_of
from sim.check.vectors import Vectors, make_vectors
from sim.kernels import Domain, Kernel, parse_prototype
from sim.symbolic.following.lookout import Goal
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image
from sim.toolchain.objects import open_image

PROTOTYPE = "void f(const int32_t x[4], int32_t out[4], int32_t shift, int32_t bound)"
SHIFTED = """
        neg     w2, w2
        dup     v1.4s, w2
        ldr     q0, [x0]
        srshl   v0.4s, v0.4s, v1.4s
        str     q0, [x1]
        ret
"""


def kernel_of(golden: Any = dict, **domain: Domain) -> Kernel:
    name, signature = parse_prototype(PROTOTYPE)
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, domain=domain)


def image_of(code: str) -> Image:
    return build_text(f".globl f\n.type f, %function\nf:\n{code}\n.size f, . - f\n", ".s")


def before(code: str, mnemonic: str, **domain: Domain) -> Mapping[Place, Elements]:
    """What is known before the only instruction of that name."""
    image, kernel = image_of(code), kernel_of(**domain)
    lines = [line.split()[0] for line in code.splitlines() if line.strip() and not line.strip().endswith(":")]
    return Ranges(image, kernel).before(image.symbol("f").address + 4 * lines.index(mnemonic))


def test_an_argument_begins_in_its_domain_and_is_followed_through_arithmetic() -> None:
    found = before(SHIFTED, "srshl", shift=Domain(3, 9))
    assert found[Place("v", 1)] == Elements(32, ((2**32 - 9, 2**32 - 3),) * 4)


def test_a_number_of_either_sign_keeps_its_sign_when_it_is_shifted_to_the_left() -> None:
    code = """
        dup     v1.4s, w2
        shl     v1.4s, v1.4s, #2
        mov     v2.16b, v1.16b
        ret
    """
    assert before(code, "mov", shift=Domain(-2, 1))[Place("v", 1)] == Elements(32, ((-2 << 2, 1 << 2),) * 4)


def test_what_memory_holds_is_not_known() -> None:
    assert before(SHIFTED, "srshl")[Place("v", 0)] == Elements(128, ((0, 2**128 - 1),))


def test_what_comes_from_two_sides_is_between_both() -> None:
    code = """
        mov     w2, #5
        cbz     w3, 1f
        mov     w2, #9
1:      dup     v1.4s, w2
        ret
    """.replace("1:      dup", "1:\n dup")
    assert before(code, "dup")[Place("x", 2)] == Elements(32, ((5, 9),))


def test_a_part_of_what_comes_from_one_side_is_not_all() -> None:
    code = """
        cbz     w3, 1f
        mov     w2, #20
1:
        dup     v1.4s, w2
        ret
    """
    assert before(code, "dup", shift=Domain(0, 9))[Place("x", 2)] == Elements(32, ((0, 20), (0, 2**32 - 1)))


def test_above_a_number_of_32_bits_there_may_be_anything() -> None:
    assert before("ret", "ret", shift=Domain(3, 9))[Place("x", 2)] == Elements(32, ((3, 9), (0, 2**32 - 1)))


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("wanted", range(1, 7))
def test_a_part_of_a_register_is_never_more_than_its_bounds_say(wanted: int, signed: bool) -> None:
    """All contents of registers of up to two elements of two bits, and zeros above."""
    one_element = [(low, high) for low in range(-2, 4) for high in range(low, 4)]
    kind = Int(wanted, signed=signed)
    for bounds in (*((one,) for one in one_element), *product(one_element[::2], one_element[1::3])):
        contents = {
            sum(number % 4 << 2 * at for at, number in enumerate(numbers))
            for numbers in product(*(range(low, high + 1) for low, high in bounds))
        }
        for lsb in (0, 1, 2, 4):
            low, high = held(Elements(2, bounds), lsb, kind)
            numbers = {kind.wrapped(content >> lsb) for content in contents}
            assert kind.low <= low <= min(numbers)
            assert max(numbers) <= high <= kind.high


@pytest.mark.parametrize(
    ("bounds", "lsb", "bits", "signed", "expected"),
    [
        (((1, 3), (4, 4)), 0, 8, False, (1, 3)),
        (((1, 3), (4, 4)), 8, 8, False, (4, 4)),
        (((1, 3), (4, 4)), 16, 8, True, (0, 0)),  # above are zeros
        (((1, 3), (4, 4)), 4, 8, False, (0, 255)),  # across two of them
        (((200, 210),), 0, 8, True, (-56, -46)),
        (((120, 130),), 0, 8, True, (-128, 127)),
        (((-3, 2),), 0, 8, False, (0, 255)),
        (((-3, -1),), 0, 8, False, (253, 255)),
        (((1, 7),), 0, 4, True, (1, 7)),
        (((1, 8),), 0, 4, True, (-8, 7)),
        (((1, 15),), 0, 4, False, (1, 15)),
        (((14, 17),), 0, 4, True, (-2, 1)),
        (((1, 1), (2, 2)), 0, 16, False, (0x0201, 0x0201)),
        (((-1, -1), (0, 0)), 0, 16, True, (255, 255)),
        (((1, 1), (-1, -1)), 0, 16, True, (-255, -255)),
        (((1, 1), (-1, -1), (3, 3)), 0, 32, True, (0x3FF01, 0x3FF01)),
        (((1, 3), (0, 0)), 0, 16, True, (1, 3)),
        (((-3, -1), (0, 0)), 0, 16, True, (253, 255)),
        (((1, 3), (1, 1)), 0, 16, True, (-(2**15), 2**15 - 1)),
        (((1, 3), (0, 4)), 0, 16, False, (0, 2**16 - 1)),
        (((1, 1), (0, 4)), 0, 16, False, (0, 2**16 - 1)),
        (((4, 4), (1, 3)), 8, 16, False, (1, 3)),
    ],
)
def test_a_part_of_a_register_is_what_its_elements_make(
    bounds: tuple[tuple[int, int], ...], lsb: int, bits: int, signed: bool, expected: tuple[int, int]
) -> None:
    assert held(Elements(8, bounds), lsb, Int(bits, signed=signed)) == expected


def test_of_a_register_that_is_not_known_a_part_may_be_anything() -> None:
    assert held(None, 8, Int(4, signed=True)) == (-8, 7)


def test_a_register_that_still_changes_at_the_fifth_coming_may_hold_anything() -> None:
    """A count from 0 by 1: four times what it can hold grows, then nothing is known of it."""
    loop = """
        mov     x2, #0
1:
        nop
        add     x2, x2, #1
        cbnz    x3, 1b
        ret
    """
    assert Place("x", 2) not in before(loop, "nop")
    assert before(loop.replace("add     x2, x2, #1", "add     x4, x2, #1"), "nop")[Place("x", 2)] == Elements(
        64, ((0, 0),)
    )


@pytest.mark.parametrize("what", ["br      x9", ".inst 0xffffffff"])
def test_where_it_is_not_known_where_code_goes_on_nothing_is_known(what: str) -> None:
    code = f"""
        mov     w2, #5
        nop
        {what}
        ret
    """
    assert before(code, "nop") == {}


def test_behind_a_call_nothing_is_known() -> None:
    code = """
        mov     w2, #5
        bl      f
        nop
        ret
    """
    assert (before(code, "nop"), before(code, "bl")[Place("x", 2)]) == ({}, Elements(32, ((5, 5),)))


def test_an_instruction_is_looked_at_until_so_many_different_operands_met_no_more_of_its_classes() -> None:
    instruction = decode(bytes.fromhex("0054a14e"), 0, TABLE)  # srshl v0.4s, v0.4s, v1.4s: of v1 = 0 no tie, no wrap
    met = ClassesMet({0: instruction})

    def look(number: int) -> None:
        met.look([(0, Occurrence(instruction, {Place("v", 0): number, Place("v", 1): 0}, {}))])

    for _ in range(EXECUTIONS):
        look(0)
    assert met.wanted == {0}
    for number in range(EXECUTIONS):
        look(number)
    assert met.wanted == set()


def test_edges_of_comparisons_are_looked_for_and_not_told() -> None:
    instruction = TABLE.instruction("cmhi", "v0.4s, v1.4s, v2.4s")
    met = ClassesMet({0: instruction})

    def left() -> list[str]:
        names = {goal: name for name, goal in edges_of(0, instruction).items()}
        return [names[goal] for goal in met.open_edges()]

    def look(one: int, other: int) -> bool:
        return met.look([(0, Occurrence(instruction, {Place("v", 1): one, Place("v", 2): other}, {}))])

    assert left() == ["equal", "one more", "one less"]
    assert look(6, 5)  # the other lanes are equal
    assert left() == ["one less"]
    assert not look(8, 7)  # which meets what was met
    assert look(1, 2)
    assert left() == []
    image: Any = SimpleNamespace(place_of=lambda pc: "f.c:1", symbols={})
    assert {"true", "false"} <= {one.name for one in met.told("", image)} <= {"true", "false", "wrapped"}
    assert not {*met.open_goals()} & {*met.open_edges()}


def settled(monkeypatch: pytest.MonkeyPatch, bounds: tuple[int, int]) -> tuple[dict[str, str], set[str]]:
    """Why classes of `srshl v0.4s, v0.4s, v1.4s` cannot be met, by name, with counts between bounds; and the others."""
    monkeypatch.setattr(classes, "_impossible", {})
    instruction = decode(bytes.fromhex("0054a14e"), 0, TABLE)
    met, known = ClassesMet({0: instruction}), {Place("v", 1): Elements(32, (bounds,) * 4)}
    ranges: Any = SimpleNamespace(before=lambda pc: known)
    met.settle(ranges)
    image: Any = SimpleNamespace(place_of=lambda pc: "f.c:1")
    never = {one.name: one.why_not for one in met.told("", image) if one.why_not.startswith("none can")}
    return never, {name for goal in met.open_goals() for name, own in goals_of(0, instruction).items() if own == goal}


def test_what_the_solver_excludes_is_told_with_what_registers_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shift to the right neither wraps nor goes to the left, and has ties."""
    never, others = settled(monkeypatch, (-3, -1))
    assert never == dict.fromkeys(["wrapped", "shifted left"], "none can: v1 holds -3..-1")
    assert others == {"tie", "shifted right"}
    never, others = settled(monkeypatch, (0, 0))
    assert never == dict.fromkeys(["tie", "wrapped", "shifted left", "shifted right"], "none can: v1 is always 0")
    assert others == set()


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (((3, 3),) * 4, "v1 is always 3"),
        (((0, 5), (2, 9), (-7, -1)), "v1 holds -7..9"),
        (((0, 5), (-7, -1), (2, 9)), "v1 holds -7..9"),
        (((-128, 0), (1, 127)), ""),
    ],
)
def test_what_a_register_holds_is_told_of_all_its_elements_together(
    bounds: tuple[tuple[int, int], ...], words: str
) -> None:
    assert classes._known(Place("v", 1), {Place("v", 1): Elements(8, bounds)}) == words
    assert not classes._known(Place("v", 2), {Place("v", 1): Elements(8, bounds)})


@pytest.mark.parametrize(
    ("product", "is_asked"),
    [
        (read(Place("x", 1)) * 3, True),
        (Int(8, False).field(read(Place("x", 1)), 0) * Int(8, False).field(read(Place("x", 2)), 0), True),
        (Int(32, False).field(read(Place("x", 1)), 0) * Int(32, False).field(read(Place("x", 2)), 0), False),
    ],
)
def test_of_long_products_of_unknown_numbers_the_solver_is_not_asked(
    product: Lane, is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others have some seconds from now on."""
    given = list[float]()

    class Never:
        def __init__(self, until: float) -> None:
            given.append(until - time.monotonic())

        def check(self, *_: Lane) -> Impossible:
            return Impossible()

    monkeypatch.setattr(classes, "Solver", Never)
    monkeypatch.setattr(classes, "_impossible", {})
    assert classes._is_impossible(product.equals(7)) == is_asked
    assert len(given) == is_asked
    assert all(classes.SECONDS / 2 < seconds <= classes.SECONDS for seconds in given)


def test_without_a_solver_only_that_is_excluded_which_ranges_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise SolverMissing("there is none")

    monkeypatch.setattr(Solver, "check", missing)
    never, others = settled(monkeypatch, (-3, -1))
    assert never.keys() == {"shifted left"}
    assert others == {"tie", "wrapped", "shifted right"}


def test_all_goals_together_have_so_many_rounds_of_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []

    class Shape:
        def seek(self, goal: Goal, rounds: int) -> Sought:
            given.append(rounds)
            return Sought(None, False, rounds)

    monkeypatch.setattr(demand, "followed", lambda *_: Shape())
    goals = [Goal(pc, ()) for pc in range(2 * IN_ALL // ROUNDS)]
    demand.sought(kernel_of(), image_of("ret"), [{}], goals, lambda *_: ())
    assert (max(given), sum(given)) == (ROUNDS, IN_ALL)


def test_the_questions_of_a_goal_share_its_rounds_of_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []

    class Undecided:
        searched = 3

        def __init__(self, until: float, rounds: int) -> None:
            given.append(rounds)

        def check(self, *question: Lane) -> None:
            pass

    monkeypatch.setattr(solving, "Solver", Undecided)
    nothing: Any = None
    assert solving._sought(nothing, [(), (), ()], 10, is_open=False) == Sought(None, False, 9)
    assert given == [10, 7, 4]


def test_what_changes_in_a_loop_may_be_anything() -> None:
    code = """
        mov     w2, #5
1:
        add     w2, w2, #1
        cbnz    w3, 1b
        dup     v1.4s, w2
        ret
    """
    assert Place("x", 2) not in before(code, "dup")


@pytest.mark.parametrize("call", ["bl g", "blr x4"])
def test_a_call_leaves_nothing_known(call: str) -> None:
    code = f"""
        adr     x4, g
        mov     w2, #5
1:
        dup     v1.4s, w2
        {call}
        cbnz    w3, 1b
        ret
    .size f, . - f
g:
        ret
    """
    assert Place("x", 2) not in before(code, "dup")


def test_nothing_is_known_where_a_branch_goes_to_a_computed_address() -> None:
    code = """
        mov     w2, #5
        dup     v1.4s, w2
        br      x3
        ret
    """
    assert before(code, "dup") == {}


def test_what_registers_hold_in_calls_is_what_was_said_of_them(tmp_path: Path) -> None:
    """Of a kernel with vectors, calls of nothing, a loop and a tail that the compiler makes vectors of."""
    planted = next(p for p in CORPUS.kernels() if p.title == "hard_swish_s8 narrow: correct")
    kernel = planted.kernel(tmp_path)
    (job,) = jobs_of(kernel, ["O2"])
    image = open_image(kernel.sources[0], kernel.symbol, *job.flags)
    ranges, repeater = Ranges(image, kernel), Repeater(image, kernel)
    outside, compared = [], 0
    for number, inputs in enumerate(make_vectors(kernel, 100, 1).inputs[20:26]):
        call = repeater.prepare(inputs, number)
        _, executed = repeater.run(call, 100_000)
        for pc, occurrence in repeater.executions(call, executed, repeater.instructions):
            known = ranges.before(pc)
            for place, value in occurrence.registers.items():
                if place in known:
                    bits, bounds = known[place]
                    for at, kind in product(range(len(bounds)), (Int(bits, signed=True), Int(bits, signed=False))):
                        low, high = held(known[place], bits * at, kind)
                        compared += 1
                        if not low <= kind.wrapped(value >> bits * at) <= high:
                            outside.append((hex(pc), place, value))
    assert outside == []
    assert compared > 1000


def power(code: str, golden: Any, path: Path, **domain: Domain) -> Power:
    source = path / "f.s"
    source.write_text(f".globl f\n.type f, %function\nf:\n{code}\n.size f, . - f\n")
    kernel = kernel_of(golden, **domain)
    return aim(kernel, [Job(source, ())], make_vectors(kernel, 100, 1)).power


def operands(code: str, golden: Any, path: Path, **domain: Domain) -> dict[str, OperandsMet]:
    """What is said of the classes of the shift, by name."""
    found = power(code, golden, path, **domain).operands
    return {met.name: met for met in found if met.instruction.startswith("srshl")}


def rounded(inputs: Mapping[str, Any]) -> dict[str, Any]:
    half = (1 << inputs["shift"]) >> 1
    return {"out": (inputs["x"].astype(np.int64) + half >> inputs["shift"]).astype(np.int32)}


def test_an_own_input_set_of_which_no_call_can_be_made_is_passed_by(tmp_path: Path) -> None:
    """It has numbers of another type, which the check says; those behind it are run."""
    source = tmp_path / "f.s"
    source.write_text(f".globl f\n.type f, %function\nf:\n{SHIFTED}\n.size f, . - f\n")
    given = {"out": np.zeros(4, np.int32), "shift": 1, "bound": 0}
    sets = [{**given, "x": np.arange(4, dtype=dtype)} for dtype in (np.int64, np.int32)]
    kernel = replace(kernel_of(rounded, x=Domain(0, 3), shift=Domain(1, 1)), sample=lambda rng: sets[1])
    vectors = Vectors(sets, [kernel.expected(each) for each in sets], 1)
    assert aim(kernel, [Job(source, ())], vectors).power.mistakes


def test_a_tie_is_met_where_the_domain_has_one(tmp_path: Path) -> None:
    assert operands(SHIFTED, rounded, tmp_path, shift=Domain(1, 3))["tie"].met


def test_without_a_shift_no_tie_can_be_met(tmp_path: Path) -> None:
    tie = operands(SHIFTED, rounded, tmp_path, shift=Domain(0, 0))["tie"]
    assert (tie.met, tie.why_not) == (False, "none can: v1 is always 0")


def test_a_right_shift_cannot_wrap_by_the_solver(tmp_path: Path) -> None:
    wrap = operands(SHIFTED, rounded, tmp_path, shift=Domain(1, 3))["wrapped"]
    assert wrap.why_not.startswith("none can: ")


def test_what_is_possible_by_ranges_alone_is_excluded_by_following_the_code(tmp_path: Path) -> None:
    """Memory may hold odd numbers, as far as the ranges of registers know."""
    tie = operands(SHIFTED, rounded, tmp_path, shift=Domain(1, 1), x=Domain(choices=(0, 2, 4)))["tie"]
    assert tie.why_not == "none can: no input brings it about"


def test_of_a_mistake_that_is_shown_it_is_not_said_that_it_changes_nothing(tmp_path: Path) -> None:
    tried = power(SHIFTED, rounded, tmp_path, shift=Domain(1, 3)).mistakes
    (mistake,) = [one for one in tried if one.instead.startswith("sshl ")]
    assert (mistake.kind, mistake.shown, mistake.impossible) == ("round", True, False)


def looked_at(took: int, count: int, finding: Collection[int], is_wanted: bool = True) -> list[int]:
    """The candidates that are looked at, of so many that each take so many instructions; some find a class."""
    seen = list[int]()

    def look(number: int) -> bool:
        seen.append(number)
        return number in finding

    classes = SimpleNamespace(wanted=is_wanted, look=look)
    target: Any = SimpleNamespace(
        classes=classes, _took=dict.fromkeys(range(count), took), _executions=lambda number, wanted: number
    )
    _Target._look(target, range(count))
    return seen


def test_candidates_are_looked_at_for_so_long_and_until_so_many_instructions_found_nothing() -> None:
    quarter = IN_VAIN // 4
    assert looked_at(quarter, 40, []) == [*range(4)]
    assert looked_at(quarter, 40, [2]) == [*range(3 + 4)]
    assert looked_at(quarter, 40, [2, 6]) == [*range(7 + 4)]
    assert looked_at(quarter, 40, [2, 7]) == [*range(3 + 4)]
    assert looked_at(quarter, 40, range(40)) == [*range(LOOKED_AT // quarter)]
    assert looked_at(quarter, 3, []) == [*range(3)]
    assert looked_at(quarter, 40, [], is_wanted=False) == []
