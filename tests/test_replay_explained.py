"""Captured calls that came out otherwise than recorded, with the kernel given that they call."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from sim.call.captured import Bytes, CapturedCall, CaptureError, Expected, read_line, read_lines
from sim.call.captured_arguments import inputs_of, outputs_of, recorded_memory
from sim.check.recorded import first_wrong
from sim.command import app as cli
from sim.kernels import Kernel, parse_prototype
from sim.kernels.kernel_file import load_kernel
from sim.kernels.signature import FunctionArgument, Pointer, ScalarArgument, Signature, Struct

ROUNDED, DOWN = "vqrshrn_n_s16(vmull_s8(a, b), 7)", "vqshrn_n_s16(vmull_s8(a, b), 7)"


def invoke(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli.app, [*map(str, arguments)])
    return result.exit_code, result.stdout


@pytest.fixture(scope="module")
def recorded_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calls of the example of `lanewise init kernel`, recorded where it rounds down; beside them the kernel file."""
    folder = tmp_path_factory.mktemp("replay")
    invoke("init", "kernel", "demo", "--folder", folder)
    source, found = folder / "demo.c", {}
    text = source.read_text().replace("(a * b + 64) >> 7", "ROUND(a * b) >> 7")
    for name, vector, one in (("here", ROUNDED, "((x) + 64)"), ("there", DOWN, "(x)")):
        source.write_text(f"#define ROUND(x) {one}\n{text.replace(ROUNDED, vector)}")
        invoke("capture", folder / "demo.py", folder / f"{name}.jsonl", "--vectors", "200")
        found[name] = [json.loads(line) for _, line in read_lines(folder / f"{name}.jsonl")]
    arrays = {key: array for name in found for key, array in np.load(folder / f"{name}.npz").items()}
    np.savez(folder / "calls.npz", allow_pickle=False, **arrays)
    calls = [here | {"outputs": there["outputs"]} for here, there in zip(*found.values(), strict=True)]
    (folder / "calls.jsonl").write_text("".join(f"{json.dumps(call | {'final': {}})}\n" for call in calls))
    return folder


@pytest.mark.slow
def test_a_failing_call_is_explained_as_a_check_explains(recorded_elsewhere: Path) -> None:
    kernel = recorded_elsewhere / "demo.py"
    code, out = invoke("replay", recorded_elsewhere / "calls.jsonl", "--kernel", kernel, "--json", "--jobs", "1")
    first, agreed, *_, replayed = json.loads(out)["explanation"]
    assert code == 1
    assert [re.sub(r"\d[\d,]*", "N", sentence) for sentence in (first, agreed, replayed)] == [
        "recorded: N of N lanes differ from the golden reference of demo",
        "recorded: all N lanes agree with the convention rounded down",
        "replayed: all N lanes agree with the golden reference of demo",
    ]


@pytest.mark.slow
def test_without_a_kernel_it_is_said_what_is_missing(recorded_elsewhere: Path) -> None:
    _, out = invoke("replay", recorded_elsewhere / "calls.jsonl", "--jobs", "1")
    (sentence,) = [line for line in out.splitlines() if line.startswith("not explained: ")]
    assert sentence.endswith("--kernel NAME or --kernel FILE gives them")


@pytest.mark.slow
def test_calls_that_pass_are_not_explained(recorded_elsewhere: Path) -> None:
    code, out = invoke("replay", recorded_elsewhere / "there.jsonl", "--json", "--jobs", "1")
    assert (code, json.loads(out)["explanation"]) == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "verdict"), [("here", "all N lanes agree with"), ("there", "N of N lanes differ from")]
)
def test_calls_that_pass_are_asked_of_the_golden_reference(name: str, verdict: str, recorded_elsewhere: Path) -> None:
    kernel, file = recorded_elsewhere / "demo.py", recorded_elsewhere / f"{name}.jsonl"
    code, out = invoke("replay", file, "--kernel", kernel, "--json", "--jobs", "1")
    found = json.loads(out)
    told = f"N calls that came out as recorded: {verdict} the golden reference of demo"
    assert (code, re.sub(r"\d[\d,]*", "N", found["explanation"][0])) == (0, told)
    assert found["reproduce"].endswith(f" --kernel {kernel}")


