"""A session behind gdb's remote protocol, asked by a small client: stops, watchpoints, going back, bad packets."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from sim.debug.calls import debug_function
from sim.debug.gdb.description import REGISTERS, target_description
from sim.debug.gdb.packets import LARGEST, PacketReader, framed
from sim.debug.gdb.target import GdbTarget
from sim.debug.session import Session
from support.command import lanewise
from support.gdb_client import GdbClient, Serving

SOURCE = """#include <arm_neon.h>
#include <stddef.h>
void narrow(const int16_t *in, int8_t *out, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i += 8) {
        const int16x8_t doubled = vqaddq_s16(vld1q_s16(in + i), vld1q_s16(in + i));
        vst1_s8(out + i, vqmovn_s16(vshrq_n_s16(doubled, 4)));
    }
}
"""
NUMBERS = ",".join(map(str, [*range(0, 80, 10), 20000, -20000, *range(6), *range(8)]))
PC, V0, FPSR = 32, 34, 66


def call(folder: Path, numbers: str = NUMBERS, count: str = "24", seed: int = 0) -> Session:
    file = folder / "narrow.c"
    file.write_text(SOURCE)
    return Session(debug_function(file, "narrow", [numbers, "zeros:24", count], ("-O1",), seed=seed))


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return call(tmp_path)


@pytest.fixture
def client(session: Session) -> Iterator[GdbClient]:
    with Serving(session) as port:
        client = GdbClient(port)
        yield client
        client.close()


def number_of(client: GdbClient, register: int) -> int:
    return int.from_bytes(bytes.fromhex(client.ask(f"p{register:x}")), "little")


def test_what_gdb_asks_at_the_start(client: GdbClient) -> None:
    assert "ReverseStep+;ReverseContinue+" in client.ask("qSupported:multiprocess+;swbreak+")
    assert client.ask("vMustReplyEmpty") == ""
    assert client.ask("QStartNoAckMode") == "OK"
    asked = ("Hg0", "qTStatus", "?", "qfThreadInfo", "qsThreadInfo", "qAttached", "qC")
    assert [client.ask(text) for text in asked] == ["OK", "", "T05thread:1;", "m1", "l", "1", "QC1"]


def test_the_description_is_sent_in_parts_and_has_every_register(client: GdbClient) -> None:
    text, part = "", "m"
    while part[0] == "m":
        part = client.ask(f"qXfer:features:read:target.xml:{len(text):x},200")
        text += part[1:]
    assert text == target_description()
    registers = list(ElementTree.fromstring(text).iter("reg"))
    assert [int(each.attrib["bitsize"]) for each in registers] == [8 * size for _, size in REGISTERS]
    assert registers[33].attrib["name"] == "cpsr"
    assert registers[34].attrib == {"name": "v0", "bitsize": "128", "type": "aarch64v"}
    assert len(client.ask("g")) == 2 * sum(size for _, size in REGISTERS)


def test_registers_and_memory_are_those_of_the_session(client: GdbClient, session: Session) -> None:
    for _ in range(9):
        assert client.ask("vCont;s:1").startswith("T05")
    machine = session.machine
    assert number_of(client, PC) == machine.pc
    assert [number_of(client, V0 + i) for i in range(32)] == [machine.v[i] for i in range(32)]
    address = session.arrays["in"].address
    assert client.ask(f"m{address:x},4") == machine.memory.read(address, 4).hex()
    assert client.ask("m10,4") == "E01"


def test_breakpoints_and_going_back(client: GdbClient, session: Session) -> None:
    pcs = pcs_of(session)
    pc = next(pc for pc, text in pcs if text.startswith("sqadd"))
    expected = [number for number, (each, _) in enumerate(pcs) if each == pc]
    assert client.ask(f"Z0,{pc:x},4") == "OK"
    met = []
    while (answer := client.ask("vCont;c")).startswith("T05swbreak"):
        met.append(session.position)
        client.ask("vCont;s")
    assert (met, answer) == (expected, "T05replaylog:end;")
    back = []
    while client.ask("bc").startswith("T05swbreak"):
        back.append(session.position)
    assert (back, session.position) == (expected[::-1], 0)
    assert client.ask(f"z0,{pc:x},4") == "OK"
    assert client.ask("c") == "T05replaylog:end;"


def pcs_of(session: Session) -> list[tuple[int, str]]:
    session.goto(0)
    found = []
    while step := session.step():
        found.append((step.pc, step.instruction.text))
    session.goto(0)
    return found


def test_watchpoints_in_both_directions(client: GdbClient, session: Session) -> None:
    """As gdb has it of AArch64: told before the access that comes, and behind the one that is undone."""
    address = session.arrays["out"].address + 8
    store = session.find("writes out[8]")
    assert store is not None
    assert client.ask(f"Z2,{address:x},8") == "OK"
    assert client.ask("c") == f"T05watch:{address:x};thread:1;"
    assert session.position == store
    client.ask("s")
    assert session.last is not None
    assert any(at <= address < at + len(new) for at, _, new in session.last.memory)
    assert client.ask("c") == "T05replaylog:end;"
    assert client.ask("bc") == f"T05watch:{address:x};thread:1;"
    assert session.position == store + 1
    client.ask("bs")
    assert client.ask("bc") == "T05replaylog:begin;"
    assert client.ask(f"z2,{address:x},8") == "OK"
    read = session.arrays["in"].address + 32
    assert client.ask(f"Z3,{read:x},2") == "OK"
    assert client.ask("c") == f"T05rwatch:{read:x};thread:1;"


def test_single_steps_go_back_to_the_first(client: GdbClient, session: Session) -> None:
    begun = client.ask("g")
    for _ in range(5):
        client.ask("s")
    for _ in range(5):
        assert client.ask("bs") == "T05thread:1;"
    assert client.ask("g") == begun
    assert client.ask("bs") == "T05replaylog:begin;"


def test_monitor(client: GdbClient, session: Session) -> None:
    client.monitor("stop qc")
    client.ask("c")
    assert session.last is not None
    assert session.last.instruction.form.mnemonic == "sqadd"
    register = session.last.instruction.places_written[0]
    assert client.monitor(f"lanes {register} s16").split()[:2] == ["32767", "-32768"]
    assert "in[8]" in client.monitor(f"why {register}.h[0]").splitlines()[0]
    assert "out[8]" in client.monitor(f"slice {register}.h[0]").splitlines()[0]
    assert client.monitor("emulator").startswith("sqadd")
    assert client.monitor("trouble") == "nothing is wrong with this call"
    assert client.monitor("position") == f"instruction {session.position}"
    assert client.monitor("goto 3").splitlines()[-1].startswith("next            3  ")
    assert re.fullmatch(r"instruction \d+", client.monitor("find writes out[0]"))
    assert "is no register" in client.monitor("why nothing")
    assert client.monitor("goto x").startswith("'x' is no number")
    assert client.monitor("").startswith("step [N]")
    assert "no command 'dance'" in client.monitor("dance")


@pytest.mark.parametrize(("seed", "answer"), [(1, "T05thread:1;"), (0, "T0bthread:1;")], ids=["found", "faults"])
def test_it_stops_by_itself_where_a_guard_finds_something(seed: int, answer: str, tmp_path: Path) -> None:
    """An array that ends where its mapping does lets the read behind it fault; one that begins there does not."""
    session = call(tmp_path, "1,2,3,4,5,6,7,8,9", "16", seed)
    with Serving(session) as port:
        client = GdbClient(port)
        assert client.ask("c") == answer
        assert "over-read" in client.console
        told = session.last if seed else None
        assert (told.instruction if told else session.instruction).text.startswith("ldr q")  # type: ignore[union-attr]
        client.close()


def test_a_fault_is_a_signal(tmp_path: Path) -> None:
    with Serving(call(tmp_path, "null", "8")) as port:
        client = GdbClient(port)
        assert client.ask("c") == "T0bthread:1;"
        assert client.ask("s") == "T0bthread:1;"
        client.close()


def test_the_history_cannot_be_changed(client: GdbClient) -> None:
    before = client.ask("g")
    assert [client.ask(text) for text in ("P0=01", "G00", "M1000,1:00")] == ["E01"] * 3
    assert client.ask("g") == before


def test_a_second_client_is_turned_away_and_a_third_goes_on(session: Session) -> None:
    with Serving(session) as port:
        first = GdbClient(port)
        first.ask("s")
        second = GdbClient(port)
        assert second.socket.recv(1) == b""
        first.socket.sendall(framed(b"k"))
        assert first.socket.recv(100) in (b"", b"+")
        third = GdbClient(port)
        assert third.monitor("position") == "instruction 1"
        third.close()


def test_a_client_that_vanishes_half_way_leaves_it_up(session: Session) -> None:
    with Serving(session) as port:
        for _ in range(3):
            gone = GdbClient(port)
            gone.socket.sendall(b"$qSuppor")
            gone.close()
        client = GdbClient(port)
        assert client.ask("?") == "T05thread:1;"
        client.close()


def test_wrong_packets_are_refused_and_the_next_one_is_answered(client: GdbClient) -> None:
    client.socket.sendall(b"garbage$?#00")
    assert client.socket.recv(1) == b"-"
    client.socket.sendall(b"$" + b"x" * (LARGEST + 10))
    assert client.socket.recv(1) == b"-"
    assert client.ask("?") == "T05thread:1;"


def test_it_listens_on_this_computer_only(session: Session) -> None:
    serving = Serving(session)
    with serving:
        assert serving.server._listener.getsockname()[0] == "127.0.0.1"


def test_packets_in_pieces_of_any_size_are_the_same() -> None:
    random, bodies = Random(1), [bytes(Random(n).randbytes(n)) for n in range(1, 60)]
    stream = b"+".join(map(framed, bodies))
    for _ in range(20):
        reader, found, at = PacketReader(), list[bytes | None](), 0
        while at < len(stream):
            size = random.randrange(1, 9)
            found += reader.feed(stream[at : at + size])
            at += size
        assert found == bodies


def test_a_place_past_the_last_address_is_refused(session: Session) -> None:
    target = GdbTarget(session)
    for kind in "024":
        assert target.answer(f"Z{kind},{2**64 - 4:x},4".encode()) == b"OK"
        for beyond in (f"{2**64 - 3:x},4", f"{2**70:x},1"):
            assert target.answer(f"Z{kind},{beyond}".encode()) == b"E01"
    assert target.answer(b"vCont;c") != b""


def test_no_packet_ends_a_target(session: Session) -> None:
    """A hundred thousand of `make test-clients`, here a few."""
    fuzz(GdbTarget(session), 2000)


ALPHABET = "0123456789abcdef,;:#$}*+-?=gGpPmMcCsSzZHTDkvXqQbRx \x03\xff"
KNOWN = (
    "qSupported", "vCont;s", "vCont;c", "m", "p", "g", "Z0,", "z0,", "Z2,", "Z4,", "qXfer:features:read:target.xml:",
    "qRcmd,", "bs", "bc", "s", "c", "?", "H", "P", "M", "G", "vCont", "QStartNoAckMode", "qC", "X", "D",
)  # fmt: skip


def fuzz(target: GdbTarget, count: int) -> None:
    """Random packets and mutants of known ones; the registers must still be those of the position."""
    random = Random(7)
    for _ in range(count):
        body = random.choice(KNOWN) + "".join(random.choices(ALPHABET, k=random.randrange(0, 14)))
        target.answer(body.encode("latin-1"))
    session = target._session
    held = bytes(session.machine.registers.vectors), session.machine.pc, session.position
    session.goto(0)
    session.goto(held[2])
    assert (bytes(session.machine.registers.vectors), session.machine.pc, session.position) == held


@pytest.mark.slow
def test_the_command_says_how_to_start_gdb_and_serves(tmp_path: Path) -> None:
    file = tmp_path / "narrow.c"
    file.write_text(SOURCE)
    words = [sys.executable, "-m", "sim", "gdb", str(file), "narrow", NUMBERS, "zeros:24", "24", "--once"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as run:
        assert run.stdout is not None
        title, start = run.stdout.readline(), run.stdout.readline()
        assert title == "narrow, narrow.c -O2\n"
        command = r"gdb-multiarch (\S+) -x \S+/gdb_commands\.py -ex 'target remote 127\.0\.0\.1:(\d+)'\n"
        found = re.fullmatch(command, start)
        assert found is not None
        assert Path(found[1]).read_bytes()[:4] == b"\x7fELF"
        client = GdbClient(int(found[2]))
        assert client.ask("vCont;s") == "T05thread:1;"
        client.close()
        assert run.wait(30) == 0


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "narrow.c"
    file.write_text(SOURCE)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = lanewise("gdb", file, "narrow", NUMBERS, "zeros:24", "24", "--port", port)
    assert result.exit_code == 3
    assert f"cannot listen on port {port}" in result.stderr


def test_a_stop_at_qc_says_so_and_goes_with_its_client(session: Session) -> None:
    with Serving(session) as port:
        client = GdbClient(port)
        client.monitor("stop qc")
        assert client.ask("c").startswith("T05")
        assert re.fullmatch(r"lanewise: sq\w+ .* saturates\n", client.console)
        there = client.monitor("position")
        client.monitor("goto 0")
        client.ask("D")
        client.close()
        other = GdbClient(port)
        assert other.ask("c") == "T05replaylog:end;"
        assert (other.console, other.monitor("position") == there) == ("", False)
        other.close()
