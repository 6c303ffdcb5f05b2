"""A session stands where it is told to, finds what it is asked for in both directions, and shows what is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sim.call.call import CompiledKernel
from sim.call.capture import Capture
from sim.call.captured import Bytes, CaptureError, read_line, read_lines
from sim.call.kernel_image import open_kernel
from sim.check.check import Job
from sim.debug.calls import DebugError, DebuggedCall, debug_captured, debug_function, debug_kernel
from sim.debug.session import Session
from sim.debug.spots import SpotError, lane_numbers
from sim.emulator import Emulator
from sim.kernels import Inputs, Kernel, parse_prototype
from sim.machine.trace import Step

SOURCE = """#include <arm_neon.h>
#include <stddef.h>
void narrow(const int16_t *in, int8_t *out, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i += 8) {
        const int16x8_t doubled = vqaddq_s16(vld1q_s16(in + i), vld1q_s16(in + i));
        const int16x8_t rounded = vrshrq_n_s16(doubled, 4);
        vst1_s8(out + i, vqmovn_s16(veorq_s16(rounded, vdupq_n_s16(1))));
    }
}
"""
ADDED, ROUNDED, STORED = 6, 7, 8
"""Lines of it."""
IN = np.array([*range(8), *range(100, 900, 100), 20000, -20000, 12, -12, 4, -4, 3, 100], np.int16)


@cache
def source(folder: Path) -> Path:
    file = folder / "narrow.c"
    file.write_text(SOURCE)
    return file


def golden(inputs: Inputs) -> dict[str, np.ndarray]:
    return {"out": steps(inputs)["narrowed"].astype(np.int8)}


def steps(inputs: Inputs) -> dict[str, np.ndarray]:
    doubled = np.clip(2 * inputs["in"].astype(np.int64), -32768, 32767)
    rounded = (doubled + 8) >> 4
    moved = rounded ^ 1
    narrowed = np.clip(moved, -128, 127)
    return {
        "in": inputs["in"].astype(np.int64),
        "doubled": doubled,
        "rounded": rounded,
        "moved": moved,
        "narrowed": narrowed,
    }


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    name, signature = parse_prototype("void narrow(const int16_t in[n], int8_t out[n], size_t n)")
    file = source(tmp_path_factory.mktemp("session"))
    return Kernel(name=name, symbol=name, sources=(file,), signature=signature, golden=golden, steps=steps)


@pytest.fixture
def session(kernel: Kernel) -> Session:
    return Session(debug_kernel(kernel, Job(kernel.sources[0], ("-O1",)), {"in": IN, "n": 24}))


def stepped(session: Session) -> list[Step]:
    """All that the call executes."""
    session.goto(0)
    found = list[Step]()
    while step := session.step():
        found.append(step)
    return found


def line(session: Session, step: Step | None) -> int:
    """The source line of an executed instruction."""
    assert step is not None
    return int(session.source_of(step.pc).rpartition(":")[2])


def test_steps_go_forward_and_back(session: Session) -> None:
    texts = [step.instruction.text for step in stepped(session)]
    assert session.is_at_end
    session.goto(0)
    session.step(5)
    assert (session.position, session.instruction and session.instruction.text) == (5, texts[5])
    session.back(2)
    assert (session.position, session.instruction and session.instruction.text) == (3, texts[3])
    session.back(100)
    assert (session.position, session.last) == (0, None)


def test_the_last_step_is_known_after_going_anywhere(session: Session) -> None:
    texts = [step.instruction.text for step in stepped(session)]
    session.goto(7)
    assert session.last is not None
    assert (session.last.instruction.text, session.position) == (texts[6], 7)


def test_run_to_a_line_stops_at_each_execution(session: Session) -> None:
    numbers = [step.index for step in stepped(session) if "sqadd" in step.instruction.text]
    session.goto(0)
    found = []
    while session.run_to(f"narrow.c:{ADDED}") is not None:
        found.append(session.position)
    assert [number for number in numbers if number not in found] == []
    assert session.is_at_end


def test_run_to_and_reverse_to_an_address_meet_the_same(session: Session) -> None:
    pc = next(step.pc for step in stepped(session) if "sqxtn" in step.instruction.text)
    session.goto(0)
    forwards = [session.run_to(hex(pc)) for _ in range(4)]
    assert (forwards[-1], session.is_at_end) == (None, True)
    backwards = [session.reverse_to(hex(pc)) for _ in range(4)]
    assert (backwards[-1], session.position) == (None, 0)
    assert backwards[:3] == forwards[2::-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("saturates", ["sqadd", "sqxtn"]),
        ("ties", ["srshr"] * 3),
        ("writes out[9]", ["str"]),
        ("sets qc", ["sqadd", "sqxtn"]),
    ],
)
def test_what_instructions_do_is_found_in_both_directions(text: str, expected: list[str], session: Session) -> None:
    executed = stepped(session)
    end, number, forwards = session.position, 0, list[int]()
    while (found := session.find(text, number)) is not None:
        forwards.append(found)
        number = found + 1
    backwards = list[int]()
    while (found := session.find_back(text, end)) is not None:
        backwards.append(found)
        end = found
    assert backwards == forwards[::-1]
    assert sorted(executed[at].instruction.form.mnemonic for at in forwards) == sorted(expected)
    assert session.position == len(executed)  # looking for something does not go there


@pytest.mark.parametrize(
    ("text", "mnemonic", "lanes"), [("saturates", "sqadd", {0, 1}), ("ties", "srshr", {2, 3, 4, 5, 7})]
)
def test_lanes_are_told_apart(text: str, mnemonic: str, lanes: set[int], session: Session) -> None:
    """In the last round, on the elements 16 to 23."""
    last = next(step for step in reversed(stepped(session)) if step.instruction.form.mnemonic == mnemonic)
    register = last.instruction.places_written[0]
    found = {lane for lane in range(8) if session.find(f"{text} {register}.h[{lane}]", last.index) == last.index}
    assert found == lanes


def test_a_session_stands_behind_what_it_ran_to(session: Session) -> None:
    found = session.run_to("writes out[17]")
    assert found is not None
    assert (session.position, line(session, session.last)) == (found + 1, STORED)
    assert session.lanes("out[17]", "s8") == (-128,)
    assert session.reverse_to("writes out[17]") is None


def test_reads_of_memory_are_found(session: Session) -> None:
    found = session.run_to("reads in[8]")
    assert found is not None
    assert line(session, session.last) == ADDED


def test_a_function_is_asked_of_every_instruction(session: Session) -> None:
    at = session.find(lambda moment: moment.step.next_pc == 1)
    assert at is None
    assert session.find(lambda moment: moment.step.instruction.form.mnemonic == "sqxtn") is not None


def test_lanes_in_every_type(session: Session) -> None:
    session.run_to("saturates")
    assert session.last is not None
    register = session.last.instruction.places_written[0]
    assert session.lanes(f"{register}.8h", "s16")[:3] == (32767, -32768, 24)
    assert session.lanes(f"{register}.h[0]", "u16") == (32767,)
    assert session.lanes(f"{register}.h[0]", "x16") == ("7fff",)
    assert session.lanes(f"{register}.h[1]", "q15") == (-1.0,)
    assert session.lanes(f"{register}.h[1]", "s16", scale=0.5, zero_point=2) == (-16385.0,)


def test_a_result_and_f16_lanes() -> None:
    assert lane_numbers(np.array([1.5, -2.0], np.float16).tobytes(), "f16") == (1.5, -2.0)
    assert lane_numbers(b"\x01\x00\x00\x80", "u8") == (1, 0, 0, 128)


@pytest.mark.parametrize(
    "text", ["v32", "v0.s[4]", "v1.16h", "x31", "nothing[1]", "in[24]", "*0x10:0", "", "v0.s[", "\x1b[31m"]
)
def test_what_points_nowhere_is_refused(text: str, session: Session) -> None:
    with pytest.raises(SpotError):
        session.spot(text)


@pytest.mark.parametrize("kind", ["s12", "f8", "q9", "", "x"])
def test_a_type_that_lanes_cannot_have_is_refused(kind: str, session: Session) -> None:
    with pytest.raises(SpotError):
        session.lanes("v0", kind)


@pytest.mark.parametrize("text", ["narrow.c:999", "nowhere", "writes", "jumps x1"])
def test_a_condition_that_is_none_is_refused(text: str, session: Session) -> None:
    with pytest.raises(SpotError):
        session.condition(text)


def test_the_emulator_is_beside_every_instruction(session: Session) -> None:
    count = len(stepped(session))
    memory = [region.buffer[:] for region in session.machine.memory.regions]
    for number in range(count):
        session.goto(number + 1)
        step, emulated = session.last, session.emulated()
        assert step is not None
        assert emulated is not None
        assert {place: new for place, _, new in step.writes} == dict(emulated.registers)
        assert {at: new for at, _, new in step.memory} == dict(emulated.memory)
    assert [region.buffer[:] for region in session.machine.memory.regions] == memory


def test_what_an_emulator_writes_elsewhere_is_taken_back(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    address = session.arrays["in"].address
    run = Emulator.run

    def astray(self: Emulator, *, max_instructions: int, on_write: Callable[[int, int], None]) -> int:
        count = run(self, max_instructions=max_instructions, on_write=on_write)
        for data in (b"\x55" * 4, b"\xaa" * 4):  # twice, so that the order in which they are taken back counts
            on_write(address, 4)
            self.memory.write(address, data)
        return count

    session.run_to("writes out[0]")
    before = session.array("in"), session.array("out")
    monkeypatch.setattr(Emulator, "run", astray)
    emulated = session.emulated()
    assert emulated is not None
    assert list(emulated.memory) == [session.arrays["out"].address]
    np.testing.assert_array_equal(session.array("in"), before[0])
    np.testing.assert_array_equal(session.array("out"), before[1])


def test_golden_steps_of_an_output(session: Session) -> None:
    assert session.golden_steps("out[16]") == {
        "in": 20000, "doubled": 32767, "rounded": 2048, "moved": 2049, "narrowed": 127,
    }  # fmt: skip
    assert session.golden_steps("in[16]") == {}


def test_a_correct_call_has_no_trouble(session: Session) -> None:
    assert session.trouble is None
    assert session.goto_trouble() is None


def broken(kernel: Kernel, old: str, new: str, folder: Path) -> Session:
    file = folder / "narrow.c"
    file.write_text(SOURCE.replace(old, new))
    wrong = Kernel(
        name="narrow", symbol="narrow", sources=(file,), signature=kernel.signature, golden=golden, steps=steps
    )
    return Session(debug_kernel(wrong, Job(file, ("-O1",)), {"in": IN, "n": 24}))


@pytest.mark.slow
def test_the_trouble_of_a_wrong_lane_is_where_it_parts(kernel: Kernel, tmp_path: Path) -> None:
    session = broken(kernel, "vrshrq_n_s16", "vshrq_n_s16", tmp_path)
    trouble = session.goto_trouble()
    assert trouble is not None
    assert trouble.mismatch is not None
    assert trouble.mismatch.parted_at == "rounded"
    assert session.last is not None
    assert (session.last.instruction.form.mnemonic, line(session, session.last)) == ("sshr", ROUNDED)


@pytest.mark.slow
def test_one_runs_to_where_it_goes_wrong_and_back_to_it(kernel: Kernel, tmp_path: Path) -> None:
    session = broken(kernel, "vrshrq_n_s16", "vshrq_n_s16", tmp_path)
    session.run_to("goes wrong")
    at = session.position
    assert at == (session.trouble_number or 0) + 1
    session.goto_end()
    session.reverse_to("goes wrong")
    assert session.position == at
    with pytest.raises(SpotError, match="nothing is wrong"):
        Session(session_of(kernel)).condition("goes wrong")


@pytest.mark.slow
def test_the_instruction_that_goes_wrong_is_found_by_its_number(kernel: Kernel, tmp_path: Path) -> None:
    session = broken(kernel, "vrshrq_n_s16", "vshrq_n_s16", tmp_path)
    assert session.find("goes wrong") == session.trouble_number


def test_an_address_in_decimal_may_begin_with_zeros(session: Session) -> None:
    assert session.spot("*0010:4")[2:] == (10, 4)


def session_of(kernel: Kernel) -> DebuggedCall:
    return debug_kernel(kernel, Job(kernel.sources[0], ("-O1",)), {"in": IN, "n": 24})


def test_the_trouble_of_a_guard_is_its_instruction(kernel: Kernel, tmp_path: Path) -> None:
    session = broken(kernel, "i + 8 <= n", "i <= n", tmp_path)
    trouble = session.goto_trouble()
    assert trouble is not None
    assert "over-read" in trouble.says
    assert session.last is None or session.last.instruction.form.mnemonic in ("ldr", "ldur")


def test_a_function_with_its_arguments(kernel: Kernel) -> None:
    session = Session(debug_function(kernel.sources[0], "narrow", ["1,2,3,4,5,6,7,800", "zeros:8", "8"], ("-O1",)))
    session.goto_end()
    assert session.array("out").tolist() == [1, 1, 1, 0, 0, 0, 0, 101]
    assert session.trouble is None


def test_one_goes_back_from_a_fault_and_on_again(tmp_path: Path) -> None:
    file = tmp_path / "far.c"
    file.write_text("int far(const int *a) { return a[0] + a[1000000]; }\n")
    session = Session(debug_function(file, "far", ["1,2"], ("-O1",)))
    session.goto_end()
    end, fault = session.position, session.timeline.fault
    assert fault is not None
    session.back()
    assert not session.is_at_end
    assert session.step() is not None
    assert (session.position, session.is_at_end, session.step()) == (end, True, None)


def test_a_captured_call(kernel: Kernel, tmp_path: Path) -> None:
    calls, image = Capture(), open_kernel(kernel, kernel.sources[0], "-O1")
    CompiledKernel(image, kernel).capture({"in": IN, "n": 24}, 1, "one", calls)
    calls.save(tmp_path / "calls.jsonl")
    (text,) = read_lines(tmp_path / "calls.jsonl")
    call = read_line(*text, Bytes(tmp_path / "calls.npz")).call
    assert call is not None
    session = Session(debug_captured(call))
    assert session.trouble is None
    session.goto_end()
    assert (session.position, session.timeline.returned) == (call.instructions, True)
    with pytest.raises(CaptureError, match=r"its memory cannot be set up: .* overlaps"):
        Session(debug_captured(replace(call, maps=call.maps * 2)))


def test_a_captured_call_that_left_something_else_stands_behind_what_wrote_it(kernel: Kernel, tmp_path: Path) -> None:
    calls, image = Capture(), open_kernel(kernel, kernel.sources[0], "-O1")
    CompiledKernel(image, kernel).capture({"in": IN, "n": 24}, 1, "one", calls)
    calls.save(tmp_path / "calls.jsonl")
    (text,) = read_lines(tmp_path / "calls.jsonl")
    call = read_line(*text, Bytes(tmp_path / "calls.npz")).call
    assert call is not None
    output = call.outputs[0]
    changed = replace(output, data=bytes([output.data[0] ^ 1]) + output.data[1:])
    session = Session(debug_captured(replace(call, outputs=(changed,))))
    assert session.trouble is not None
    assert session.trouble.says == (
        f"byte 0 of the output at {output.address:#x} is {output.data[0]:#04x}, recorded {output.data[0] ^ 1:#04x}"
    )
    assert session.goto_trouble() is session.trouble
    assert session.last is not None
    assert any(at <= output.address < at + len(new) for at, _, new in session.last.memory)
    assert session.find(f"writes *{output.address:#x}:1") is None
    other = Session(debug_captured(replace(call, final={**call.final, "x0": 1 ^ call.final["x0"]})))
    assert other.trouble is not None
    assert other.trouble.says == f"x0 is {call.final['x0']:#x}, recorded {1 ^ call.final['x0']:#x}"


def test_a_program_of_intrinsics_has_no_session(kernel: Kernel) -> None:
    with pytest.raises(DebugError, match="no machine code"):
        debug_kernel(kernel, Job(None, ()), {"in": IN, "n": 24})


def test_ten_calls_are_the_same_call(kernel: Kernel) -> None:
    calls: list[DebuggedCall] = [
        debug_kernel(kernel, Job(kernel.sources[0], ("-O1",)), {"in": IN, "n": 24}) for _ in "ab"
    ]
    one, other = (Session(call) for call in calls)
    assert [step.writes for step in stepped(one)] == [step.writes for step in stepped(other)]


def test_what_keeps_a_lane_does_not_write_it(tmp_path: Path) -> None:
    file = tmp_path / "put.c"
    put = "vst1q_s16(p, vaddq_s16(vsetq_lane_s16(x, vld1q_s16(p), 3), vdupq_n_s16(1)));"
    file.write_text(f"#include <arm_neon.h>\nvoid put(int16_t *p, int16_t x) {{ {put} }}\n")
    session = Session(debug_function(file, "put", ["1,2,3,4,5,6,7,8", "9"], ("-O1",)))
    step = next(step for step in stepped(session) if ".h[3]" in step.instruction.text)
    register = step.instruction.places_written[0]
    assert session.find(f"writes {register}.h[3]", step.index) == step.index
    assert session.find_back(f"writes {register}.h[2]", step.index + 1) != step.index
