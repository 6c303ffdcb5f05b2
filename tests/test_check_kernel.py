"""A whole check, a call and a timing by one function each: what the commands give."""

from __future__ import annotations

import io
from collections.abc import Sequence
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import isa.decode
from isa import decode_word
from sim.call.call import CallResult, ProgramKernel
from sim.check import Job, Report, call_kernel, check_job, check_kernel, make_vectors
from sim.check.aim.aiming import aim
from sim.check.check import jobs_of
from sim.check.external import Outside, check_external_backend
from sim.cycles import hottest_loop, kernel_call, load_core, time_kernel, time_on
from sim.kernels import Domain, Inputs, Kernel, Outputs, built_in_kernel, parse_prototype
from sim.view.report import show_report

KERNEL = built_in_kernel("quantize_down")
CASE = KERNEL.sample(np.random.default_rng(1))


class Backwards:
    """A backend that gives every output the wrong way round."""

    name, made_as = "backwards", "by hand"

    def __init__(self, kernel: Kernel = KERNEL) -> None:
        self._kernel = kernel

    def run(self, inputs: Sequence[Inputs]) -> list[Outputs]:
        return [{name: array[::-1] for name, array in self._kernel.expected(each).items()} for each in inputs]

    def show(self, inputs: Inputs) -> str:
        return ""


@pytest.fixture(scope="module")
def report() -> Report:
    kernel = built_in_kernel("quantized_multiplier")
    return check_kernel(kernel, levels=("O1", "O2"), vectors=50, external=[Backwards(kernel)])


@pytest.mark.slow
def test_every_implementation_is_checked_in_order(report: Report) -> None:
    titles = [outcome.title for outcome in report.outcomes]
    assert titles == [
        "kernel.c -O1", "kernel.c -O2", "kernel_plain.c -O1", "kernel_plain.c -O2", "program", "backwards"
    ]  # fmt: skip


@pytest.mark.slow
def test_what_is_external_is_compared_too(report: Report) -> None:
    assert [outcome.verdict for outcome in report.outcomes] == [*["agrees"] * 5, "differs"]


def test_one_wrong_lane_of_a_backend_is_told_with_its_input_set_and_the_inputs_of_the_lane() -> None:
    vectors = make_vectors(KERNEL, 50, seed=1)
    last = max(number for number, golden in enumerate(vectors.golden) if golden["output"].size)

    class Wrong(Backwards):
        def run(self, inputs: Sequence[Inputs]) -> list[Outputs | Outside]:  # type: ignore[override]
            found: list[Outputs | Outside] = [KERNEL.expected(each) for each in inputs]
            found[last] = {"output": found[last]["output"] ^ (np.arange(found[last]["output"].size) == 0)}  # type: ignore[index]
            return [Outside("the first is not for it"), *found[1:]]

    outcome = check_external_backend(KERNEL, Wrong(), vectors)
    first = vectors.inputs[last]["accumulators"][0]
    assert (outcome.failed_set, outcome.mismatch is not None) == (last, True)
    assert f"accumulators[0]={first}, " in str(outcome.mismatch)


DOUBLED = """
        .globl doubled
        .type  doubled, %function
doubled:
        ldr    w8, [x0]
{code}
        str    w8, [x1]
        ret
        .size  doubled, . - doubled
"""
AT_O0 = "#ifdef __OPTIMIZE__\n lsl w8, w8, #1\n#else\n add w8, w8, w8\n#endif"


def doubled(code: str, folder: Path) -> Kernel:
    """A kernel in assembly."""
    source = folder / "doubled.S"
    source.write_text(DOUBLED.format(code=code))
    name, signature = parse_prototype("void doubled(const int32_t a[1], int32_t b[1])")
    return Kernel(
        name=name, symbol=name, sources=(source,), signature=signature,
        golden=lambda inputs: {"b": 2 * inputs["a"]}, domain={"a": Domain(-9, 9)},
    )  # fmt: skip


@pytest.mark.parametrize(("code", "alike"), [
    ("add w8, w8, w8", {"-O0": ("-O1", "-O2")}),
    (AT_O0, {"-O0": (), "-O1": ("-O2",)}),
    ("no instruction", {"-O0": (), "-O1": (), "-O2": ()}),
])  # fmt: skip
def test_assembly_is_run_once_at_all_levels_that_are_the_same_program(
    code: str, alike: dict[str, tuple[str, ...]], tmp_path: Path
) -> None:
    """What does not build is like nothing: each level is told."""
    kernel = doubled(code, tmp_path)
    report = check_kernel(kernel, levels=("O0", "O1", "O2"), vectors=5)
    assert {outcome.flags: outcome.same_code_at for outcome in report.outcomes} == alike


