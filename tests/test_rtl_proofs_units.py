"""Units and their parts from any state: the quicker theorems, and what the models that they rest on must fulfil."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from isa.evaluate.exact import Evaluation
from isa.lane import S32, U16, U32, Int, Lane, Read, constant, walk
from rtl_models.bulk.stimulus import long_frame
from rtl_models.cores.names import CORES
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import Signals, on
from rtl_models.formal.equations.path import on_path
from rtl_models.formal.equations.replay import Replay
from rtl_models.formal.equations.replay import placed as with_bits
from rtl_models.formal.equations.smt2 import Equations, Expression, parsed, plain
from rtl_models.formal.equations.support import support_in
from rtl_models.formal.equations.unrolling import WireBits
from rtl_models.formal.equations.written import Subject, at_width, derive_equations, design_of
from rtl_models.formal.lemmas import (
    lemmas,
    low_product_of_joined,
    nudged_product_of_joined,
    nudged_sum_of_products,
    product_of_joined,
    sum_of_low_products,
    sum_of_products,
)
from rtl_models.formal.report import details
from rtl_models.formal.run import TheoremVerdict, verdict_of
from rtl_models.formal.subject import about, decide, subjects
from rtl_models.formal.theorem import Fault, Lemma, Theorem, decided
from rtl_models.formal.theorems import pipelines, theorems
from rtl_models.formal.units.composition import Composed, Uneven, same
from rtl_models.formal.units.configuration import cause_set, legal
from rtl_models.formal.units.frames import transpose1xw
from rtl_models.formal.units.parts import DEPTH
from rtl_models.formal.units.pieces import multiply_high
from rtl_models.formal.units.pipelines import OutputBits, Pipeline
from rtl_models.formal.units.registers import RegisterUpdate
from rtl_models.formal.units.walk import BeatPlace
from rtl_models.register_map import CHANNELS, MOST_CHANNELS, REGISTERS, TABLES, cause
from rtl_models.register_map import Register as Word
from rtl_models.tools.sources import LANES
from rtl_models.unit_values import ONE_ROUNDING, UNDEFINED
from rtl_models.units import UNITS
from sim.prove.claim import ClaimInputs, input_lane, sides_of, tells_apart
from sim.toolchain.tools import cache_directory
from support.rtl_faults import AT_DEPTHS, planted

pytestmark = pytest.mark.rtl
SECONDS = 600.0
SLOW = {
    "gemm_core", "mac_array", "quantized_add", "quantize_down_channels", "transpose1xw", "offset_contribution",
    "window_stream", "quantized_add_float", "add_scaled_byte", "fmla_byte", "quantized_multiplier", "integer_scale",
}  # fmt: skip
"""What `lanewise rtl prove` proves, as it does the wider parts: made of parts proved here, or of many lanes alike."""


def is_short(subject: Subject) -> bool:
    """Whether tables are those of two beats, or of 4 lanes and three or five."""
    parameters = dict(subject.parameters)
    beats = parameters.get("Channels", 0) // parameters.get("Lanes", 1)
    return subject.module != "channel_tables" or beats == 2 or (beats <= 5 and parameters["Lanes"] == 4)


def is_between(subject: Subject) -> bool:
    """Whether it is a unit at a depth between shallow and deep, made of parts that are proved with these."""
    return subject.module in UNITS and "Depth" in dict(subject.parameters)


def is_fast(theorem: Theorem | Lemma) -> bool:
    if isinstance(theorem, Lemma):
        return True
    parameters = dict(theorem.subject.parameters)
    own = theorem.subject.module not in SLOW and "PerChannel" not in parameters and parameters.get("AddressBits") != 3
    own = own and not is_between(theorem.subject)
    return (
        own
        and is_short(theorem.subject)
        and "bits" not in theorem.claim.name
        and not {16, 32} & {parameters.get("Width")} - {None}
    )


FAST = [theorem for theorem in theorems() if is_fast(theorem)]
LONGER = (
    "stages together are the unit",
    "channel_tables at",
    "every beat of a frame has its place",
    "scaling in steps",
)
STANDING_FOR_THEM = (
    "quantize_down at Lanes 4, Deep 0:", "channel_tables at Lanes 4, Channels 8,", "frame_walk at BeatBytes 16:",
)  # fmt: skip


def takes_longer(theorem: Theorem | Lemma) -> bool:
    """A quarter of a second and more by itself, and it does not stand for the others of its kind."""
    return any(words in theorem.name for words in LONGER) and not theorem.name.startswith(STANDING_FOR_THEM)


@pytest.fixture
def cache() -> Path:
    return cache_directory()


@pytest.mark.parametrize(
    "theorem",
    [
        pytest.param(theorem, marks=[pytest.mark.slow] if takes_longer(theorem) else [], id=theorem.name)
        for theorem in FAST
    ],
)
def test_a_theorem_holds_from_any_state_and_its_false_claim_does_not(theorem: Theorem | Lemma, cache: Path) -> None:
    verdict = verdict_of(theorem, cache, SECONDS)
    assert verdict.holds, "\n".join(details(verdict))


@pytest.mark.slow
def test_soundness_counts_the_theorems_about_the_units() -> None:
    text = (LANES.parent / "SOUNDNESS.md").read_text()
    every = theorems()
    counted = Counter(theorem.subject.module for theorem in every if isinstance(theorem, Theorem))
    said = {unit: int(count) for unit, count in re.findall(r"^\| unit `(\w+)` \| (\d+) \|", text, re.MULTILINE)}
    assert said == {unit: counted[unit] for unit in UNITS}
    assert f"{len(every)} theorems and as many false claims" in text


def test_a_counter_example_names_the_register_and_what_it_should_become(cache: Path) -> None:
    """1 * ~0 is -1, not 0: no smaller factors tell them apart."""
    (theorem,) = about(Subject("multiply_low", (("Width", 32), ("Deep", 0))))
    finding = decided(theorem, derive_equations(theorem.wrong_design, cache), SECONDS)
    lines = list(details(TheoremVerdict(theorem, finding, finding), lanes=8))
    assert lines[2] == "  gen_shallow.result_q: multiply_low.sv at Width 32, Deep 0 gives 4294967295, expected 0"
    assert lines[-1].endswith('or wait" --lanes 8')


@pytest.mark.slow
def test_a_fault_that_disconnects_a_register_is_refuted(cache: Path) -> None:
    """Although nothing reads the register any more, of which the theorems speak."""
    subject = Subject("valid_pipeline", (("Depth", DEPTH),))
    fault = Fault("valid_pipeline.sv", "assign valid_o  = valid_q[Depth-1];", "assign valid_o  = 1'b0;")
    wrong = derive_equations(fault.planted(design_of(subject)), cache)
    found = decide(subject, wrong, SECONDS)
    assert (found.outcome, found.values["valid_o"]) == ("refuted", 0)
    assert "unknown" not in {decided(theorem, wrong, SECONDS).outcome for theorem in about(subject)}


PLANTED = {
    "a bypass for one operand": (
        Subject("quantize_down", (("Lanes", 4), ("Deep", 0))),
        Fault("quantize_down.sv", "shift_q      <= shift_i;", "if (accumulator_i[31:0] != 9) shift_q <= shift_i;"),
        "stage 1",
        {"accumulator_i": 9},
    ),
    "not ready in reset": (
        Subject("valid_pipeline", (("Depth", DEPTH),)),
        Fault("valid_pipeline.sv", "ready_o  = enable_o;", "ready_o  = enable_o & rst_ni;"),
        "ready",
        {"rst_ni": 0, "ready_i": 0, "valid_q": 0},
    ),
    "a setting beside its register": (
        Subject("config_registers", (("Channels", CHANNELS),)),
        Fault("config_registers.sv", "  = offset_q;", "  = write_i && address_i[3] ? data_i : offset_q;"),
        "OFFSET takes",
        {"write_i@1": 1, "address_i@1": 8},
    ),
}  # fmt: skip
"""Faults by what the hardware reads in them that no specification does, and what a counter-example must say of it."""


@pytest.mark.parametrize(("subject", "fault", "name", "said"), PLANTED.values(), ids=PLANTED)
def test_a_counter_example_has_what_the_hardware_read_and_can_be_played_again_from_that(
    subject: Subject, fault: Fault, name: str, said: Mapping[str, int], cache: Path
) -> None:
    """Registers and inputs by their names give the equations' wrong value; without the fault the expected one."""
    theorem = next(theorem for theorem in about(subject) if f": {name}" in theorem.claim.name)
    wrong = derive_equations(fault.planted(design_of(subject)), cache)
    finding = decided(theorem, wrong, SECONDS)
    assert (finding.outcome, said.items() <= finding.values.items()) == ("counter-example", True)
    assert tells_apart_again(theorem, wrong, finding.values)
    assert not tells_apart_again(theorem, derive_equations(design_of(subject), cache), finding.values)


