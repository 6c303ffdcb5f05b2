"""Captured calls replayed; they are recorded here by Unicorn itself, without the machine or the emulator of sim."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import unicorn
from typer.testing import CliRunner
from unicorn import arm64_const as arm

from isa.lane import constant
from isa.rows import TABLE
from sim.call.captured import Bytes, CaptureError, read_line, read_lines
from sim.call.native.code import PATIENCE
from sim.call.native.share import NativeShare
from sim.command import app as cli
from sim.machine.machine import Machine
from sim.processes import spread
from sim.replay import run as replaying
from sim.replay.engines import Engine
from sim.replay.run import Replayed, replay

CODE, DATA, RETURN = 0x10000, 0x20000, 0x30000
ADD_ONE = [0x4C407420, 0x4F000424, 0x4EA48400, 0x4C007420, 0xD65F03C0]
"""ld1 {v0.8h}, [x1]; movi v4.4s, #1; add v0.4s, v0.4s, v4.4s; st1 {v0.8h}, [x1]; ret"""
LIMIT = 1000
Call = dict[str, Any]


def code_of(words: list[int]) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in words)


def recorded(words: list[int], data: bytes) -> tuple[Call, dict[str, np.ndarray]]:
    """A call of a function that works on the data that x1 points to, as Unicorn runs it."""
    engine = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
    engine.ctl_set_cpu_model(arm.UC_CPU_ARM64_MAX)
    for address in (CODE, DATA, RETURN):
        engine.mem_map(address, 0x1000)
    engine.mem_write(CODE, code_of(words))
    engine.mem_write(DATA, data)
    engine.reg_write(arm.UC_ARM64_REG_X1, DATA)
    engine.reg_write(arm.UC_ARM64_REG_X30, RETURN)
    engine.emu_start(CODE, RETURN)
    numbers = [*range(arm.UC_ARM64_REG_X0, arm.UC_ARM64_REG_X0 + 29), arm.UC_ARM64_REG_X29, arm.UC_ARM64_REG_X30]
    final = {
        "x": [engine.reg_read(number) for number in numbers],
        "sp": engine.reg_read(arm.UC_ARM64_REG_SP),
        "v": [f"{engine.reg_read(arm.UC_ARM64_REG_V0 + i):032x}" for i in range(32)],
        "nzcv": engine.reg_read(arm.UC_ARM64_REG_NZCV) >> 28,
        "fpsr": engine.reg_read(arm.UC_ARM64_REG_FPSR),
    }
    after = bytes(engine.mem_read(DATA, len(data)))
    call = {
        "id": "add one", "entry": CODE, "ret": RETURN,
        "maps": [[CODE, 0x1000, "rx"], [DATA, 0x1000, "rw"]], "mem": [[CODE, "code"], [DATA, "in"]],
        "regs": {"x1": DATA}, "vregs": {}, "fpcr": 0,
        "outputs": [[DATA, len(data), "out"]], "final": final, "insns": len(words),
    }  # fmt: skip
    arrays = {"code": np.frombuffer(code_of(words), np.uint8), "in": np.frombuffer(data, np.uint8)}
    return call, arrays | {"out": np.frombuffer(after, np.uint8)}


