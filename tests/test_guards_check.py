"""What a check makes of findings: harmful ones fail it, notes are kept; and what engines do for guards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Assemble

from sim import Machine
from sim.check.check import Job, check_job
from sim.check.report import Outcome, Report
from sim.check.vectors import make_vectors
from sim.kernels import Inputs, Kernel, Pointer, ScalarArgument, Signature
from sim.kernels.kernel import Outputs
from support.batches import CODE, DATA, Together

SIGNATURE = Signature(
    (
        Pointer("a", "uint8", ("n",), over_read=15),
        Pointer("b", "uint8", ("n",), direction="out"),
        ScalarArgument("n", "uint64"),
    )
)
BLOCKS_C = """#include <arm_neon.h>
#include <stddef.h>
void f(const uint8_t *a, uint8_t *b, size_t n)
{
    for (size_t i = 0; i < n; i += 16) {
        uint8_t block[16];
        vst1q_u8(block, vmvnq_u8(vld1q_u8(a + i)));
        for (size_t k = i; k < n && k < i + 16; ++k)
            b[k] = block[k - i];
    }
}
"""


NOP = bytes.fromhex("1f2003d5")


def golden(inputs: Inputs) -> Outputs:
    return {"b": ~inputs["a"]}


def corners() -> Iterator[Inputs]:
    for n in (16, 7, 33):
        yield {"a": np.arange(n, dtype=np.uint8), "n": n}


KERNEL = Kernel(
    name="f", symbol="f", sources=(), signature=SIGNATURE, golden=golden, corners=corners, sample=lambda rng: {}
)


def outcome_of(kernel: Kernel, text: str, folder: Path) -> Outcome:
    source = folder / "f.c"
    source.write_text(text)
    return check_job(kernel, Job(source, ("-O1",)), make_vectors(kernel, 0, seed=1), lambda _: None)


def test_a_declared_over_read_that_reaches_nothing_passes_with_one_note(tmp_path: Path) -> None:
    outcome = outcome_of(KERNEL, BLOCKS_C, tmp_path)
    assert (outcome.verdict, [(f.kind, f.where, f.first, f.last, f.source) for f in outcome.findings]) == (
        "agrees", [("over-read", "a", 7, 15, "f.c:7")],
    )  # fmt: skip


def test_an_over_read_that_was_not_declared_fails(tmp_path: Path) -> None:
    strict = Signature((Pointer("a", "uint8", ("n",)), *SIGNATURE.arguments[1:]))
    outcome = outcome_of(replace(KERNEL, signature=strict), BLOCKS_C, tmp_path)
    assert "input set 1: over-read: " in outcome.failure


def test_findings_are_part_of_the_data(tmp_path: Path) -> None:
    outcome = outcome_of(KERNEL, BLOCKS_C.replace("vmvnq_u8(", "vaddq_u8(vdupq_n_u8(a[n]), "), tmp_path)
    data = json.loads(
        json.dumps(Report(kernel="f", compiler="clang", seed=1, outcomes=[outcome], reproduce="").as_json())
    )
    (found,) = data["implementations"][0]["findings"]
    assert (found["kind"], found["output"], found["lane"], found["harmless"]) == ("over-read", "b", [0], False)


@pytest.mark.parametrize("word", [0x885F7C20, 0x889FFC20], ids=["ldxr w0, [x1]", "stlr w0, [x1]"])
def test_members_of_a_batch_must_be_aligned_as_machines(word: int) -> None:
    together = Together(6)
    together.map(CODE, 4096, "rx")
    together.map(DATA, 4096, "rw")
    together.write(CODE, word.to_bytes(4, "little") + NOP)
    for number, machine in enumerate(together.machines):
        machine.x[1] = DATA + number
    together.start(CODE)
    assert together.run(until=CODE + 8) == ""
    assert sorted(together.batch.faults) == [1, 2, 3, 5]


def test_follow_yields_where_each_branch_leads(assemble: Assemble) -> None:
    machine = Machine()
    machine.memory.map(CODE, 4096, "rx")
    machine.memory.write(CODE, assemble("subs x0, x0, #1", "cbnz x0, #0xfffffffffffffffc", "nop", "b #8", "nop", "nop"))
    machine.x[0], machine.pc = 2, CODE
    assert list(machine.follow(until=CODE + 24)) == [CODE, CODE + 8, CODE + 20]
    assert machine.instructions_executed == 7


def test_follow_stops_in_front_of_a_branch_that_is_one_too_many(assemble: Assemble) -> None:
    machine = Machine()
    machine.memory.map(CODE, 4096, "rx")
    machine.memory.write(CODE, assemble("nop", "b #8"))
    machine.pc = CODE
    assert (list(machine.follow(max_instructions=1)), machine.pc) == ([], CODE + 4)
