"""Why a lane is what it is: its way has every value, what was lost on it, and the line of a planted fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_check_planted_faults import C_FAULTS, FOLDER, Fault

from sim.check.check import Job, check_job
from sim.check.vectors import call_seed, make_vectors
from sim.debug import why
from sim.debug.calls import debug_failing, debug_function, debug_kernel
from sim.debug.session import Session
from sim.kernels import parse_prototype, quantize_down
from sim.kernels.kernel import Inputs, Kernel

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


def faulty_lines(fault: Fault, text: str) -> set[str]:
    """The lines of the changed source in which the fault is."""
    first = text[: text.index(fault.new)].count("\n") + 1
    return {f"{fault.source}:{number}" for number in range(first, first + 1 + fault.new.count("\n"))}


@pytest.mark.parametrize("fault", C_FAULTS[::4], ids=lambda fault: fault.name)
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