@pytest.mark.slow
def test_a_lane_that_is_not_the_golden_one_is_opened_where_it_is_written(recorded_elsewhere: Path) -> None:
    """The way that is shown is that of a lane that is one less, as it was rounded down."""
    kernel, file = recorded_elsewhere / "demo.py", recorded_elsewhere / "there.jsonl"
    command = json.loads(invoke("replay", file, "--kernel", kernel, "--json", "--jobs", "1")[1])["debug"]
    words = shlex.split(command)
    assert words[:4] == ["lanewise", "debug", str(file), "--call"]
    (chosen,) = [one for one in map(json.loads, file.read_text().splitlines()) if one["id"] == words[4]][:1]
    (record,) = [read_line(1, json.dumps(chosen), Bytes(file.with_suffix(".npz"))).call]
    assert record is not None
    signature = load_kernel(kernel).signature
    inputs = inputs_of(record, signature)
    left = outputs_of(record, signature, inputs, recorded_memory(record, is_after=True))["output"]
    golden = load_kernel(kernel).expected(inputs)["output"]
    at = int(np.flatnonzero(left != golden)[0])
    address = record.registers["x2"] + at  # of output, the third argument, an array of bytes
    assert words[5:] == ["--wrong", f"*{address:#x}:1"]
    (recorded_elsewhere / "script").write_text("")
    _, told = invoke(*words[1:], "--script", recorded_elsewhere / "script")
    last = [line for line in told.splitlines() if line.startswith("  #") and f"*{address:#x} = {left[at]}" in line]
    before = next(line for line in told.splitlines() if line.startswith("before "))
    assert before.split()[1] == last[-1].split()[0].removeprefix("#")


@pytest.mark.slow
def test_calls_of_another_kernel_are_told(recorded_elsewhere: Path) -> None:
    _, out = invoke("replay", recorded_elsewhere / "calls.jsonl", "--kernel", "quantized_add", "--jobs", "1")
    assert [line for line in out.splitlines() if line.startswith("not explained: ")]


def call(**given: Any) -> CapturedCall:
    """A call with memory at 4096: the bytes 0 to 39, then a number of 16 bits, 3."""
    nothing: dict[str, Any] = {"outputs": (), "final": {}, "instructions": None, "fpcr": 0, "nzcv": None}
    memory = ((4096, bytes(range(40)) + b"\3\0"),)
    return CapturedCall(**{"name": "f", "entry": 0, "ret": 4, "maps": (), "memory": memory, **nothing, **given})


def test_arguments_are_read_from_registers_stack_and_memory() -> None:
    """AAPCS64: eight general registers, then the stack; of a narrow argument the upper bits say nothing."""
    parameters = ", ".join(f"int32_t a{n}" for n in range(7))
    _, signature = parse_prototype(f"void f({parameters}, const uint8_t x[n], float scale, int16_t n)")
    registers = {f"x{n}": (n << 32) + n for n in range(7)} | {"x7": 4099, "v0": 0x3FC00000, "sp": 4096 + 40}
    found = inputs_of(call(registers=registers), signature)
    assert [found[f"a{n}"] for n in range(7)] == list(range(7))
    assert (found["x"].tolist(), found["scale"], found["n"]) == ([3, 4, 5], 1.5, 3)


def test_vectors_are_whole_and_what_is_not_named_is_zero() -> None:
    parameters = ", ".join(f"int64_t a{n}" for n in range(8))
    _, signature = parse_prototype(f"void f(int16x4_t v, {parameters}, int16x4_t w, int16_t on_stack, int8_t behind)")
    registers, memory = {"v0": (7 << 120) + 0x0004_0003_0002_0001}, ((0, b"\5\0\0\0\0\0\0\0\6\0"),)
    found = inputs_of(call(registers=registers, memory=memory), signature)
    assert (found["v"].tolist(), found["w"].tolist()) == ([1, 2, 3, 4], [0, 0, 0, 0])
    assert [found[f"a{n}"] for n in range(8)] == [0] * 8
    assert (found["on_stack"], found["behind"]) == (5, 6)


def test_memory_is_known_as_far_as_it_was_recorded() -> None:
    read = recorded_memory(call(registers={}), is_after=False)
    assert (read(4096, 3), read(4099, 1), read(4096 + 40, 2)) == (b"\0\1\2", b"\3", b"\3\0")
    for address, size in ((4095, 1), (4095, 3), (4096 + 41, 2), (4096 + 42, 1)):
        with pytest.raises(CaptureError, match=f"what {size} bytes at {address:#x} held before the call"):
            read(address, size)


def test_an_array_is_null_where_its_address_is_0_and_it_may_be() -> None:
    arrays = Pointer("a", "uint8", (2,), nullable=True), Pointer("b", "uint8", (2,))
    signature = Signature((*arrays, Pointer("out", "uint8", (2,), direction="out", nullable=True)))
    null = inputs_of(call(registers={"x0": 0, "x1": 4098}), signature)
    assert (null["a"], null["b"].tolist()) == (None, [2, 3])
    assert inputs_of(call(registers={"x0": 4097, "x1": 4098}), signature)["a"].tolist() == [1, 2]
    with pytest.raises(CaptureError, match="what 2 bytes at 0x0 held before the call is not recorded"):
        inputs_of(call(registers={"x0": 4097, "x1": 0}), signature)
    after, outputs = call(registers={"x2": 4096}, outputs=(Expected(4096, b"\6\7"),)), {"a": None}
    assert outputs_of(after, signature, outputs, recorded_memory(after, is_after=True))["out"].tolist() == [6, 7]
    assert outputs_of(call(registers={}), signature, outputs, recorded_memory(after, is_after=True)) == {}