def tells_apart_again(theorem: Theorem, text: str, values: Mapping[str, int]) -> bool:
    """Whether the equations contradict a claim about the signals that there are values for."""
    found, states = parsed(text), dict[int, int]()
    for vector, edge in product(support_in(text).vectors, (0, 1)):
        shown = values.get(str(WireBits(vector.shown, edge=edge)), 0)
        states[edge] = with_bits(states.get(edge, 0), vector.bits, shown)
    replay, sides = Replay(found, states), sides_of(theorem.claim)
    numbers = {name: replay.value(WireBits.named(name)) for name in theorem.claim.inputs}
    return tells_apart(sides, numbers)


def test_the_steps_of_a_counter_example_are_those_that_matter(cache: Path) -> None:
    """Of a status that is lost: none of the registers' ranges, as nothing is written."""
    registers = about(Subject("config_registers", (("Channels", CHANNELS),)))
    (theorem,) = (theorem for theorem in registers if "sets its bit of STATUS" in theorem.claim.name)
    finding = decided(theorem, derive_equations(theorem.wrong_design, cache), SECONDS)
    steps = [line for line in details(TheoremVerdict(theorem, finding, finding)) if re.match(" +t[0-9]+ =", line)]
    assert 0 < len(steps) < 12
    assert not any(re.search("t[0-9]+ = -?[0-9]+ (==|AND|OR|<) -?[0-9]+ =", step) for step in steps)


