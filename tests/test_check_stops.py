"""What a check says of a kernel that executes what nobody here can: one sentence, with the instruction and its line."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from sim.call.call import CallError, CallResult, Recorded
from sim.check.check import Job, JobRun, check_job, finish_job
from sim.check.vectors import Vectors, make_vectors
from sim.kernels import Inputs, Kernel, Pointer, ScalarArgument, Signature, quantized_multiplier
from sim.kernels.kernel import Outputs

SIGNATURE = Signature(
    (Pointer("a", "int32", ("n",)), Pointer("out", "int32", ("n",), direction="out"), ScalarArgument("n", "uint64"))
)
TRAP_C = """#include <stddef.h>
void f(const int *a, int *out, size_t n)
{
    if (n > 3)
        __builtin_trap();
    for (size_t i = 0; i < n; ++i) out[i] = a[i];
}
"""
SVE_C = """#include <arm_sve.h>
#include <stddef.h>
void f(const int *a, int *out, size_t n)
{
    out[0] = a[0];
    out[1] = (int)svcntw();
}
"""
SVE_VECTORS_C = """#include <arm_sve.h>
#include <stddef.h>
void f(const int *a, int *out, size_t n)
{
    const svbool_t all = svptrue_b32();
    svst1_s32(all, out, svld1_s32(all, a));
}
"""


def golden(inputs: Inputs) -> Outputs:
    return {"out": inputs["a"]}


def steps(inputs: Inputs) -> Outputs:
    return {"a": inputs["a"]}


def corners() -> Iterator[Inputs]:
    yield {"a": np.arange(2, dtype=np.int32), "n": 2}
    yield {"a": np.arange(4, dtype=np.int32), "n": 4}


KERNEL = Kernel(
    name="copy",
    symbol="f",
    sources=(),
    signature=SIGNATURE,
    golden=golden,
    steps=steps,
    arguments=dict,
    corners=corners,
    sample=lambda rng: {},
)


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return make_vectors(KERNEL, 0, seed=1)


def failure(vectors: Vectors, folder: Path, text: str, *flags: str) -> str:
    source = folder / "copy.c"
    source.write_text(text)
    return check_job(KERNEL, Job(source, ("-O1", *flags)), vectors, lambda _: None).failure


def test_a_trap_is_one_sentence_with_its_line(vectors: Vectors, tmp_path: Path) -> None:
    said = failure(vectors, tmp_path, TRAP_C)
    assert re.fullmatch(r"input set 1: at 0x[0-9a-f]+, brk #1: .* \(copy\.c:5\)", said)


def test_input_sets_before_a_trap_are_compared(vectors: Vectors, tmp_path: Path) -> None:
    source = tmp_path / "copy.c"
    source.write_text(TRAP_C)
    assert check_job(KERNEL, Job(source, ("-O1",)), vectors, lambda _: None).lanes_compared == 2 * 2


@pytest.mark.parametrize("text", [SVE_C, SVE_VECTORS_C], ids=["cntw", "ptrue and vectors"])
def test_sve_is_one_sentence_with_extension_line_and_advice(vectors: Vectors, tmp_path: Path, text: str) -> None:
    said = failure(vectors, tmp_path, text, "-march=armv8.2-a+sve")
    pattern = r"input set 0: at 0x[0-9a-f]+, \w+ .*: .*\bSVE\b.*: compile with -march=\S+, without \+sve \(copy\.c:\d\)"
    assert re.fullmatch(pattern, said)


def test_an_interrupt_on_the_way_to_a_callback_of_the_emulator_is_no_divergence(
    vectors: Vectors, tmp_path: Path
) -> None:
    """There it is swallowed, and the emulator goes on by one instruction that the machine has not executed."""
    source = tmp_path / "copy.c"
    source.write_text(TRAP_C.replace("n > 3", "n > 4"))
    met = 0

    def interrupt(frame: FrameType, event: str, _: object) -> None:
        nonlocal met
        met += event == "call" and frame.f_code.co_name == "wrapper" and "unicorn" in frame.f_code.co_filename
        if met == 5:
            raise KeyboardInterrupt

    sys.setprofile(interrupt)
    try:
        outcome = check_job(KERNEL, Job(source, ("-O1",)), vectors, lambda _: None)
    finally:
        sys.setprofile(None)
    assert (met, outcome.verdict, outcome.failure) == (5, "stopped", "")


class Once:
    """An implementation whose first call fails; `calls` counts."""

    forms: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.calls = 0

    def call(self, arguments: Inputs, seed: int) -> CallResult:
        self.calls += 1
        if self.calls == 1:
            raise CallError("no")
        raise AssertionError("a run that was stopped goes on")

    def record(self, arguments: Inputs, seed: int) -> tuple[dict[str, int], list[Recorded]]:
        raise NotImplementedError


def test_a_run_that_was_stopped_does_not_go_on_with_what_is_added() -> None:
    kernel = quantized_multiplier.KERNEL
    vectors, implementation = make_vectors(kernel, 50, 1), Once()
    run = JobRun(kernel, Job(None, ()), vectors, implementation, None, "")
    run.go_on(vectors, lambda _: None)
    assert finish_job(run, vectors).failure == "input set 0: no"
    assert implementation.calls == 1
