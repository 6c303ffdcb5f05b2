"""`core128`: random words against Machine, Unicorn and the pipeline of sim.timing, and what stops it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import cycle, pairwise
from pathlib import Path

import numpy as np
import pytest

from rtl_models.cores.core128.calls import core_call, verdict_of
from rtl_models.cores.core128.comparison import differences, emulator_differences, expected_cycles
from rtl_models.cores.core128.configuration import Core128, NotBuildable, configurations
from rtl_models.cores.core128.decoder import classes_of
from rtl_models.cores.core128.design import NO_REGISTER, PC_REGISTER, Core128Program, Core128Run, simulate, simulator
from rtl_models.cores.core128.random_programs import CODE_BASE, DATA_BASE, RandomRun, RandomWords, random_runs
from rtl_models.cores.core128.rows import CoreRow, all_rows, row_of
from rtl_models.cores.core128.units import GROUPS, UNITS, UnitName, numbered, units_of
from rtl_models.formal.core_rows import RowClaims, decided_row, design_of_rows
from rtl_models.formal.equations.written import SubjectSources, derive_equations
from sim.call.kernel_image import open_kernel
from sim.cycles.typical import typical_arguments
from sim.kernels import built_in_kernel
from sim.timing.model.core_file import load_core
from sim.toolchain.tools import cache_directory
from support.core128_mutants import SHARES, FewMutants, mutants
from support.core128_mutants import planted as planted_mutants

rtl = pytest.mark.rtl
STOP = CODE_BASE + 64


@cache
def lane128() -> Path:
    return simulator(Core128(core=load_core("lane128")), purpose="bench")


def run_words(*words: int, registers: dict[int, int] | None = None) -> Core128Run:
    """Words from the first address on, then the address to stop at."""
    code = b"".join(word.to_bytes(4, "little") for word in words)
    given = {PC_REGISTER: CODE_BASE, **(registers or {})}
    data = {DATA_BASE: bytes(64)}
    program = Core128Program(CODE_BASE, code.ljust(64, b"\0"), data, given, CODE_BASE + 4 * len(words), 200)
    return simulate(lane128(), [program])[0]


def issues(run: Core128Run) -> list[int]:
    return [int(commit["issue"]) for commit in run.commits]


@pytest.mark.slow
@rtl
def test_random_words_are_what_machine_and_unicorn_say_in_the_cycles_of_lane128() -> None:
    runs = list(random_runs(RandomWords(1), seed=1, count=1500, length=30))
    found = [text for run in runs for text in emulator_differences(run.program, run.due)]
    for run, given in zip(runs, simulate(lane128(), [run.program for run in runs]), strict=True):
        found += differences(run.program, run.due, given, load_core("lane128"))
    assert found == []
    assert {run.due.error for run in runs} == {"", "word", "unaligned", "unmapped", "fetch"}


@pytest.mark.slow
def test_a_random_program_never_returns_to_words_that_it_executed() -> None:
    """ADR X0, #0 and BR X0 lead back, where the next word would replace the first: that branch is left out."""

    class Chosen(RandomWords):
        def __init__(self) -> None:
            super().__init__(1)
            self._next = cycle([0x10000000, 0xD61F0000, 0x8B010021])

        def word(self) -> int:
            return next(self._next)

    (run,) = random_runs(Chosen(), seed=1, count=9, length=9)
    places = [step.pc for step in run.due.steps]
    assert (len(places) >= 9, places) == (True, sorted(set(places)))
    assert emulator_differences(run.program, run.due) == []


@pytest.mark.slow
def test_random_words_add_to_an_accumulator_that_a_pair_of_loads_writes_second() -> None:
    """The words after LDP of vectors; half of them are chosen so."""
    chosen = RandomWords(1)
    words = [chosen.word() for _ in range(10_000)]
    of_two_vectors = (pair for pair in pairwise(words) if pair[0] & 0xFC40_0000 == 0xAC40_0000)  # LDP and LDNP
    rows = [(row_of(pair), row_of(word), word & 31 == pair >> 10 & 31) for pair, word in of_two_vectors]
    met = [
        units_of(row)[0] in GROUPS and is_second
        for before, row, is_second in rows
        if before is not None and before.form.startswith("ldp q") and row is not None
    ]
    assert len(met) > 20
    assert 0.3 < sum(met) / len(met) < 0.7