@pytest.mark.parametrize("pipeline", pipelines(), ids=lambda pipeline: str(pipeline.subject))
def test_what_is_left_of_an_expression_has_its_value(pipeline: Pipeline) -> None:
    results = {f"{result.port} {result.lsb}": result.meaning(Signals()) for result in pipeline.results}
    for values in beats(pipeline, 20):
        evaluation = Evaluation(ClaimInputs(values))
        left = on_path(results, values)
        assert {name: evaluation.value(lane) for name, lane in left.items()} == {
            name: evaluation.value(lane) for name, lane in results.items()
        }, f"seed {SEED}: {values}"


DEPENDING_ON_LANES = {
    "the chunks of a beat": (
        Subject("transpose1xw", (("Lanes", 16), ("Deep", 0))), "transpose1xw.sv", "step << 1", "step << 2",
    ),
    "the step of a beat of two chunks": (
        Subject("frame_walk", (("BeatBytes", 32),)), "frame_walk.sv",
        "<< $clog2(BeatBytes / 16)", "<< (BeatBytes == 32 ? 2 : $clog2(BeatBytes / 16))",
    ),
    "the step of a beat of four chunks": (
        Subject("frame_walk", (("BeatBytes", 64),)), "frame_walk.sv",
        "<< $clog2(BeatBytes / 16)", "<< (BeatBytes == 64 ? 1 : $clog2(BeatBytes / 16))",
    ),
    "the columns of elements of four bytes": (
        Subject("interleave4x4", (("Lanes", 16), ("Deep", 0))), "interleave4x4.sv", "4 * (k / 16)", "2 * (k / 16)",
    ),
    "the next channels": (
        Subject("channel_tables", (("Lanes", 16), ("Channels", 32), ("LeftShifts", 1))), "channel_tables.sv",
        "32'd1) << $clog2(Lanes)", "32'd1) << (Lanes == 16 ? 3 : $clog2(Lanes))",
    ),
}  # fmt: skip
"""Faults that do nothing at 4 lanes."""


