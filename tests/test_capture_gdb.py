"""Calls that gdb's script captures, with a stand-in for gdb: `make test-clients` has the real one.

The process is run by Unicorn, which shares nothing with the machine that foresees what a call touches.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import sim.command.app
from sim.attached.conversation import Conversation
from sim.emulator import Emulator
from support.gdb_stand_in import StandInGdbError, StoppedProcess, loaded_script

CODE, DATA, STACK, END = 0x10000, 0x20000, 0x30000, 0x10FF0
FUNCTION = CODE + 0x100
CALLS = [0x94000040, 0x9400003F, 0x9400003E, 0x140003F9]
"""bl FUNCTION three times; b END"""
ADD_ONE = [0xA9BF7BF3, 0x4C407420, 0x4F000424, 0x4EA48400, 0x4C007420, 0xD53BD053, 0xF9400273, 0xA8C17BF3, 0xD65F03C0]
"""stp x19, x30, [sp, #-16]!; ld1 {v0.8h}, [x1]; movi v4.4s, #1; add v0.4s, v0.4s, v4.4s; st1 {v0.8h}, [x1];
mrs x19, tpidr_el0; ldr x19, [x19]; ldp x19, x30, [sp], #16; ret"""
RET, SVC, LOAD_AT_0, RETURN_ELSEWHERE = 0xD65F03C0, 0xD4000001, 0xF94003E0, 0xD61F0040
ENDLESS = [0x14000000]


def process(function: list[int]) -> StoppedProcess:
    emulator = Emulator()
    emulator.memory.map(CODE, 0x1000, "rx")
    emulator.memory.map(DATA, 0x1000)
    emulator.memory.map(DATA + 0x8000, 0x1000)
    emulator.memory.map(STACK, 0x1000)
    for address, words in ((CODE, CALLS), (FUNCTION, function)):
        emulator.memory.write(address, b"".join(word.to_bytes(4, "little") for word in words))
    emulator.memory.write(DATA, bytes(range(64)))
    emulator.pc, emulator.sp, emulator.x[1] = CODE, STACK + 0x800, DATA
    emulator.v[7], emulator.fpsr, emulator.nzcv, emulator.tpidr = 1 << 100, 1 << 27, 6, DATA + 0x8000
    return StoppedProcess(emulator, FUNCTION, END)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a capture writes; lanewise is that of this Python."""
    started = tmp_path / "lanewise"
    started.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sim "$@"\n')
    started.chmod(0o755)
    monkeypatch.setenv("LANEWISE", str(started))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lanewise(*arguments: object, **options: Any) -> Result:
    return CliRunner().invoke(sim.command.app.app, list(map(str, arguments)), **options)


@pytest.mark.slow
def test_captured_calls_replay_bit_for_bit(folder: Path) -> None:
    held = process(ADD_ONE)
    loaded_script(held).invoke("there c.jsonl --calls 9", False)
    report = json.loads(lanewise("replay", "c.jsonl", "--json", "--jobs", "1").stdout)
    first, *_ = map(json.loads, Path("c.jsonl").read_text().splitlines())
    assert report["kinds"] == {"passed": 3}
    assert (first["fpsr"], first["final"]["fpsr"], first["nzcv"]) == (1 << 27, 1 << 27, 6)  # QC is set before the call
    assert held.said == [
        *(f"captured there {number}: 9 instructions, 4 pages\n" for number in range(3)),
        "the process has ended\n",
        "3 calls captured; next: lanewise replay c.jsonl\n",
    ]


@pytest.mark.slow
def test_a_fault_of_the_process_is_recorded_up_to_there(folder: Path) -> None:
    held = process([LOAD_AT_0 & ~(31 << 5), RET])  # ldr x0, [x0]
    loaded_script(held).invoke("there c.jsonl", False)
    result = lanewise("replay", "c.jsonl", "--json", "--jobs", "1")
    assert json.loads(result.stdout)["kinds"] == {"memory fault": 1}
    assert "by SIGSEGV: it is recorded without results" in held.said[-2]


def said(function: list[int], *after: dict[str, Any], limit: int = 100, file: Path = Path("none")) -> list[Any]:
    """What is answered when a call of that function is handed over, and then this."""
    held, answers = process(function), list[Any]()
    held.emulator.pc, held.emulator.x[30] = FUNCTION, CODE + 4

    def lines() -> Any:
        registers = {name: getattr(held.emulator, name) for name in ("sp", "pc", "nzcv", "fpsr", "fpcr", "tpidr")}
        registers["x"] = [held.emulator.x[i] for i in range(31)]
        registers["v"] = [f"{held.emulator.v[i]:032x}" for i in range(32)]
        yield json.dumps({"call": "it", "registers": registers, "limit": limit}) + "\n"
        while "page" in answers[-1]:
            mapped = held.emulator.memory.region_at(answers[-1]["page"])
            data = mapped and held.emulator.memory.read(answers[-1]["page"], 4096).hex()
            yield json.dumps({"bytes": data}) + "\n"
        yield from (json.dumps(one) + "\n" for one in after)

    Conversation(lines(), lambda text: answers.append(json.loads(text)), file).hold()
    return answers


def test_pages_are_asked_for_as_the_call_touches_them() -> None:
    assert said(ADD_ONE) == [
        {"hello": 1},
        *({"page": address} for address in (CODE, STACK, DATA, DATA + 0x8000)),
        {"after": [[DATA, 0x1000], [DATA + 0x8000, 0x1000], [STACK + 0x800, 0x800]]},
    ]


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        ([SVC, RET], "the lane machine cannot run the call: at 0x10100, svc #0: "),
        (ENDLESS, "the lane machine did not come to its return within 100 instructions"),
    ],
    ids=["svc", "endless"],
)
def test_a_call_that_the_machine_cannot_run_is_refused(function: list[int], answer: str) -> None:
    assert said(function)[-1]["refused"].startswith(answer)


def test_code_that_is_read_before_it_runs_is_code() -> None:
    """ldr x2, =page of its own code at DATA + 0x8000 is the same page that is run: the machine begins anew."""
    jump = [0xF9400022, 0xD61F0020]  # ldr x2, [x1]; br x1
    (fault,) = (one for one in said([*jump]) if "fault" in one or "refused" in one)
    assert fault["refused"].startswith(f"the lane machine cannot run the call: at {DATA:#x}, ")


def test_memory_that_the_process_lacks_is_a_fault() -> None:
    assert said([LOAD_AT_0 & ~(31 << 5), RET])[-1]["fault"] == FUNCTION


def test_a_disk_that_is_full_is_told_and_nothing_stays(tmp_path: Path) -> None:
    results = {"registers": {"x": [0] * 31, "sp": 0, "v": ["00"] * 32, "nzcv": 0, "fpsr": 0}, "memory": ["00"] * 3}
    with pytest.raises(OSError, match="No such file"):
        said(ADD_ONE, results, file=tmp_path / "none" / "c.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_the_conversation_may_end_anywhere(tmp_path: Path) -> None:
    answers = list[str]()
    Conversation(iter(['{"call": "it", ']), answers.append, tmp_path / "c.jsonl").hold()
    assert answers == ['{"hello": 1}']


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("there", "the following arguments are required: file"),
        ("there c.jsonl --calls 0", "--calls and --limit are at least 1"),
        ("there c.jsonl --skip -1", "--skip is not negative"),
    ],
)
def test_wrong_usage_is_one_sentence(text: str, says: str) -> None:
    with pytest.raises(StandInGdbError, match=says):
        loaded_script(process(ADD_ONE)).invoke(text, False)


def test_without_lanewise_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANEWISE", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(StandInGdbError, match="no lanewise in PATH"):
        loaded_script(process(ADD_ONE)).invoke("there c.jsonl", False)


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text("mine")
    result = lanewise("capture", "-", file, input="")
    assert (result.exit_code, "is there already" in result.stderr, file.read_text()) == (2, True, "mine")


def test_the_script_is_where_lanewise_says_and_an_old_python_reads_it() -> None:
    script = Path(lanewise("capture", "--gdb").stdout.strip())
    ast.parse(script.read_text(), feature_version=(3, 6))
    assert script.name == "gdb_script.py"
