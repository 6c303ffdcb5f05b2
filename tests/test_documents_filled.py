"""Documents that fill their schemas: of every field, alternative and list, one that has it, compared with the schema.

A field that no document of any test has is compared with nothing, and may be wrong for years.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from isa.encodings import EncodingRow
from sim.call.coverage import Coverage
from sim.call.guards.findings import GuardFinding
from sim.call.native.share import NativeShare
from sim.call.needs import Need
from sim.check.aim.find import FoundInput
from sim.check.aim.power import OperandsMet, Power, Rival, Rivals, TriedMistake
from sim.check.repair.fault import FaultLines
from sim.check.report import Mismatch, Outcome, Report
from sim.check.separation import Pair, Separation
from sim.replay.report import ReplayReport
from sim.replay.run import Replayed
from sim.terminal.documents import as_document, document_names
from sim.toolchain.compilers import build_text
from sim.verify.exhaust.exhaust import ExhaustedInstruction, LaneDisagreement
from sim.verify.exhaust.loop import LaneResult
from sim.verify.verification import Verification
from sim.verify.verify import FormResult
from sim.view.exhaust import ExhaustionReport
from support.command import lanewise
from support.documents import compare, unfilled
from support.fake_llvm_mca import install
from support.full_documents import (
    benches,
    captured_calls,
    kernels_in_layers,
    models,
    models_beside,
    mutations,
    proofs_of_hardware,
    proofs_of_kernels,
    results,
    runs_of_hardware,
    syntheses,
)
from support.tflite_models import small_net

CODE = "void doubled(const int *a, int *out) { *out = *a * 2; }"
DOT = """#include <arm_neon.h>
int32_t dot(const int8_t a[16]) { return vaddvq_s32(vdotq_s32(vdupq_n_s32(0), vld1q_s8(a), vld1q_s8(a))); }
"""
CLAIMS = """from isa import S8
from sim.prove import Claim
CLAIMS = [Claim("wrong", {"x": S8}, lambda x: x, lambda x: x + 1)]
"""
KERNEL = """from pathlib import Path
from sim.kernels import Domain, Kernel, parse_prototype
NAME, SIGNATURE = parse_prototype("void doubled(const int32_t a[1], int32_t out[1])")
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(Path("f.c"),), signature=SIGNATURE, domain={"a": Domain(-9, 9)},
                golden=lambda inputs: {"out": 2 * inputs["a"]})
"""
LOOPS = """static inline __attribute__((always_inline)) int times(int a) { return a * 7; }
int loops(const int *a, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            sum += a[j] & i & j & 1 ? times(sum) : a[i] / (sum | 1);
    return sum;
}
"""
LOOP = """loop:
    mul v0.4s, v0.4s, v1.4s
    sha512h q3, q4, v5.2d
    ldr q2, [x1], #16
    subs x0, x0, #1
    b.ne loop