def test_that_assembly_was_run_once_is_told_in_one_line(tmp_path: Path) -> None:
    printed = io.StringIO()
    show_report(check_kernel(doubled("add w8, w8, w8", tmp_path), vectors=5), Console(file=printed, width=200))
    lines = printed.getvalue().splitlines()
    assert [line for line in lines if line.startswith(("note:", "PASSED"))] == [
        "note: doubled.S -O0 is the same program at -O1, -O2, -O3, -Os, -Oz: it was run once",
        "PASSED: the implementation agrees on every lane",
    ]


@pytest.fixture(scope="module")
def halving(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """A small kernel in C, which is checked in a tenth of the time."""
    source = tmp_path_factory.mktemp("halving") / "halved.c"
    source.write_text("void halved(const int *a, int *b, long n) { while (n--) b[n] = a[n] + 1 >> 1; }")
    name, signature = parse_prototype("void halved(const int32_t a[n], int32_t b[n], int64_t n)")
    return Kernel(
        name=name, symbol=name, sources=(source,), signature=signature, domain={"a": Domain(-999, 999)},
        golden=lambda inputs: {"b": inputs["a"] + 1 >> 1},
    )  # fmt: skip


@pytest.fixture(scope="module")
def small_report(halving: Kernel) -> Report:
    return check_kernel(halving, levels=("O1", "O2"), vectors=50, external=[Backwards(halving)])


@pytest.mark.slow
def test_outcomes_are_those_of_each_job(small_report: Report, halving: Kernel) -> None:
    drawn, jobs = make_vectors(halving, 50, seed=1), jobs_of(halving, ("O1", "O2"))
    vectors = aim(halving, jobs, drawn).added_to(drawn)
    assert len(vectors.inputs) > len(drawn.inputs)
    assert small_report.outcomes[:2] == [check_job(halving, job, vectors) for job in jobs]


@pytest.mark.slow
def test_the_call_that_the_report_names_does_it_again(small_report: Report, halving: Kernel) -> None:
    again: Report = eval(small_report.reproduce, {"check_kernel": check_kernel, "halved": halving})
    assert again.outcomes == small_report.outcomes[:-1]


@pytest.mark.slow
def test_flags_are_named_in_that_call_only_where_there_are_some(report: Report) -> None:
    told = "levels=('O1', 'O2'), vectors=50, seed=1, engine='lockstep'"
    assert report.reproduce == f"check_kernel(quantized_multiplier, {told})"


def test_an_unknown_level_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"levels takes some of O0, .*, not 'O9'"):
        check_kernel(KERNEL, levels=("O9",))


@pytest.mark.parametrize("job", [Job(KERNEL.sources[0], ("-O2",)), Job(None, ())], ids=["compiled", "program"])
def test_a_call_gives_what_the_golden_reference_gives(job: Job) -> None:
    wanted = KERNEL.expected(CASE)["output"].tolist()
    outputs = call_kernel(KERNEL, job, CASE).outputs
    assert {engine: arrays["output"].tolist() for engine, arrays in outputs.items()} == dict.fromkeys(outputs, wanted)


def test_a_call_has_the_seed_of_a_check_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    class Noting(ProgramKernel):
        def call(self, arguments: Inputs, seed: int) -> CallResult:
            seeds.append(seed)
            return super().call(arguments, seed)

    monkeypatch.setattr("sim.check.kernel.ProgramKernel", Noting)
    call_kernel(KERNEL, Job(None, ()), CASE)
    assert seeds == [signature(check_kernel).parameters["seed"].default]


def test_a_kernel_is_timed_on_each_core_for_each_call() -> None:
    results = time_kernel(KERNEL, ["cortex-a55", load_core("neoverse-n1")], length=64)
    assert [(result.title, result.schedule.core.name, result.report.elements) for result in results] == [
        ("kernel.c -O2", "cortex-a55", 64),
        ("kernel.c -O2", "neoverse-n1", 64),
        ("program", "cortex-a55", 64),
        ("program", "neoverse-n1", 64),
    ]


def test_the_hottest_loop_of_a_call_is_that_of_its_report() -> None:
    call = kernel_call(KERNEL, {**CASE, "accumulators": np.arange(256, dtype=np.int32), "bias": None})
    hottest, loop = time_on(call, load_core("cortex-a72")).report.hottest, hottest_loop(call.stream)
    assert hottest is not None
    assert loop is not None
    assert loop.body[0].pc == hottest.head


def test_a_stream_without_a_loop_has_no_hottest_one() -> None:
    assert hottest_loop(kernel_call(KERNEL, CASE).stream[:3]) is None


def test_a_package_may_have_another_name_for_what_it_exports() -> None:
    assert decode_word is isa.decode.decode