@pytest.mark.slow
@pytest.mark.parametrize(("subject", "file", "text", "wrong"), DEPENDING_ON_LANES.values(), ids=DEPENDING_ON_LANES)
def test_a_fault_that_only_more_lanes_show_is_refuted_by_default(
    subject: Subject, file: str, text: str, wrong: str, cache: Path
) -> None:
    """Each module is among those that are proved when no number of lanes is asked for."""
    mutant = Fault(file, text, wrong).planted(design_of(subject))
    assert decide(subject, derive_equations(mutant, cache), SECONDS).outcome == "refuted"


def tables_of(channels: int, **others: int) -> Subject:
    return Subject("channel_tables", (("Lanes", 4), ("Channels", channels), ("LeftShifts", 1), *others.items()))


DEPENDING_ON_CHANNELS = {
    "three beats without an end": (
        tables_of(12), "ends_row ? '0 :", "ends_row && following != 32'(Channels) ? '0 :",
    ),
    "five beats without an end": (
        tables_of(20), "ends_row ? '0 :", "ends_row && following != 32'(Channels) ? '0 :",
    ),
    "channels from 64 on are written where the first are": (
        tables_of(68), "(channel_i >> $clog2(Lanes))", "((channel_i & 12'd63) >> $clog2(Lanes))",
    ),
    "block RAM that a reset leaves at its beat": (
        tables_of(12, BlockRam=1), "rst_ni ? beat_d : '0", "beat_d",
    ),
}  # fmt: skip
"""Faults that tables of 64 channels do not show."""


@pytest.mark.slow
@pytest.mark.parametrize(("subject", "text", "wrong"), DEPENDING_ON_CHANNELS.values(), ids=DEPENDING_ON_CHANNELS)
def test_a_fault_that_only_other_tables_show_is_refuted_by_default(
    subject: Subject, text: str, wrong: str, cache: Path
) -> None:
    fault = Fault("channel_tables.sv", text, wrong)
    few = next(theorem for theorem in about(tables_of(8)) if "keep what is written" in theorem.claim.name)
    assert decided(few, derive_equations(fault.planted(design_of(tables_of(8))), cache), SECONDS).outcome == "proved"
    assert decide(subject, derive_equations(fault.planted(design_of(subject)), cache), SECONDS).outcome == "refuted"


@pytest.mark.slow
def test_registers_that_end_at_channel_64_are_refuted_where_there_are_more(cache: Path) -> None:
    fault = Fault("config_registers.sv", "32'(table_channel_o) < Channels", "32'(table_channel_o) < 64")
    outcomes = {}
    for channels in (CHANNELS, MOST_CHANNELS):
        subject = Subject("config_registers", (("Channels", channels),))
        equations = derive_equations(fault.planted(design_of(subject)), cache)
        outcomes[channels] = decide(subject, equations, SECONDS).outcome
    assert outcomes == {CHANNELS: "equivalent", MOST_CHANNELS: "refuted"}


SEQUENTIAL = [
    subject
    for subject in subjects()
    if subject.module not in CORES
    and is_short(subject)
    and any("@1" in name for t in about(subject) for name in t.claim.inputs)
]
"""Without cores, of which theorems say what goes from part to part: the parts are proved alone."""


@pytest.mark.parametrize("subject", SEQUENTIAL, ids=str)
def test_every_register_of_a_module_is_in_some_theorem(subject: Subject, cache: Path) -> None:
    found = parsed(derive_equations(design_of(subject), cache))
    claimed = {bit for signal in claimed_signals(subject) if signal.edge == 1 for bit in state_of(found, signal)}
    registers = {bit for following, register in found.transition for bit in kept_bits(found, following, register)}
    assert registers
    assert registers <= claimed


@pytest.mark.parametrize(
    "subject", [*dict.fromkeys([*(t.subject for t in FAST if isinstance(t, Theorem)), *SEQUENTIAL])], ids=str
)
def test_every_bit_of_every_output_is_in_some_theorem(subject: Subject, cache: Path) -> None:
    found = parsed(derive_equations(design_of(subject), cache))
    claimed = {place for signal in claimed_signals(subject) for place in bits_on(signal, found.outputs)}
    assert claimed >= {(port, bit) for port, bits in found.outputs.items() for bit in range(bits)}