@pytest.fixture
def sample() -> tuple[Call, dict[str, np.ndarray]]:
    return recorded(ADD_ONE, bytes(range(16)))


Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Writes calls (objects or lines of text) and arrays; returns the path of the calls."""

    def saved(calls: list[Call | str], arrays: dict[str, np.ndarray]) -> Path:
        lines = [call if isinstance(call, str) else json.dumps(call) for call in calls]
        (tmp_path / "calls.jsonl").write_text("\n".join(lines) + "\n")
        np.savez(tmp_path / "calls.npz", allow_pickle=False, **arrays)
        return tmp_path / "calls.jsonl"

    return saved


def replayed(path: Path, engine: Engine = "lockstep") -> Replayed:
    ((number, text),) = read_lines(path)
    return replay(read_line(number, text, Bytes(path.with_suffix(".npz"))), engine, LIMIT)


@pytest.mark.parametrize("engine", ["lockstep", "machine", "emulator"])
def test_a_recorded_call_passes(save: Save, sample: tuple[Call, Any], engine: Engine) -> None:
    call, arrays = sample
    result = replayed(save([call], arrays), engine)
    assert (result.kind, result.detail, result.instructions, result.values) == ("passed", "", 5, 16 + 31 + 32 + 2)


def test_the_machine_alone_tells_the_same_forms_as_lockstep(save: Save, sample: tuple[Call, Any]) -> None:
    call, arrays = sample
    alone, both = (replayed(save([call], arrays), engine).forms for engine in ("machine", "lockstep"))
    assert alone == both != frozenset()


def test_a_long_call_goes_on_in_native_code(save: Save) -> None:
    times = 15_000
    words = [0xD2800002 | times << 5, 0xF1000442, 0xB5FFFFE2, 0xD65F03C0]  # mov x2, #; subs x2, x2, #1; cbnz x2; ret
    call, arrays = recorded(words, bytes(16))
    ((number, text),) = read_lines(save([call | {"insns": 2 * times + 2}], arrays))
    result = replay(read_line(number, text, Bytes(save([call], arrays).with_suffix(".npz"))), "lockstep", 100_000)
    assert (result.kind, result.detail, result.instructions) == ("passed", "", 2 * times + 2)
    assert result.native == NativeShare(2 * times + 2 - PATIENCE)


@pytest.mark.parametrize("engine", ["lockstep", "machine", "emulator"])
def test_a_wrong_output_byte_is_named(save: Save, sample: tuple[Call, Any], engine: Engine) -> None:
    call, arrays = sample
    wrong = arrays["out"].copy()
    wrong[4] ^= 1
    result = replayed(save([call], arrays | {"out": wrong}), engine)
    assert (result.kind, result.detail) == ("output mismatch", "byte 4 of the output at 0x20000 is 0x05, recorded 0x04")


@pytest.mark.parametrize(("place", "value"), [("x", 30), ("v", 31), ("sp", 0), ("fpsr", 0)])
def test_a_wrong_final_register_is_found(save: Save, sample: tuple[Call, Any], place: str, value: int) -> None:
    call, arrays = sample
    final = call["final"]
    if place == "x":
        final["x"][value] ^= 1
    elif place == "v":
        final["v"][value] = f"{int(final['v'][value], 16) ^ 1:032x}"
    else:
        final[place] ^= 1
    assert replayed(save([call], arrays)).kind == "output mismatch"


COMPARE = 0xEB00003F
"""cmp x1, x0"""


def test_flags_that_the_call_sets_are_compared(save: Save) -> None:
    call, arrays = recorded([COMPARE, *ADD_ONE], bytes(16))
    call["final"]["nzcv"] ^= 1
    assert replayed(save([call], arrays)).detail == "nzcv is 0x2, recorded 0x3"


def test_flags_that_only_the_start_decides_are_not_compared(save: Save, sample: tuple[Call, Any]) -> None:
    call, arrays = sample
    call["final"]["nzcv"] ^= 1
    assert replayed(save([call], arrays)).kind == "passed"


def test_flags_that_the_call_leaves_are_compared_where_the_start_is_known(save: Save, sample: tuple[Call, Any]) -> None:
    call, arrays = sample
    assert replayed(save([call | {"nzcv": call["final"]["nzcv"] ^ 1}], arrays)).kind == "output mismatch"


def test_a_wrong_number_of_instructions_is_found(save: Save, sample: tuple[Call, Any]) -> None:
    call, arrays = sample
    result = replayed(save([call | {"insns": 6}], arrays))
    assert (result.kind, result.detail) == ("output mismatch", "5 instructions executed, 6 recorded")


def test_a_wrong_semantics_diverges(save: Save, sample: tuple[Call, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    call, arrays = sample
    wrong = TABLE.replacing("add .4s,.4s,.4s", lambda d, n, m: d.write([constant(7)] * 4))
    monkeypatch.setattr(replaying, "Machine", lambda: Machine(table=wrong))
    result = replayed(save([call], arrays))
    assert (result.kind, result.form) == ("divergence", "add .4s,.4s,.4s")


@pytest.mark.parametrize(
    ("word", "kind", "form"),
    [
        (0x04A00020, "unsupported instruction", "add z0.s, z1.s, z0.s"),
        (0xD4000001, "trap", "svc #0"),
        (0xF9400000, "memory fault", "ldr x_, [x_]"),
        (0x14000000, "limit", ""),
    ],
)
@pytest.mark.parametrize("engine", ["lockstep", "machine"])
def test_how_a_call_stops_is_told_apart(
    save: Save, sample: tuple[Call, Any], word: int, kind: str, form: str, engine: Engine
) -> None:
    call, arrays = sample
    code = np.frombuffer(code_of([word]), np.uint8)
    result = replayed(save([call], arrays | {"code": code}), engine)
    assert (result.kind, result.form) == (kind, form)


def test_a_call_with_nothing_recorded_does_not_pass_on_one_engine(save: Save, sample: tuple[Call, Any]) -> None:
    call, arrays = sample
    bare = {key: value for key, value in call.items() if key not in ("outputs", "final", "insns")}
    assert replayed(save([bare], arrays), "machine").kind == "nothing recorded"


BAD: dict[str, Callable[[Call], object]] = {
    "this is no JSON: Expecting property name enclosed in double quotes at character 2": lambda call: "{",
    "a call is a JSON object, not list": lambda call: "[]",
    "has no 'entry'": lambda call: {k: v for k, v in call.items() if k != "entry"},
    "entry must be a number": lambda call: call | {"entry": "start"},
    "entry must be a number of 64 bits": lambda call: call | {"entry": 1 << 64},
    "maps must be a list of lists of 3": lambda call: call | {"maps": [[1, 2]]},
    "maps must be of whole pages": lambda call: call | {"maps": [[CODE, 5, "rx"]]},
    "the permissions of a map": lambda call: call | {"maps": [[CODE, 4096, "q"]]},
    "an address of maps must be a number of 64 bits": lambda call: call | {"maps": [[1 << 64, 4096, "rw"]]},
    "a size of maps must be a number of 64 bits": lambda call: call | {"maps": [[CODE, 1 << 64, "rw"]]},
    "not 0x0 bytes at 0x20000": lambda call: call | {"maps": [[DATA, 0, "rw"]]},
    "the maps have more than 1073741824 bytes": lambda call: call | {"maps": [[0, (1 << 30) + 4096, "rw"]]},
    "fpcr must be a number of 32 bits": lambda call: call | {"fpcr": 1 << 32},
    "nzcv must be a number of 32 bits, not -2147483649": lambda call: call | {"nzcv": -(2**31) - 1},
    "calls.npz has no key 'nothing'": lambda call: call | {"mem": [[CODE, "nothing"]]},
    "regs has no register 'x31'": lambda call: call | {"regs": {"x31": 0}},
    "regs must be an object": lambda call: call | {"regs": [1]},
    "x1 must be a number of 64 bits": lambda call: call | {"regs": {"x1": 1 << 64}},
    "v0 must have 32 hexadecimal digits": lambda call: call | {"vregs": {"v0": "12"}},
    "x of final must be a list of 31": lambda call: call | {"final": {"x": [0]}},
    "the output at 0x20000 has 3 bytes": lambda call: call | {"outputs": [[DATA, 3, "out"]]},
    "its memory cannot be set up": lambda call: call | {"maps": [[CODE, 4096, "rx"], [CODE, 4096, "rw"]]},
}


@pytest.mark.parametrize("reason", BAD)
def test_a_bad_line_says_what_is_wrong(save: Save, sample: tuple[Call, Any], reason: str) -> None:
    call, arrays = sample
    bad = BAD[reason](call)
    result = replayed(save([bad], arrays))
    assert result.kind == "unreadable"
    assert reason in result.detail
    assert not result.detail.startswith("line ")  # the report says that before it


@pytest.mark.parametrize(("given", "flags"), [(15, 15), (16, 0), (0x6000_0000, 6), (0x8000_0000, 8), (-(2**31), 8)])
def test_flags_are_given_as_four_bits_or_as_the_whole_register(
    save: Save, sample: tuple[Call, Any], given: int, flags: int
) -> None:
    call, arrays = sample
    path = save([call], arrays)
    read = read_line(1, json.dumps(call | {"nzcv": given}), Bytes(path.with_suffix(".npz"))).call
    assert read is not None
    assert read.nzcv == flags


@pytest.mark.parametrize("given", [0, (1 << 64) - 1, 1 << 63])
def test_the_thread_pointer_has_64_bits(save: Save, sample: tuple[Call, Any], given: int) -> None:
    call, arrays = sample
    path = save([call], arrays)
    read = read_line(1, json.dumps(call | {"tpidr": given}), Bytes(path.with_suffix(".npz"))).call
    assert read is not None
    assert read.tpidr == given


def test_a_line_of_the_greatest_length_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.call.captured.MAX_LINE", 6)
    (tmp_path / "calls.jsonl").write_text("first\nsecond\n")
    lines = read_lines(tmp_path / "calls.jsonl")
    assert next(lines) == (1, "first\n")
    with pytest.raises(CaptureError, match="line 2 of"):
        next(lines)


def test_pickled_bytes_are_refused(save: Save, sample: tuple[Call, Any]) -> None:
    call, arrays = sample
    path = save([call], arrays)
    with path.with_suffix(".npz").open("wb") as file:
        np.savez(file, code=np.array([{"a": 1}], dtype=object))
    assert "cannot be read" in replayed(path).detail


def test_bytes_that_are_no_archive_are_refused(tmp_path: Path) -> None:
    (tmp_path / "calls.npz").write_bytes(b"nothing")
    with pytest.raises(CaptureError, match=r"calls\.npz: it is no \.npz archive; it must be the \.npz beside the"):
        Bytes(tmp_path / "calls.npz")


def invoke(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli.app, ["replay", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_one_bad_line_does_not_stop_the_others(save: Save, sample: tuple[Call, Any]) -> None:
    call, arrays = sample
    code, out, _ = invoke(str(save([call, "{", call], arrays)), "--json", "--jobs", "1")
    report = json.loads(out)
    assert (code, report["kinds"]) == (1, {"passed": 2, "unreadable": 1})


def test_a_call_of_which_nothing_is_recorded_passes_with_that_told(save: Save, sample: tuple[Call, Any]) -> None:
    """Whose writer forgot what the call left reads a verdict otherwise that looks like a comparison."""
    call, arrays = sample
    bare = {key: value for key, value in call.items() if key not in ("outputs", "final", "insns")}
    code, out, _ = invoke(str(save([bare], arrays)), "--jobs", "1")
    verdict = "PASSED: 1 call, machine and emulator alike: no line records what the call left"
    assert (code, verdict in out.splitlines()) == (0, True)
    assert "PASSED: 1 call" in invoke(str(save([call], arrays)), "--jobs", "1")[1].splitlines()


def test_the_line_that_reproduces_a_failure_runs_it_alone(save: Save, sample: tuple[Call, Any]) -> None:
    call, arrays = sample
    path = save([call, "{"], arrays)
    _, out, _ = invoke(str(path), "--jobs", "1")
    command = out.splitlines()[-1].removeprefix("reproduce: lanewise replay ")
    code, again, _ = invoke(*command.split(" "), "--json")
    assert (code, json.loads(again)["calls"]) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("maps", "size"), [(1, 900 << 20), (20_000, 0x1000)], ids=["one of 900 MiB", "20,000 of a page"]
)
def test_a_call_with_maps_that_it_does_not_touch_passes(
    save: Save, sample: tuple[Call, Any], maps: int, size: int
) -> None:
    call, arrays = sample
    call["maps"] += [[(1 << 40) + number * (size + 0x1000), size, "rw"] for number in range(maps)]
    assert replayed(save([call], arrays)).kind == "passed"


@pytest.mark.slow
def test_several_processes_give_the_same_report(save: Save, sample: tuple[Call, Any]) -> None:
    call, arrays = sample
    path = str(save([call | {"id": str(i)} for i in range(40)], arrays))
    assert invoke(path, "--json", "--jobs", "2")[:2] == invoke(path, "--json", "--jobs", "1")[:2]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no/such/file.jsonl"], "cannot read no/such/file.jsonl"),
        (["{path}", "--engine", "silicon"], "--engine takes one of lockstep, machine, emulator, not 'silicon'"),
        (["{path}", "--line", "9"], "has no call on line 9"),
    ],
)
def test_wrong_usage_is_one_sentence(save: Save, sample: tuple[Call, Any], arguments: list[str], sentence: str) -> None:
    call, arrays = sample
    path = str(save([call], arrays))
    code, _, err = invoke(*(argument.format(path=path) for argument in arguments))
    assert (code, sentence in err.replace("\n", "")) == (2, True)


def test_an_empty_file_does_not_pass(save: Save, sample: tuple[Call, Any]) -> None:
    assert invoke(str(save([""], sample[1])))[0] == 1


def exits_at_three(number: int) -> int:
    if number == 3:
        os._exit(9)
    return number


def minus(number: int) -> int:
    return -number


@pytest.mark.slow
def test_work_outlives_a_process_that_crashes() -> None:
    assert sorted(spread(exits_at_three, range(6), 2, minus)) == [-3, 0, 1, 2, 4, 5]