@pytest.mark.slow
@rtl
def test_words_that_are_illegal_by_one_bit_stop_it() -> None:
    """Each is a row's word but for one bit."""
    chosen = RandomWords(3)
    words = [chosen.illegal() for _ in range(500)]
    assert all(any(row_of(word ^ 1 << bit) for bit in range(32)) for word in words)
    assert {run_words(word).error for word in words} == {"word"}


@cache
def one_run() -> tuple[RandomRun, Core128Run]:
    """Random words, and what the core does with them, which is what is due."""
    (run,) = random_runs(RandomWords(2), seed=2, count=150, length=150)
    (given,) = simulate(lane128(), [run.program])
    assert differences(run.program, run.due, given, load_core("lane128")) == []
    return run, given


@pytest.mark.slow
@rtl
def test_the_random_check_notices_another_core() -> None:
    """What issues in the cycles of lane128 does not do so in those of a core with other latencies."""
    run, given = one_run()
    assert any("issues at" in text for text in differences(run.program, run.due, given, configurations()["uneven"]))


@rtl
@pytest.mark.parametrize(
    ("field", "bit", "says"),
    [
        ("pc", 2, "is committed as"),
        ("issue", 0, "issues at"),
        ("ready", 3, "is ready at"),
        ("first", 31, "gives register"),
        ("first_high", 63, "gives register"),
        ("first_register", 0, "register"),
        ("base", 0, "gives register"),
        ("second", 5, "gives register"),
        ("flags", 2, "gives register 64"),
        ("flags", 5, "leaves QC"),
    ],
)
def test_each_part_of_a_commit_is_compared(field: str, bit: int, says: str) -> None:
    """One bit of one commit, the first that has such a part, is another one."""
    run, given = one_run()
    commits = given.commits.copy()
    part = field.removesuffix("_high").removesuffix("_register")
    has = commits["flags"] & 16 if bit == 2 and field == "flags" else np.ones(len(commits))
    if part in ("first", "second", "base"):
        has = (commits[f"{part}_register"] != NO_REGISTER) & (commits[part] != 0)
    commits[field][int(np.flatnonzero(has)[0])] ^= 1 << bit
    other = replace(given, commits=commits)
    assert any(says in text for text in differences(run.program, run.due, other, load_core("lane128")))


@rtl
def test_bytes_and_the_reason_to_stop_are_compared() -> None:
    run, given = one_run()
    other = replace(given, error="another", data={at: content[:-1] + b"?" for at, content in given.data.items()})
    found = differences(run.program, run.due, other, load_core("lane128"))
    assert [text.split()[0] for text in found] == ["it", "the"]


@pytest.mark.slow
@rtl
@pytest.mark.parametrize(
    ("name", "source", "level"),
    [("interleave4x4", 0, "-O3"), ("offset_contribution", 0, "-O2"), ("matrix_reduction", 1, "-O2")],
)
def test_a_compiled_kernel_commits_what_machine_does_in_the_cycles_of_lane128(
    name: str, source: int, level: str
) -> None:
    kernel = built_in_kernel(name)
    image = open_kernel(kernel, kernel.sources[source], level, *kernel.flags)
    call = core_call(image, kernel, typical_arguments(kernel, None, 1), 1)
    verdict = verdict_of(call, lane128(), load_core("lane128"))
    assert (verdict.differences, verdict.refused) == ([], "")
    assert emulator_differences(call.program, call.due) == []


def test_what_adds_to_an_accumulator_reads_the_second_register_that_it_names() -> None:
    """Else issue would have to ask whether that is the accumulator, as it does of the first one."""
    adding = [row for row in all_rows() if units_of(row)[0] in GROUPS]
    second = [row.register("m") for row in adding if "m" in row.fields]
    assert len(second) > 30
    assert all(register is not None and register.is_read for register in second)