"""
FILES = {
    "g.c": CODE.replace("* 2", "* 3"), "loops.c": LOOPS, "m.csv": "timed,core,cycles\ndoubled -O2,cortex-a72,9\n",
    "loop.s": LOOP,
    "f.c": CODE, "dot.c": DOT, "claims.py": CLAIMS, "f.py": KERNEL, "plan.toml": '[[check]]\nkernels = "f.py"\n',
}  # fmt: skip
BY_COMMANDS = {
    "isa-list": ["isa list sqrdmulh"],
    "isa-show": ["isa show sqrdmulh", "isa show ld1", "isa show srshl"],
    "isa-intrinsics": ["isa intrinsics vdotq_s32"],
    "conventions": ["conventions"],
    "cycles": [
        "cycles f.c doubled 1 zeros:1 --core cortex-a72,lane128 --compare llvm-mca --megahertz 1000 --measured m.csv "
        "--diff g.c --advise --sweep alignment",
        "cycles loops.c loops zeros:64 64 --core cortex-a72 --opt O1 --cold --set width=1",
        "cycles dot.c dot zeros:16 --march armv8.2-a+dotprod --core cortex-a72,cortex-a53",
        "cycles loop.s --count 100 --core cortex-a55,lane128 --compare llvm-mca --advise --elements 4",
        "cycles loop.s --count 100 --core cortex-a55 --set width=1",
    ],
    "campaign": ["campaign plan.toml"],
    "cycles-about": ["cycles --about cortex-a55", "cycles --about lane128"],
    "conventions-between": ["conventions --between double_rounding single_rounding"],
    "doctor": ["doctor"],
    "kernels": ["kernels"],
    "kernels-show": ["kernels show quantize_down"],
    "campaign-plan": ["campaign plan.toml --plan"],
    "prove": ["prove claims.py --no-cache --jobs 1", "prove 'abs .s,.s' --no-cache --jobs 1"],
    "prove-list": ["prove --list"],
    "model-network": ["model net.tflite"],
    "model-cycles": ["model net.tflite --cycles cortex-a55"],
    "exhaust-functions": [
        "exhaust add_neon_ties_away --against add_neon_ties_even --with output_scale=0.5 --jobs 1 --anew",
    ],
    "rtl-list": ["rtl list"],
    "rtl-list-files": ["rtl list quantize_down --files"],
    "run": [
        "run f.c doubled 1 zeros:1", "run dot.c dot zeros:16 --march armv8.2-a+dotprod --core cortex-a72",
    ],
}  # fmt: skip
"""Commands whose documents have together every part; a file is in their folder."""
LONGER = {"campaign", "cycles", "exhaust-functions", "model-cycles", "model-network", "rtl-list"}
"""What these load takes longer than a quick test may."""
ELSEWHERE = {"explain": "tests/test_documents.py"}


def test_each_document_is_filled() -> None:
    assert sorted([*BY_COMMANDS, *MADE, *ELSEWHERE]) == document_names()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONGER else []) for name in BY_COMMANDS]
)
def test_documents_of_commands_have_every_part_of_their_schema(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    (tmp_path / "net.tflite").write_bytes(small_net().content())
    monkeypatch.chdir(tmp_path)
    refusal = 'case "$*" in *lane128*) echo "\'x\' is not a recognized processor" >&2;; esac'
    monkeypatch.setenv("LLVM_MCA", str(install(tmp_path, "llvm-mca", "14.0.6", refusal)))
    documents = [json.loads(lanewise(*shlex.split(command), "--json").stdout) for command in BY_COMMANDS[name]]
    for document in documents:
        compare(name, document)
    assert unfilled(name, documents) == []


def reports_of_checks() -> list[Report]:
    """One with everything that a check can find, and one of a single build that agrees."""
    mismatch = Mismatch(
        engine="machine", output="out", lane=(0, 1), got=1, expected=2, inputs="a[0]=1", lanes_different=1,
        parted_at="shift", golden_step=3, agreed=("add",), instruction="add w0, w0, w1", source="f.c:3",
        came_from=("a[0]",), conventions=("double_rounding",), explanation=("all lanes are wrong",),
        fault=FaultLines(
            lines=("f.c:3",), instruction="add w0, w0, w1", repairs=("add as sub",), build="-O0",
            macros=("M at f.c:1",), addresses=("f+0x4 (0x11004)",), inlined=("of g, inlined at f.c:9",),
            roles=("in f",),
        ),
        between=("f.c -O2", "f.c -O0"),
    )  # fmt: skip
    plain = Mismatch(
        engine="machine", output="out", lane=(), got="nan", expected=2, inputs="", lanes_different=1, parted_at=None,
        golden_step=None, agreed=(), instruction="", source="", came_from=(), conventions=(), explanation=(),
    )  # fmt: skip
    finding = GuardFinding(
        kind="over-read", says="reads byte 4 of a", instruction="ldr w0, [x0]", pc=0x11004, source="f.c:3", where="a",
        first=4, last=7, output="out", lane=(0,), harmless=True,
    )  # fmt: skip
    build = Outcome(
        implementation="f.c", flags="-O2", vectors=1, lanes_compared=1, instructions=1, forms=frozenset({"add"}),
        qc_events=0, code="0",
    )  # fmt: skip
    whole = Outcome(
        implementation="f.S", flags="-O0", vectors=1, lanes_compared=1, instructions=1, forms=frozenset({"add"}),
        qc_events=0, code="1", failure=str(mismatch), mismatch=mismatch, unverified={"smmla": 1}, findings=(finding,),
        coverage=Coverage({"f.c:3": True, "f.c:4": False}, {"f.c:3 b.lo taken": False}, {"f.c:3 add: max": True}),
        failed_set=0, made_as="by hand", outside={"too long": 2}, needs=(Need("dotprod", "sdot", "f.c:3"),),
        native=NativeShare(1, {"smmla: the emulator has none": 1}, ""), left_out=("constructors were not run",),
        same_code_at=("-O1",),
    )  # fmt: skip
    found = GuardFinding(kind="register not preserved", says="d8 is not preserved")
    other = Outcome(
        implementation="program", flags="", vectors=1, lanes_compared=1, instructions=1, forms=frozenset(), qc_events=0,
        code="", failure=str(plain), mismatch=plain, findings=(found,),
    )  # fmt: skip
    power = Power(
        lanes_aimed=9, beyond="shift 0..3", doubts=("every input set has shift 3",),
        mistakes=[TriedMistake(build="f.c", place="f.c:3", kind="round", instruction="a", instead="b", shown=False)],
        operands=[
            OperandsMet("f.c -O2", "f.c:3", "srshl", "tie", met=True),
            OperandsMet("f.c -O2", "f.c:3", "srshl", "wrapped", met=False, impossible="v0 holds 0..1"),
        ],
        rivals=Rivals("double_rounding", [Rival("single_rounding", of_kernel=True, is_apart=False, same_with="1")]),
    )  # fmt: skip
    report = Report(
        kernel="f", mode="m", compiler="c", seed=1, outcomes=[whole, other], reproduce="again", power=power,
        separation=Separation("f", [Pair("f", "g", 1, 0)]), common_flags=("-g",), questions=("lanewise prove",),
    )  # fmt: skip
    return [report, Report(kernel="f", compiler="c", seed=1, outcomes=[build], reproduce="again")]


def checks() -> list[dict[str, Any]]:
    """Of the first it is said besides what a core lacks."""
    report, single = reports_of_checks()
    return [
        as_document("check", {**report.as_json(), "lacking": ["needs dotprod"]}),
        as_document("check", single.as_json()),
    ]


def proved_kernels() -> list[Any]:
    """With a check of what is refuted."""
    return proofs_of_kernels(reports_of_checks()[0].as_json())


def lines_of_a_trace() -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in lanewise("trace", "quantize_down", "--length", "16", "--format", "json").stdout.splitlines()
    ]


def kept_and_removed() -> list[dict[str, Any]]:
    """Of the cache: in the test's own, what a build leaves there, and what is removed then."""
    build_text(CODE, ".c")
    return [json.loads(lanewise("cache", *more, "--json").stdout) for more in ((), ("--clear",))]