@pytest.mark.parametrize("subject", SEQUENTIAL, ids=str)
def test_what_theorems_rest_on_is_a_port_or_a_register_or_in_another_theorem(subject: Subject, cache: Path) -> None:
    """Else nothing would say that the wire to a part of a unit comes from the right port."""
    found = parsed(derive_equations(design_of(subject), cache))
    read = {WireBits.named(name).wire for theorem in about(subject) for name in theorem.claim.inputs}
    claimed = {signal.wire for signal in claimed_signals(subject)}
    others = {wire for wire in read - claimed - found.inputs.keys() if not wire.startswith("ghost.")}
    assert others == set()


def claimed_signals(subject: Subject) -> set[WireBits]:
    """The signals of which a theorem says what they are or become; that a result stays is no such theorem."""
    becoming = [theorem for theorem in about(subject) if not theorem.claim.name.endswith("stays")]
    lanes = [lane for theorem in becoming for lane in sides_of(theorem.claim).left.values()]
    return {WireBits.named(lane.place.file) for lane in walk(lanes) if isinstance(lane, Read)}


def bits_on(signal: WireBits, widths: Mapping[str, int]) -> list[tuple[str, int]]:
    """The bits of a signal that is a port with one of these widths."""
    whole = [(signal.wire, bit) for bit in range(widths.get(signal.wire, 0))]
    return whole[signal.lsb :][: signal.bits]


def state_of(found: Equations, signal: WireBits) -> set[int]:
    """The bits of the state that a signal shows: where it is computed, as a masked register is, all that it is of."""
    bits = found.bits_of(found.wire(signal.wire))
    return bits_under(found, found.wire(signal.wire)) if bits is None else set(bits[signal.lsb :][: signal.bits])


def bits_under(found: Equations, expression: Expression) -> set[int]:
    """The bits of the state that an expression depends on."""
    bits = found.bits_of(expression)
    if bits is not None:
        return set(bits)
    if isinstance(expression, str):
        body = found.functions.get(plain(expression))
        return set() if body is None else bits_under(found, body)
    return {bit for part in expression for bit in bits_under(found, part)}


def kept_bits(found: Equations, following: Expression, register: Expression) -> set[int]:
    """The bits of a register; none of those that stand for an unknown value, which only keep themselves."""
    bits = found.bits_of(register) or []
    return set() if found.bits_of(following) == bits else set(bits)


def test_tiles_are_instances_of_their_lemmas() -> None:
    x, y = input_lane("a", S32), input_lane("b", S32)
    parts = (a.high_half(x), a.low_half(x), a.high_half(y), a.low_half(y))
    assert same(sum_of_products(*parts), a.tiled(x, y))
    assert same(product_of_joined(*parts), a.product(a.joined(*parts[:2]), a.joined(*parts[2:])))


def test_tiles_of_a_rounded_product_are_instances_of_their_lemmas() -> None:
    x, y = input_lane("a", S32), input_lane("b", S32)
    parts, nudge = (a.high_half(x), a.low_half(x), a.high_half(y), a.low_half(y)), a.nudge(a.both_lowest(x, y))
    assert same(S32.field(nudged_sum_of_products(*parts, nudge), 31), a.nudged_high_tiled(x, y))
    whole = nudged_product_of_joined(*parts, nudge)
    joined = a.joined(*parts[:2]), a.joined(*parts[2:])
    assert same(whole, a.product(*joined) + nudge)
    assert same(S32.field(a.product(x, y) + nudge, 31), a.nudged_high(x, y))


def test_low_tiles_are_instances_of_their_lemmas() -> None:
    x, y = input_lane("a", U32), input_lane("b", U32)
    parts = (a.high_half_unsigned(x), a.low_half(x), a.high_half_unsigned(y), a.low_half(y))
    assert same(sum_of_low_products(*parts), a.tiled_low(x, y))
    assert same(low_product_of_joined(*parts), a.product_low(a.joined(*parts[:2]), a.joined(*parts[2:])))


def test_every_simpler_form_of_a_stage_is_that_of_a_lemma() -> None:
    """Tiles are instances of two lemmas or three: see the tests above."""
    proved = {(lemma.claim.left, lemma.claim.right) for lemma in lemmas()}
    tiles = {(a.tiled, a.product), (a.tiled_low, a.product_low), (a.nudged_high_tiled, a.sqrdmulh)}
    used = {(r.shown.left, r.shown.right) for pipeline in pipelines() for r in pipeline.registers if r.shown}
    assert tiles < used <= proved | tiles


