"""A session in the hands of gdb-multiarch itself: `make test-clients`."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from time import perf_counter

import pytest
from test_gdb_server import NUMBERS, SOURCE, fuzz

from sim.debug.calls import debug_function
from sim.debug.gdb.monitor import GDB_COMMANDS
from sim.debug.gdb.target import GdbTarget
from sim.debug.session import Session
from support.gdb_client import GdbClient, Serving

GDB = shutil.which("gdb-multiarch")
needs_gdb = pytest.mark.skipif(GDB is None, reason="gdb-multiarch is not installed (apt install gdb-multiarch)")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    file = tmp_path / "narrow.c"
    file.write_text(SOURCE)
    return Session(debug_function(file, "narrow", [NUMBERS, "zeros:24", "24"], ("-O1",)))


def gdb(session: Session, folder: Path, *commands: str) -> str:
    """What gdb says to some commands, with the program's symbols and source lines."""
    assert session.call.image is not None
    program = folder / "program.elf"
    program.write_bytes(session.call.image.file)
    with Serving(session) as port:
        words = [GDB or "", "-nx", "-batch", "-ex", "set pagination off", "-ex", "set confirm off"]
        for command in (f"file {program}", f"target remote 127.0.0.1:{port}", *commands):
            words += ["-ex", command]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


@needs_gdb
def test_lanes_by_type_behind_a_breakpoint(session: Session, tmp_path: Path) -> None:
    number = session.find("sets qc")
    assert number is not None
    session.goto(number)
    pc, source = session.machine.pc, session.source
    session.goto(0)
    first = session.find(hex(pc))
    assert first is not None
    commands = (f"break *{pc:#x}", "continue", "info line *$pc", "stepi", "p $v0.h.s", "p $v1.h.s", "p $pc")
    said = gdb(session, tmp_path, *commands)
    session.goto(first + 1)
    assert "Breakpoint 1, " in said
    assert f"Line {source.partition(':')[2]} of" in said
    repeated = re.compile(r"(-?\d+) <repeats (\d+) times>")
    said = repeated.sub(lambda found: ", ".join([found[1]] * int(found[2])), said)
    for register in ("v0", "v1"):
        assert f"= {{{', '.join(map(str, session.lanes(f'{register}.8h', 's16')))}}}" in said
    assert f"{session.machine.pc:#x}" in said


@needs_gdb
def test_back_in_gdb(session: Session, tmp_path: Path) -> None:
    begun = session.machine.pc
    said = gdb(
        session, tmp_path, "stepi 6", "reverse-stepi", "p $pc", "reverse-continue", "p $pc", "continue", "p $x30"
    )
    assert "No more reverse-execution history" in said
    assert f"{begun + 5 * 4:#x}" in said
    assert said.count(f"{begun:#x}") >= 1


@needs_gdb
def test_a_watchpoint_in_gdb_in_both_directions(session: Session, tmp_path: Path) -> None:
    """It stands directly behind the store, and going back directly before it."""
    address = session.arrays["out"].address + 8
    store = session.find("writes out[8]")
    assert store is not None
    for watch in ("watch", "awatch"):
        said = gdb(
            session, tmp_path, f"{watch} *(char *) {address:#x}", "continue", "monitor position", "monitor end",
            "maintenance flush register-cache", "reverse-continue", "monitor position",
        )  # fmt: skip
        assert said.count("Old value") == 2
        assert re.findall(r"instruction (\d+)", said) == [str(store + 1), str(store)]
        session.goto(0)


@needs_gdb
def test_monitor_in_gdb(session: Session, tmp_path: Path) -> None:
    said = gdb(session, tmp_path, "monitor stop qc", "continue", "monitor why v0.h[0]", "monitor emulator", "kill")
    assert "sqadd" in said
    assert "in[8]" in said or "comes from" in said


@needs_gdb
def test_the_words_of_a_session_are_commands_of_gdb(session: Session, tmp_path: Path) -> None:
    session.goto(9)
    there = session.machine.pc
    changed = session.find("writes v0")
    assert changed is not None
    session.goto(changed)
    before = session.lanes("v0", "s16")
    session.step()
    after = session.lanes("v0", "s16")
    session.goto(0)
    said = gdb(
        session, tmp_path, f"source {GDB_COMMANDS}", "lanewise goto 9", "p $pc", f"lanewise goto {changed}",
        "lanewise show v0 s16", "stepi", "lanewise why v0.h[0]", "lanewise nothing", "lanewise lanes v99 s16",
        "complete lanewise wh",
    )  # fmt: skip
    assert f"{there:#x}" in said
    marked = [str(new) if new == old else f"[{new}]" for new, old in zip(after, before, strict=True)]
    assert f"v0 s16       {' '.join(map(str, before))}\n" in said
    assert f"v0 s16       {' '.join(marked)}\n" in said
    assert "[" in " ".join(marked)
    assert "v0.h[0] comes from" in said
    assert "there is no command 'nothing'" in said
    assert "there is no v99" in said
    assert "lanewise where\nlanewise why\n" in said


def test_thousands_of_steps_there_and_back_end_where_they_began(session: Session) -> None:
    """How many a second it prints: the issue's bar is 2,000."""
    with Serving(session) as port:
        client = GdbClient(port)
        client.ask("QStartNoAckMode")
        before, begun = client.ask("g"), perf_counter()
        for _ in range(1000):
            client.ask("vCont;s:1")
            client.ask("bs")
        print(f"{2000 / (perf_counter() - begun):,.0f} steps a second")
        assert client.ask("g") == before
        client.close()


def test_a_hundred_thousand_packets_leave_it_as_it_was(session: Session) -> None:
    fuzz(GdbTarget(session), 100_000)
