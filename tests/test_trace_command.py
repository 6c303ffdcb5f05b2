"""`lanewise trace`: every form says what `Machine.step` says, and only of what was asked for."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from vcd.reader import TokenKind, tokenize

from isa.lane import Place
from sim.debug.calls import debug_function
from sim.debug.session import Session
from sim.debug.trace import selection, tarmac, text, vcd
from sim.machine.registers import VISIBLE_PLACES
from sim.machine.trace import Step
from support.command import lanewise

SOURCE = """#include <arm_neon.h>
#include <stddef.h>
float added(const int16_t *in, int16_t *out, size_t n, float start)
{
    for (size_t i = 0; i + 8 <= n; i += 8) {
        vst1q_s16(out + i, vqaddq_s16(vld1q_s16(in + i), vdupq_n_s16(30000)));
        start = start * 1.5f - (float)in[i];
    }
    return start;
}
"""
ARGUMENTS = (",".join(str(997 * i % 9000 - 4000) for i in range(24)), "zeros:24", "24", "2.5")
NUMBER = r"(\d+) clk cpu0"
TARMAC = re.compile(
    rf"{NUMBER} (?:IT \(\d+\) (?P<pc>[0-9a-f]{{16}}) (?P<word>[0-9a-f]{{8}}) O \w+ : (?P<text>.+)"
    r"|R (?P<register>[A-Z]+\d*|SP_EL0|cpsr) (?P<value>[0-9a-f_]+)"
    r"|(?P<verb>M[RW])(?P<size>\d+) (?P<address>[0-9a-f]+):[0-9a-f]+_NS (?P<bytes>[0-9a-f ]+))"
)
"""The lines that tarmac-trace-utilities read."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("trace") / "added.c"
    file.write_text(SOURCE)
    return file


@pytest.fixture(scope="module")
def session(source: Path) -> Session:
    return Session(debug_function(source, "added", ARGUMENTS, ("-O2",)))


@pytest.fixture(scope="module")
def steps(session: Session) -> list[Step]:
    session.goto(0)
    found = list[Step]()
    while step := session.step():
        found.append(step)
    return found


ALL = selection.Selection()


def test_json_has_every_step_with_its_lanes(session: Session, steps: list[Step]) -> None:
    told = [json.loads(line) for line in text.json_trace(session, ALL)]
    assert [(row["number"], int(row["pc"], 16), row["instruction"]) for row in told] == [
        (step.index, step.pc, step.instruction.text) for step in steps
    ]
    for row, step in zip(told, steps, strict=True):
        written = {place: new for place, _, new in step.writes if place.file in ("v", "x", "sp")}
        assert {_value(name, lanes) for name, lanes in row["registers"].items()} == set(written.items())
        stored = {int(at, 16): bytes.fromhex(data) for at, data, is_store in row.get("memory", []) if is_store}
        assert stored == {at: new for at, _, new in step.memory}


def _value(name: str, lanes: list[int | str]) -> tuple[Place, int]:
    """A register and its value, from a name such as v3.8h and its lanes."""
    found = re.fullmatch(r"([vx]|sp)(\d*)(?:\.\d+([bhsd]))?", name)
    assert found is not None
    place = Place(found[1], int(found[2])) if found[2] else Place(found[1])
    if found[3] is None:
        (value,) = lanes
        return place, int(value)
    size = {"b": 1, "h": 2, "s": 4, "d": 8}[found[3]]
    data = b""
    for lane in lanes:
        if isinstance(lane, str):
            data += np.array(float(lane), f"<f{size}").tobytes()
        else:
            data += lane.to_bytes(size, "little", signed=True)
    return place, int.from_bytes(data, "little")


def test_text_has_lanes_and_names_what_is_stored(session: Session, steps: list[Step]) -> None:
    lines = list(text.text_trace(session, ALL))
    assert len(lines) == len(steps)
    added = next(line for line in lines if "sqadd" in line)
    assert re.search(r"v\d+\.8h = 26000 26997 27994 28991 29988 30985 31982 32767$", added)
    sums = [min(int(number) + 30000, 32767) for number in ARGUMENTS[0].split(",")]
    stored = [line.partition("  out")[2] for line in lines if "  out[" in line]
    assert stored == [f"[{at}] = {' '.join(map(str, sums[at : at + 8]))}" for at in (0, 8, 16)]


def test_tarmac_keeps_to_its_grammar_and_rebuilds_the_state(session: Session, steps: list[Step]) -> None:
    lines = list(tarmac.tarmac_trace(session, ALL))
    found = [TARMAC.fullmatch(line) for line in lines]
    assert [line for line, each in zip(lines, found, strict=True) if each is None] == []
    rows = [each for each in found if each is not None]
    assert [(int(row["pc"], 16), row["text"]) for row in rows if row["pc"]] == [
        (step.pc, step.instruction.text) for step in steps
    ]
    state = {row["register"]: int(row["value"].replace("_", ""), 16) for row in rows if row["register"]}
    session.goto_end()
    for place in VISIBLE_PLACES:
        name = str(place).upper()
        if place.file in ("v", "x") and name in state:
            assert state[name] == session.machine.read(place)
    stores = [(int(row["address"], 16), bytes.fromhex(row["bytes"].replace(" ", ""))[::-1])
              for row in rows if row["verb"] == "MW"]  # fmt: skip
    assert stores == [(at, new) for step in steps for at, _, new in step.memory]