def test_numbers_of_two_beats_do_not_compose() -> None:
    fault = Fault("", "", "")
    early = RegisterUpdate(wire="early_q", kind=S32, following=on("a_i", S32), fault=fault)
    late = RegisterUpdate(
        wire="late_q", kind=S32, following=lambda r: a.added(early.value(r), r("a_i", S32)), fault=fault
    )
    with pytest.raises(Uneven, match="numbers of 0, 1 edges before meet"):
        Composed([early, late], Signals()).of(late.value)


def test_a_stage_that_is_not_of_the_form_of_its_lemma_does_not_compose() -> None:
    value, multiplier = on("value_i", S32), on("multiplier_i", S32)
    *others, high = multiply_high("", True, value, multiplier).registers
    squared = RegisterUpdate(
        wire=high.wire,
        kind=high.kind,
        following=lambda r: a.nudged_high(value(r), value(r)),
        fault=high.fault,
        shown=high.shown,
    )
    with pytest.raises(Uneven, match="not of the form of the lemma"):
        Composed([*others, squared], Signals()).of(squared.value)


@pytest.mark.parametrize("pipeline", pipelines(), ids=lambda pipeline: str(pipeline.subject))
def test_a_result_leaves_after_the_documented_latency(pipeline: Pipeline) -> None:
    composed = Composed(pipeline.registers, Signals())
    assert {composed.of(result.value)[1] for result in pipeline.results} == {pipeline.latency}


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "depth", "fault"), AT_DEPTHS.values(), ids=AT_DEPTHS)
def test_a_fault_at_a_depth_between_is_refuted(unit: str, depth: int, fault: tuple[str, str, str], cache: Path) -> None:
    subject = Subject(unit, (("Lanes", 4), ("Depth", depth)))
    equations = derive_equations(design_of(subject, planted(*fault)), cache)
    found = decide(subject, equations, SECONDS)
    # a register that is not there, or is longer or shorter than due, ends `rtl prove` as a refuted theorem does
    missing = re.search(r"has no wire|there is no|has a width of", found.reason)
    assert found.outcome == "refuted" or missing, found


SEED = 9
LANES_OF_A_BEAT = 4


def beats(pipeline: Pipeline, count: int) -> Iterator[dict[str, int]]:
    """Numbers for all signals that the specification reads: some at an edge of their range, the others of any size."""
    random, read = np.random.default_rng(SEED), Signals()
    for result in pipeline.results:
        result.meaning(read)
        result.given(read)
    for at in range(count):
        aimed = float_beat(at) if pipeline.subject.module == "quantized_add_float" and at % 2 else {}
        yield {name: number(random, kind) for name, kind in read.kinds.items()} | aimed


def float_beat(seed: int) -> dict[str, int]:
    """Of `quantized_add_float`, whose results are at their ends for most numbers: a beat as for volume."""
    frame = long_frame(UNITS["quantized_add_float"], LANES_OF_A_BEAT, seed, 1)
    operands = {
        f"{port}[{8 * lane}+:8]": int(byte)
        for port, rows in frame.operands.items()
        for lane, byte in enumerate(rows[0])
    }
    return operands | {f"{name}_i": value % (1 << 32) for name, value in frame.settings.items()}


def number(random: np.random.Generator, kind: Int) -> int:
    if random.integers(4) == 0:
        return int(random.choice([kind.low, kind.low + 1, 0, 1, kind.high]))
    return int(random.integers(kind.low, kind.high + 1)) >> int(random.integers(kind.bits))


@pytest.mark.slow
@pytest.mark.parametrize(
    "pipeline", [p for p in pipelines() if "PerChannel" not in dict(p.subject.parameters)], ids=lambda p: str(p.subject)
)
def test_what_a_unit_is_proved_to_be_is_what_the_golden_says(pipeline: Pipeline) -> None:
    seen: list[int] = []
    for values in beats(pipeline, 130 if pipeline.subject.module == "quantized_add_float" else 600):
        evaluation = Evaluation(ClaimInputs(values))
        if evaluation.value(pipeline.results[0].given(Signals())) and is_known(values):
            got = [evaluation.value(result.meaning(Signals())) for result in pipeline.results]
            assert got == golden(pipeline, values), f"seed {SEED}: {values}"
            seen += got
    assert len(seen) >= 400
    assert len(set(seen)) >= 60


