"""Why a lane is what it is: its way has every value, what was lost on it, and the line of a planted fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from test_check_planted_faults import C_FAULTS, FOLDER, Fault

from sim.check.check import Job, check_job
from sim.check.vectors import call_seed, make_vectors
from sim.debug import why
from sim.debug.app.beside import golden_text
from sim.debug.app.looking import Looking
from sim.debug.calls import DebuggedCall, debug_failing, debug_function, debug_kernel
from sim.debug.session import Session
from sim.debug.snapshot import golden_lanes
from sim.kernels import parse_prototype, quantize_down
from sim.kernels.kernel import Inputs, Kernel
from support.sampled import sampled, shown_too_by

TEXT = """#include <stddef.h>
#include <stdint.h>
int32_t sum(const int16_t *in, size_t n, int32_t *partial)
{
    int32_t total = 0;
    for (size_t i = 0; i < n; ++i) {
        total += in[i] * 3;
        partial[i] = total >> 2;
    }
    return total;
}
"""


@pytest.fixture(scope="module")
def summed(tmp_path_factory: pytest.TempPathFactory) -> Session:
    file = tmp_path_factory.mktemp("why") / "sum.c"
    file.write_text(TEXT)
    numbers = ",".join(str(5 * i - 7) for i in range(40))
    session = Session(debug_function(file, "sum", [numbers, "40", "zeros:40"], ("-O1", "-fno-vectorize")))
    session.goto_end()
    return session


def test_the_way_of_a_lane_ends_in_what_was_given(summed: Session) -> None:
    way = summed.why("partial[2]")
    assert way.inputs == ("in[0]", "in[1]", "in[2]")
    assert way.steps[-1].lane == "partial[2]"
    assert way.steps[-1].value == (3 * (-7 - 2 + 3)) >> 2
    assert [step.number for step in way.steps] == sorted(step.number for step in way.steps)


def test_of_a_lane_that_is_not_written_yet_the_way_to_its_store_is_told(summed: Session) -> None:
    end, written = summed.position, summed.why("partial[2]")
    store = written.steps[-1].number
    summed.goto(store)
    way = summed.why("partial[2]")
    assert (way.ahead, way.steps, way.inputs) == (store, written.steps, written.inputs)
    assert str(way).startswith(
        f"partial[2] will come from in[0], in[1], in[2]: it is not written yet, #{store} will write it\n"
    )
    assert summed.position == store
    summed.goto(store + 1)
    assert (summed.why("partial[2]").ahead, summed.why("in[2]").ahead) == (None, None)
    summed.goto(end)


def test_of_a_shift_by_a_register_only_the_count_of_its_own_lane_decides(tmp_path: Path) -> None:
    file = tmp_path / "shift.c"
    file.write_text(
        "#include <arm_neon.h>\n"
        "void shift(const int32_t *x, const int32_t *s, int32_t *out) {\n"
        "    vst1q_s32(out, vrshlq_s32(vld1q_s32(x), vnegq_s32(vld1q_s32(s))));\n"
        "}\n"
    )
    session = Session(debug_function(file, "shift", ["5,-3,7,9", "1,1,2,3", "zeros:4"], ("-O2",)))
    session.goto_end()
    for lane in range(4):
        way = session.why(f"out[{lane}]")
        assert way.inputs == (f"x[{lane}]", f"s[{lane}]")
        assert [step.lane for step in way.steps if "neg" in step.instruction] == [f"v0.s[{lane}]"]
        assert way.decisions == ()  # the count is on the way, and there is no branch


def test_every_value_is_that_of_its_instruction(summed: Session) -> None:
    end = summed.position
    for step in summed.why("partial[3]").steps:
        summed.goto(step.number + 1)
        kind = f"s{step.bits}"
        assert summed.lanes(step.lane, kind) == (step.value,)
    summed.goto(end)


def test_steps_say_what_they_are_made_of(summed: Session) -> None:
    way = summed.why("partial[3]")
    for number, step in enumerate(way.steps):
        assert all(at < number for at in step.made_of)
    shift = next(step for step in way.steps if step.instruction.startswith(("asr", "sbfx")))
    assert shift.events == ("truncated",)
    assert any(int(way.steps[at].value) >> 2 == shift.value for at in shift.made_of)


def test_a_long_way_is_cut(summed: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(why, "MOST", 30)
    way = summed.why("result")
    assert way.is_cut
    assert way.steps[-1].number > way.steps[0].number


def test_a_way_of_lanes_that_are_only_kept_is_cut_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kept.s"
    file.write_text("kept:\n\tmovi v1.16b, #7\n1:\tins v1.b[0], w0\n\tsubs x1, x1, #1\n\tb.ne 1b\n\tret\n.globl kept\n")
    name, signature = parse_prototype("void kept(uint32_t value, size_t n)")
    kernel = Kernel(name=name, symbol=name, sources=(file,), signature=signature, golden=dict)
    session = Session(debug_kernel(kernel, Job(file, ()), {"value": 3, "n": 200}, has_golden=False))
    session.goto_end()
    whole = session.why("v1.b[5]")
    assert (whole.is_cut, whole.inputs) == (False, ())
    monkeypatch.setattr(why, "MOST", 100)
    cut = session.why("v1.b[5]")
    assert (cut.is_cut, len(cut.steps), cut.inputs) == (True, 0, ("v1 at the call",))


def test_a_lane_goes_the_same_way_in_windows_of_any_size(summed: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = summed.why("result").steps
    monkeypatch.setattr(why, "_FEW", 1)
    monkeypatch.setattr(why, "_MANY", 1)
    assert summed.why("result").steps == whole


def test_what_comes_of_an_input_is_all_behind_it(summed: Session) -> None:
    end = summed.position
    summed.goto(0)
    reached = summed.slice("in[37]")
    assert reached.inputs[:3] == ("partial[37]", "partial[38]", "partial[39]")
    assert all("in[37]" in summed_why(summed, f"partial[{at}]", end) for at in (37, 38, 39))
    summed.goto(end)


def summed_why(session: Session, text: str, end: int) -> tuple[str, ...]:
    session.goto(end)
    return session.why(text).inputs


def test_what_is_overwritten_reaches_no_further(summed: Session) -> None:
    end = summed.position
    summed.goto(end - 1)
    assert summed.slice("x9").steps == ()
    summed.goto(end)


@pytest.mark.slow
def test_golden_steps_are_beside_the_way_and_what_was_lost() -> None:
    kernel = quantize_down.KERNEL
    session = Session(debug_kernel(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 100, 1).inputs[-1]))
    session.goto_end()
    way = session.why("output[3]")
    golden = [step.golden for step in way.steps if step.golden]
    assert golden == ["add bias", "multiply", "shift", "offset", "clamp"]
    rounded = {step.instruction.split()[0] for step in way.steps if "rounded" in step.events}
    assert rounded == {"sqrdmulh", "srshl"}
    assert not any(step.parts for step in way.steps)


FOLDED = """#include <stdint.h>
int32_t looked_up(const int32_t *in, const int32_t *table)
{
    int32_t top = 0;
    for (int i = 0; i < 3; ++i)
        if (in[i] > top)
            top = in[i];
    int32_t sum = 0;
    sum += table[top - in[0]];
    return sum;
}
"""


def test_lines_of_which_no_instruction_is_left_are_those_at_o0(tmp_path: Path) -> None:
    file = tmp_path / "folded.c"
    file.write_text(FOLDED)
    session = Session(debug_function(file, "looked_up", ["0,2,1", "10,20,30"], ("-O2",)))
    session.goto_end()
    way = session.why("result")
    assert way.steps[-1].value == 30
    assert session.call.image is not None
    assert "folded.c:8" not in {str(line) for *_, line in session.call.image.lines}
    assert "folded.c:8" in way.unoptimized
    assert "at -O0 also through" in str(way)
    session.goto(3)
    assert session.why("in[0]").unoptimized == ()


def test_what_a_branch_looked_at_that_led_to_an_address_is_on_the_way(tmp_path: Path) -> None:
    """Line 4 is overwritten, but decides that line 7 is executed, of which the address of the result is made."""
    file = tmp_path / "folded.c"
    file.write_text(FOLDED)
    session = Session(debug_function(file, "looked_up", ["0,2,1", "10,20,30"], ("-O0",)))
    session.goto_end()
    way = session.why("result")
    assert "folded.c:4" in {step.source for step in way.decisions}
    assert way.unoptimized == ()


def test_a_load_that_holds_a_step_by_chance_is_none(tmp_path: Path) -> None:
    """The bias is three times the input."""
    file = tmp_path / "line.c"
    file.write_text("""#include <stdint.h>
