"""The launch configurations of docs/debugging.md, by the adapters that Visual Studio Code's extensions start.

They are asked in the protocols that these speak: `make test-clients` brings a gdb that is an adapter, and CDT's.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_docs import launch_configurations
from test_gdb_server import NUMBERS, SOURCE

from sim.debug.calls import debug_function
from sim.debug.session import Session
from support.dap_client import DapClient, Message
from support.gdb_client import Serving

CLIENTS = Path(sys.prefix) / "clients"
CDT = CLIENTS / "node_modules/cdt-gdb-adapter/dist/debugTargetAdapter.js"
GDB_WITH_DAP = CLIENTS / "bin/gdb"
LINE = 6


@pytest.fixture
def session(tmp_path: Path) -> Session:
    file = tmp_path / "narrow.c"
    file.write_text(SOURCE)
    session = Session(debug_function(file, "narrow", [NUMBERS, "zeros:24", "24"], ("-O1",)))
    assert session.call.image is not None
    (tmp_path / "program.elf").write_bytes(session.call.image.file)
    return session


@pytest.fixture
def port(session: Session) -> Iterator[int]:
    with Serving(session) as port:
        yield port


def configuration(kind: str, folder: Path, port: int) -> Message:
    """That of the documentation, as an editor gives it to the adapter."""

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [filled(each) for each in value]
        return value.replace("${workspaceFolder}", str(folder)).replace("3333", str(port))

    found: Message = filled(launch_configurations()[kind])
    return found


def expected_lanes(session: Session) -> tuple[str, list[str]]:
    """The address where the line begins, and the lanes of v0 behind its first instruction."""
    session.goto(0)
    number = session.find(f"narrow.c:{LINE}")
    assert number is not None
    session.goto(number)
    pc = session.machine.pc
    session.step()
    lanes = [str(lane) for lane in session.lanes("v0.8h", "s16")]
    session.goto(0)
    return hex(pc), lanes


def go_through(client: DapClient, folder: Path, console: str) -> tuple[str, list[str], str]:
    """Break on the line, go over an instruction and back by the console; where it stood, the lanes, where it is."""
    breakpoints = {"source": {"path": str(folder / "narrow.c")}, "breakpoints": [{"line": LINE}]}
    client.ask("setBreakpoints", **breakpoints)
    client.ask("configurationDone")
    (thread,) = (each["id"] for each in client.ask("threads")["threads"])

    def top() -> Message:
        frame: Message = client.ask("stackTrace", threadId=thread)["stackFrames"][0]
        return frame

    while client.event("stopped")["reason"] != "breakpoint":
        client.ask("continue", threadId=thread)
    stood = top()
    assert (stood["source"]["path"], stood["line"]) == (str(folder / "narrow.c"), LINE)
    client.ask("next", threadId=thread, granularity="instruction")
    client.event("stopped")
    vector = client.ask("evaluate", expression="$v0.h.s", frameId=top()["id"], context="watch")
    lanes = [
        each["value"] for each in client.ask("variables", variablesReference=vector["variablesReference"])["variables"]
    ]
    client.ask("evaluate", expression=f"{console}reverse-stepi", context="repl", frameId=top()["id"])
    client.event("stopped")
    return hex(int(stood["instructionPointerReference"], 16)), lanes, hex(int(top()["instructionPointerReference"], 16))


@pytest.mark.skipif(not GDB_WITH_DAP.exists(), reason="gdb 14 or newer is not in .venv/clients: make test-clients")
def test_gdbs_own_adapter(session: Session, tmp_path: Path, port: int) -> None:
    pc, lanes = expected_lanes(session)
    with DapClient(["env", f"PYTHONPATH={CLIENTS}", str(GDB_WITH_DAP), "-nx", "-i", "dap"], tmp_path) as client:
        client.ask("initialize", adapterID="gdb-dap", linesStartAt1=True, columnsStartAt1=True)
        client.begin("attach", configuration("gdb-dap", tmp_path, port))
        client.event("initialized")
        assert go_through(client, tmp_path, "") == (pc, lanes, pc)
        assert "position" in client.ask("evaluate", expression="monitor help", context="repl")["result"]


@pytest.mark.skipif(not CDT.exists(), reason="cdt-gdb-adapter is not in .venv/clients: make test-clients")
@pytest.mark.skipif(shutil.which("gdb-multiarch") is None, reason="gdb-multiarch is not installed")
def test_the_adapter_of_cdt(session: Session, tmp_path: Path, port: int) -> None:
    pc, lanes = expected_lanes(session)
    with DapClient(["node", str(CDT)], tmp_path) as client:
        client.ask("initialize", adapterID="gdbtarget", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
        client.ask("attach", **configuration("gdbtarget", tmp_path, port))
        client.event("initialized")
        assert go_through(client, tmp_path, ">") == (pc, lanes, pc)


@pytest.mark.skipif(shutil.which("gdb-multiarch") is None, reason="gdb-multiarch is not installed")
def test_the_machine_interface_that_the_extension_of_c_speaks(session: Session, tmp_path: Path, port: int) -> None:
    """Its adapter is in no registry: these are commands of gdb's machine interface, with what it is configured by."""
    settings = configuration("cppdbg", tmp_path, port)
    pc, lanes = expected_lanes(session)
    asked = [
        *(each["text"] for each in settings["setupCommands"]), f"-file-exec-and-symbols {settings['program']}",
        f"-target-select remote {settings['miDebuggerServerAddress']}", f"-break-insert narrow.c:{LINE}",
        "-exec-continue", "-stack-info-frame", "-exec-step-instruction", "-data-evaluate-expression $v0.h.s",
        "-exec-step-instruction --reverse", "-stack-info-frame", "-gdb-exit",
    ]  # fmt: skip
    words = [settings["miDebuggerPath"], "-nx", "--interpreter=mi", "-iex", "set mi-async off"]
    done = subprocess.run(words, input="\n".join(asked), capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert '"^error' not in done.stdout
    assert [hex(int(at, 16)) for at in re.findall(r'\^done,frame=\{level="0",addr="(\w+)"', done.stdout)] == [pc, pc]
    assert f'value="{{{", ".join(lanes)}}}"' in done.stdout