@pytest.mark.parametrize(("address", "expected"), [(0, None), (4098, {"x": 2, "y": 3})])
def test_a_structure_is_null_where_its_address_is_0_and_it_may_be(address: int, expected: object) -> None:
    point = Struct("p", (("x", "uint8"), ("y", "uint8")), by_pointer=True, direction="in", nullable=True)
    assert inputs_of(call(registers={"x0": address}), Signature((point,)))["p"] == expected


def test_an_array_of_no_elements_is_read_of_no_memory() -> None:
    _, signature = parse_prototype("void f(const uint8_t x[n], uint64_t n)")
    assert inputs_of(call(registers={"x0": 8}), signature)["x"].tolist() == []


@pytest.mark.parametrize(
    "argument",
    [
        FunctionArgument("a", ("f",)),
        Struct("a", (("n", "int32"),), by_pointer=True, pointers=((8, Pointer("a.data", "int8", (2,))),)),
    ],
)
def test_addresses_are_no_values_of_a_captured_call(argument: FunctionArgument | Struct) -> None:
    with pytest.raises(CaptureError, match="the argument 'a' of a captured call cannot be told: it holds addresses"):
        inputs_of(call(registers={"x0": 4096}), Signature((argument, ScalarArgument("m", "int32"))))


def test_structures_may_have_an_extent_that_comes_after_them() -> None:
    point = Struct("p", (("x", "uint8"), ("y", "uint8")), by_pointer=True, shape=("n",), direction="in")
    signature = Signature((point, ScalarArgument("n", "int32")))
    found = inputs_of(call(registers={"x0": 4098, "x1": 3}), signature)
    assert {name: values.tolist() for name, values in found["p"].items()} == {"x": [2, 4, 6], "y": [3, 5, 7]}


@pytest.mark.parametrize("by_structures", [False, True])
def test_a_call_with_a_negative_extent_is_none_of_the_signature(by_structures: bool) -> None:
    point = Struct("x", (("a", "uint8"),), by_pointer=True, shape=("n",), direction="in")
    array = Pointer("x", "uint8", ("n",))
    signature = Signature((point if by_structures else array, ScalarArgument("n", "int32")))
    with pytest.raises(CaptureError, match=r"none of that signature: 'x' cannot have the shape \[-1\]"):
        inputs_of(call(registers={"x0": 4096, "x1": 2**32 - 1}), signature)


def test_a_call_with_a_larger_array_than_any_is_none_of_the_signature() -> None:
    _, signature = parse_prototype("void f(const uint8_t x[n], uint64_t n)")
    with pytest.raises(
        CaptureError, match=r"none of that signature: the array x\[1099511627776\] of uint8 is too large"
    ):
        inputs_of(call(registers={"x0": 4096, "x1": 1 << 40}), signature)


def test_what_was_not_recorded_of_an_output_is_told() -> None:
    _, signature = parse_prototype("void f(uint8_t out[4])")
    recorded = call(registers={"x0": 4096}, outputs=(Expected(4096, b"abcd"),))
    made = outputs_of(recorded, signature, {}, recorded_memory(recorded, is_after=True))
    assert made["out"].tobytes() == b"abcd"
    with pytest.raises(CaptureError, match="what 4 bytes at 0x1001 held after the call is not recorded"):
        outputs_of(call(registers={"x0": 4097}), signature, {}, recorded_memory(recorded, is_after=True))


def test_of_several_wrong_outputs_the_first_of_the_signature_is_opened() -> None:
    """The call returns at once: each of its outputs holds 0, and should hold 1."""
    names, output = [f"out{number}" for number in range(8)], 0x2000
    name, signature = parse_prototype(f"void f({', '.join(f'uint8_t {one}[1]' for one in names)})")
    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature,
        golden=lambda _: {one: np.ones(1, np.uint8) for one in reversed(names)},
    )  # fmt: skip
    call = CapturedCall(
        name="f", entry=0, ret=4, maps=((0, 4096, "rx"), (output, 4096, "rw")),
        memory=((0, bytes.fromhex("c0035fd6")),), fpcr=0, nzcv=0, outputs=(), final={}, instructions=None,
        registers={f"x{number}": output + 16 * number for number in range(8)},
    )  # fmt: skip
    assert first_wrong(kernel, [call], 10) == ("f", f"*{output:#x}:1")
