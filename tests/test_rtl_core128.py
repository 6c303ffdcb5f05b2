"""`core128`: random words against Machine, Unicorn and the pipeline of sim.timing, and what stops it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from rtl_models.cores.core128.comparison import differences, emulator_differences
from rtl_models.cores.core128.configuration import CODE_BASE, DATA_BASE, Core128, NotBuildable, configurations
from rtl_models.cores.core128.design import PC_REGISTER, Core128Program, Core128Run, simulate, simulator
from rtl_models.cores.core128.random_programs import random_runs
from rtl_models.cores.core128.rows import all_rows
from sim.timing.model.core_file import load_core

rtl = pytest.mark.rtl
STOP = CODE_BASE + 64


@cache
def lane128() -> Path:
    return simulator(Core128(core=load_core("lane128")), purpose="bench")


def run_words(*words: int, registers: dict[int, int] | None = None) -> Core128Run:
    """Words from the first address on, then the address to stop at."""
    code = b"".join(word.to_bytes(4, "little") for word in words)
    given = {PC_REGISTER: CODE_BASE, **(registers or {})}
    program = Core128Program(code.ljust(64, b"\0"), bytes(64), given, CODE_BASE + 4 * len(words), 200)
    return simulate(lane128(), [program])[0]


def issues(run: Core128Run) -> list[int]:
    return [int(commit["issue"]) for commit in run.commits]


@rtl
def test_random_words_are_what_machine_and_unicorn_say_in_the_cycles_of_lane128() -> None:
    runs = list(random_runs(seed=1, words=1200, length=30))
    found = [text for run in runs for text in emulator_differences(run.program, run.due)]
    for run, given in zip(runs, simulate(lane128(), [run.program for run in runs]), strict=True):
        found += differences(run.program, run.due, given, load_core("lane128"))
    assert found == []
    assert {run.due.error for run in runs} == {"", "word", "unaligned", "unmapped", "fetch"}


@rtl
def test_the_random_check_notices_another_core() -> None:
    """What issues in the cycles of lane128 does not do so in those of a core with other latencies."""
    (run,) = random_runs(seed=2, words=60, length=60)
    (given,) = simulate(lane128(), [run.program])
    assert any("issues at" in text for text in differences(run.program, run.due, given, configurations()["uneven"]))


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
        (0x3CC01020, "unaligned"),  # LDUR Q0, [X1, #1]
        (0x39400040, "unmapped"),  # LDRB W0, [X2]
        (0x39000060, "unmapped"),  # STRB W0, [X3], in the code
        (0xD61F0040, "fetch"),  # BR X2
    ],
)
def test_what_it_cannot_do_stops_it(word: int, error: str) -> None:
    run = run_words(word, 0xD503201F, registers={1: DATA_BASE, 2: 0x5000000000, 3: CODE_BASE})
    assert (run.error, run.done, len(run.commits)) == (error, False, int(error == "fetch"))


@rtl
def test_the_last_byte_of_a_row_is_stored() -> None:
    """STR Q0, [X1, #16]."""
    run = run_words(0x3D800420, registers={1: DATA_BASE, 32: 0xAB << 120})
    assert (run.data[31], run.done) == (0xAB, True)


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
    with pytest.raises(NotBuildable, match="forwarding from a store"):
        Core128(core=slow).parameters(all_rows())
