"""Captured calls that `lanewise capture` and `lanewise run --capture` write are replayed, here and after damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import sim.command.app
from sim.call.capture import Capture
from sim.call.captured import Bytes
from sim.machine.machine import Machine
from sim.machine.memory import PAGE, PIECE


def lanewise(*arguments: object) -> Result:
    return CliRunner().invoke(sim.command.app.app, list(map(str, arguments)))


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    path = tmp_path / "calls.jsonl"
    assert lanewise("capture", "quantize_down", path, "--vectors", "0").exit_code == 0
    return path


def test_bytes_are_named_by_the_first_64_bits_of_their_sha_256() -> None:
    """FIPS 180-4's of no bytes begins so."""
    assert Capture().key(b"") == "e3b0c44298fc1c14"


@pytest.mark.slow
def test_captured_calls_of_a_kernel_pass_in_lockstep(calls: Path) -> None:
    report = json.loads(lanewise("replay", calls, "--json", "--jobs", "1").stdout)
    assert report["kinds"] == {"passed": len(calls.read_text().splitlines())}


@pytest.mark.slow
def test_a_recorded_result_that_is_changed_is_an_output_mismatch(calls: Path) -> None:
    first, *rest = calls.read_text().splitlines()
    call = json.loads(first)
    call["final"]["x"][19] += 1
    calls.write_text("\n".join([json.dumps(call), *rest]))
    result = lanewise("replay", calls, "--json", "--jobs", "1")
    assert (result.exit_code, json.loads(result.stdout)["kinds"]["output mismatch"]) == (1, 1)


def test_bytes_that_are_not_zero_are_kept_piece_by_piece_each_once(tmp_path: Path) -> None:
    machine, written = Machine(), {0x10000, 0x10000 + PIECE - 1, 0x10000 + PIECE, 0x10000 + 5 * PIECE - 1}
    machine.memory.map(0x10000, 5 * PIECE)
    for address in written:
        machine.memory.write(address, b"\7")
    capture = Capture()
    pieces = capture.before(machine)["mem"]
    capture.append({})
    capture.save(tmp_path / "calls.jsonl")
    kept = Bytes(tmp_path / "calls.npz")
    at = [start + offset for start, key in pieces for offset in range(len(kept[key]))]
    assert {start + offset for start, key in pieces for offset, byte in enumerate(kept[key]) if byte} == written
    assert (len(set(at)), {len(kept[key]) % PAGE for _, key in pieces}) == (len(at), {0})


def test_a_call_of_a_run_is_captured(tmp_path: Path) -> None:
    source, path = tmp_path / "add.c", tmp_path / "call.jsonl"
    source.write_text("int add(int a, int b) { return a + b; }\n")
    result = lanewise("run", source, "add", "1", "2", "--capture", path)
    (call,) = map(json.loads, path.read_text().splitlines())
    assert (result.exit_code, call["id"], call["final"]["x"][0] % 2**32) == (0, "add", 3)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("capture", "nothing", "calls.jsonl"), 2, "there is no kernel 'nothing'"),
        (("capture", "quantize_down", "calls.txt", "--vectors", "0"), 2, "ends in .jsonl"),
        (
            ("capture", "quantize_down", "no/such/folder/calls.jsonl", "--vectors", "0"),
            2,
            "lanewise: cannot write no/such/folder/calls.jsonl: there is no such folder",
        ),
        (("capture", "quantize_down", "calls.jsonl", "--object", "none.o", "--vectors", "0"), 2, "cannot read none.o"),
        (("capture", "quantize_down", "calls.jsonl", "--opt", "x", "--vectors", "0"), 2, "--opt takes one of"),
    ],
)
def test_what_cannot_be_captured_is_one_sentence_and_writes_nothing(
    arguments: tuple[str, ...], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = lanewise(*arguments)
    assert (result.exit_code, message in result.stderr, list(tmp_path.iterdir())) == (code, True, [])


def test_all_registers_are_written_before_and_after_a_call(tmp_path: Path) -> None:
    machine, calls = Machine(), Capture()
    for number in range(31):
        machine.x[number] = number + 1
    for number in range(32):
        machine.v[number] = number << 120 | number
    machine.sp, machine.nzcv, machine.fpsr, machine.pc = 0x40, 6, 1, 0x1000
    before = calls.before(machine)
    machine.x[30], machine.pc = 77, 0x2000
    calls.add("f", before, machine, 5, [])
    calls.save(tmp_path / "calls.jsonl")
    (made,) = map(json.loads, (tmp_path / "calls.jsonl").read_text().splitlines())
    vectors = [f"{number:02x}{0:028x}{number:02x}" for number in range(32)]
    assert (made["id"], made["entry"], made["ret"], made["insns"], made["outputs"]) == ("f", 0x1000, 0x2000, 5, [])
    assert made["regs"] == {**{f"x{number}": number + 1 for number in range(31)}, "sp": 0x40}
    assert made["vregs"] == {f"v{number}": digits for number, digits in enumerate(vectors)}
    assert (made["nzcv"], made["fpsr"]) == (6, 1)
    final = {"x": [*range(1, 31), 77], "v": vectors, "sp": 0x40, "nzcv": 6, "fpsr": 1}
    assert made["final"] == final
