"""Documents with every part that their schemas allow, of records made by hand where no command comes by all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isa.lane import S8
from rtl_models.cores.core128.calls import CallVerdict
from rtl_models.formal.equations.written import at_width
from rtl_models.formal.report import as_json as json_of_proofs
from rtl_models.formal.run import TheoremVerdict
from rtl_models.formal.theorem import Fault, Lemma, Theorem
from rtl_models.mutation.judgement import Judgement
from rtl_models.mutation.mutants import Mutant
from rtl_models.mutation.netlist import NetlistOrigin
from rtl_models.mutation.report import Asked
from rtl_models.mutation.report import as_json as json_of_mutants
from rtl_models.mutation.verdict import FATES, MutantVerdict
from rtl_models.outcome import BenchOutcome
from rtl_models.synthesis.designs import Design
from rtl_models.synthesis.figures import Figures
from rtl_models.synthesis.netlist import Size
from rtl_models.synthesis.nextpnr import PlacedDesign
from rtl_models.synthesis.report import SynthesisReport
from sim.campaign.case import JobCase
from sim.campaign.groups import CoreTrend, Trend
from sim.campaign.report import CampaignReport
from sim.campaign.result import JobResult
from sim.campaign.store import StoredRun
from sim.explanation import explain
from sim.models.causes.causes import Cause
from sim.models.causes.moves import Moved
from sim.models.compare import LayerReport
from sim.models.kernel_in_layer import KernelInLayer, TensorChange
from sim.models.network import Network, NetworkLayer, NetworkTensor
from sim.models.recorded.beside import BesideReport, LayerBeside
from sim.models.report import ModelReport
from sim.prove.claim import Claim, Finding
from sim.symbolic.kernel_proof import BuildProof, KernelProof, OutputElement, Shape, Unproved
from sim.terminal.documents import as_document

ADD = NetworkLayer(number=0, operator="ADD", inputs=(0, 0), outputs=(1,), options={})
TENSORS = tuple(NetworkTensor(number=n, name=f"t{n}", shape=(4,), dtype="int8", scale=None, data=None) for n in (0, 1))
NETWORK = Network(name="net.tflite", tensors=TENSORS, layers=(ADD,), inputs=(0,), outputs=(1,))


def results() -> list[Any]:
    """A run beside an earlier one, and one by itself that has not ended."""
    run = StoredRun(number=2, name="night", started=1.0, ended=2.0, jobs=3, results=3)
    case = JobCase(
        kind="check", kernel="k.py", source="k.c", level="O2", seed=1, more={"vectors": 9, "engine": "lockstep"}
    )
    wrong = JobResult(verdict="differs", place="k.c:3", convention="floor", failure="y[0]: 1", smallest="n = 1")
    row = (case, b"1", wrong)
    changed = Trend(new=(row,), gone=(row,), added=1, removed=1, cycles=(CoreTrend("cortex-a55", 0.04, 2),))
    before = run._replace(number=1)
    return [
        as_document("results", CampaignReport(run=run, rows=[row], before=before, trend=changed).as_json()),
        as_document(
            "results", CampaignReport(run=run._replace(ended=None), rows=[], before=None, trend=None).as_json()
        ),
    ]


def captured_calls() -> list[Any]:
    """A call with numbers, one with the texts that stand for them, one that says nothing of its end."""
    vector = "00" * 16
    call = {
        "id": "f", "entry": 4096, "ret": 8192, "maps": [[4096, 4096, "rx"]], "mem": [[4096, "hex:c0035fd6"]],
        "regs": {"x0": 1, "sp": 2}, "vregs": {"v0": vector}, "fpcr": 0, "fpsr": 0, "nzcv": 3, "tpidr": 0,
        "outputs": [[4096, 4, "hex:c0035fd6"]],
        "final": {"x": [1] * 31, "sp": 2, "v": [vector] * 32, "nzcv": 3, "fpsr": 0}, "insns": 1,
    }  # fmt: skip
    as_texts = dict.fromkeys(("entry", "ret", "fpcr", "fpsr", "nzcv", "tpidr", "insns"), "0x1000")
    final = {"x": ["0x1"] * 31, "sp": "0x2", "v": [vector] * 32, "nzcv": "0x3", "fpsr": "0x0"}
    return [
        call,
        call | as_texts | {"regs": {"x0": "0x1"}, "final": final},
        call | {"nzcv": None, "final": None, "insns": None},
    ]


def proofs_of_kernels(check: dict[str, Any]) -> list[Any]:
    """A build that is proved at any length, one that is wrong, one that is refused; a check of the second."""
    element = OutputElement("f.c -O0", 0, "out", 3)
    wrong = Unproved(element=element, elements=2, outcome="counter-example", reason="1 for 2", call_seed=7)
    builds = [
        BuildProof(
            build="f.c -O2", elements=4, proved=4, instructions=9, any_length="", loops=1, branches={"f.c:3": {"n"}}
        ),
        BuildProof(
            build="f.c -O0", elements=4, proved=2, failures=[wrong, replace(wrong, call_seed=None)], faults=["reads"]
        ),
        BuildProof(build="f.c -O1", refused=["smmla"]),
    ]
    proof = KernelProof(
        shapes=[Shape("length 1", 1, {})], builds=builds, known=frozenset({"n"}), each={"shift": [1, 2]},
        ways={"form": 1}, questions=3, untraceable="no form", reference_not_asked="it takes seconds", longest=33,
    )  # fmt: skip
    return [
        as_document("prove-kernel", {**proof.as_json(), "check": check}),
        as_document("prove-kernel", {**replace(proof, longest=None).as_json(), "check": None}),
    ]


def report_of_model() -> ModelReport:
    """A layer for every outcome and every part that one may have."""
    explained = explain(np.array([-5, 9], np.int8), accumulators=np.array([-10, 18]), multiplier=2**30, shift=-1)
    trace = explained.nearest[0].traces[0]
    equal = LayerReport(layer=ADD, outcome="equal", kind="addition", conventions=("add_tflite",))
    apart = LayerReport(
        layer=ADD, outcome="differs", kind="addition", usual="add_tflite", causes=(Cause("bound", "0", ("add",)),),
        instead=(2,), trace=trace, differing=1, elements=4, first=(3,), along=((0, 0, 0, 1),), pictures=(0,),
    )  # fmt: skip
    moves = [
        Moved(element=(0,), tensor="t0", place=(1,), expected=number, yours=number, is_copy=False)
        for number in (1, float("nan"))
    ]
    return ModelReport(
        network=NETWORK, against="device.npz", seed=1, pictures=["a.png", "b.png"],
        layers=[
            equal, apart, replace(apart, outcome="departs", explanation=explained),
            *(replace(apart, moved=each) for each in moves),
            LayerReport(layer=ADD, outcome="skipped", reason="no rule"),
        ],
    )  # fmt: skip


def models() -> list[Any]:
    """With everything; and of one picture that was recorded, nobody knows by which seed."""
    report = report_of_model()
    return [as_document("model", each.as_json()) for each in (report, replace(report, seed=None, pictures=()))]


def models_beside() -> list[Any]:
    """The same on both sides, of which one layer parts them and one is on neither."""
    report = report_of_model()
    parts = LayerBeside(
        layer=ADD, outcome="parts", differing=1, elements=4, first=(3,), numbers=("1", "2"), pictures=(0,)
    )
    other = replace(report, seed=None)
    made = BesideReport(recorded=report, runtime=other, layers=(parts, LayerBeside(layer=ADD, outcome="skipped")))
    return [as_document("model-beside", made.as_json())]


def kernels_in_layers() -> list[Any]:
    """One that changes numbers, and the largest of a row; one that changes none; one that fails."""
    change = TensorChange(name="t1", elements=4, differing=1, first=(3,), numbers=(1, 2), distance=1, largest=(0, 3))
    ran = KernelInLayer(
        network=NETWORK, layer=ADD, kernel="k", against="a.npz", convention="fp32", instructions=9, output=change,
        outputs=(change, TensorChange(name="t1", elements=4, differing=0)), not_reached=("t2",),
    )  # fmt: skip
    failed = KernelInLayer(network=NETWORK, layer=ADD, kernel="k", against="a.npz", convention="", failure="a fault")
    return [as_document("model-kernel", each.as_json()) for each in (ran, failed)]


MUTANT = Mutant(1, "mutate -mode inv -module add -cell x -port Y -portbit 0", "bit 0 is inverted", ("add.sv:1",))


def mutations() -> list[Any]:
    """A mutant for every fate."""
    verdicts = tuple(MutantVerdict(MUTANT, fate, "by", {"a": 1}, evidence={"theorems": ["t"]}) for fate in FATES)
    found = Judgement(at_width("add", 8), 1, verdicts, NetlistOrigin("00ff", "read_verilog add.sv"))
    return [as_document("rtl-mutate", json_of_mutants([found], Asked("add", 4, 1), ["yosys 1"], finished=True))]


def proofs_of_hardware() -> list[Any]:
    """A theorem that is refuted and a lemma that holds."""
    claim = Claim("t", {"x": S8}, lambda x: x, lambda x: x)
    proved, refuted = Finding("proved", 0), Finding("counter-example", 0, {"x": 1})
    theorem = Theorem(claim, at_width("add", 8), Fault("add.sv", "+", "-"))
    unknown = Finding("unknown", 0, reason="not asked")
    found = [TheoremVerdict(theorem, refuted, unknown), TheoremVerdict(Lemma(claim, claim), proved, refuted)]
    return [as_document("rtl-prove", json_of_proofs(found, "yosys 1", finished=True))]


def runs_of_hardware() -> list[Any]:
    """A call that agrees and one that does not."""
    calls = {"f.c -O2": CallVerdict(9, 20, [], ""), "f.c -O0": CallVerdict(9, 20, ["x0 is 1, not 2"], "smmla")}
    return [as_document("rtl-run", {title: call.as_json() for title, call in calls.items()})]


def syntheses() -> list[Any]:
    """A unit that is placed, and a lane that nextpnr refuses."""
    size = Size(1, 2, 3, 4)
    placed = Figures(Design("quantize_down", 4, "deep"), size, {1: PlacedDesign(90.5, "a", "b")})
    refused = Figures(Design("sqadd", 4, None), size, {1: "no room"})
    return [as_document("rtl-synth", SynthesisReport([placed, refused], ["sqadd"], "yosys 1", 200, [1]).as_json())]


def benches() -> list[Any]:
    """One that fails in every way that is told, of a module with options and figures."""
    made = BenchOutcome(
        name="sqadd", options={"widths": "8"}, simulator="verilator", seed=1, tests={"corners": "1 is not 2"},
        figures={"lanes_compared": 9, "beats": 1.5}, smallest={"a": 1}, smallest_told="1 and 2", convention="floor",
        waves=Path("wave.vcd"), coverpoints={"tie": 1}, warnings=("unused",), flags=("deep",),
    )  # fmt: skip
    return [[made.as_json()]]
