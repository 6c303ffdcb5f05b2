"""Inputs that are aimed: at steps of the golden reference, at mistakes that the compiled code could have."""

from __future__ import annotations

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import sim.check.aim.aiming
from isa.decode import decode
from isa.evaluate.exact import Evaluation, Occurrence
from isa.instruction import Instruction
from isa.lane import Place
from isa.rows import TABLE
from long.planted.in_sight.kernels import CORPUS
from long.planted.planted import PlantedKernel
from sim import Machine
from sim.call.call import CompiledKernel
from sim.call.prepared import Repeater
from sim.check.aim.aiming import Aimed, aim
from sim.check.aim.boundaries import Ladder, boundary_sets, halfway
from sim.check.aim.candidates import candidates
from sim.check.aim.mistakes import Mistake, mistakes_of, places_of, unlike
from sim.check.aim.power import OperandsMet, Power, TriedMistake
from sim.check.aim.variables import same_in_all, variables_of
from sim.check.check import check_job, jobs_of
from sim.check.vectors import Vectors, make_vectors
from sim.kernels import Domain, Kernel, parse_prototype
from sim.kernels.domain import extreme_sets
from sim.toolchain.compilers import build
from support.command import lanewise
from support.sampled import sampled

KINDS = ("fixup", "round", "shift", "narrowing", "saturation", "tail", "constant", "offset", "sign", "lane")


def kernel_of(prototype: str, golden: Any, **domain: Domain) -> Kernel:
    """A kernel that is never built."""
    name, signature = parse_prototype(prototype)
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, domain=domain)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64", "bool"]
)
def test_rungs_lead_back_to_their_numbers_in_order(dtype: str) -> None:
    numbers = np.sort(Domain().draw(np.dtype(dtype), (500,), np.random.default_rng(1)))
    rungs = Ladder(Domain(), np.dtype(dtype)).rungs(numbers)
    assert (np.diff(rungs) >= 0).all()
    assert (Ladder(Domain(), np.dtype(dtype)).numbers(rungs) == numbers).all()


def test_floats_are_one_rung_from_their_neighbours() -> None:
    numbers = np.array([-1.5, 0, 1e-45, 3], np.float32)
    above = np.nextafter(numbers, np.float32(np.inf))
    ladder = Ladder(Domain(), np.dtype(np.float32))
    assert (ladder.rungs(above) - ladder.rungs(numbers) == 1).all()


def test_both_zeros_are_on_one_rung_which_leads_back_to_the_one_without_a_sign() -> None:
    ladder = Ladder(Domain(), np.dtype(np.float16))
    rungs = ladder.rungs(np.array([-0.0, 0.0], np.float16))
    assert rungs.tolist() == [0, 0]
    assert np.signbit(ladder.numbers(rungs)).tolist() == [False, False]


def test_halfway_between_the_ends_of_64_bits_is_between_them() -> None:
    low, high = np.array([-(2**63)]), np.array([2**63 - 1])
    assert halfway(low, high).tolist() == [-1]


def test_every_two_arguments_are_at_their_extremes_in_all_four_ways() -> None:
    _, signature = parse_prototype("void f(const int8_t a[n], const int16_t b[n], int8_t c, int8_t out[n], size_t n)")
    sets = list(extreme_sets(signature, {"b": Domain(-5, 9)}, 3, 1))
    ends = {"a": (-128, 127), "b": (-5, 9), "c": (-128, 127)}
    for one, other in combinations(ends, 2):
        met = {(int(np.max(inputs[one])), int(np.max(inputs[other]))) for inputs in sets}
        assert met == set(product(ends[one], ends[other]))


