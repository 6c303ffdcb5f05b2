"""Changes that are advised: each made as described, on small cores where cycles can be counted by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from isa.instruction import Instruction
from isa.lane import Place
from isa.rows import TABLE
from sim.cycles import Advice, advise, best_advice, estimate
from sim.machine.machine import Machine
from sim.timing.analysis.advice import LONGEST
from sim.timing.analysis.advice import advise as tried_on
from sim.timing.analysis.edits.changes import (
    carried,
    fused,
    loads_left_out,
    meet,
    pairs_of_loads,
    sums_apart,
    waits_left_out,
)
from sim.timing.analysis.edits.code import CodeEdit, TriedCode, code_of, writer_of
from sim.timing.analysis.edits.dot_products import dot_products
from sim.timing.loops.loop import Loop
from sim.timing.model.stream import Executed, executed
from support.command import lanewise
from support.small_cores import ACCUMULATE, LOAD, MULTIPLY, small_core, stream_of

Places = dict[int, int] | None
CLOSED = ("subs x2, x2, #4", "cbnz x2, #0x1000")


def loop_of(
    *texts: str, loads: dict[int, int] | None = None, stores: dict[int, int] | None = None, stride: int = 16
) -> Loop:
    """A loop of these instructions and its control; every access of 16 bytes moves by `stride`."""
    stream = stream_of(*texts, *CLOSED, loads=loads, stores=stores)
    body = [one._replace(taken=one.instruction.is_branch) for one in stream]
    return Loop(tuple(body), tuple((stride,) * (len(one.loads) + len(one.stores)) for one in body))


def texts(edits: Iterator[CodeEdit]) -> list[tuple[str, list[str]]]:
    """The condition of each, and its instructions without the control."""
    return [(edit.condition, [s.text for s in edit.code.steps if s.text not in CLOSED]) for edit in edits]


def of_kind(tried: list[Advice], kind: str) -> list[Advice]:
    return [one for one in tried if one.kind == kind]


CHAINED = loop_of("mla v2.4s, v1.4s, v3.4s", "mla v2.4s, v4.4s, v3.4s")
"""Two sums in one register: with a latency of 4 an iteration takes 8 cycles."""
SLOW = {ACCUMULATE: {"latency": 4, "uses": "M"}}


def test_sums_in_two_registers_take_half_as_long() -> None:
    (apart,) = of_kind(tried_on(CHAINED, small_core(width=4, classes=SLOW)), "sums apart")
    assert (int(apart.before), int(apart.after), apart.condition) == (8, 4, "if both are added up in the end")


def test_every_second_sum_goes_to_a_register_that_is_free() -> None:
    ((_, changed),) = texts(sums_apart(code_of(CHAINED)))
    assert changed == ["mla v2.4s, v1.4s, v3.4s", "mla v0.4s, v4.4s, v3.4s"]


def test_of_many_sums_every_second_goes_elsewhere_and_rounding_is_told_of_any_that_rounds() -> None:
    product = "mla v2.4s, v1.4s, v3.4s"
    code = code_of(loop_of(product, product, "fmla v2.4s, v1.4s, v3.4s", product, product))
    ((condition, changed),) = texts(sums_apart(code))
    assert [text.split(".")[0] for text in changed] == ["mla v2", "mla v0", "fmla v2", "mla v0", "mla v2"]
    assert condition == "if both are added up in the end, and sums may be rounded in another order"
    (edit,) = sums_apart(code)
    assert edit.what == "every second of 5 sums in v2 goes to v0"


@pytest.mark.parametrize(
    "other", ["add v5.4s, v2.4s, v2.4s", "mov v2.16b, v6.16b", "mla v6.4s, v2.4s, v7.4s", "mov v2.s[0], w1"]
)
def test_sums_that_something_else_reads_or_writes_stay(other: str) -> None:
    texts_of = ["mla v2.4s, v1.4s, v3.4s", other, "mla v2.4s, v4.4s, v3.4s"]
    assert not list(sums_apart(code_of(loop_of(*texts_of))))


def test_interleaving_hides_a_latency_and_says_what_must_hold() -> None:
    one = loop_of("mla v2.4s, v1.4s, v3.4s")
    tried = of_kind(tried_on(one, small_core(width=8, classes=SLOW)), "interleave")
    assert {advice.after for advice in tried} == {Fraction(4, copies) for copies in (2, 3, 4)}
    assert all(advice.condition.startswith("if v2 may be kept") for advice in tried)


def test_unrolling_saves_the_control() -> None:
    core = small_core(width=1)  # four instructions an iteration, of which two are the control
    two = loop_of("add v0.4s, v1.4s, v1.4s", "add v2.4s, v1.4s, v1.4s")
    after = {one.after: one.condition for one in of_kind(tried_on(two, core), "unroll")}
    assert after == {2 + Fraction(2, copies): "" for copies in (2, 3, 4)}


def test_pointers_and_counters_are_not_carried() -> None:
    assert carried(loop_of("ldr q1, [x0], #16", "add v2.4s, v2.4s, v1.4s", loads={0: 0x4000})) == ["v2"]
    assert carried(loop_of("ldr x0, [x0, #8]")) == ["x0"]
    assert carried(loop_of("eor x3, x3, x4")) == ["x3"]


def test_iterations_that_meet_in_memory_are_seen() -> None:
    apart = loop_of("ldr q1, [x0], #16", "str q1, [x1], #16", loads={0: 0x4000}, stores={1: 0x8000})
    behind = loop_of("ldr q1, [x0], #16", "str q1, [x1], #16", loads={0: 0x4000}, stores={1: 0x4010})
    assert (meet(apart, 2, 100), meet(behind, 2, 100)) == (False, True)
    advice = of_kind(tried_on(behind, small_core()), "interleave")[0]
    assert advice.condition == "if no iteration needs what another one stores"


def meet_by_hand(loop: Loop, copies: int, iterations: int) -> bool:
    """Byte by byte, of all that are at once."""
    for first in range(0, copies * -(-iterations // copies), copies):
        together = [loop.iteration(first + copy) for copy in range(copies)]
        stored = [{at + k for one in some for at, size in one.stores for k in range(size)} for some in together]
        touched = [
            {at + k for one in some for at, size in (*one.loads, *one.stores) for k in range(size)} for some in together
        ]
        if any(stored[one] & touched[other] for one, other in permutations(range(copies), 2)):
            return True
    return False


def test_iterations_meet_where_they_touch_the_same_bytes() -> None:
    random, met = Random(7), []
    for _ in range(150):
        addresses = [0x4000 + random.randrange(-40, 40) for _ in range(2)]
        loop = loop_of("ldr q1, [x0]", "str q1, [x1]", loads={0: addresses[0]}, stores={1: addresses[1]})
        strides = [random.choice([-24, -16, -7, 0, 5, 16, 33]) for _ in range(2)]
        loop = replace(loop, strides=((strides[0],), (strides[1],), (), ()))
        copies, iterations = random.randint(2, 4), random.randint(1, 9)
        assert meet(loop, copies, iterations) == meet_by_hand(loop, copies, iterations)
        met.append(meet(loop, copies, iterations))
    assert 20 < sum(met) < 130


@pytest.mark.parametrize(("iterations", "meets"), [(10, False), (11, True)])
@pytest.mark.parametrize("stride", [16, -16])
def test_iterations_that_meet_late_are_seen(iterations: int, meets: bool, stride: int) -> None:
    loaded = {0: 0x4000 + 10 * stride}  # each time, and stored in iteration 10
    loop = loop_of("ldr q1, [x0]", "str q1, [x1]", loads=loaded, stores={1: 0x4000})
    loop = replace(loop, strides=((0,), (stride,), (), ()))
    assert meet(loop, 2, iterations) is meets
    two = [one for one in tried_on(loop, small_core(), 99, iterations) if one.what.startswith("2 iterations at once")]
    assert ["needs what another one stores" in one.condition for one in two] == [meets]


@pytest.mark.parametrize(
    ("first", "second", "pair"),
    [
        ("ldr q1, [x0]", "ldr q2, [x0, #16]", "ldp q1, q2, [x0, #0]"),
        ("ldr q1, [x0, #32]", "ldr q2, [x0, #16]", "ldp q2, q1, [x0, #16]"),
        ("ldr q1, [x0], #16", "ldr q2, [x0], #16", "ldp q1, q2, [x0], #32"),
    ],
)
def test_neighbouring_loads_become_a_pair(first: str, second: str, pair: str) -> None:
    low = 0x4000 if "[x0]" in first else 0x4020
    code = code_of(loop_of(first, second, loads={0: low, 1: low + 16 if low == 0x4000 else low - 16}))
    ((condition, changed),) = texts(pairs_of_loads(code))
    assert (condition, changed) == ("", [pair])
    (edit,) = pairs_of_loads(code)
    assert edit.code.steps[0].executed.loads == ((min(low, 0x4010), 32),)


@pytest.mark.parametrize(
    ("between", "is_paired"),
    [("add x9, x9, #1", True), ("add x9, x0, #1", False), ("cmp x0, x9", False), ("add v9.4s, v0.4s, v0.4s", True)],
)
def test_loads_that_move_their_base_are_a_pair_where_nothing_between_them_reads_it(
    between: str, is_paired: bool
) -> None:
    code = code_of(loop_of("ldr q1, [x0], #16", between, "ldr q2, [x0], #16", loads={0: 0x4000, 2: 0x4010}))
    paired = [("", ["ldp q1, q2, [x0], #32", between])] if is_paired else []
    assert texts(pairs_of_loads(code)) == paired


def test_a_product_is_added_up_where_its_factors_are_written_before_it_or_behind_its_sum() -> None:
    before = ("mov v2.16b, v6.16b", "mul v1.4s, v2.4s, v3.4s", "add v0.4s, v0.4s, v1.4s")
    behind = (*before[1:], "mov v2.16b, v6.16b")
    assert texts(fused(code_of(loop_of(*before)))) == [("", [before[0], "mla v0.4s, v2.4s, v3.4s"])]
    assert texts(fused(code_of(loop_of(*behind)))) == [("", ["mla v0.4s, v2.4s, v3.4s", before[0]])]
    assert not list(fused(code_of(loop_of(*reversed(before[1:])))))  # added in the next iteration
    assert not list(fused(code_of(loop_of(*before[:2]))))  # or not at all


def test_every_product_that_rounds_is_added_up_and_the_condition_told_once() -> None:
    one = ("add x9, x9, #1", "fmul v1.4s, v2.4s, v3.4s", "fadd v0.4s, v0.4s, v1.4s")
    two = ("fmul v4.4s, v2.4s, v3.4s", "fadd v5.4s, v5.4s, v4.4s")
    both = ["fmla v0.4s, v2.4s, v3.4s", "fmla v5.4s, v2.4s, v3.4s"]
    (edit,) = fused(code_of(loop_of(*one, *two)))
    assert texts(iter([edit])) == [
        ("if the products need not be rounded before they are added", ["add x9, x9, #1", *both])
    ]
    assert edit.what == f"{one[1]} and {one[2]} as {both[0]}; {two[0]} and {two[1]} as {both[1]}"


def test_every_pair_is_made_wherever_it_begins() -> None:
    texts_of = ("add x9, x9, #1", "ldr q1, [x0]", "ldr q2, [x0, #16]", "ldr q3, [x0, #32]", "add x8, x8, #1",
                "ldr q4, [x0, #48]")  # fmt: skip
    code = code_of(loop_of(*texts_of, loads={1: 0x4000, 2: 0x4010, 3: 0x4020, 5: 0x4030}))
    first, second = "ldp q1, q2, [x0, #0]", "ldp q3, q4, [x0, #32]"
    assert texts(pairs_of_loads(code)) == [("", ["add x9, x9, #1", first, second, "add x8, x8, #1"])]
    (edit,) = pairs_of_loads(code)
    made = f"ldr q1, [x0] and ldr q2, [x0, #16] as {first}; ldr q3, [x0, #32] and ldr q4, [x0, #48] as {second}"
    assert edit.what == made


@pytest.mark.parametrize(
    ("letter", "size", "offset", "is_paired"),
    [("q", 16, 63 * 16, True), ("q", 16, 64 * 16, False), ("w", 4, 63 * 4, True), ("w", 4, 64 * 4, False),
     ("x", 8, 63 * 8, True), ("d", 8, 63 * 8, True), ("s", 4, 63 * 4, True), ("w", 4, 6, False)],
)  # fmt: skip
def test_a_pair_begins_at_most_63_registers_behind_its_base(
    letter: str, size: int, offset: int, is_paired: bool
) -> None:
    lines = [
        f"{'ldr' if at % size == 0 else 'ldur'} {letter}{at // size % 2 + 1}, [x0, #{at}]"
        for at in (offset, offset + size)
    ]
    code = code_of(stream_of(*lines, loads={0: 0x4000 + offset, 1: 0x4000 + offset + size}))
    code = replace(
        code,
        steps=tuple(
            step._replace(executed=step.executed._replace(loads=((step.executed.loads[0][0], size),)))
            for step in code.steps
        ),
    )
    assert len(list(pairs_of_loads(code))) == is_paired


@pytest.mark.parametrize(
    ("between", "second"),
    [
        ("str q9, [x7]", "ldr q2, [x0, #16]"),
        ("add v5.4s, v2.4s, v2.4s", "ldr q2, [x0, #16]"),
        ("add x0, x0, #64", "ldr q2, [x0, #16]"),
        ("add x9, x9, #1", "ldr q1, [x0, #16]"),
        ("add x9, x9, #1", "ldr q2, [x0, #32]"),
        ("add x9, x9, #1", "ldr q2, [x1, #16]"),
        ("add x9, x9, #1", "ldr d2, [x0, #16]"),
    ],
)
def test_other_loads_stay_apart(between: str, second: str) -> None:
    stores = {1: 0x8000} if between.startswith("str") else None
    code = code_of(loop_of("ldr q1, [x0]", between, second, loads={0: 0x4000, 2: 0x4010}, stores=stores))
    assert not list(pairs_of_loads(code))


def test_a_load_into_its_own_base_is_not_paired() -> None:
    code = code_of(stream_of("ldr x0, [x0]", "ldr x1, [x0, #8]", loads={0: 0x4000, 1: 0x4008}))
    assert not list(pairs_of_loads(code))


@pytest.mark.parametrize(
    ("made", "added", "both"),
    [
        ("mul v1.4s, v2.4s, v3.4s", "add v0.4s, v0.4s, v1.4s", "mla v0.4s, v2.4s, v3.4s"),
        ("mul v1.4s, v2.4s, v3.s[1]", "add v0.4s, v1.4s, v0.4s", "mla v0.4s, v2.4s, v3.s[1]"),
        ("mul v1.4s, v2.4s, v3.4s", "sub v0.4s, v0.4s, v1.4s", "mls v0.4s, v2.4s, v3.4s"),
        ("smull v1.4s, v2.4h, v3.4h", "add v0.4s, v0.4s, v1.4s", "smlal v0.4s, v2.4h, v3.4h"),
        ("ushr v1.4s, v2.4s, #3", "add v0.4s, v0.4s, v1.4s", "usra v0.4s, v2.4s, #3"),
        ("uabd v1.8h, v2.8h, v3.8h", "add v0.8h, v0.8h, v1.8h", "uaba v0.8h, v2.8h, v3.8h"),
    ],
)
def test_what_is_only_added_becomes_one_instruction(made: str, added: str, both: str) -> None:
    assert texts(fused(code_of(loop_of(made, added)))) == [("", [both])]


def test_a_fused_product_of_floating_point_is_not_the_same() -> None:
    ((condition, changed),) = texts(fused(code_of(loop_of("fmul v1.4s, v2.4s, v3.4s", "fadd v0.4s, v0.4s, v1.4s"))))
    assert changed == ["fmla v0.4s, v2.4s, v3.4s"]
    assert "need not be rounded" in condition


@pytest.mark.parametrize(
    "others",
    [
        ("add v0.4s, v0.4s, v1.4s", "add v5.4s, v5.4s, v1.4s"),  # the product is read again
        ("mov v2.16b, v6.16b", "add v0.4s, v0.4s, v1.4s"),  # its factor is written before
        ("add v0.4s, v5.4s, v1.4s",),  # it is not added to what it goes to
        ("sub v0.4s, v1.4s, v0.4s",),  # the sum is taken away from it
        ("add v0.8h, v0.8h, v1.8h",),  # as lanes of another width
        ("add v0.4s, v1.4s, v1.4s",),
    ],
)
def test_other_products_stay(others: tuple[str, ...]) -> None:
    assert not list(fused(code_of(loop_of("mul v1.4s, v2.4s, v3.4s", *others))))


BY_PAIRS = ("smull v3.8h, v1.8b, v2.8b", "smull2 v1.8h, v1.16b, v2.16b", "sadalp v0.4s, v3.8h", "sadalp v0.4s, v1.8h")
BY_HALVES = (
    "umull2 v20.8h, v1.16b, v2.16b", "umull v1.8h, v1.8b, v2.8b",
    "uaddw2 v4.4s, v4.4s, v20.8h", "uaddw v5.4s, v5.4s, v20.4h",
    "uaddw2 v3.4s, v3.4s, v1.8h", "uaddw v6.4s, v6.4s, v1.4h",
)  # fmt: skip
TOGETHER = ("smull v3.8h, v1.8b, v2.8b", "smlal2 v3.8h, v1.16b, v2.16b", "sadalp v0.4s, v3.8h")
LOADED = ("ldr q1, [x0], #16", "ldr q2, [x3], #16")
ADDED_UP = "if the lanes of {} are added up in the end"


@pytest.mark.parametrize(
    ("chain", "dot", "totals", "more"),
    [
        (BY_PAIRS, "sdot v0.4s, v1.16b, v2.16b", [0], ""),
        (BY_HALVES, "udot v4.4s, v1.16b, v2.16b", [4, 5, 3, 6], ""),
        (TOGETHER, "sdot v0.4s, v1.16b, v2.16b", [0], ", and no two products wrap in 16 bits"),
    ],
)
def test_products_of_bytes_that_are_added_up_become_one_instruction(
    chain: tuple[str, ...], dot: str, totals: list[int], more: str
) -> None:
    """On random bytes the lanes of all sums together are the same, whatever they were before."""
    body = loop_of(*LOADED, *chain, loads={0: 0x4000, 1: 0x5000})
    ((condition, changed),) = texts(dot_products(code_of(body)))
    assert condition == ADDED_UP.format(", ".join(f"v{number}" for number in totals)) + more
    assert changed == [*LOADED, dot]
    for seed in range(20):
        sums = []
        for code in (chain, (dot,)):
            _, registers = run_on([one.instruction for one in stream_of(*code)], seed)
            values = [registers[Place("v", number)] for number in totals]
            sums.append(sum(value >> 32 * lane & 0xFFFFFFFF for value in values for lane in range(4)) % 2**32)
        assert sums[0] == sums[1], seed


@pytest.mark.parametrize(
    "chain",
    [
        (*BY_PAIRS, "add v5.4s, v5.4s, v0.4s"),  # a sum is read in the loop
        (*BY_PAIRS, "add v5.8h, v5.8h, v3.8h"),  # a product is
        (BY_PAIRS[0], "smull2 v1.8h, v1.16b, v4.16b", *BY_PAIRS[2:]),  # of other bytes
        (BY_PAIRS[0], "mov v2.16b, v6.16b", *BY_PAIRS[1:]),  # which were written between
        (BY_PAIRS[0], "umull2 v1.8h, v1.16b, v2.16b", *BY_PAIRS[2:]),  # with another sign
        (*BY_PAIRS[:3], "uadalp v0.4s, v1.8h"),
        (*BY_PAIRS[:3], "saddw v0.4s, v0.4s, v1.4h"),  # half of it
        BY_PAIRS[::2],
        (BY_PAIRS[0], BY_PAIRS[0].replace("v3", "v4"), BY_PAIRS[2], BY_PAIRS[2].replace("v3", "v4")),  # of one half
        (*TOGETHER[:2], "sadalp v0.4s, v3.8h", "sadalp v4.4s, v3.8h"),  # twice
        ("smlal v3.8h, v1.8b, v2.8b", *TOGETHER[1:]),  # added to what was there
    ],
)
def test_other_products_of_bytes_stay(chain: tuple[str, ...]) -> None:
    assert not list(dot_products(code_of(loop_of(*LOADED, *chain, loads={0: 0x4000, 1: 0x5000}))))


@pytest.mark.parametrize(
    ("core", "needs"), [("cortex-a72", "dotprod, which cortex-a72 lacks"), ("cortex-a55", "dotprod")]
)
def test_what_a_change_needs_is_said_and_whether_the_core_lacks_it(core: str, needs: str, tmp_path: Path) -> None:
    (tmp_path / "dot.c").write_text(
        "int dot(const signed char *a, const signed char *b, int n)\n"
        "{ int s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; return s; }\n"
    )
    words = ("cycles", tmp_path / "dot.c", "dot", "zeros:256", "zeros:256", "256", "--core", core, "--advise", "--json")
    (made,) = json.loads(lanewise(*words).stdout)["advice"]
    (dot,) = (one for one in made["best"] if one["kind"] == "dot product")
    assert dot["condition"].endswith(f"are added up in the end; needs {needs}")
    assert " as sdot v" in dot["what"]


LINES = (
    "ldr q{0}, [x0, #{1}]", "ldr q{0}, [x0], #16", "ldr d{0}, [x1, #{1}]", "ldr x{0}, [x0, #{1}]",
    "str q{0}, [x1, #{1}]",
    "mul v{0}.4s, v{2}.4s, v{3}.4s", "ushr v{0}.4s, v{2}.4s, #3", "smull v{0}.4s, v{2}.4h, v{3}.4h",
    "uabd v{0}.4s, v{2}.4s, v{3}.4s", "add v{0}.4s, v{0}.4s, v{2}.4s", "add v{0}.4s, v{2}.4s, v{0}.4s",
    "sub v{0}.4s, v{0}.4s, v{2}.4s", "add x{0}, x{0}, #16",
)  # fmt: skip

POINTERS = ("ldr x0", "ldr x1")
MAKERS = ("mul", "ushr", "smull", "uabd")


def run_on(instructions: list[Instruction], seed: int) -> tuple[list[Executed], dict[Place, int]]:
    """What a machine executes of a straight line, and what all vector registers and x0 to x3 hold in the end."""
    random, machine = Random(seed), Machine()
    machine.memory.map(0x1000, 0x1000, "rx")
    machine.memory.map(0x4000, 0x2000, "rw")
    machine.memory.write(0x4000, random.randbytes(0x2000))
    places = [*(Place("v", number) for number in range(32)), *(Place("x", number) for number in range(4))]
    for place in places:
        machine.write(place, random.getrandbits(128) if place.file == "v" else 0x4800)
    machine.patch({0x1000 + 4 * number: one for number, one in enumerate(instructions)})
    machine.pc = 0x1000
    done = [executed(machine.step()) for _ in instructions]
    return done, {place: machine.read(place) for place in places}


@pytest.mark.parametrize("change", [pairs_of_loads, fused])
def test_what_is_said_to_keep_results_keeps_them(change: Callable[[TriedCode], Iterator[CodeEdit]]) -> None:
    """On random straight lines: but for a product that is no longer there, every register holds the same."""
    made = 0
    for seed in range(400):
        random = Random(f"lines {seed}")
        lines = [
            random.choice(LINES).format(random.randrange(4), 16 * random.randrange(4), random.randrange(4), 5)
            for _ in range(12)
        ]
        instructions = [TABLE.instruction(*line.split(" ", 1)) for line in lines if line[:6] not in POINTERS]
        done, before = run_on(instructions, seed)
        for edit in change(code_of(done)):
            assert edit.condition == ""
            made += 1
            steps = [step.executed for step in edit.code.steps]
            again, after = run_on([one.instruction for one in steps], seed)
            assert [one.loads for one in again] == [one.loads for one in steps], lines
            last = {p: one.instruction.form.mnemonic for one in done for p in one.instruction.places_written}
            left = {place for place in before if before[place] != after[place]}
            assert all(change is fused and last[place] in MAKERS for place in left), lines
    assert made > 20


def test_a_load_of_the_same_each_time_moves_before_the_loop() -> None:
    still = loop_of("ldr q1, [x0]", "add v2.4s, v2.4s, v1.4s", loads={0: 0x4000}, stride=0)
    moving = loop_of("ldr q1, [x0]", "add x0, x0, #16", loads={0: 0x4000})
    assert [edit.condition for edit in loads_left_out(code_of(still), 9)] == [""]
    assert [edit.condition for edit in loads_left_out(code_of(moving), 9)] == ["if v1 held it already"]


@pytest.mark.parametrize("stored", [0x3FF0, 0x4010])
def test_a_store_just_beside_what_is_loaded_leaves_it_the_same(stored: int) -> None:
    code = code_of(loop_of("ldr q1, [x0]", "str q2, [x3]", loads={0: 0x4000}, stores={1: stored}, stride=0))
    assert [edit.condition for edit in loads_left_out(code, 9)] == [""]


@pytest.mark.parametrize(
    ("other", "stores"), [("str q2, [x3]", {1: 0x4008}), ("mov v1.16b, v5.16b", {}), ("eor x0, x0, x4", {})]
)
def test_a_load_that_may_change_stays_in_the_loop(other: str, stores: dict[int, int]) -> None:
    code = code_of(loop_of("ldr q1, [x0]", other, loads={0: 0x4000}, stores=stores, stride=0))
    assert [edit.condition for edit in loads_left_out(code, 9)] == ["if v1 held it already"]


@pytest.mark.parametrize(("iterations", "condition"), [(16, ""), (17, "if v1 held it already")])
@pytest.mark.parametrize("stride", [16, -16])
def test_a_load_is_not_the_same_each_time_where_a_store_gets_to_it(
    iterations: int, condition: str, stride: int
) -> None:
    loop = loop_of("ldr q1, [x0]", "str q2, [x3]", loads={0: 0x4000}, stores={1: 0x4000 - 16 * stride})
    loop = replace(loop, strides=((0,), (stride,), (), ()))
    assert [edit.condition for edit in loads_left_out(code_of(loop), iterations)] == [condition]
    told = {one.condition for one in of_kind(tried_on(loop, small_core(), 99, iterations), "fewer loads")}
    assert told == {condition}


@pytest.mark.parametrize(
    ("texts", "strides", "refused"),
    [
        (("ldrb w2, [x1], #1", "cbnz w2, #0x1000"), ((1,), ()), True),
        (("ldr x2, [x1], #8", "add x5, x2, #1", "cbnz x5, #0x1000"), ((8,), (), ()), True),
        (("cbnz x2, #0x1000", "ldr x2, [x1], #8", "cbnz x5, #0x1000"), ((), (8,), ()), False),
        (("ldr x3, [x1], #8", "cbnz x1, #0x1000"), ((8,), ()), False),
        (("ldr q2, [x1], #16", "subs x2, x2, #1", "cbnz x2, #0x1000"), ((16,), (), ()), False),
        (("ldr x2, [sp, #8]", "cbnz x2, #0x1000"), ((0,), ()), False),
    ],
)
def test_a_loop_that_ends_by_what_it_loads_on_its_way_is_not_unrolled(
    texts: tuple[str, ...], strides: tuple[tuple[int, ...], ...], refused: bool
) -> None:
    stream = stream_of(*texts, loads={at: 0x4000 for at, moved in enumerate(strides) if moved})
    loop = Loop(tuple(one._replace(taken=one.instruction.is_branch) for one in stream), strides)
    told = {one.refused for one in of_kind(tried_on(loop, small_core()), "unroll")}
    last, load = texts[-1], texts[0]
    assert told == {f"{last!r} goes by what {load!r} loads: each iteration needs its own" if refused else ""}


@pytest.mark.parametrize("texts", [("add x3, x3, #1", "eor x3, x3, x4"), ("eor x3, x3, x4", "add x3, x3, #1")])
def test_a_register_is_a_counter_where_all_that_writes_it_counts(texts: tuple[str, str]) -> None:
    assert carried(loop_of(*texts)) == ["x3"]


def test_of_a_loop_without_a_branch_the_last_instruction_writes_for_the_first() -> None:
    body = stream_of("add v2.4s, v1.4s, v0.4s", "mul v1.4s, v0.4s, v0.4s")
    assert carried(Loop(tuple(body), ((), ()))) == ["v1"]
    assert writer_of(code_of(body), 0, Place("v", 1)) is None
    assert writer_of(code_of(body), 1, Place("v", 2)) == 0


def test_what_the_last_instruction_of_an_iteration_makes_is_carried_to_the_first_of_the_next() -> None:
    assert carried(loop_of("add v2.4s, v1.4s, v0.4s", "mul v1.4s, v0.4s, v0.4s")) == ["v1"]


def test_an_instruction_is_tried_without_each_wait() -> None:
    code = code_of(loop_of("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v1.4s"))
    ((condition, changed),) = texts(waits_left_out(code, 1))
    assert (condition, changed[1]) == ("if it did not depend on that", "add v2.4s, v3.4s, v3.4s")
    assert not list(waits_left_out(code, 0))


def test_a_wait_costs_what_it_saves() -> None:
    core = small_core(width=4, classes={MULTIPLY: {"latency": 6, "uses": "M"}, LOAD: {"latency": 5, "uses": "L"}})
    code = stream_of("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v1.4s")
    (wait,) = of_kind(tried_on(code, core), "dependency")
    assert (wait.before - wait.after, wait.saved) == (Fraction(1), 1)


def advice(kind: str, gain: int, condition: str = "", refused: str = "") -> Advice:
    after = Fraction(10 - gain)
    return Advice(
        kind=kind, what="", condition=condition, before=Fraction(10), after=after, times=3, refused=refused
    )  # fmt: skip


def test_the_best_of_each_kind_are_advised_three_at_most() -> None:
    tried = [advice("a", 1), advice("b", 4), advice("b", 5, "if"), advice("c", 5), advice("d", 3), advice("e", 0)]
    assert [(one.kind, int(one.gain)) for one in best_advice(tried)] == [("c", 5), ("b", 5), ("d", 3)]


def test_nothing_that_saves_nothing_is_advised() -> None:
    assert best_advice([advice("a", 0), advice("b", -1), advice("c", 0, refused="no")]) == []


def test_a_cycle_is_worth_its_advice() -> None:
    assert [one.kind for one in best_advice([advice("a", 1)])] == ["a"]


def test_code_as_long_as_it_may_be_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.timing.analysis.advice.LONGEST", 2)
    code = stream_of("mul v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v1.4s")
    assert {one.times for one in tried_on(code, small_core(classes={MULTIPLY: {"latency": 6}}))} == {1}
    with pytest.raises(ValueError, match="3 instructions without a loop of equal iterations"):
        tried_on([*code, code[0]], small_core())


def test_code_that_is_too_long_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="no change was tried"):
        tried_on(stream_of("add x9, x9, #1") * (LONGEST + 1), small_core())


DOT = """\
.arch armv8.2-a+dotprod
dot:
    ldr q1, [x0], #16
    sdot v0.4s, v1.16b, v2.16b
    sdot v0.4s, v1.16b, v3.16b
    subs x1, x1, #1
    b.ne dot
