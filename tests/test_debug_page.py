"""A session as a page: what is packed, that nothing of it can script a browser, that the built files are not stale."""

from __future__ import annotations

import json
import re
import struct
import sys
import zlib
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isa.evaluate.exact import Evaluation
from isa.lane import Place
from sim.check.origin import copied_bytes, keeps_number, source_bytes, written_lanes
from sim.debug.calls import DebugError, debug_function
from sim.debug.events import EVENTS, event_conditions
from sim.debug.page.contents import page_contents
from sim.debug.page.html import SCRIPT, STYLE, built, session_page
from sim.debug.page.lane_events import lane_events
from sim.debug.page.lane_sources import FIRST_ACCESS, lane_sources
from sim.debug.page.window import PLACES, Window, place_number
from sim.debug.request import DebugRequest, find_call
from sim.debug.session import Session
from support.command import lanewise

WEB = Path(__file__).parents[1] / "sim/debug/page/source"
EVIL = "</script><script>document.title = 'taken'</script><img src=x onerror=alert(1)>"
SOURCE = f"""#include <arm_neon.h>
// {EVIL}
void mixed(const int16_t *a, int16_t *out, const uint8_t *at, int n)
{{
    for (int i = 0; i < n; ++i) {{
        int16x8_t x = vqrdmulhq_n_s16(vld1q_s16(a + 8 * i), 20000);
        uint8x16_t picked = vqtbl1q_u8(vreinterpretq_u8_s16(x), vld1q_u8(at + i));
        x = vqaddq_s16(vandq_s16(x, vreinterpretq_s16_u8(picked)), vrshrq_n_s16(x, 3));
        out[8 * i] = a[i] > 3 ? (a[i] * 5) >> 1 : vgetq_lane_s16(x, 0);
        vst1q_s16(out + 8 * i, vaddq_s16(x, vdupq_n_s16(out[8 * i])));
    }}
}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page")
    (made / "mixed.c").write_text(SOURCE)
    return made


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def session(request: pytest.FixtureRequest, folder: Path) -> Session:
    rng = np.random.default_rng(5)
    row = ",".join(map(str, [7, *rng.integers(-32768, 32768, 23).tolist()]))
    at = ",".join(map(str, rng.integers(0, 20, 18).tolist()))
    return Session(debug_function(folder / "mixed.c", "mixed", [row, "zeros:24", at, "3"], (request.param,)))


@pytest.fixture(scope="module")
def window(session: Session) -> Window:
    session.goto_end()
    return Window.of(session, 0, session.position)


def unpacked(contents: bytes) -> tuple[dict[str, Any], bytes]:
    data = zlib.decompress(contents)
    (length,) = struct.unpack_from("<Q", data)
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def test_a_window_has_what_every_instruction_read(session: Session, window: Window) -> None:
    session.goto(0)
    for number in range(len(window)):
        execution = session.timeline.execute()
        assert execution is not None
        read, told = execution.occurrence, window.occurrence(number)
        assert {place: told.read(place) for place in read.registers} == read.registers, read.instruction.text
        assert told.memory == read.memory
    assert len(window) > 50


def test_events_of_all_executions_are_those_of_each(window: Window) -> None:
    found, bits = list[int](), lane_events(window)
    for number in range(len(window)):
        occurrence = window.occurrence(number)
        evaluation = Evaluation(occurrence)
        for at in bits.writes[window.path[number]]:
            write = occurrence.instruction.writes[at]
            is_vector = isinstance(write.place, Place) and write.place.file == "v"
            for lane in write.lanes:
                met = {name for name, each in event_conditions(lane, is_vector).items() if evaluation.value(each)}
                found.append(sum(1 << bit for bit, name in enumerate(EVENTS) if name in met))
    assert bits.bits.tolist() == found
    assert set(found) >= {0, 1 << EVENTS.index("truncated"), 1 << EVENTS.index("rounded")}


def test_patterns_say_which_bytes_each_lane_was_made_of(window: Window) -> None:
    sources = lane_sources(window)
    for number in range(len(window)):
        occurrence, accesses = window.occurrence(number), window.accesses_of(number)
        evaluation = Evaluation(occurrence)
        parts = [
            part for part in written_lanes(evaluation, occurrence.instruction)
            if not isinstance(part.write.place, Place) or part.write.place.file in ("v", "x", "sp", "nzcv")
        ]  # fmt: skip
        pattern = sources.patterns[sources.numbers[number]]
        assert len(pattern) == len(parts)
        for part, told in zip(parts, pattern, strict=True):
            copied = copied_bytes(part.lane, evaluation)
            keeps = keeps_number(part.lane)
            assert told[6] == (1 if copied is not None else 2 * keeps)
            expected = {
                (place_number(byte.where), byte.number) if isinstance(byte.where, Place) else byte.number
                for byte in (source_bytes(part.lane, evaluation) if copied is None else copied)
            }
            runs = [told[at : at + 3] for at in range(7, len(told), 3)]
            got = {
                int(accesses[place - FIRST_ACCESS]["address"]) + first + k
                if place >= FIRST_ACCESS
                else (place, first + k)
                for place, first, count in runs
                for k in range(count)
            }
            assert got == expected, occurrence.instruction.text


def test_contents_are_those_of_the_call(session: Session) -> None:
    session.goto(7)
    head, data = unpacked(page_contents(session))
    assert (session.position, head["position"]) == (7, 7)
    session.goto_end()
    assert (head["first"], head["end"], head["total"]) == (0, session.position, session.position)
    at, size = head["columns"]["path"]
    path = np.frombuffer(data[at : at + size], np.uint32)
    session.goto(0)
    steps = []
    while (step := session.step()) is not None:
        steps.append(f"{step.pc:#x} {step.instruction.text}")
    assert [f"{head['code'][n]['pc']} {head['code'][n]['text']}" for n in path] == steps
    assert EVIL in "\n".join(head["files"][0]["lines"])


DEEP = """
static inline __attribute__((always_inline)) int sum(int x, int y) { return x + y; }
static __attribute__((noinline)) int scaled(int x, int by) { return sum(x, 1) * by; }
int deep(const int *a, int b, int c, int d, int e, int f, int g, int h, int ninth, signed char tenth) {
    return scaled(a[0], 2) + ninth + tenth + b + c + d + e + f + g + h;
}
"""


def test_contents_have_calls_and_arguments_on_the_stack(tmp_path: Path) -> None:
    (tmp_path / "deep.c").write_text(DEEP)
    values = ["5", *["1"] * 7, "9", "-3"]
    head, data = unpacked(page_contents(Session(debug_function(tmp_path / "deep.c", "deep", values, ("-O0",)))))
    assert {code["function"] for code in head["code"]} == {"deep", "scaled"}
    assert {tuple(map(tuple, code["inlined"])) for code in head["code"] if code["source"] == "deep.c:2"} == {
        (("sum", "deep.c:3"),)
    }
    assert all(code["inlined"] == [] for code in head["code"] if code["source"] == "deep.c:5")
    of_stack = [each for each in head["arrays"] if each["extents"] == []]
    assert [(each["name"], each["kind"], each["item"]) for each in of_stack] == [("ninth", "i", 4), ("tenth", "i", 1)]
    for each, value in zip(of_stack, (9, -3), strict=True):
        at, size = head["columns"][f"array {head['arrays'].index(each)}"]
        assert int.from_bytes(data[at : at + size], "little", signed=True) == value


def test_of_a_long_call_the_part_around_is_shown(session: Session) -> None:
    session.goto(40)
    head, data = unpacked(page_contents(session, most=20))
    assert (head["first"], head["end"]) == (30, 50)
    at, size = head["columns"]["initial"]
    session.goto(30)
    held = [session.machine.read(place).to_bytes(16, "little") for place in PLACES]
    assert data[at : at + size] == b"".join(held)


def test_a_page_runs_its_own_script_only_and_loads_nothing(session: Session) -> None:
    page = session_page(f"{EVIL} call", page_contents(session))
    assert EVIL not in page
    assert re.findall(r"(?i)\bhttps?:|\bimport\(|\burl\(|\binnerHTML|\beval\(", page) == []
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in (scripts[1], style)]
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; base-uri 'none'; "
        "form-action 'none'"
    )
    assert len(scripts) == 2
    assert b64decode(scripts[0]) == page_contents(session)


@pytest.mark.parametrize("name", [SCRIPT, STYLE])
def test_the_built_files_are_of_these_sources(name: str) -> None:
    """`make page` builds them; `make test-page` builds them again and compares all of them."""
    sources = sorted([*(f"src/{path.name}" for path in (WEB / "src").iterdir()), "build.mjs", "package-lock.json"])
    digest = sha256(b"".join((WEB / source).read_bytes() for source in sources)).hexdigest()
    assert built(name).splitlines()[0] == f"/* built from source/ by make page: {digest} */"


def test_the_lock_names_no_registry() -> None:
    assert "resolved" not in (WEB / "package-lock.json").read_text()


@pytest.mark.slow
def test_a_page_of_20_000_instructions_is_small() -> None:
    session = Session(find_call(DebugRequest(what="quantize_down", level="-O0", length=400)))
    page = session_page(session.call.title, page_contents(session))
    assert session.position == 0
    session.goto_end()
    assert session.position > 20_000
    assert len(page) < 3_000_000


def test_the_widget_and_its_session_move_together(session: Session) -> None:
    session.goto(3)
    widget = session.show()
    assert (widget.position, unpacked(widget.data)[0]["position"]) == (3, 3)
    widget.position = 5  # as the slider does
    assert session.position == 5
    session.step()
    widget.look()
    assert (widget.position, session.position) == (6, 6)
    assert (widget._esm, widget._css) == (built(SCRIPT), built(STYLE))


def test_without_anywidget_a_session_says_what_is_missing(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sim.debug.page.widget", None)
    with pytest.raises(DebugError, match=r"pip install 'lanewise\[notebooks\]'"):
        session.show()


def test_the_command_writes_a_page_behind_its_script(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "script").write_text("goto 5\nquit\nnever\n")
    words = ["debug", "mixed.c", "mixed", "1,2,3,4,5,6,7,8", "zeros:8", "zeros:16", "1", "--html", "page.html"]
    result = lanewise(*words, "--script", "script")
    assert result.exit_code == 0, result.output
    text = (folder / "page.html").read_text()
    contents = re.findall(r'text/plain">(.*?)</script>', text)[0]
    assert unpacked(b64decode(contents))[0]["position"] == 5
    assert (lanewise(*words[:-1], "no/folder/page.html").exit_code, lanewise(*words).exit_code) == (2, 0)