PROVED: list[tuple[UnitName, str]] = [
    ("scalar", "csinc x,x,x,cond"),
    ("scalar", "subs w,w,w asr"),
    ("vector", "sqxtn2 .8h,.4s"),
    ("vector", "srshr .4h,.4h,#"),
    ("mla", "umlal .2d,.2s,.2s"),
    ("accumulate", "sadalp .2s,.4h"),
    ("access", "st2 {2}.4s,[x]"),
    ("align", "ldrsh w,[x,#]!"),
]


@cache
def sampled_rows(unit: UnitName) -> tuple[tuple[int, CoreRow], ...]:
    forms = [form for of, form in PROVED if of == unit]
    return tuple(pair for pair in numbered(all_rows(), UNITS[unit].name) if pair[1].form in forms)


@rtl
@pytest.mark.parametrize(("unit", "form"), PROVED)
def test_what_a_row_computes_is_what_instructions_say_for_all_inputs(unit: UnitName, form: str) -> None:
    """And where a bit of what it computes is inverted, the claim is refuted."""
    rows = sampled_rows(unit)
    at = next(number for number, row in rows if row.form == form)
    row, design = all_rows()[at], design_of_rows(UNITS[unit], rows)
    claims = RowClaims(UNITS[unit], at, row)
    right = derive_equations(design, cache_directory())
    assert decided_row(claims, row.indices[-2:], right, 60).outcome == "proved"
    (port,) = next(claims.about_function()).left  # such as row_7_o[68+:64]
    bit = port.partition("[")[2].partition("+")[0]
    inverted = {
        name: re.sub(r"(= row_\d+\(.*\));", rf"\1 ^ (385'd1 << {bit});", text) for name, text in design.sources.items()
    }
    wrong = derive_equations(SubjectSources(design.subject, inverted), cache_directory())
    assert decided_row(claims, [], wrong, 60).outcome == "counter-example"


@rtl
def test_a_result_of_two_cycles_is_waited_for() -> None:
    """ADD V0.4S, V1.4S, V2.4S; ADD V3.4S, V0.4S, V0.4S."""
    run = run_words(0x4EA28420, 0x4EA08403, registers={33: 1, 34: 2})
    assert (issues(run), run.commits["first"].tolist()) == ([0, 2], [3, 6])


@rtl
def test_an_accumulator_is_taken_a_cycle_after_the_one_before() -> None:
    """SDOT V0.4S, V1.16B, V2.16B, three times: 2 * 3 is added each time."""
    run = run_words(*[0x4E829420] * 3, registers={33: 2, 34: 3})
    assert (issues(run), run.commits["first"].tolist()) == ([0, 1, 2], [6, 12, 18])


@rtl
def test_an_accumulator_that_ldp_loads_second_is_waited_for() -> None:
    """LDP Q2, Q1, [X1] takes four cycles; SADALP V1.8H, V3.16B adds pairs to what it loads."""
    run = run_words(0xAD400422, 0x4E206861, registers={1: DATA_BASE, 35: 2})
    assert (issues(run), int(run.commits["first"][1])) == ([0, 4], 2)


@rtl
def test_an_accumulator_that_is_a_factor_too_is_waited_for() -> None:
    """MLA V0.4S, V0.4S, V1.4S, twice, of 2 and 3: 2 + 2 * 3 = 8, 8 + 8 * 3 = 32."""
    run = run_words(0x4EA19400, 0x4EA19400, registers={32: 2, 33: 3})
    assert (issues(run), run.commits["first"].tolist()) == ([0, 4], [8, 32])


@rtl
def test_an_element_that_is_not_multiplied_does_not_saturate() -> None:
    """SQDMULH V0.8H, V1.8H, V3.H[0] of -2^15 and 1, where V3.H[1] is -2^15; then by V3.H[1]."""
    run = run_words(0x4F43C020, 0x4F53C020, registers={33: 0x8000, 35: 0x80000001})
    assert (run.commits["flags"] >> 5).tolist() == [0, 1]


