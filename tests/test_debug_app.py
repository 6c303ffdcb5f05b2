"""`lanewise debug` on a terminal: what is on the screen at 80x24 and at 200x60, by keys alone."""

from __future__ import annotations

import asyncio
import html
import inspect
import io
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from sim.check.check import Job
from sim.command.running import debug as command
from sim.command.signatures.looking.debug import debug as signature
from sim.debug.app import screen
from sim.debug.app.keys import HINTS, KEYS
from sim.debug.app.looking import LaneKind
from sim.debug.app.screen import Debugger
from sim.debug.calls import debug_function, debug_kernel
from sim.debug.request import DebugRequest, find_call
from sim.debug.session import Emulated, Session
from sim.debug.spots import SpotError
from sim.kernels import Inputs, Kernel, parse_prototype

SMALL, LARGE = (80, 24), (200, 60)
SOURCE = """#include <arm_neon.h>
void scaled(const int32_t *in, int16_t *out)
{
    int32x4_t low = vmulq_n_s32(vld1q_s32(in), 3);
    low = vmaxq_s32(vshrq_n_s32(low, 1), vdupq_n_s32(-900));
    vst1_s16(out, vqmovn_s32(low));
}
"""
LONG = """#include <arm_neon.h>
void summed(const int32_t *in, int32_t *out, int n)
{
    int32x4_t sum = vdupq_n_s32(0);
    for (int i = 0; i < n; ++i)
        sum = vrshrq_n_s32(vaddq_s32(sum, vld1q_s32(in)), 8);
    vst1q_s32(out, sum);
}
"""
FAULTY = 5
"""The line that shifts without rounding."""
CHARACTER = 12.2
"""Units of a screenshot."""
KEY_NAMES = {" ": "space", "[": "left_square_bracket", "]": "right_square_bracket", ".": "full_stop", ":": "colon"}


def steps(inputs: Inputs) -> dict[str, np.ndarray]:
    product = inputs["in"].astype(np.int64) * 3
    rounded = (product + 1) >> 1
    bounded = np.maximum(rounded, -900)
    return {"in": inputs["in"], "product": product, "rounded": rounded, "out": np.clip(bounded, -32768, 32767)}


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Session:
    file = tmp_path_factory.mktemp("app") / "scaled.c"
    file.write_text(SOURCE)
    name, signature = parse_prototype("void scaled(const int32_t in[4], int16_t out[4])")
    kernel = Kernel(
        name=name, symbol=name, sources=(file,), signature=signature, steps=steps,
        golden=lambda inputs: {"out": steps(inputs)["out"].astype(np.int16)},
    )  # fmt: skip
    return Session(debug_kernel(kernel, Job(file, ("-O2",)), {"in": np.array([4, 8, 7, 40000], np.int32)}))