void line(const int16_t *bias, const int16_t *in, int32_t *out) { out[0] = bias[0] + in[0] * 3; }
""")
    name, signature = parse_prototype("void line(const int16_t bias[1], const int16_t in[1], int32_t out[1])")

    def steps(inputs: Inputs) -> dict[str, np.ndarray]:
        product = inputs["in"].astype(np.int64) * 3
        return {"in": inputs["in"], "product": product, "out": product + inputs["bias"]}

    kernel = Kernel(
        name=name, symbol=name, sources=(file,), signature=signature, steps=steps,
        golden=lambda inputs: {"out": steps(inputs)["out"].astype(np.int32)},
    )  # fmt: skip
    inputs = {"bias": np.array([12], np.int16), "in": np.array([4], np.int16)}
    session = Session(debug_kernel(kernel, Job(file, ("-O0",)), inputs))
    session.goto_end()
    way = session.why("out[0]")
    assert any(step.value == 12 and step.instruction.startswith("ldr") and not step.golden for step in way.steps)
    (product,) = (step for step in way.steps if step.golden == "product")
    assert product.instruction.startswith(("add", "mul"))


def test_flags_are_one_step_and_zeros_past_the_last_lane_are_named_so(tmp_path: Path) -> None:
    file = tmp_path / "zeros.s"
    file.write_text("zeros:\n\tldr h0, [x0]\n\tsubs x1, x1, #1\n\tret\n.globl zeros\n")
    name, signature = parse_prototype("void zeros(const int16_t in[1], size_t n)")
    kernel = Kernel(name=name, symbol=name, sources=(file,), signature=signature, golden=dict)
    inputs = {"in": np.array([5], np.int16), "n": 1}
    session = Session(debug_kernel(kernel, Job(file, ()), inputs, has_golden=False))
    assert [(step.lane, step.value) for step in session.slice("x1").steps] == [("x1", 0), ("nzcv", 6)]
    session.step(2)
    assert [(step.lane, step.value) for step in session.why("nzcv").steps] == [("nzcv", 6)]
    assert [(step.lane, step.value) for step in session.why("v0.h[2]").steps] == [("v0.h[1..7]", 0)]
    assert [step.lane for step in session.why("v0.h[0]").steps] == ["v0.h[0]"]


def test_a_part_of_what_was_loaded_is_no_zero_behind_it(tmp_path: Path) -> None:
    file = tmp_path / "whole.s"
    file.write_text("whole:\n\tldr q0, [x0]\n\tret\n.globl whole\n")
    name, signature = parse_prototype("void whole(const int32_t in[4])")
    kernel = Kernel(name=name, symbol=name, sources=(file,), signature=signature, golden=dict)
    inputs = {"in": np.array([5, 6, 7, 8], np.int32)}
    session = Session(debug_kernel(kernel, Job(file, ()), inputs, has_golden=False))
    session.step(1)
    for lane in range(4):
        assert [(step.lane, step.value) for step in session.why(f"v0.s[{lane}]").steps] == [(f"v0.s[{lane}]", 5 + lane)]


def faulty_lines(fault: Fault, text: str) -> set[str]:
    """The lines of the changed source in which the fault is."""
    first = text[: text.index(fault.new)].count("\n") + 1
    return {f"{fault.source}:{number}" for number in range(first, first + 1 + fault.new.count("\n"))}


@pytest.mark.slow
@pytest.mark.parametrize("fault", sampled(C_FAULTS[::4], 4), ids=lambda fault: fault.name)
def test_the_way_of_a_wrong_lane_has_the_faulty_line(fault: Fault, tmp_path: Path) -> None:
    """Every fourth of them; tests/long/long_why.py has all."""
    require_faulty_line(fault, tmp_path)


def require_faulty_line(fault: Fault, tmp_path: Path) -> None:
    text = (FOLDER / fault.source).read_text().replace(fault.old, fault.new)
    file = tmp_path / fault.source
    file.write_text(text)
    kernel = wrong_kernel(file)
    job, vectors = Job(file, ("-O0",)), make_vectors(kernel, 2000, 1)
    outcome = check_job(kernel, job, vectors, engine="machine")
    assert outcome.failed_set is not None
    inputs = vectors.inputs[outcome.failed_set]
    session = Session(debug_kernel(kernel, job, inputs, call_seed(vectors, outcome.failed_set)))
    session.goto_end()
    wrong = np.flatnonzero(session.array("output") != kernel.expected(inputs)["output"])
    lines = {line.removeprefix("near ") for line in session.why(f"output[{wrong[0]}]").lines}
    assert faulty_lines(fault, text) & lines


def wrong_kernel(file: Path) -> Kernel:
    return replace(quantize_down.KERNEL, sources=(file,))


@pytest.mark.slow
@shown_too_by("test_pytest_plugin.py::test_the_failure_names_the_command_that_opens_it_at_the_fault")
def test_the_failing_case_of_a_check_opens_at_its_fault(tmp_path: Path) -> None:
    fault = next(each for each in C_FAULTS if each.name == "multiply_does_not_round")
    file = tmp_path / fault.source
    file.write_text((FOLDER / fault.source).read_text().replace(fault.old, fault.new))
    kernel = wrong_kernel(file)
    job, vectors = Job(file, ("-O2",)), make_vectors(kernel, 500, 1)
    outcome = check_job(kernel, job, vectors)
    assert outcome.failed_set is not None
    session = Session(debug_failing(kernel, job, vectors, outcome))
    trouble = session.goto_trouble()
    assert trouble is not None
    assert session.last is not None
    assert session.last.instruction.form.mnemonic == "sqdmulh"
    session.goto_end()
    assert trouble.mismatch is not None
    spot = session.spot_of(trouble.mismatch.output, trouble.mismatch.lane)
    (parting,) = (step for step in session.why(spot).steps if step.parts)
    assert parting.instruction.startswith("sqdmulh")


GAINED = """#include <arm_neon.h>
void gained(const uint8_t *x, const uint8_t *y, uint8_t *out, uint8_t gain)
{
    uint8x8_t sum = vqadd_u8(vld1_u8(x), vld1_u8(y));
    uint8x8_t wrong = vadd_u8(sum, vdup_n_u8(gain));

    vst1_u8(out, wrong);
}
"""


@pytest.fixture(scope="module")
def gained(tmp_path_factory: pytest.TempPathFactory) -> DebuggedCall:
    """A call of which one sum should be bounded and wraps; golden and computed, the step before has the same value."""

    def steps(inputs: Inputs) -> dict[str, np.ndarray]:
        total = np.minimum(inputs["x"].astype(int) + inputs["y"], 255)
        return {"sum": total, "gained": np.minimum(total + inputs["gain"], 255)}

    file = tmp_path_factory.mktemp("gained") / "gained.c"
    file.write_text(GAINED)
    name, signature = parse_prototype(
        "void gained(const uint8_t x[8], const uint8_t y[8], uint8_t out[8], uint8_t gain)"
    )
    kernel = Kernel(
        name=name, symbol=name, sources=(file,), signature=signature, steps=steps,
        golden=lambda inputs: {"out": steps(inputs)["gained"].astype(np.uint8)},
    )  # fmt: skip
    inputs = {"x": np.array([0] * 7 + [200], np.uint8), "y": np.array([0] * 7 + [100], np.uint8), "gain": 1}
    return debug_kernel(kernel, Job(file, ("-O2",)), inputs)


@pytest.mark.parametrize(
    ("blamed", "faults", "parts_at", "stands_at"),
    [
        (("", ""), (), "gained.c:5", "gained.c:5"),
        (("uqadd v1.8b, v2.8b, v3.8b", "gained.c:4"), (), "gained.c:5", "gained.c:5"),
        (("uqadd v1.8b, v2.8b, v3.8b", "gained.c:4"), ("gained.c:5",), "gained.c:5", "gained.c:5"),
        (("", ""), ("gained.c:4",), "gained.c:4", "gained.c:4"),
        (("", ""), ("gained.c:6",), "", "gained.c:5"),
    ],
    ids=["alone", "blamed before it is lost", "found by the check", "the check knows better", "of no instruction"],
)
def test_a_session_stands_at_the_line_that_the_check_has_found_or_where_the_value_is_lost(
    gained: DebuggedCall, blamed: tuple[str, str], faults: tuple[str, ...], parts_at: str, stands_at: str
) -> None:
    session = Session(replace(gained, blamed=blamed, faults=faults))
    trouble = session.goto_trouble()
    assert trouble is not None
    assert "at step 'gained' after 'sum', golden 255" in trouble.says
    assert (f"fault at {''.join(faults)}" in trouble.says) is bool(faults)
    assert session.wrong_way is not None
    assert "".join(step.source for step in session.wrong_way.steps if step.parts) == parts_at
    assert session.last is not None
    assert session.source_of(session.last.pc) == stands_at


def test_a_lane_with_the_bits_of_a_golden_step_is_not_shown_as_another_number(gained: DebuggedCall) -> None:
    session = Session(gained)
    assert session.wrong_way is not None
    told = [str(lane) for lanes in golden_lanes(session, session.wrong_way).values() for lane in lanes]
    assert [line for line in told if line.startswith("sum")] == ["sum: v0.b[7] is 255"]


def test_of_a_step_twice_on_the_way_the_golden_part_of_the_screen_has_the_instruction_that_parts(
    gained: DebuggedCall,
) -> None:
    session = Session(gained)
    assert session.wrong_way is not None
    looking = SimpleNamespace(way=session.wrong_way, golden=golden_lanes(session, session.wrong_way))
    (row,) = (row for row in golden_text(cast(Looking, looking)).plain.splitlines() if row.startswith("gained"))
    assert "gained.c:5 add" in row
    assert row.endswith("parts here")


PARTS = """moved:
\tldr x8, [x0]
\tstr x8, [x1]
\tmov w9, w8
\tstr x9, [x1, #8]
\tret
.globl moved
"""


@pytest.mark.parametrize(
    ("element", "expected"),
    [(0, ["x8.b[0]"]), (5, ["x8.b[5]"]), (10, ["x8.b[2]", "x9.b[2]"]), (13, ["x9.s[1]"])],
)
def test_a_part_of_a_general_register_is_not_told_as_the_whole(
    element: int, expected: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "moved.s"
    file.write_text(PARTS)
    name, signature = parse_prototype("void moved(const int8_t in[8], int8_t out[16])")
    kernel = Kernel(name=name, symbol=name, sources=(file,), signature=signature, golden=dict)
    inputs = {"in": np.arange(-3, 5, dtype=np.int8)}
    session = Session(debug_kernel(kernel, Job(file, ()), inputs, has_golden=False))
    session.goto_end()
    steps = session.why(f"out[{element}]").steps[:-1]
    assert [step.lane for step in steps] == expected
    for step in steps:
        session.goto(step.number + 1)
        assert session.lanes(step.lane, f"s{step.bits}") == (step.value,)


def test_what_a_load_of_one_lane_keeps_decided_nothing(tmp_path: Path) -> None:
    file = tmp_path / "shifted.s"
    file.write_text(
        "shifted:\n\tldr s0, [x0]\n\tld1 {v0.s}[1], [x0]\n\tldr q1, [x0]\n\tsshl v1.4s, v1.4s, v0.4s\n\tstr q1, [x1]\n"
        "\tret\n.globl shifted\n"
    )
    name, signature = parse_prototype("void shifted(const int32_t in[4], int32_t out[4])")
    kernel = Kernel(name=name, symbol=name, sources=(file,), signature=signature, golden=dict)
    inputs = {"in": np.array([1, 2, 3, 4], np.int32)}
    session = Session(debug_kernel(kernel, Job(file, ()), inputs, has_golden=False))
    session.goto_end()
    assert session.why("out[0]").decisions == ()
    told = [(step.number, step.lane) for step in session.why("v0").steps]
    assert (1, "v0.s[1]") in told
    assert (1, "v0.s[0]") not in told


OVERFLOWS = """#include <stddef.h>
#include <stdint.h>
void scale(const int16_t *in, int8_t *out, size_t length, int16_t gain)
{
    for (size_t i = 0; i < length; i++) {
        int32_t scaled = (2 * in[i] * gain + 0x8000) >> 16;
        if (scaled > 127)
            out[i] = 127;
        else if (scaled < -128)
            out[i] = -128;
        else
            out[i] = scaled;
    }
}
"""


@pytest.mark.slow
def test_where_a_constant_was_chosen_the_fault_is_in_what_chose_it(tmp_path: Path) -> None:
    def steps(inputs: Inputs) -> dict[str, np.ndarray]:
        return {"scaled": (2 * inputs["in"].astype(np.int64) * inputs["gain"] + 0x8000) >> 16}

    file = tmp_path / "scale.c"
    file.write_text(OVERFLOWS)
    name, signature = parse_prototype(
        OVERFLOWS.splitlines()[2].replace("*in", "in[length]").replace("*out", "out[length]")
    )
    kernel = Kernel(
        name=name, symbol=name, sources=(file,), signature=signature, steps=steps,
        golden=lambda inputs: {"out": np.clip(steps(inputs)["scaled"], -128, 127).astype(np.int8)},
    )  # fmt: skip
    inputs = {
        "in": np.array([-32768], np.int16),
        "length": 1,
        "gain": -32768,
    }  # the one product that int32 does not hold
    job = Job(file, ("-O0",))
    alone = Session(debug_kernel(kernel, job, inputs))
    assert alone.trouble is not None
    assert alone.trouble.mismatch is not None
    assert alone.wrong_way is not None
    assert [step.source for step in alone.wrong_way.decisions if step.parts] == ["scale.c:6"]
    assert not any(step.parts for step in alone.wrong_way.steps)

    blamed = Session(replace(alone.call, blamed=("asr w8, w8, #0x10", "scale.c:6")))
    assert blamed.trouble is not None
    assert blamed.trouble.says.endswith("the check, of more calls, has blamed asr w8, w8, #0x10 (scale.c:6)")
    assert blamed.wrong_way is not None
    (parting,) = (step for step in blamed.wrong_way.decisions if step.parts)
    assert parting.source == "scale.c:6"
    blamed.goto_trouble()
    assert (blamed.position, blamed.source_of(parting.pc)) == (parting.number + 1, "scale.c:6")

    of_line = Session(replace(alone.call, blamed=("cmn w8, #0x80", "scale.c:9")))
    assert of_line.wrong_way is not None
    (parting,) = (step for step in of_line.wrong_way.decisions if step.parts)
    assert parting.instruction.startswith("b.ge")


TAIL = """
int tail(const int *a, int n) {
    int sum = 0;
    int i = 0;
    for (; i < n; i++)
        sum += a[i];
    if (n > 2)
        return -sum;
    return sum;
}
"""


def test_a_branch_says_where_it_leads_by_line_and_lines_of_o0_are_in_order(tmp_path: Path) -> None:
    file = tmp_path / "tail.c"
    file.write_text(TAIL)
    plain = Session(debug_function(file, "tail", ["7,8", "2"], ("-O0",)))
    plain.goto_end()
    branches = [step for step in plain.why("result").decisions if step.lane == "pc"]
    led = {step.source: step.result for step in branches if step.source in ("tail.c:5", "tail.c:7")}
    assert led["tail.c:7"] == "goes to tail.c:9"  # n is 2
    assert any(step.result in ("is not taken", "goes to tail.c:7") for step in branches if step.source == "tail.c:5")
    assert all("pc =" not in str(step) for step in branches)
    session = Session(debug_function(file, "tail", ["7,8", "2"], ("-O2",)))
    session.goto_end()
    numbers = [int(line.rpartition(":")[2]) for line in session.why("result").unoptimized]
    assert numbers == sorted(numbers)
    assert len(numbers) > 1