def golden(pipeline: Pipeline, values: Mapping[str, int]) -> list[int]:
    """The results of one beat by the golden, as unsigned numbers where the model has them so."""
    lanes = dict(pipeline.subject.parameters)["Lanes"]
    unit = UNITS[pipeline.subject.module]
    operands = {p.name: column(values, p.name, p.count(lanes), p.bits, p.signed) for p in unit.operands}
    settings = {name: setting(values, f"{name}_i") for name in unit.settings}
    result = unit.expected(settings, operands, lanes)[unit.results[0].name][0]
    return [pipeline.results[0].kind.wrapped(int(number)) for number in result]


def is_known(values: Mapping[str, int]) -> bool:
    """Whether the golden has it: with one rounding no multiplier is negative."""
    signs = [number % (1 << 32) >> 31 for name, number in values.items() if name.startswith("multiplier_i")]
    return values.get("rounding_i") != ONE_ROUNDING or not any(signs)


def column(values: Mapping[str, int], port: str, count: int, bits: int, signed: bool) -> np.ndarray:
    """One beat of a port from the numbers of its lanes."""
    numbers = [values[port]] if port in values else [values[f"{port}[{bits * k}+:{bits}]"] for k in range(count)]
    wrapped = [number % (1 << bits) for number in numbers]
    half = 1 << (bits - 1)
    return np.array([[(n ^ half) - half if signed else n for n in wrapped]], np.int64)


def setting(values: Mapping[str, int], port: str) -> int:
    """The number on a port, whole or read from bit 0; what is 32 bits wide is signed."""
    (found,) = (value for name, value in values.items() if name == port or name.startswith(f"{port}[0+:"))
    signed = port.endswith("offset_i") or port in ("constant_i",)
    return found - (1 << 32) if signed and found >= 1 << 31 else found


