"""Which extensions executed code needs and which processors lack them: `--core` of check, replay, run and cycles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isa.instruction import FEATURES
from isa.processors import UnknownFeature
from isa.rows import TABLE
from sim.call.needs import Need, lacking, needs_of, processors_named
from sim.command.app import app

DOT_C = """#include <arm_neon.h>
#include <stdint.h>
int32_t dot(const int8_t *a, const int8_t *b)
{
    return vaddvq_s32(vdotq_s32(vdupq_n_s32(0), vld1q_s8(a), vld1q_s8(b)));
}
"""
KERNEL_PY = """import numpy as np
from pathlib import Path
from sim.kernels import Kernel, Pointer, Signature


def golden(inputs):
    return {"out": (inputs["a"].astype(np.int32).reshape(4, 4) * inputs["b"].reshape(4, 4)).sum(axis=1, dtype=np.int32)}


def sample(rng):
    return {name: rng.integers(-128, 128, 16).astype(np.int8) for name in "ab"}


KERNEL = Kernel(
    name="dot", symbol="dot", sources=(Path(__file__).with_name("dot.c"),), golden=golden, sample=sample,
    signature=Signature((Pointer("a", "int8", (16,)), Pointer("b", "int8", (16,)),
                         Pointer("out", "int32", (4,), direction="out"))),
    flags=("-march=armv8.2-a+dotprod",),
)
"""
KERNEL_C = """#include <arm_neon.h>
void dot(const int8_t *a, const int8_t *b, int32_t *out)
{
    vst1q_s32(out, vdotq_s32(vdupq_n_s32(0), vld1q_s8(a), vld1q_s8(b)));
}
"""
NEEDED = "needs dotprod at dot.c:5 (sdot v"


def invoke(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, result.output


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "dot.c").write_text(DOT_C)
    return tmp_path / "dot.c"


CALL = ("dot", ",".join(["1"] * 16), ",".join(["2"] * 16), "--march", "armv8.2-a+dotprod")


def test_of_a_program_the_first_instruction_is_told_that_needs_an_extension() -> None:
    dots = [TABLE.instruction("sdot", f"v{n}.4s, v1.16b, v2.16b") for n in (3, 4)]
    needs = needs_of([(None, TABLE.instruction("add", "v0.4s, v1.4s, v1.4s")), *((None, dot) for dot in dots)])
    assert needs == (Need("dotprod", "sdot v3.4s, v1.16b, v2.16b", "the program"),)


def test_run_says_what_a_core_lacks_and_where(source: Path) -> None:
    code, said = invoke("run", source, *CALL, "--core", "cortex-a53,cortex-a55")
    lines = [line for line in said.splitlines() if line.startswith("needs")]
    assert (code, len(lines), lines[0].startswith(NEEDED), lines[0].endswith("; cortex-a53 has none")) == (
        1,
        1,
        True,
        True,
    )


def test_run_passes_on_a_core_that_has_all(source: Path) -> None:
    code, said = invoke("run", source, *CALL, "--core", "cortex-a55")
    assert (code, "needs" in said) == (0, False)


def test_the_answer_is_in_the_json_too(source: Path) -> None:
    code, said = invoke("run", source, *CALL, "--core", "cortex-a72", "--json")
    (lack,) = json.loads(said)["lacking"]
    assert (code, lack.startswith(NEEDED)) == (1, True)


def test_replay_says_it_of_captured_calls(source: Path) -> None:
    calls = source.with_name("call.jsonl")
    invoke("run", source, *CALL, "--capture", calls)
    code, said = invoke("replay", calls, "--core", "cortex-a72,neoverse-n1")
    lines = [line for line in said.splitlines() if line.startswith("needs")]
    assert (code, len(lines), lines[0].startswith("needs dotprod at 0x")) == (1, 1, True)


def test_check_says_it_of_every_build(tmp_path: Path) -> None:
    (tmp_path / "dot.c").write_text(KERNEL_C)
    (tmp_path / "dot.py").write_text(KERNEL_PY)
    code, said = invoke(
        "check", tmp_path / "dot.py", "--opt", "O2", "--vectors", "50", "--core", "cortex-a72,cortex-a76"
    )
    lines = [line for line in said.splitlines() if line.startswith("needs")]
    assert (code, lines[0].startswith("needs dotprod at dot.c:4 (sdot v"), len(lines)) == (1, True, 1), said


def test_cycles_says_it_of_the_cores_that_it_times(source: Path) -> None:
    code, said = invoke("cycles", source, *CALL, "--core", "cortex-a72,cortex-a55")
    lines = [line for line in said.splitlines() if line.startswith("needs")]
    assert (code, len(lines), lines[0].startswith(NEEDED), "cortex-a72 has none" in lines[0]) == (0, 1, True, True)


def test_an_unknown_core_is_refused(source: Path) -> None:
    code, said = invoke("run", source, *CALL, "--core", "cortex-a7x")
    assert (code, "'cortex-a7x' is no processor that is known here" in " ".join(said.split())) == (2, True)


def test_a_list_of_cores_names_each_once() -> None:
    assert processors_named(" cortex-a53, cortex-a72,cortex-a53") == ("cortex-a53", "cortex-a72")


@pytest.mark.parametrize("text", ["cortex-a53,nothing", "dotprod"])
def test_a_name_that_is_no_processor_is_refused(text: str) -> None:
    with pytest.raises(UnknownFeature):
        processors_named(text)


def test_the_first_instruction_by_address_stands_for_a_need() -> None:
    first, second = (TABLE.instruction("sdot", f"v{k}.4s, v1.16b, v2.16b") for k in (3, 4))
    other = TABLE.instruction("fcadd", "v0.8h, v1.8h, v2.8h, #0x5a")
    needs = needs_of([(0x108, second), (0x104, first), (0x110, other)])
    assert needs == (
        Need("dotprod", "sdot v3.4s, v1.16b, v2.16b", "0x104"),
        Need("fcma", other.text, "0x110"),
        Need("fp16", other.text, "0x110"),
    )


def test_a_processor_with_everything_lacks_nothing() -> None:
    assert lacking([Need(feature, "", "") for feature in FEATURES], ["lane128"]) == []