@rtl
def test_a_slow_result_does_not_overwrite_a_later_one() -> None:
    """UDIV X0, X1, X2 takes 16 cycles; MOV X0, #5 follows, and ADD X3, X0, #1 reads that."""
    run = run_words(0x9AC20820, 0xD28000A0, 0x91000403, *[0xD503201F] * 9, 0x91000404, registers={1: 100, 2: 7})
    assert run.commits["first"][[0, 1, 2, 12]].tolist() == [14, 5, 6, 6]


@rtl
@pytest.mark.parametrize(
    ("word", "error"),
    [
        (0x00000000, "word"),
        (0x1E202820, "word"),  # FADD S0, S1, S0
        (0xF8408400, "word"),  # LDR X0, [X0], #8, of which Arm leaves open what it does
        (0x4EA29800, "word"),  # CMEQ V0.4S, V0.4S, #0 with a bit that must be 0
        (0xF94003E0, "unaligned"),  # LDR X0, [SP]
        (0xF81F0FE0, "unaligned"),  # STR X0, [SP, #-16]!
        (0x3CC38020, "unmapped"),  # LDUR Q0, [X1, #56], of which the last 8 bytes are no data
        (0x39400040, "unmapped"),  # LDRB W0, [X2]
        (0x39000060, "unmapped"),  # STRB W0, [X3], in the code
        (0xD61F0040, "fetch"),  # BR X2
    ],
)
def test_what_it_cannot_do_stops_it(word: int, error: str) -> None:
    run = run_words(word, 0xD503201F, registers={1: DATA_BASE, 2: 0x5000000000, 3: CODE_BASE, 31: DATA_BASE + 8})
    assert (run.error, run.done, len(run.commits)) == (error, False, int(error == "fetch"))


@rtl
def test_the_last_byte_of_a_row_is_stored() -> None:
    """STR Q0, [X1, #16]."""
    run = run_words(0x3D800420, registers={1: DATA_BASE, 32: 0xAB << 120})
    assert (run.data[DATA_BASE][31], run.done) == (0xAB, True)


@rtl
def test_a_pair_that_is_not_aligned_is_stored_and_loaded_in_three_rows() -> None:
    """STP Q0, Q1, [X1]; LDP Q2, Q3, [X1]."""
    low, high = int.from_bytes(bytes(range(1, 17)), "little"), int.from_bytes(bytes(range(17, 33)), "little")
    run = run_words(0xAD000420, 0xAD400C22, registers={1: DATA_BASE + 9, 32: low, 33: high})
    assert run.data[DATA_BASE] == bytes(9) + bytes(range(1, 33)) + bytes(23)
    assert [run.commits[1][name] for name in ("first", "first_high", "second", "second_high")] == [
        low % 2**64, low >> 64, high % 2**64, high >> 64,
    ]  # fmt: skip


@rtl
def test_shifts_that_add_take_the_accumulator_a_cycle_after_each_other() -> None:
    """USRA V0.4S, V1.4S, #1, twice, then MLA V0.4S, V2.4S, V2.4S, which waits for both: 3 + 3 + 25."""
    run = run_words(0x6F3F1420, 0x6F3F1420, 0x4EA29440, registers={33: 6, 34: 5})
    assert (issues(run), run.commits["first"].tolist()) == ([0, 1, 3], [3, 6, 31])


@rtl
def test_an_accumulator_named_as_a_source_that_counts_for_nothing_is_waited_for() -> None:
    """USRA V0.2D, V1.2D, #1; USRA V0.2D, V0.2D, #64, which adds nothing: 6 >> 1."""
    run = run_words(0x6F7F1420, 0x6F401400, registers={33: 6})
    assert (issues(run), run.commits["first"].tolist()) == ([0, 2], [3, 3])


@rtl
def test_a_zero_register_that_decides_the_result_leaves_nothing_to_wait_for() -> None:
    """LDR X0, [X1]; AND X2, X0, XZR; AND X3, X0, X0."""
    run = run_words(0xF9400020, 0x8A1F0002, 0x8A000003, registers={1: DATA_BASE})
    assert issues(run) == [0, 1, 3]