@pytest.mark.parametrize("lanes", [4, 16])
@pytest.mark.parametrize(("element", "zero_tail"), list(product((1, 2, 4), (0, 1))))
@pytest.mark.parametrize(("width", "height"), [(1, 1), (5, 2), (16, 3), (9, 4), (33, 2)])
def test_where_beats_are_proved_to_go_is_what_the_golden_says(
    width: int, height: int, element: int, zero_tail: int, lanes: int
) -> None:
    settings = {"destination": 4096, "width": width, "height": height, "element": element, "zero_tail": zero_tail}
    beats_a_row = -(-width * element // (4 * lanes))
    data = np.random.default_rng(SEED).integers(0, 1 << 32, (beats_a_row * height, lanes))
    expected = UNITS["transpose1xw"].expected(settings, {"data_i": data}, lanes)
    got = [placed(settings, y, x, data[y * beats_a_row + x]) for y in range(height) for x in range(beats_a_row)]
    ports = [expected[port].tolist() for port in ("write_o", "address_o", "data_o")]
    assert got == [list(beat) for beat in zip(*ports, strict=True)]


def placed(settings: Mapping[str, int], y: int, x: int, words: np.ndarray) -> list[list[int]]:
    """Which chunks of a beat there are, their addresses and data, by the specification that is proved."""
    row_bytes, beat_bytes = settings["width"] * settings["element"], 4 * len(words)
    before = x * settings["height"]
    place = BeatPlace(
        destination=constant(settings["destination"]),
        row_bytes=constant(row_bytes),
        height=constant(settings["height"]),
        zero_tail=constant(settings["zero_tail"]),
        x=constant(x),
        y=constant(y),
        before=constant(before),
    )
    frame = place.frame(beat_bytes)
    offered = {
        "u_frame_walk.address_o": frame.address.low, "u_frame_walk.bytes_o": min(frame.remaining.low, beat_bytes),
        "u_frame_walk.step_o": 16 * settings["height"], "u_frame_walk.zero_tail_o": settings["zero_tail"],
        "u_frame_walk.last_o": 0,
    }  # fmt: skip
    octets = words.astype("<u4").view(np.uint8)
    evaluation = Evaluation(
        ClaimInputs(offered | {f"data_i[{8 * k}+:8]": int(octet) for k, octet in enumerate(octets)})
    )
    results = transpose1xw(len(words), True).results
    there = numbers_on("write_o", results, evaluation)
    addresses, data = (numbers_on(port, results, evaluation) for port in ("address_o", "data_o"))
    words_on = [sum(octet << 8 * k for k, octet in enumerate(data[at : at + 4])) for at in range(0, len(data), 4)]
    return [there, where_there(there, addresses), where_there(there, words_on)]


def numbers_on(port: str, results: tuple[OutputBits, ...], evaluation: Evaluation) -> list[int]:
    return [evaluation.value(result.meaning(Signals())) for result in results if result.port == port]


def where_there(there: list[int], numbers: list[int]) -> list[int]:
    """Of chunks that are not there, nothing is said."""
    each = len(numbers) // len(there)
    return [number if there[k // each] else UNDEFINED for k, number in enumerate(numbers)]


LOW = (0, 1, 2, 3, 4, 16, 20, 21, 31, 32, 64, 65, 128, 255)
WORDS = [low | mid << 8 | high << 16 for low, mid, high in product(LOW, (0, 1, 127, 128, 255), (0, 1, 2, 255))]


@pytest.mark.parametrize("register", REGISTERS, ids=lambda register: register.name)
def test_what_is_proved_to_be_legal_is_what_the_map_says(register: Word) -> None:
    word: Lane = input_lane("word", U32)
    condition = legal(register, word)
    found = [bool(Evaluation(ClaimInputs({"word": data})).value(condition)) for data in WORDS]
    assert found == [register.takes(data) for data in WORDS]


@pytest.mark.parametrize("channels", [12, CHANNELS, MOST_CHANNELS])
@pytest.mark.parametrize("data", [0, 1, 30, 31, 32, CHANNELS, MOST_CHANNELS, 0x0001_0001, U32.high])
def test_the_cause_that_a_write_is_proved_to_set_is_that_of_the_map(data: int, channels: int) -> None:
    beside = [TABLES + 16 * c + offset for c in (0, channels - 1, channels) for offset in range(16)]
    ends = [address for address in beside if address <= U16.high]
    addresses, condition = [*range(0x50), TABLES - 4, *ends, 0x2000, 0xFFF0, 0xFFFF], cause_set(Signals(), channels)
    found = [
        Evaluation(ClaimInputs({"write_i": 1, "address_i": at, "data_i": data})).value(condition) for at in addresses
    ]
    assert found == [cause(at, data, channels) for at in addresses]


SQADD = at_width("sqadd", 8)


def test_other_equations_of_the_same_behaviour_are_equivalent(cache: Path) -> None:
    swapped = Fault(
        "sqadd.sv", "{a_i[Width-1], a_i} + {b_i[Width-1], b_i}", "{b_i[Width-1], b_i} + {a_i[Width-1], a_i}"
    )
    assert decide(SQADD, derive_equations(swapped.planted(design_of(SQADD)), cache), SECONDS).outcome == "equivalent"


def test_a_mutant_of_a_unit_is_refuted_by_a_named_theorem(cache: Path) -> None:
    walk_of_16 = Subject("frame_walk", (("BeatBytes", 16),))
    mutant = Fault("frame_walk.sv", "row_address + 32'd16", "row_address + 32'd17").planted(design_of(walk_of_16))
    decision = decide(walk_of_16, derive_equations(mutant, cache), SECONDS)
    assert (decision.outcome, decision.theorem) == (
        "refuted",
        "frame_walk at BeatBytes 16: the walk's registers become what they should, or wait",
    )


def test_equations_of_another_module_are_not_decided(cache: Path) -> None:
    other = derive_equations(design_of(at_width("uqxtn", 8)), cache)
    decision = decide(SQADD, other, SECONDS)
    assert (decision.outcome, decision.reason) == ("unknown", "the module has no wire b_i")


@pytest.mark.slow
def test_a_module_without_theorems_is_named() -> None:
    with pytest.raises(ValueError, match="there is no theorem about mystery at Width 8"):
        decide(at_width("mystery", 8), "", SECONDS)