def test_another_library_reads_the_vcd(session: Session, steps: list[Step]) -> None:
    """The last state, the instructions, and a time for each; no two variables have one identifier."""
    names, values, texts, times = dict[str, str](), dict[str, int](), list[str](), list[int]()
    dump = "\n".join(vcd.vcd_trace(session, ALL, "h")).encode()
    for token in tokenize(BytesIO(dump)):
        match token.kind:
            case TokenKind.VAR:
                assert token.var.id_code not in names
                names[token.var.id_code] = token.var.reference
            case TokenKind.CHANGE_TIME:
                times.append(token.time_change)
            case TokenKind.CHANGE_VECTOR:
                values[names[token.vector_change.id_code]] = int(token.vector_change.value)
            case TokenKind.CHANGE_STRING:
                if names[token.string_change.id_code] == "instruction":
                    texts.append(token.string_change.value)
            case _:
                pass
    assert times == [*range(len(steps) + 1), len(steps) + 1]
    assert texts == ["_".join(step.instruction.text.split()) for step in steps]
    session.goto_end()
    machine = session.machine
    for number in range(32):
        lanes = [values[f"v{number}_h{lane}"] for lane in range(8)]
        assert sum(lane << 16 * at for at, lane in enumerate(lanes)) == machine.v[number]
    assert [values[f"x{number}"] for number in range(31)] == [machine.x[number] for number in range(31)]


def test_a_long_trace_is_that_of_its_parts(session: Session, steps: list[Step]) -> None:
    whole = list(text.text_trace(session, ALL))
    parts = [
        line for first in range(0, len(steps), 7)
        for line in text.text_trace(session, selection.Selection(first, first + 7))
    ]  # fmt: skip
    assert parts == whole


def test_filters(source: Path) -> None:
    def numbers(*options: str) -> list[int]:
        result = lanewise("trace", source, "added", *ARGUMENTS, *options)
        assert result.exit_code == 0, result.output
        return [int(line.split()[0]) for line in result.stdout.splitlines()]

    every = lanewise("trace", source, "added", *ARGUMENTS).stdout.splitlines()
    assert numbers("--from", "3", "--to", "9") == [3, 4, 5, 6, 7, 8]
    line_six = [number for number, line in enumerate(every) if " added.c:6 " in line]
    assert numbers("--at", "added.c:6") == line_six != []
    assert numbers("--at", "added") == list(range(len(every)))
    assert numbers("--writes", "v0") == [n for n, line in enumerate(every) if re.search(r"  v0\.\d", line)] != []


@pytest.mark.parametrize("options", [("--from", "99999"), ("--writes", "v31")])
def test_where_nothing_is_selected_it_is_said(options: tuple[str, ...], source: Path) -> None:
    count = len(lanewise("trace", source, "added", *ARGUMENTS).stdout.splitlines())
    result = lanewise("trace", source, "added", *ARGUMENTS, *options)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"none of the {count} instructions that the call executes is what was asked for" in result.stderr


def test_a_file_is_written_with_views_for_the_viewers(source: Path, tmp_path: Path) -> None:
    result = lanewise("trace", source, "added", *ARGUMENTS, "--format", "vcd", "--output", tmp_path / "a.vcd")
    assert result.exit_code == 0
    assert (tmp_path / "a.vcd").read_text().startswith("$comment lanewise")
    shown = (tmp_path / "a.vcd.gtkw").read_text().splitlines()
    assert {"lanewise.instruction", "lanewise.pc[63:0]", "lanewise.nzcv[3:0]", "lanewise.v3_s2[31:0]"} <= {*shown}
    assert "variable_add lanewise.v3_s2" in (tmp_path / "a.vcd.sucl").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--format", "xml"), "text, json, tarmac, vcd"),
        (("--lanes", "q"), "--lanes"),
        (("--at", "saturates"), "defines no symbol"),
        (("--writes", "out[0]"), "--writes takes a register"),
        (("--writes", "v77"), "no v77"),
        (("--from", "5", "--to", "5"), "--to 5 ends the trace before --from 5 begins it"),
        (("--set", "1"), "is none"),
        (("--call", "a"), "has none"),
    ],
)
def test_what_does_not_fit_is_refused(options: tuple[str, ...], said: str, source: Path) -> None:
    result = lanewise("trace", source, "added", *ARGUMENTS, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr.replace("\n", " ")


def test_a_call_that_faults_is_traced_up_to_there(source: Path) -> None:
    result = lanewise("trace", source, "added", "1,2", "null", "8", "1.0")
    assert result.exit_code == 1
    assert "does not return" in result.stderr
    assert "  0x" in result.stdout


def test_a_source_that_is_named_in_control_sequences_sends_none(tmp_path: Path) -> None:
    file = tmp_path / "a\x1b[31m.c"
    file.write_text("int one(int a) { return a + 1; }\n")
    result = lanewise("trace", file, "one", "1")
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout


def test_a_kernel_is_traced_on_a_row() -> None:
    result = lanewise("trace", "quantize_down", "--length", 16, "--format", "json")
    assert result.exit_code == 0
    assert all(json.loads(line)["pc"] for line in result.stdout.splitlines())