def test_orr_of_a_vector_with_itself_is_in_the_class_of_moves() -> None:
    """As disassemblers and sim.timing have it; a core may take another time for that."""
    timings = {row.form: row.timing for row in all_rows() if row.value == 0x4EA01C00}
    assert timings == {"orr .16b,.16b,.16b": "ASIMD logic 128", "mov .16b,.16b": "ASIMD move register"}


def test_orr_of_the_zero_register_with_a_bit_mask_is_in_the_class_of_moves() -> None:
    found = row_of(0xB24003E0)
    assert found is not None
    assert (found.form, found.timing) == ("mov x,#", "scalar move imm")


def test_rows_take_words_of_the_forms_of_the_kernels() -> None:
    """Loads, stores, adds, compares, branches and lanes of the inner loops: some by name."""
    wanted = {
        "ldr q,[x],# post", "str q,[x,x]", "add x,x,#", "subs x,x,x", "cmp x,x", "b.cond cond,#", "cbz x,#", "ret",
        "sqrdmulh .4s,.4s,.s[i]", "srshl .4s,.4s,.4s", "sqadd .4s,.4s,.4s", "sqxtn2 .8h,.4s", "sdot .4s,.16b,.16b",
        "uzp1 .8b,.8b,.8b", "ld1r {1}.4s,[x]", "st1 {1}.b[i],[x]",
    }  # fmt: skip
    assert wanted <= {row.form for row in all_rows()}


def test_a_core_that_the_hardware_cannot_be_is_refused() -> None:
    with pytest.raises(NotBuildable, match="not in order"):
        Core128(core=load_core("cortex-a72")).parameters(all_rows())
    slow = load_core("lane128").with_parameter("store_forward_vector", 9)
    name, core = classes_of(all_rows())[0], load_core("lane128")
    for other, says in (
        (core.with_latency(name, "2.5"), "whole numbers of cycles"),
        (core.with_uses(name, "LANE*32"), "taken for 31 cycles at most"),
        (core.with_parameter("taken_branch_interval", "1.5"), "whole numbers of cycles"),
        (core.with_parameter("taken_branch_interval", 0), "a cycle or more"),
        (core.with_parameter("taken_branch_interval", 33), "follows in 32, at most"),
        (core.with_parameter("writeback", 0), "a cycle or more"),
        (core.with_parameter("writeback", 17), "moves in 16 cycles"),
        (core.with_latency(name, 0), "a cycle or more"),
        (core.with_parameter("address_delay", 1), "has no address_delay"),
        (core.with_uses(name, "MEM"), "has other pipes"),
    ):
        with pytest.raises(NotBuildable, match=says):
            Core128(core=other).parameters(all_rows())
    with pytest.raises(NotBuildable, match="forwarding from a store"):
        Core128(core=slow).parameters(all_rows())


@pytest.mark.slow
def test_a_call_has_the_cycles_that_it_takes_on_the_slowest_core() -> None:
    core = load_core("lane128").with_parameter("taken_branch_interval", 32)
    for name in classes_of(all_rows()):
        if core.timing(name).uses:
            (use,) = core.timing(name).uses
            core = core.with_uses(name, f"{use.pipes[0]}*31")
    Core128(core=core).parameters(all_rows())
    kernel = built_in_kernel("quantized_multiplier")
    image = open_kernel(kernel, kernel.sources[0], "-O2", *kernel.flags)
    call = core_call(image, kernel, typical_arguments(kernel, None, 1), 1)
    last = max(expected_cycles(call.due.steps, core)[1])
    assert 16 * len(call.due.steps) < last < call.program.cycles


@pytest.mark.slow
def test_mutants_are_of_every_file_and_each_stands_where_its_number_is_chosen() -> None:
    chosen = mutants(100, 1)
    counted = {file: text.count("(fault ==") for file, text in planted_mutants(chosen).items()}
    assert (len(set(chosen)), counted) == (100, SHARES)
    assert [len(mutants(count, 1)) for count in (3, 20)] == [3, 20]


@pytest.mark.slow
def test_more_mutants_than_a_file_has_are_refused() -> None:
    with pytest.raises(FewMutants, match=r"^core128.sv has \d+ mutants, and its share of 1000000 is 300000$"):
        mutants(1_000_000, 1)