def exhausted() -> list[dict[str, Any]]:
    """One instruction that differs, one that does not; the first has operands of its own, forms are left out."""
    results = [LaneResult(register, saturates) for register, saturates in ((1, True), (2, False), (1, True))]
    same = ExhaustedInstruction(
        text="neg v0.16b, v1.16b", word=1, operands={"v1": 8}, values=256, compared=256, kept=256, samples=0, seed=1
    )
    other = replace(same, disagreement=LaneDisagreement("model and emulator", 3, {"v1": 128}, *results))
    made = ExhaustionReport(name="neg", results=[other, same], left_out=["neg .d: too many"], seed=1, interrupted=True)
    return [as_document("exhaust", made.as_json())]


def replayed() -> list[dict[str, Any]]:
    """Calls that end in several ways, by hand."""
    stopped = Replayed(line=2, name="b", kind="unsupported instruction", detail="no row", form="smmla .4s,.16b,.16b")
    passed = Replayed(
        line=1, name="a", kind="passed", instructions=9, values=4, forms=frozenset({"add"}),
        unverified=Counter({"smmla": 1}), native=NativeShare(1, {"smmla: the emulator has none": 1}, "no compiler"),
    )  # fmt: skip
    made = ReplayReport(
        file="calls.jsonl", engine="lockstep", limit=9, results=[passed, stopped], explanation=["all lanes are wrong"]
    )
    return [as_document("replay", {**made.as_json(), "lacking": ["needs dotprod"]})]


def verified() -> list[dict[str, Any]]:
    """A form that differs and one that does not, of an encoding space in which another one is not supported."""
    right = FormResult(form="a", evidence="emulation", vectors=2)
    wrong = FormResult(form="b", evidence="emulation", difference="lane 0")
    made = Verification(
        asked=("a", "b"), rows=(EncodingRow("a", 1, 1), EncodingRow("c", 2, 1)), supported=frozenset({"a", "b"}),
        results=(right, wrong), seed=1, vectors=2,
    )  # fmt: skip
    agreeing = replace(made, results=made.results[:1])
    return [as_document("isa-verify", each.as_json()) for each in (made, agreeing)]


def found() -> list[Any]:
    """What was found, what cannot be, and what was not found."""
    met = FoundInput(build="f.c -O2", what="tie at f.c:3", inputs={"a": 1}, shape="length 1", agrees=True)
    never = FoundInput(build="", what="tie at f.c:3", proved="of the length 1")
    lost = FoundInput(build="", what="tie at f.c:3", reason="no answer in time")
    return [as_document("prove-find", [{**one.as_json(), "again": "lanewise run"} for one in (met, never, lost)])]


MADE: dict[str, Callable[[], list[Any]]] = {
    "cache": kept_and_removed, "captured-call": captured_calls, "check": checks,
    "exhaust": exhausted, "isa-verify": verified, "model": models, "model-beside": models_beside,
    "model-kernel": kernels_in_layers, "prove-find": found, "prove-kernel": proved_kernels,
    "replay": replayed, "results": results, "rtl-mutate": mutations, "rtl-prove": proofs_of_hardware,
    "rtl-run": runs_of_hardware, "rtl-synth": syntheses, "rtl-test": benches, "trace": lines_of_a_trace,
}  # fmt: skip


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("name", MADE)
def test_made_documents_have_every_part_of_their_schema(name: str) -> None:
    documents = MADE[name]()
    for document in documents:
        compare(name, document)
    assert unfilled(name, documents) == []
