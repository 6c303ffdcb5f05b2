"""What is shown of one executed instruction: what it read and wrote, beside the emulator and the golden reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job
from sim.debug.calls import debug_function, debug_kernel
from sim.debug.session import Session
from sim.debug.snapshot import ShownOperand, golden_lanes, snapshot_of
from sim.debug.spots import lane_numbers
from sim.kernels import Inputs, Kernel, parse_prototype

SOURCE = """#include <arm_neon.h>
void halved(const int32_t *in, int16_t *out)
{
    int32x4_t scaled = vmulq_n_s32(vld1q_s32(in), 3);
    scaled = vshrq_n_s32(scaled, 1);
    vst1_s16(out, vqmovn_s32(vmaxq_s32(scaled, vdupq_n_s32(-7))));
}
"""
IN = np.array([2, 3, -5, 40000], np.int32)


def steps(inputs: Inputs) -> dict[str, np.ndarray]:
    scaled = inputs["in"].astype(np.int64) * 3
    halved = (scaled + 1) >> 1
    bounded = np.maximum(halved, -7)
    return {
        "in": inputs["in"].astype(np.int64), "scaled": scaled, "halved": halved, "bounded": bounded,
        "out": np.clip(bounded, -32768, 32767),
    }  # fmt: skip


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "halved.c").write_text(SOURCE)
    name, signature = parse_prototype("void halved(const int32_t in[4], int16_t out[4])")
    kernel = Kernel(
        name=name, symbol=name, sources=(tmp_path / "halved.c",), signature=signature, steps=steps,
        golden=lambda inputs: {"out": steps(inputs)["out"].astype(np.int16)},
    )  # fmt: skip
    return Session(debug_kernel(kernel, Job(kernel.sources[0], ("-O2",)), {"in": IN}))


def numbers(operand: ShownOperand) -> list[object]:
    return list(lane_numbers(operand.data, operand.kind))


def test_nothing_is_shown_before_the_first_instruction(session: Session) -> None:
    assert snapshot_of(session) is None


def test_what_an_instruction_read_and_wrote(session: Session) -> None:
    session.run_to("halved.c:5")
    session.step()
    here, shown = session.position, snapshot_of(session)
    assert shown is not None
    assert (shown.number, session.position, shown.source) == (here - 1, here, "halved.c:5")
    (read,), (written,) = shown.read, shown.written
    assert (read.name[-3:], numbers(read)) == (".4s", [6, 9, -15, 120000])
    assert (written.name[-3:], numbers(written)) == (".4s", [3, 4, -8, 60000])
    assert written.emulator == written.data
    assert written.before == read.data


def test_memory_is_named_and_typed_by_its_array(session: Session) -> None:
    session.run_to("writes out[0]")
    shown = snapshot_of(session)
    assert shown is not None
    assert [(each.name, each.kind, numbers(each)) for each in shown.written] == [("out[0]", "s16", [3, 4, -7, 32767])]
    assert shown.written[0].emulator == shown.written[0].data
    assert [numbers(each) for each in shown.read if each.name.startswith("d")] == [[3, 4, -7, 32767]]
    session.goto(0)
    session.run_to("reads in[0]")
    loaded = snapshot_of(session)
    assert loaded is not None
    assert [(each.name, each.kind, numbers(each)) for each in loaded.read] == [("in[0]", "s32", IN.tolist())]


def test_what_was_lost_is_told_by_lane(session: Session) -> None:
    session.run_to("halved.c:5")
    session.step()
    shifted = snapshot_of(session)
    assert shifted is not None
    assert dict(shifted.written[0].events) == {"truncated": (1, 2)}
    session.run_to("saturates")
    narrowed = snapshot_of(session)
    assert narrowed is not None
    assert next(dict(each.events) for each in narrowed.written if each.name != "fpsr") == {"saturated": (3,)}


def test_flags_are_shown_where_they_change(session: Session) -> None:
    session.run_to("saturates")
    shown = snapshot_of(session)
    assert shown is not None
    fpsr = next(each for each in shown.written if each.name == "fpsr")
    assert numbers(fpsr) == ["08000000"]


def test_the_golden_reference_is_beside_the_way_of_a_wrong_lane(session: Session) -> None:
    session.goto_end()
    golden = golden_lanes(session, session.why("out[1]"))
    told = [(each.step, each.value, each.expected, each.parts) for number in sorted(golden) for each in golden[number]]
    assert told == [("scaled", 9, 9, False), ("halved", 4, 5, True), ("out", 4, 5, False)]
    session.goto_trouble()
    shown = snapshot_of(session, golden)
    assert shown is not None
    assert [each.step for each in shown.golden] == ["halved"]


def test_an_input_has_no_golden_steps(session: Session) -> None:
    assert golden_lanes(session, session.why("in[1]")) == {}


def test_a_register_that_is_less_than_what_it_is_stored_to_has_its_own_lanes(tmp_path: Path) -> None:
    (tmp_path / "pair.s").write_text(".globl pair\npair:\n  fmov s0, w1\n  stp s0, s0, [x0]\n  ret\n")
    prototype = "void pair(int64_t out[1], int32_t value)"
    session = Session(debug_function(tmp_path / "pair.s", prototype, ["zeros:1", "5"], ()))
    session.run_to("writes out[0]")
    shown = snapshot_of(session)
    assert shown is not None
    assert [(each.name, each.kind, numbers(each)) for each in shown.read] == [("s0", "s32", [5])]
    assert [(each.kind, numbers(each)) for each in shown.written] == [("s64", [(5 << 32) + 5])]


def test_a_whole_register_that_is_loaded_has_the_lanes_of_the_array(tmp_path: Path) -> None:
    (tmp_path / "load.s").write_text(".globl load\nload:\n  ldr q3, [x0]\n  ret\n")
    prototype = "void load(const int16_t in[8])"
    session = Session(debug_function(tmp_path / "load.s", prototype, ["1,-2,3,4,5,6,7,8"], ()))
    session.run_to("writes v3")
    shown = snapshot_of(session)
    assert shown is not None
    assert [(each.name, each.kind, numbers(each)) for each in shown.written] == [
        ("v3.8h", "s16", [1, -2, 3, 4, 5, 6, 7, 8])
    ]


def test_a_register_that_is_read_and_written_is_shown_as_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "upper.s").write_text(".globl upper\nupper:\n  ldr q0, [x0]\n  xtn2 v0.8h, v0.4s\n  ret\n")
    prototype = "void upper(const int32_t in[4])"
    session = Session(debug_function(tmp_path / "upper.s", prototype, ["1,-2,3,4"], ()))
    session.run_to("writes v0.h[7]")
    session.run_to("writes v0.h[7]")
    shown = snapshot_of(session)
    assert shown is not None
    assert shown.instruction.text == "xtn2 v0.8h, v0.4s"
    assert [(each.name, numbers(each)) for each in shown.read] == [("v0.4s", [1, -2, 3, 4])]