"""


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    path = tmp_path / "dot.s"
    path.write_text(DOT)
    return path


def test_what_is_saved_is_that_of_all_iterations(loop: Path) -> None:
    (row,) = estimate(loop, cores=["neoverse-n1"], count=1000).rows
    tried = advise(row.result)
    assert tried
    for one in tried:
        assert one.saved == round(1000 * one.gain)
        assert one.refused or one.before == row.result.loop.cycles_per_iteration  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_call_is_tried_on_its_hottest_loop() -> None:
    (first, *_) = estimate("requantize", cores=["cortex-a55"], length=64).rows
    tried = advise(first.result)
    hottest = first.result.report.hottest
    assert hottest is not None
    assert {one.times for one in tried} == {hottest.iterations}
    assert tried[0].gain > 0


@pytest.mark.slow
def test_the_command_shows_what_must_hold_and_json_all_that_was_tried(loop: Path) -> None:
    shown = lanewise("cycles", loop, "--core", "neoverse-n1", "--advise")
    assert "what would help loop on neoverse-n1" in shown.stdout
    assert "if both are added up in the end" in shown.stdout
    (made,) = json.loads(lanewise("cycles", loop, "--core", "neoverse-n1", "--advise", "--json").stdout)["advice"]
    assert len(made["best"]) <= 3 < len(made["tried"])
    assert {"before", "after", "gain", "saved", "condition", "refused"} <= made["tried"][0].keys()


def test_a_call_without_a_loop_is_tried_as_it_stands() -> None:
    (*_, program) = estimate("requantize", cores=["neoverse-n1"], length=8).rows
    assert program.result.title == "program"
    assert {one.times for one in advise(program.result)} == {1}