def test_boundaries_of_a_division_are_next_to_its_multiples() -> None:
    """floor(x / 1000) steps from 1000 k - 1 to 1000 k."""
    kernel = kernel_of(
        "void f(const int32_t x[n], int32_t out[n], size_t n)", lambda inputs: {"out": inputs["x"] // np.int32(1000)}
    )
    inputs = {"x": np.arange(20, dtype=np.int32), "n": 20}
    before, behind = boundary_sets(kernel, inputs, variables_of(kernel, inputs, {}), np.random.default_rng(1))
    low, high = np.minimum(before["x"], behind["x"]), np.maximum(before["x"], behind["x"])
    assert (high % 1000 == 0).all()
    assert (high - low == 1).all()


def test_a_sum_over_an_axis_comes_as_near_to_a_step_as_its_elements_let_it() -> None:
    """Of one row of products with 1 and -1, that any element can move by one."""

    def golden(inputs: Mapping[str, Any]) -> dict[str, Any]:
        total = (inputs["a"].astype(np.int64) * np.where(np.arange(8) % 2, 1, -1)).sum(axis=1)
        return {"out": (total // 100).astype(np.int32)}

    kernel = kernel_of("void f(const int8_t a[n][8], int32_t out[n], size_t n)", golden)
    inputs = {"a": np.zeros((5, 8), np.int8), "n": 5}
    sets = list(boundary_sets(kernel, inputs, variables_of(kernel, inputs, {}), np.random.default_rng(1)))
    apart = [
        np.abs(golden(one)["out"] - golden(other)["out"]) for one, other in zip(sets[::2], sets[1::2], strict=True)
    ]
    assert (apart[-1] <= 1).all()
    assert (apart[0] == 1).any()


def test_a_kernel_of_one_size_has_candidates_of_it_once() -> None:
    kernel = kernel_of("void f(const int8_t x[4], int8_t out[4])", lambda inputs: {"out": inputs["x"]})
    assert not any(one.is_long for one in candidates(kernel, 1))


def test_candidates_go_down_long_columns_at_the_extremes() -> None:
    """A sum of int8 over an outer axis leaves 16 bits from 257 rows on."""
    kernel = kernel_of(
        "void f(const int8_t x[rows][n], int32_t out[n], size_t rows, size_t n)",
        lambda inputs: {"out": inputs["x"].sum(axis=0, dtype=np.int32)},
        rows=Domain(0, 4096),
    )
    assert any(len(one.inputs["x"]) >= 300 and (one.inputs["x"] == -128).all() for one in candidates(kernel, 1))


def test_a_rounding_multiply_may_be_mistaken_for_its_kin_and_its_lane_for_the_next() -> None:
    found = mistakes_of(0, TABLE.instruction("sqrdmulh", "v0.4s, v1.4s, v2.s[1]"))
    assert {mistake.instruction.text for mistake in found} == {
        "sqdmulh v0.4s, v1.4s, v2.s[1]",
        "sqrdmulh v0.4s, v1.4s, v2.s[0]",
    }


def test_a_choice_may_be_mistaken_for_either_side_and_for_the_one_of_unsigned_numbers() -> None:
    found = mistakes_of(0, TABLE.instruction("csel", "w0, w1, w2, lt"))
    assert {mistake.instruction.text for mistake in found} == {"mov w0, w1", "mov w0, w2", "csel w0, w1, w2, lo"}


def test_what_only_moves_is_no_mistake() -> None:
    assert not list(mistakes_of(0, TABLE.instruction("ldr", "q0, [x0]")))


def number_of(place: Place, rng: np.random.Generator) -> int:
    """What a register can hold: elements at their ends and beside them, or any."""
    if place.file in ("nzcv", "fpcr"):
        return int(rng.integers(16)) if place.file == "nzcv" else 0
    ends = rng.choice(np.array([0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 2**31 - 1, 2**31, 2**32 - 1], np.uint32), 4)
    elements = ends.astype(rng.choice(["<u1", "<u2", "<u4"])).tobytes() * 4
    return int.from_bytes((elements if rng.random() < 0.5 else rng.bytes(16))[: place.bits // 8], "little")


def left_by(instruction: Instruction, registers: Mapping[Place, int]) -> tuple[object, ...]:
    """What the exact evaluator says that an instruction leaves, with what it does to FPSR."""
    evaluation = Evaluation(Occurrence(instruction, registers, {}))
    written = {write.place: evaluation.whole(write) for write in instruction.writes if write.place != Place("fpsr")}
    return written, evaluation.saturated, evaluation.raised


ALWAYS_APART = ("add w0, w0, #1", "movi v0.2d, #0000000000000000")
"""Whose mistakes any numbers show."""


@pytest.mark.parametrize(
    "text",
    [
        "sqrdmulh v0.4s, v1.4s, v2.s[1]", "srshl v0.4s, v1.4s, v2.4s", "sqxtn2 v0.8h, v1.4s",
        "smax v0.2s, v1.2s, v0.2s",
        "sqadd v0.8h, v1.8h, v2.8h", "csel w0, w1, w2, lt", "ssra v0.4s, v1.4s, #31", "asr w0, w1, #3",
        "fcvtns v0.4s, v1.4s", "add w0, w0, #1", "smlal2 v0.4s, v1.8h, v2.8h", "movi v0.2d, #0000000000000000",
    ],
)  # fmt: skip
def test_a_mistake_comes_to_bear_where_the_exact_evaluator_says_so(text: str) -> None:
    rng, answers = np.random.default_rng(1), set[bool]()
    for mistake in mistakes_of(0, TABLE.instruction(*text.split(" ", 1))):
        places = places_of(mistake)
        is_unlike = unlike(mistake, places)
        assert is_unlike is not None
        for _ in range(60):
            registers = {place: number_of(place, rng) for place in places}
            apart = left_by(mistake.original, registers) != left_by(mistake.instruction, registers)
            assert is_unlike(list(registers.values())) == apart, (mistake.instruction.text, registers)
            answers.add(apart)
    assert answers == {True, text in ALWAYS_APART}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ldrsb w0, [x1]", "ldrb w0, [x1]"), ("adds w0, w1, w2", "add w0, w1, w2"), ("mov w0, w1", "ldr w0, [x1]"),
        ("nop ", "str w0, [x1]"), ("nop ", "b #8"),
    ],
)  # fmt: skip
def test_of_memory_and_of_other_places_only_a_run_tells(one: str, other: str) -> None:
    """Whichever of the two it is that reaches them."""
    pair = [TABLE.instruction(*text.split(" ", 1)) for text in (one, other)]
    for original, instruction in (pair, pair[::-1]):
        mistake = Mistake(0, "sign", original, instruction)
        assert unlike(mistake, places_of(mistake)) is None


def test_what_a_repeated_call_executes_is_what_a_recorded_one_does(tmp_path: Path) -> None:
    kernel = next(p for p in CORPUS.kernels() if p.title == "blend_s8 narrow: correct").kernel(tmp_path)
    image = build(kernel.sources[0], "-O2")
    repeater, inputs = Repeater(image, kernel), make_vectors(kernel, 100, 1).inputs[-1]
    call = repeater.prepare(inputs, 5)
    _, executed = repeater.run(call, 100_000)
    recorded = defaultdict[int, dict[tuple[int, ...], None]](dict)
    for one in CompiledKernel(image, kernel, engine="machine").record(kernel.arguments(inputs), 5)[1]:
        recorded[one.pc or 0][tuple(one.occurrence.registers.values())] = None
    found = defaultdict[int, list[tuple[int, ...]]](list)
    for pc, occurrence in repeater.executions(call, executed, repeater.instructions):
        found[pc].append(tuple(occurrence.registers.values()))
    assert found == {pc: list(different) for pc, different in recorded.items()}


@pytest.fixture(scope="module")
def blend(tmp_path_factory: pytest.TempPathFactory) -> tuple[Kernel, Aimed]:
    """A correct kernel, and what is aimed at its build at -O2."""
    planted = next(p for p in CORPUS.kernels() if p.title == "blend_s8 narrow: correct")
    kernel = planted.kernel(tmp_path_factory.mktemp("blend"))
    return kernel, aim(kernel, jobs_of(kernel, ["O2"]), make_vectors(kernel, 100, 3))


@pytest.mark.slow
def test_a_mistake_that_no_call_is_run_with_would_have_shown_nothing(
    blend: tuple[Kernel, Aimed], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every call run, one by one, the same comes out."""
    kernel, once = blend
    monkeypatch.setattr(sim.check.aim.aiming, "unlike", lambda mistake, places: lambda values: True)
    again = aim(kernel, jobs_of(kernel, ["O2"]), make_vectors(kernel, 100, 3))
    assert once.power == again.power
    assert [str(inputs) for inputs in once.inputs] == [str(inputs) for inputs in again.inputs]


def test_a_machine_executes_a_patch_until_another_is_given() -> None:
    machine = Machine()
    machine.memory.map(0x1000, 0x1000, "rx")
    machine.memory.write(0x1000, bytes.fromhex("20042031"))  # adds w0, w1, #0x801: 2049
    machine.x[1] = 1
    results = []
    for patches in ({}, {0x1000: decode(bytes.fromhex("200400 11".replace(" ", "")))}, {}):  # add w0, w1, #1
        machine.patch(patches)
        machine.pc = 0x1000
        machine.run(max_instructions=1)
        results.append(machine.x[0])
    assert results == [2050, 2, 2050]


def faults_of_each_kind() -> list[PlantedKernel]:
    """One planted fault of each kind, of as many sources as there are."""
    every = [planted for planted in CORPUS.kernels() if planted.domain == "narrow" and planted.kind]
    names = list(dict.fromkeys(planted.source.name for planted in every))
    return [
        next(p for name in names[number:] + names[:number] for p in every if (p.source.name, p.kind) == (name, kind))
        for number, kind in enumerate(KINDS)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("planted", sampled(faults_of_each_kind(), 3), ids=lambda planted: planted.title)
def test_a_planted_fault_is_found(planted: PlantedKernel, tmp_path: Path) -> None:
    """By what is aimed alone: most are found by other inputs too."""
    kernel = planted.kernel(tmp_path)
    (job,) = jobs_of(kernel, ["O2"])
    found = aim(kernel, [job], make_vectors(kernel, 100, 1))
    assert check_job(kernel, job, Vectors(found.inputs, found.golden, 1), engine="machine").failure


@pytest.mark.slow
def test_the_same_seed_aims_at_the_same_inputs(blend: tuple[Kernel, Aimed]) -> None:
    kernel, one = blend
    other = aim(kernel, jobs_of(kernel, ["O2"]), make_vectors(kernel, 100, 3))
    assert one.power == other.power
    assert [str(inputs) for inputs in one.inputs] == [str(inputs) for inputs in other.inputs]


def tried(place: str, shown: bool, kind: str = "round") -> TriedMistake:
    return TriedMistake(build="k.c -O2", place=place, kind=kind, instruction="sqrdmulh", instead="sqdmulh", shown=shown)


@pytest.mark.parametrize(
    ("mistakes", "weaknesses"),
    [
        ([tried("k.c:1", True), tried("k.c:1", False)], []),
        ([tried("k.c:1", True)] * 3 + [tried("k.c:2", False)] * 3, ["no input would have shown a mistake at k.c:2"]),
        ([tried("k.c:1", True)] * 3 + [tried("k.c:2", False, "sign")] * 3, []),
        ([tried("k.c:1", True)] * 2 + [tried("k.c:2", False)] * 2, []),  # two may change nothing in any kernel
        (
            [tried("k.c:1", True), *[tried("k.c:1", False)] * 2],
            ["only 1 of 3 mistakes in the code would have been shown"],
        ),
    ],
)
def test_a_check_is_weak_where_a_line_or_most_mistakes_are_hidden(
    mistakes: list[TriedMistake], weaknesses: list[str]
) -> None:
    assert Power(0, mistakes).weaknesses == weaknesses


def test_a_weakness_says_which_operands_no_lane_met_and_whether_any_can() -> None:
    def operands(name: str, met: bool, impossible: str = "") -> OperandsMet:
        return OperandsMet("k.c -O2", "k.c:1", "srshl v0.4s, v0.4s, v1.4s", name, met, impossible)

    met = [operands("tie", False, "v1 is always 0"), operands("saturated high", False), operands("wrapped", True)]
    assert Power(0, [tried("k.c:1", False)] * 3, met).weaknesses[0] == (
        "no input would have shown a mistake at k.c:1; no lane met a tie there, and none can: v1 is always 0; "
        "no lane met the upper bound there, not found within the budget"
    )


STEP = """
#include <stddef.h>
#include <stdint.h>
void step(const int32_t *x, int32_t edge, int32_t *out, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = x[i] > edge;
}
"""
"""It differs from a kernel with >= only where a number is the edge itself."""


def stepping(folder: Path, domain: Mapping[str, Domain], wrong_from: int = -(1 << 31), **given: Any) -> Kernel:
    """A kernel with samples of its own, which never meet the edge; the golden reference is another from an edge on."""
    source = folder / "step.c"
    source.write_text(STEP)

    def golden(inputs: Mapping[str, Any]) -> dict[str, Any]:
        edge = inputs["edge"] if "edge" in inputs else inputs["parameters"]["edge"]
        if edge == 7:
            raise ValueError("7 is no edge")
        at_edge = (inputs["x"] == edge) if edge >= wrong_from else False
        return {"out": ((inputs["x"] > edge) | at_edge).astype(np.int32)}

    def sample(rng: np.random.Generator) -> dict[str, Any]:
        count = int(rng.integers(1, 20))
        return {
            "x": 2 * rng.integers(-5000, 5000, count, dtype=np.int32),
            "edge": 2 * int(rng.integers(-50, 50)) + 1,
            "n": count,
        }

    name, signature = parse_prototype("void step(const int32_t x[n], int32_t edge, int32_t out[n], size_t n)")
    return Kernel(
        name=name, symbol=name, sources=(source,), signature=signature, golden=golden, domain=domain,
        **{"sample": sample, "corners": lambda: iter(()), **given},
    )  # fmt: skip


def aimed(kernel: Kernel) -> tuple[Vectors, Power]:
    """The vectors of a check with what is aimed, and what these tell."""
    vectors = make_vectors(kernel, 100, 1)
    found = aim(kernel, jobs_of(kernel, ["O2"]), vectors)
    return found.added_to(vectors), found.power


X, EDGE = Domain(-10000, 10000), Domain(-99, 99)


def test_a_kernel_with_samples_of_its_own_is_aimed_at_within_its_declared_domain(tmp_path: Path) -> None:
    kernel = stepping(tmp_path, {"x": X, "edge": EDGE})
    vectors, power = aimed(kernel)
    report = check_job(kernel, jobs_of(kernel, ["O2"])[0], vectors, engine="machine")
    assert (report.verdict, power.beyond, power.doubts, power.operands) == ("differs", "", [], [])
    numbers = np.concatenate([inputs["x"] for inputs in vectors.inputs])
    assert (numbers.min() >= X.low, numbers.max() <= X.high) == (True, True)


def test_what_no_domain_declares_is_aimed_within_what_samples_show_and_is_no_verdict(tmp_path: Path) -> None:
    kernel = stepping(tmp_path, {"edge": EDGE})
    vectors, power = aimed(kernel)
    assert not check_job(kernel, jobs_of(kernel, ["O2"])[0], vectors, engine="machine").failure
    shown = np.concatenate([inputs["x"] for inputs in make_vectors(kernel, 100, 1).inputs])
    assert power.beyond == f"x {shown.min()}..{shown.max()}"
    (doubt,) = power.doubts
    assert doubt.startswith("step.c -O2 differs on inputs made of the kernel's own by changes of x, of which no domain")
    (x,), edge = re.findall(r"x\[\d+\]=(-?\d+)", doubt), re.findall(r"edge=(-?\d+)", doubt)
    assert [x] == edge
    assert power.weaknesses == [doubt]


def test_what_the_golden_reference_refuses_is_no_doubt(tmp_path: Path) -> None:
    """It is another only for the edge 7, which it refuses; 5 and 9 stay."""
    kernel = stepping(tmp_path, {"edge": Domain(choices=(5, 7))}, wrong_from=7)
    assert aimed(kernel)[1].doubts == []


def test_numbers_that_arguments_are_made_of_are_aimed_at_and_extents_stay(tmp_path: Path) -> None:
    def arguments(inputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"x": inputs["x"], "edge": inputs["parameters"]["edge"], "n": inputs["parameters"]["count"]}

    def sample(rng: np.random.Generator) -> dict[str, Any]:
        parameters = {"edge": 2 * int(rng.integers(-50, 50)) + 1, "count": (count := int(rng.integers(1, 20)))}
        return {"x": 2 * rng.integers(-5000, 5000, count, dtype=np.int32), "parameters": parameters}

    kernel = stepping(tmp_path, {"x": X, "edge": EDGE}, arguments=arguments, sample=sample)
    vectors, _ = aimed(kernel)
    assert check_job(kernel, jobs_of(kernel, ["O2"])[0], vectors, engine="machine").failure
    assert all(inputs["parameters"]["count"] == len(inputs["x"]) for inputs in vectors.inputs)
    own = make_vectors(kernel, 100, 1).inputs
    edges = {inputs["parameters"]["edge"] for inputs in vectors.inputs[len(own) :]}
    assert edges - {inputs["parameters"]["edge"] for inputs in own}


@pytest.mark.slow
def test_a_number_by_value_that_arguments_are_made_with_is_aimed_at_without_a_domain(tmp_path: Path) -> None:
    """Only an even edge shows the difference, and no sample has one."""

    def arguments(inputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"x": inputs["x"], "edge": inputs["parameters"]["edge"], "n": len(inputs["x"])}

    def sample(rng: np.random.Generator) -> dict[str, Any]:
        return {
            "x": 2 * rng.integers(-50, 50, int(rng.integers(1, 20)), dtype=np.int32),
            "parameters": {"edge": 2 * int(rng.integers(-9, 3)) + 1},
        }

    domain = {"x": Domain(choices=tuple(range(-100, 100, 2)))}
    _, power = aimed(stepping(tmp_path, domain, arguments=arguments, sample=sample))
    assert power.beyond.startswith("edge -17..")
    (doubt,) = power.doubts
    assert doubt.startswith("step.c -O2 differs on inputs made of the kernel's own by changes of edge, of which no")


NUMBERS = np.array([-9, 0, 7, 30], np.int32)
ALWAYS = "so what others would show is not known"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("varied", "domain", "told"),
    sampled(
        [
            ((), {}, "edge = 3, n = 4 and the same x"),
            (("edge",), {}, "n = 4 and the same x"),
            (("x",), {}, "edge = 3 and n = 4"),
            (("x", "edge"), {}, "n = 4"),
            (("x", "edge"), {"n": Domain(4, 4)}, ""),
            (("x", "edge"), {"n": Domain(4, 5)}, "n = 4"),
            (("x", "edge", "n"), {}, ""),
        ],
        3,
    ),
)
def test_what_all_own_input_sets_have_alike_is_a_doubt(
    tmp_path: Path, varied: tuple[str, ...], domain: dict[str, Domain], told: str
) -> None:
    def sample(rng: np.random.Generator) -> dict[str, Any]:
        x = rng.permutation(NUMBERS) if "x" in varied else NUMBERS
        x = x[: rng.integers(1, 5)] if "n" in varied else x
        return {"x": x, "edge": int(rng.integers(-50, 50)) if "edge" in varied else 3, "n": len(x)}

    def as_compiled(inputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"out": (inputs["x"] > inputs["edge"]).astype(np.int32)}

    _, power = aimed(replace(stepping(tmp_path, domain, sample=sample), golden=as_compiled))
    assert [doubt.partition(f", {ALWAYS}")[0] for doubt in power.doubts] == [f"every input set has {told}"] * bool(told)
    assert all(ALWAYS in doubt for doubt in power.weaknesses[: len(power.doubts)])


def test_a_table_that_never_varies_beside_other_arrays_is_no_doubt() -> None:
    kernel = kernel_of(
        "void f(const uint8_t x[n], const uint8_t table[m], uint8_t out[n], size_t n, size_t m)",
        lambda inputs: {"out": inputs["table"][inputs["x"]]},
    )
    table = np.arange(9, dtype=np.uint8)
    cases = [{"x": np.array(x, np.uint8), "table": table, "n": len(x), "m": 9} for x in ([1], [2, 3])]
    assert same_in_all(kernel, cases) == ["m = 9"]
    assert same_in_all(kernel, cases[:1]) == ["n = 1", "m = 9", "the same x", "the same table"]


def test_fields_of_structures_are_aimed_at() -> None:
    """max(x, limits.low) steps with the field."""
    kernel = kernel_of(
        "void f(const int32_t x[n], struct { int32_t low; int32_t high; } limits, int32_t out[n], size_t n)",
        lambda inputs: {"out": np.clip(inputs["x"], inputs["limits"]["low"], inputs["limits"]["high"])},
        **{"limits.low": Domain(-9, 0), "limits.high": Domain(1, 9)},
    )
    inputs = {"x": np.arange(3, dtype=np.int32), "limits": {"low": -1, "high": 2}, "n": 3}
    found = {variable.name: variable for variable in variables_of(kernel, inputs, kernel.domain)}
    assert {name: variable.domain for name, variable in found.items() if "." in name} == kernel.domain
    assert found["limits.high"].put(inputs, np.array([5]))["limits"] == {"low": -1, "high": 5}


@pytest.fixture
def blind(tmp_path: Path) -> Path:
    """The example of `lanewise init kernel`, over a domain in which every product is 0."""
    lanewise("init", "kernel", "blind", "--folder", tmp_path)
    file = tmp_path / "blind.py"
    text = file.read_text()
    file.write_text(text.replace('{"a": Domain(corners=(64, -64)),', '{"a": Domain(0, 0),'))
    return file


@pytest.mark.slow
def test_a_weak_check_prints_the_commands_that_decide_what_it_has_not(
    blind: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.check.aim.aiming.sought", lambda *_: set())  # the solver has no time
    shown = lanewise("check", blind, "--opt", "O2", "--cflags=-DA='b c'", "--vectors", 50).stdout
    commands = re.findall(r"whether an input can: lanewise (prove .*)", shown)
    assert 1 <= len(commands) <= 3
    again = ("check", blind, "--opt", "O2", "--cflags=-DA='b c'", "--vectors", 50, "--json")
    assert json.loads(lanewise(*again).stdout)["questions"] == [f"lanewise {command}" for command in commands]
    for words in map(shlex.split, commands):
        assert words[:6] == ["prove", str(blind), "--opt", "O2", "--cflags", "-DA='b c'"]
        answers = json.loads(lanewise(*words, "--lengths", "4", "--json").stdout)
        assert {answer["verdict"] for answer in answers} <= {"found", "none can"}
        what, _, place = words[words.index("--find") + 1].partition(" at ")
        assert all(answer["what"].startswith(f"{what} at {place} ") for answer in answers)
    assert "whether an input can" not in lanewise("check", blind, "--opt", "O2", "--hold", "n=3").stdout


@pytest.mark.slow
def test_a_pass_that_says_little_is_called_weak(blind: Path) -> None:
    result = lanewise("check", blind, "--opt", "O2")
    assert result.exit_code == 0
    assert "PASSED, weak: the implementation agrees on every lane" in result.stdout
    assert "note: weak: no input would have shown a mistake at" in result.stdout
    assert re.search(r"operands met +\d+ of \d+; ", result.stdout)


@pytest.mark.slow
def test_strict_does_not_accept_a_weak_pass(blind: Path, tmp_path: Path) -> None:
    result = lanewise("check", blind, "--opt", "O2", "--strict", "--json", "--junit", tmp_path / "report.xml")
    data = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (data["passed"], data["weak"]) == (True, True)
    properties = ElementTree.parse(tmp_path / "report.xml").iter("property")
    assert ("verdict", "PASSED, weak") in [(p.get("name"), p.get("value")) for p in properties]
