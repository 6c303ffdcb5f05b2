"""A line of captured calls: what every key of it is read as, between which numbers, and what a file may be."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.call.captured import Bytes, CapturedCall, CaptureError, Expected, chosen_call, read_line, read_lines

PAGE = 4096
LEAST: dict[str, Any] = {"id": 7, "entry": 0x1000, "ret": "0x2000", "maps": [[0, PAGE, "r"]], "mem": []}


@pytest.fixture
def data(tmp_path: Path) -> Bytes:
    """Of an archive with one key."""
    np.savez(tmp_path / "calls.npz", three=np.array([1, 2, 3], np.uint8))
    return Bytes(tmp_path / "calls.npz")


def read(data: Bytes, **given: Any) -> CapturedCall:
    line = read_line(5, json.dumps(LEAST | given), data)
    assert (line.number, line.error) == (5, "")
    assert line.call is not None
    return line.call


def refused(data: Bytes, **given: Any) -> str:
    line = read_line(5, json.dumps(LEAST | given), data)
    assert line.call is None
    assert line.error.startswith("line 5: ")
    return line.error.removeprefix("line 5: ")


def test_of_a_call_what_is_not_said_is_nothing_or_not_known(data: Bytes) -> None:
    assert read(data) == CapturedCall(
        name="7", entry=0x1000, ret=0x2000, maps=((0, PAGE, "r"),), memory=(), registers={}, fpcr=0, fpsr=0, tpidr=0,
        nzcv=None, outputs=(), final={}, instructions=None,
    )  # fmt: skip
    empty: dict[str, Any] = {"regs": None, "vregs": {}, "nzcv": None, "final": None, "insns": None, "outputs": []}
    assert read(data, **empty) == read(data)


def test_every_key_of_a_call_is_read(data: Bytes) -> None:
    call = read(
        data, id="f", entry=-1, maps=[["0x1000", "0x2000", "r-x"], [1 << 40, PAGE, "wr"]],
        mem=[[0x1000, "three"], ["0x1800", "hex:00fF"]], regs={"x0": -1, "x30": 5, "sp": "0x40"},
        vregs={"v31": "000000000000000000000000000000fF"}, fpcr=1 << 24, fpsr=9, tpidr=-2, nzcv=6,
        outputs=[[0x1000, 3, "three"], [0x1801, "1", "hex:7f"]], insns="12",
        final={"x": [*range(31)], "v": [f"{number:032x}" for number in range(32)], "sp": 3, "nzcv": 8 << 28, "fpsr": 1},
    )  # fmt: skip
    assert call == CapturedCall(
        name="f", entry=(1 << 64) - 1, ret=0x2000, maps=((0x1000, 0x2000, "rx"), (1 << 40, PAGE, "wr")),
        memory=((0x1000, bytes([1, 2, 3])), (0x1800, bytes([0, 255]))),
        registers={"x0": (1 << 64) - 1, "x30": 5, "sp": 0x40, "v31": 255}, fpcr=1 << 24, fpsr=9, tpidr=(1 << 64) - 2,
        nzcv=6, outputs=(Expected(0x1000, bytes([1, 2, 3])), Expected(0x1801, bytes([127]))), instructions=12,
        final={**{f"x{i}": i for i in range(31)}, **{f"v{i}": i for i in range(32)}, "sp": 3, "nzcv": 8, "fpsr": 1},
    )  # fmt: skip


@pytest.mark.parametrize("key", ["id", "entry", "ret", "maps", "mem"])
def test_what_a_call_needs(data: Bytes, key: str) -> None:
    line = read_line(1, json.dumps({name: value for name, value in LEAST.items() if name != key}), data)
    assert line.error == f"line 1: the call has no {key!r}"


@pytest.mark.parametrize(
    ("key", "bits", "read_as"),
    [("entry", 64, "entry"), ("ret", 64, "ret"), ("fpsr", 32, "fpsr"), ("tpidr", 64, "tpidr"), ("insns", 64, "")],
)
def test_numbers_have_so_many_bits_of_either_sign(data: Bytes, key: str, bits: int, read_as: str) -> None:
    for number in (0, (1 << bits) - 1, -(1 << bits - 1)):
        assert getattr(read(data, **{key: number}), read_as or "instructions") == number % (1 << bits)
    wrong: list[Any] = [1 << bits, -(1 << bits - 1) - 1, 1.0, True, [1]]
    for one in wrong:
        assert refused(data, **{key: one}) == f"{key} must be a number of {bits} bits, not {one!r}"
    assert refused(data, **{key: "one"}) == f"{key} must be a number, not 'one'"


def test_addresses_have_64_bits_and_four_flags_are_told_from_a_whole_register(data: Bytes) -> None:
    top = (1 << 64) - 4096
    call = read(
        data, maps=[[top, PAGE, "r"]], mem=[[top, "three"]], outputs=[[top, 3, "three"]], nzcv=15,
        regs={"x0": top, "sp": top}, final={"sp": top, "nzcv": 15},
    )  # fmt: skip
    assert (call.maps[0][0], call.memory[0][0], call.outputs[0].address) == (top, top, top)
    assert (call.nzcv, call.registers, call.final) == (15, {"x0": top, "sp": top}, {"sp": top, "nzcv": 15})


def test_of_a_long_value_eighty_characters_are_told(data: Bytes) -> None:
    assert refused(data, entry="x" * 100) == f"entry must be a number, not '{'x' * 79}"
    assert refused(data, regs={"y" * 100: 0}) == f"regs has no register '{'y' * 79}"
    assert refused(data, mem=[[0, "z" * 100]]) == f"calls.npz has no key '{'z' * 79}"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"maps": [[1, PAGE, "r"]]}, "maps must be of whole pages of 4096 bytes, not 0x1000 bytes at 0x1"),
        ({"maps": [[0, PAGE + 1, "r"]]}, "maps must be of whole pages of 4096 bytes, not 0x1001 bytes at 0x0"),
        ({"maps": [[0, 0, "r"]]}, "maps must be of whole pages of 4096 bytes, not 0x0 bytes at 0x0"),
        ({"maps": [[0, PAGE, "---"]]}, "the permissions of a map are some of 'rwx', not '---'"),
        ({"maps": [[0, PAGE, "rr"]]}, "the permissions of a map are some of 'rwx', not 'rr'"),
        ({"maps": [[0, PAGE, "rs"]]}, "the permissions of a map are some of 'rwx', not 'rs'"),
        ({"maps": [[0, 1 << 30, "r"], [1 << 40, PAGE, "r"]]}, "the maps have more than 1073741824 bytes together"),
        ({"maps": {}}, "maps must be a list of lists of 3"),
        ({"mem": [[0, "three", 1]]}, "mem must be a list of lists of 2"),
        ({"mem": [0]}, "mem must be a list of lists of 2"),
        ({"mem": [[-(1 << 64), "three"]]}, f"an address of mem must be a number of 64 bits, not {-(1 << 64)}"),
        ({"mem": [[0, "hex:0"]]}, "'hex:0' is no bytes: behind hex: are two hexadecimal digits for each"),
        ({"mem": [[0, "hex:0g"]]}, "'hex:0g' is no bytes: behind hex: are two hexadecimal digits for each"),
        ({"mem": [[0, "four"]]}, "calls.npz has no key 'four'"),
        ({"outputs": [[0, 3]]}, "outputs must be a list of lists of 3"),
        ({"outputs": [[8, 2, "three"]]}, "the output at 0x8 has 2 bytes, its key 'three' has 3"),
        ({"outputs": [[8, 1 << 63, "three"]]}, f"the output at 0x8 has {1 << 63} bytes, its key 'three' has 3"),
        ({"maps": [[0, 1 << 63, "r"]]}, "the maps have more than 1073741824 bytes together"),
        ({"outputs": [[8, "x", "three"]]}, "a length of outputs must be a number, not 'x'"),
        ({"outputs": [[8, 1 << 64, "three"]]}, f"a length of outputs must be a number of 64 bits, not {1 << 64}"),
        ({"outputs": [[1 << 64, 3, "three"]]}, f"an address of outputs must be a number of 64 bits, not {1 << 64}"),
        ({"outputs": [["x", 3, "three"]]}, "an address of outputs must be a number, not 'x'"),
        ({"regs": {"x31": 0, "x99": 0}}, "regs has no register 'x31'"),
        ({"regs": {"v0": 0}}, "regs has no register 'v0'"),
        ({"vregs": {"v32": "0" * 32}}, "vregs has no register 'v32'"),
        ({"vregs": [1]}, "vregs must be an object"),
        ({"vregs": {"v0": "0" * 31}}, f"v0 must have 32 hexadecimal digits, not '{'0' * 31}'"),
        ({"vregs": {"v0": "g" * 32}}, f"v0 must have 32 hexadecimal digits, not '{'g' * 32}'"),
        ({"vregs": {"v0": 5}}, "v0 must have 32 hexadecimal digits, not 5"),
        ({"final": [1]}, "final must be an object"),
        ({"final": {"x": [0] * 30}}, "x of final must be a list of 31"),
        ({"final": {"v": "no"}}, "v of final must be a list of 32"),
        ({"final": {"x": [*[0] * 30, "y"]}}, "x30 of final must be a number, not 'y'"),
        ({"final": {"sp": "y"}}, "sp of final must be a number, not 'y'"),
        ({"final": {"fpsr": 1 << 32}}, f"fpsr of final must be a number of 32 bits, not {1 << 32}"),
    ],
)
def test_what_is_no_call_is_told(data: Bytes, given: dict[str, Any], says: str) -> None:
    assert refused(data, **given) == says


def test_a_map_of_as_many_bytes_as_there_may_be(data: Bytes) -> None:
    assert read(data, maps=[[0, (1 << 30) - PAGE, "r"], [1 << 40, PAGE, "r"]]).maps[1] == (1 << 40, PAGE, "r")


def test_lines_that_are_blank_are_none_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b"\n  \n{}\n\nlast\xff")
    assert list(read_lines(path)) == [(3, "{}\n"), (5, "last\ufffd")]
    with pytest.raises(CaptureError, match=r"cannot read .*none\.jsonl: No such file or directory$"):
        list(read_lines(tmp_path / "none.jsonl"))


def test_text_that_is_no_json_or_no_object_is_told_in_one_line(data: Bytes) -> None:
    assert read_line(2, "{", data).error.startswith("line 2: this is no JSON: Expecting property name")
    assert read_line(2, "[" * 100_000, data).error.startswith("line 2: this is no JSON: ")
    assert read_line(2, "7", data).error == "line 2: a call is a JSON object, not int"


def test_a_call_of_which_no_more_is_said_begins_with_sticky_bits_and_a_thread_pointer_of_zero() -> None:
    call = CapturedCall(
        name="f", entry=0, ret=4, maps=(), memory=(), registers={}, fpcr=0, nzcv=None, outputs=(), final={},
        instructions=None,
    )  # fmt: skip
    assert (call.fpsr, call.tpidr) == (0, 0)


def test_the_maps_of_a_call_have_a_gibibyte_at_most(data: Bytes) -> None:
    half = 1 << 29
    assert len(read(data, maps=[[0, half, "r"], [1 << 40, half, "r"]]).maps) == 2
    more = refused(data, maps=[[0, half, "r"], [1 << 40, half, "r"], [1 << 41, PAGE, "r"]])
    assert more == f"the maps have more than {1 << 30} bytes together"


def test_without_an_archive_bytes_are_in_the_line_or_nowhere(tmp_path: Path) -> None:
    none = Bytes(tmp_path / "none.npz")
    assert none["hex:0aFF"] == bytes([10, 255])
    with pytest.raises(CaptureError, match=r"none\.npz: there is no such file; it must be the \.npz beside the calls$"):
        none["three"]


def test_a_key_of_more_bytes_than_there_may_be_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "calls.npz", zeros=np.zeros(1000, np.uint8))
    (size,) = (info.file_size for info in zipfile.ZipFile(tmp_path / "calls.npz").infolist())
    monkeypatch.setattr("sim.call.captured.MAX_CALL_BYTES", size)
    assert Bytes(tmp_path / "calls.npz")["zeros"] == bytes(1000)
    monkeypatch.setattr("sim.call.captured.MAX_CALL_BYTES", size - 1)
    with pytest.raises(CaptureError) as caught:
        Bytes(tmp_path / "calls.npz")["zeros"]
    assert str(caught.value) == f"the key 'zeros' of calls.npz has more than {size - 1} bytes"


def test_a_member_that_is_no_array_has_no_more_bytes_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "calls.npz", "w") as archive:
        archive.writestr("raw", b"12345")
    assert Bytes(tmp_path / "calls.npz")["raw"] == b"12345"
    monkeypatch.setattr("sim.call.captured.MAX_CALL_BYTES", 4)
    with pytest.raises(CaptureError, match=r"^the key 'raw' of calls\.npz has more than 4 bytes$"):
        Bytes(tmp_path / "calls.npz")["raw"]


def test_a_key_that_is_named_again_and_again_has_all_of_its_bytes_each_time(
    data: Bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.call.captured.MAX_CALL_BYTES", PAGE)
    page, twice = f"hex:{'00' * (PAGE - 3)}", [[0, "three"], [0, "three"]]
    assert len(read(data, mem=[[0, page], [0, "three"]], outputs=[[0, 3, "three"]]).memory) == 2
    one_more = f"hex:{'00' * (PAGE - 2)}"
    assert refused(data, mem=[[0, one_more], [0, "three"]]) == f"mem has more than {PAGE} bytes together"
    assert refused(data, mem=[[0, page], *twice]) == f"mem has more than {PAGE} bytes together"
    outputs = [[0, PAGE - 3, page], *([at, 3, key] for at, key in twice)]
    assert refused(data, outputs=outputs) == f"outputs has more than {PAGE} bytes together"


def test_a_call_is_chosen_by_its_id_or_is_the_only_one(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"

    def write(*calls: object) -> None:
        path.write_text("\n".join(call if isinstance(call, str) else json.dumps(call) for call in calls))

    def why(name: str | None) -> str:
        with pytest.raises(CaptureError) as caught:
            chosen_call(path, name)
        return str(caught.value)

    write(LEAST | {"id": "a"}, LEAST | {"id": "b"}, LEAST | {"id": "b", "entry": 9})
    assert (chosen_call(path, "b").entry, chosen_call(path, "a").name) == (0x1000, "a")
    assert why(None) == f"{path} has 3 calls: name one with --call, such as 'a'"
    assert why("c") == f"{path} has no call 'c'"
    write(LEAST | {"id": "a"}, LEAST | {"id": "b"})
    assert why(None) == f"{path} has 2 calls: name one with --call, such as 'a'"
    write(LEAST, "[]")
    assert chosen_call(path, None).name == "7"
    write("[]", "{}")
    faults = "; line 1: a call is a JSON object, not list; line 2: the call has no 'id'"
    assert (why(None), why("c")) == (f"{path} has no call{faults}", f"{path} has no call 'c'{faults}")
    write(*["[]"] * 5)
    lines = "".join(f"; line {number}: a call is a JSON object, not list" for number in (1, 2, 3))
    assert why("c" * 100) == f"{path} has no call '{'c' * 79}{lines}; and 2 lines more"
    write(LEAST | {"id": "line 2"}, LEAST | {"id": "b", "entry": 9}, LEAST | {"id": "c", "entry": 10})
    assert (chosen_call(path, "line 2").entry, chosen_call(path, "line 3").entry) == (0x1000, 10)