@pytest.fixture
def session(failing: Session) -> Session:
    failing.goto_trouble()
    return failing


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a key asks for is done before the next one is looked at, however busy this computer is."""
    monkeypatch.setattr(screen, "PATIENCE", 60)


def typed(text: str) -> list[str]:
    """The keys of a text and Enter."""
    return [*(KEY_NAMES.get(letter, letter) for letter in text), "enter"]


class Seen(NamedTuple):
    """The rows of the screen after some keys, the position of the session, and the screenshot itself."""

    rows: list[str]
    position: int
    svg: str

    @property
    def text(self) -> str:
        return "\n".join(self.rows)


async def settled(pilot: Pilot[None]) -> None:
    """All is painted: a part that is chosen is laid out in one refresh, and painted in the next."""
    for _ in range(3):
        await pilot.pause()


def seen(session: Session, *keys: Sequence[str], size: tuple[int, int] = SMALL) -> list[Seen]:
    """What one sees after each of some groups of keys, in one run of the application."""

    async def run() -> list[Seen]:
        app, found = Debugger(session), list[Seen]()
        async with app.run_test(size=size) as pilot:
            for group in keys:
                await pilot.press(*group)
                await settled(pilot)
                svg = app.export_screenshot()
                found.append(Seen(rows_of(svg), session.position, svg))
        return found

    return asyncio.run(run())


def rows_of(svg: str) -> list[str]:
    """What a screenshot shows, by row."""
    rows: dict[float, str] = {}
    for x, y, text in re.findall(r'<text class="[^"]*-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        column = round(float(x) / CHARACTER)
        rows[float(y)] = rows.get(float(y), "").ljust(column) + html.unescape(text).replace("\xa0", " ").rstrip("\n")
    return [rows[y].rstrip() for y in sorted(rows) if rows[y].strip()]


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_one_stands_at_the_offending_lane(size: tuple[int, int], session: Session) -> None:
    (screen,) = seen(session, [], size=size)
    assert "out[2]: machine 10, golden 11" in screen.text
    assert re.search(rf"✗[ ▶]{FAULTY} +low = vmaxq_s32", screen.text)
    assert re.search(r"✗ *\d+ .*sshr v\d+.4s", screen.text)
    assert re.search(r"model +v\d+\.4s +\*6 +\*12 +\*10 +\*60000", screen.text)
    assert re.search(r"#\d+ .*sshr .* = emulator +truncated \[2\]", screen.text)
    assert re.search(r"golden +rounded +· +· +!11 +· +parts here", screen.text)
    assert re.search(r"▼ out\[2\] comes from in\[2\]", screen.text)
    assert re.search(r"v\d+\.s\[2\] = 10 +#\d+ scaled.c:5 sshr", screen.text)
    assert "? help  q quit" in screen.rows[-1]


@pytest.mark.slow
def test_more_is_shown_where_the_terminal_grows(session: Session) -> None:
    async def run() -> list[list[str]]:
        app, found = Debugger(session), []
        async with app.run_test(size=SMALL) as pilot:
            for size in (LARGE, SMALL):
                await pilot.resize_terminal(*size)
                await settled(pilot)
                found.append(rows_of(app.export_screenshot()))
        return found

    large, small = asyncio.run(run())
    assert any("─registers─" in row for row in large)
    assert any(re.search(r"    int32x4_t low", row) for row in large)
    assert not any("─registers─" in row for row in small)
    assert any("[2 why]" in row for row in small)


@pytest.mark.slow
def test_keys_go_forward_and_back(session: Session) -> None:
    here = session.position
    moved = seen(
        session, ["s", "right", "s", "left", "b"], ["home"], ["end"], ["g", *typed("3")], ["l"], ["L"], ["t"]
    )  # fmt: skip
    end = session.timeline.recording(0).end
    session.goto(3)
    line = session.run_to("scaled.c:5")
    assert line is not None
    assert [each.position for each in moved] == [here + 1, 0, end, 3, line, line - 1, here]
    assert " end of " in moved[2].rows[0]


def test_without_source_lines_there_is_no_next_one(session: Session) -> None:
    image = session.call.image
    assert image is not None
    bare = Session(replace(session.call, image=replace(image, lines=())))
    (screen,) = seen(bare, ["s", "l"])
    assert screen.rows[-1].strip() == "no other source line is known of this call"
    assert screen.position == 1


@pytest.mark.slow
def test_what_is_looked_for_is_found_again_and_back(session: Session) -> None:
    session.goto(0)
    first = session.find("writes v0") or 0
    second = session.find("writes v0", first + 1) or 0
    assert [each.position for each in seen(session, ["slash", *typed("writes v0")], ["n"], ["N"], ["N"])] == [
        first + 1, second + 1, first + 1, 0,
    ]  # fmt: skip


@pytest.mark.slow
def test_what_is_refused_is_said_in_a_sentence(session: Session) -> None:
    refused = {
        ("slash", "nowhere"): "defines no symbol 'nowhere'",
        ("w", "v77"): "there is no v77: v0 to v31",
        ("Y", "s5"): "'s5' is no type of lanes",
        ("m", "v3"): "v3 holds no address",
        ("g", "x"): "'x' is no number of instructions",
        ("colon", "dance"): "there is no command 'dance'",
    }
    here = session.position
    for found, sentence in zip(
        seen(session, *([key, *typed(text)] for key, text in refused)), refused.values(), strict=True
    ):
        assert sentence in " ".join(row.strip() for row in found.rows[-4:])
        assert found.position == here


@pytest.mark.slow
def test_the_tree_opens_and_leads_to_an_instruction(session: Session) -> None:
    closed, opened, gone = seen(session, ["z"], ["space"], ["down", "enter"])
    at = next(at for at, row in enumerate(opened.rows) if " = 10 " in row and "sshr" in row)
    assert "▶" in closed.rows[at]
    assert "▼" in opened.rows[at]
    assert re.search(r"= 21 +#\d+ scaled.c:4 mul ", opened.rows[at + 1])
    session.goto(gone.position)
    assert session.last is not None
    assert session.last.instruction.form.mnemonic == "mul"


@pytest.mark.slow
def test_the_parts_of_the_screen(session: Session) -> None:
    registers, golden, cycles, memory, changed, answers = seen(
        session, ["1"], ["3"], ["5", "c", "c"], ["4", "end"], ["home", "slash", *typed("writes out[0]")],
        ["colon", *typed("lanes out[2] s16")], size=LARGE,
    )  # fmt: skip
    assert re.search(r"v\d+\.4s +\*6 +\*12 +\*10 +\*60000", registers.text)
    assert re.search(r"x0 +0x\w+ in\[0\]", registers.text)
    assert re.search(r"product +21 +21 +v\d+\.s\[2\]", golden.text)
    assert re.search(r"rounded +11 +10 +v\d+\.s\[2\] .* parts here", golden.text)
    assert "cortex-a72" in cycles.rows[0]
    assert re.search(r"mul v\d+.* \d+: v\d+ from #\d+ ld", cycles.text)
    assert re.search(r" 0 +6 +12 +!10 +32767", memory.text)
    assert re.search(r"golden +· +· +11 +·", memory.text)
    assert re.search(r" 0 +\*6 +\*12 +\*10 +\*32767", changed.text)
    assert "!" not in changed.text.split("out  int16")[1]
    assert re.search(r"\[6 answers\].*\n.* 10 *\n", answers.text)


@pytest.mark.slow
def test_lanes_of_any_type(session: Session) -> None:
    kinds = ("x32", "u32 0.5 6", "own", "s16")
    found = seen(session, *(["Y", *typed(kind)] for kind in kinds))
    lanes = [re.search(r"model +v\d+\.4s +([^\n]*)", each.text) for each in found]
    assert [each[1].replace("*", "").split() for each in lanes if each] == [
        ["00000006", "0000000c", "0000000a", "0000ea60"],
        ["0", "3", "2", "29997"],
        ["6", "12", "10", "60000"],
        ["6", "0", "12", "0", "10", "0", "-5536", "0"],
    ]


def test_what_the_emulator_has_otherwise_is_below(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    emulated = Session.emulated

    def other(self: Session) -> Emulated | None:
        found = emulated(self)
        assert found is not None
        return Emulated({place: value ^ 3 << 32 for place, value in found.registers.items()}, found.memory)

    monkeypatch.setattr(Session, "emulated", other)
    (screen,) = seen(session, [])
    assert re.search(r"model +v\d+\.4s +\*6 +\*12 +\*10 +\*60000 *\n *emul\. +v\d+\.4s +6 +!15 +10 +60000", screen.text)
    assert "= emulator" not in screen.text


@pytest.mark.parametrize("text", ["s5", "s8 x", "f32 0.5", "s8 0.5 1 2", "x8 1 2"])
def test_a_type_that_there_is_not(text: str) -> None:
    with pytest.raises(SpotError):
        LaneKind.read(text)


def test_help_has_all_keys_and_fits(session: Session) -> None:
    shown, left = seen(session, ["question_mark"], ["x"])
    assert len(shown.rows) == len(KEYS) + 2 <= 24
    for key in KEYS:
        assert any(re.search(rf"{re.escape(key.shown)} +{re.escape(key.does)} *$", row) for row in shown.rows), key
    assert "? help" in left.rows[-1]


def test_every_key_does_something_once() -> None:
    bound = [key for each in KEYS for keys, _ in each.actions for key in keys.split(",")]
    assert len(bound) == len(set(bound))
    actions = {re.split(r"\W", action)[0] for each in KEYS for _, action in each.actions}
    assert [action for action in actions if not hasattr(Debugger, f"action_{action}")] == []
    assert len(HINTS) <= 78


def test_the_documentation_has_all_keys() -> None:
    page = (Path(__file__).parents[1] / "docs/debugging.md").read_text()
    for key in KEYS:
        assert f"| `{key.shown}` | {key.does} |" in page, key


@pytest.mark.slow
def test_a_text_from_a_file_is_not_obeyed(tmp_path: Path) -> None:
    file = tmp_path / "[bold]\x1b]0;title\x07x.c"
    file.write_text("/* \x1b[31mred \x9b2J [blink]loud[/] [@click=app.quit]go[/] */\nint f(int a) { return a + 1; }\n")
    session = Session(debug_function(file, "f", ["3"], ("-O1",)))
    (screen,) = seen(session, ["slash", *typed("[red]no[/red]")], size=LARGE)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", screen.svg)
    assert r"/* \x1b[31mred \x9b2J [blink]loud[/] [@click=app.quit]go[/] */" in screen.text
    assert "[bold]" in screen.rows[0]
    assert "[red]no[/red]" in screen.text


def test_a_fault_ends_the_call(tmp_path: Path) -> None:
    file = tmp_path / "far.c"
    file.write_text("int far(const int *a) { return a[0] + a[1000000]; }\n")
    session = Session(debug_function(file, "far", ["1,2"], ("-O1",)))
    (screen,) = seen(session, ["end", "s"], size=LARGE)
    assert "is not mapped" in screen.rows[-1]
    assert re.search(r"▶ *\d+ .*ldr w", screen.text)


class Terminal(io.StringIO):
    """Standard input or output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def started(session: Session, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`lanewise debug` on a terminal, with some options; which of its faces was started."""
    values = {name: each.default for name, each in inspect.signature(signature).parameters.items()}

    def start(**options: object) -> str:
        opened = list[Debugger]()
        output = Terminal()
        monkeypatch.setattr(command, "find_call", lambda wanted: session.call)
        monkeypatch.setattr(Debugger, "run", lambda self: opened.append(self))
        monkeypatch.setattr(sys, "stdin", Terminal("position\nq\n"))
        monkeypatch.setattr(sys, "stdout", output)
        monkeypatch.setenv("TERM", "xterm")
        command.debug(**{**values, "what": "scaled.py", **options})
        return "application" if opened else output.getvalue()

    return start


def test_a_terminal_gets_the_application(started: Callable[..., str]) -> None:
    assert started() == "application"


@pytest.mark.parametrize("option", ["plain", "script"])
def test_the_prompt_is_there_where_it_is_asked_for(option: str, started: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "script").write_text("position\n")
    said = started(plain=True) if option == "plain" else started(script=tmp_path / "script")
    assert re.search(r"instruction \d+\n", said)


def test_the_prompt_is_there_without_textual(started: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert re.search(r"instruction \d+\n", started())


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Of 200,000 vector additions none is a tie."""
    file = tmp_path_factory.mktemp("app") / "long.c"
    file.write_text(LONG)
    return Session(debug_function(file, "summed", ["1,2,3,4", "zeros:4", "200000"], ("-O1", "-fno-unroll-loops")))


@pytest.mark.slow
@pytest.mark.parametrize(("key", "text", "ending"), [("slash", "ties", "escape"), ("colon", "find ties", "ctrl+c")])
def test_a_long_search_is_ended_by_a_key_and_leaves_the_session_where_it_was(
    key: str, text: str, ending: str, long: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take many seconds."""
    monkeypatch.setattr(screen, "PATIENCE", 0.01)
    session = long
    session.goto(7)
    here = session.position, session.machine.pc, session.machine.v[0]

    async def run() -> list[str]:
        app, told = Debugger(session), list[str]()
        *words, enter = typed(text)
        async with app.run_test(size=SMALL) as pilot:
            await pilot.press(key, *words)
            app.simulate_key(enter)  # the pilot's would wait for a processor that has nothing to do
            while "looking for it" not in shown(app):
                await pilot.pause(0.01)
            told.append(shown(app))
            for other in ("s", "g"):  # not obeyed
                app.simulate_key(other)
            await pilot.pause(0.1)
            told.append(shown(app))
            app.simulate_key(ending)
            while "looking for it" in shown(app):
                await pilot.pause(0.01)
            told.append(shown(app))
        return told

    assert asyncio.run(run()) == [
        "looking for it: Escape ends that", "looking for it: Escape ends that",
        "ended by Escape: the session stands where it stood",
    ]  # fmt: skip
    assert (session.position, session.machine.pc, session.machine.v[0]) == here


@pytest.mark.slow
@pytest.mark.parametrize("named", ["scaled.c", "whole.c"])
def test_the_source_of_what_a_command_compiles_is_shown(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the file which the command names, where it is another one than the file of the call."""
    monkeypatch.chdir(tmp_path)
    for name in ("scaled.c", "whole.c"):
        Path(name).write_text(f"void twice(int *a)\n{{\n    *a *= 2; /* of {name} */\n}}\n")
    compiler = f"{shlex.quote(sys.executable)} -m ziglang clang --target=aarch64-linux-gnu"
    command = f"{compiler} -O1 -c {named}"
    call = find_call(DebugRequest(what="scaled.c", symbol="twice", arguments=("3",), compile_with=command))
    (first,) = seen(Session(call), "", size=LARGE)
    assert f"/* of {named} */" in first.text


@pytest.mark.slow
def test_in_what_was_inlined_the_source_shows_the_line_that_calls_it(tmp_path: Path) -> None:
    helper = "static inline __attribute__((always_inline)) int rounded(int x) { return x * 77; }\n"
    (tmp_path / "helper.h").write_text(helper)
    (tmp_path / "f.c").write_text('#include "helper.h"\nint f(int x)\n{\n    return rounded(x);\n}\n')
    session = Session(debug_function(tmp_path / "f.c", "f", ["5"], ("-O1",)))
    session.run_to("rounded")
    (first,) = seen(session, "", size=LARGE)
    assert any("▶4" in row and "return rounded(x);" in row for row in first.rows)
    assert any(" mul " in row and "of rounded, inlined at f.c:4" in row for row in first.rows)


def shown(app: Debugger) -> str:
    """The line of hints."""
    return str(app.query_one("#keys", Static).render())
