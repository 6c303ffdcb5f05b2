"""Arrays from files of every format; a file that gives none gets a sentence."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.explanation.tensor_file import TensorError, read_arrays, read_tensor

NUMBERS = np.array([[-2, 3, 4], [5, -6, 127]], np.int8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with `NUMBERS` in every format."""
    np.save(tmp_path / "out.npy", NUMBERS)
    np.savez(tmp_path / "one.npz", out=NUMBERS)
    np.savez_compressed(tmp_path / "two.npz", out=NUMBERS, other=NUMBERS)
    NUMBERS.astype("<i2").tofile(tmp_path / "out.bin")
    (tmp_path / "out.csv").write_text("-2, 3, 4\r\n5,-6,127.0,\n\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("out.npy", "int8"),
        ("one.npz", "int8"),
        ("two.npz:out", "int8"),
        ("out.bin:int16:2x3", "int16"),
        ("out.csv:int8", "int8"),
        ("out.csv:float32", "float32"),
    ],
)
def test_array_is_read(folder: Path, name: str, dtype: str) -> None:
    found = read_tensor(f"{folder}/{name}")
    assert (found.tolist(), found.dtype) == (NUMBERS.tolist(), np.dtype(dtype))


def test_raw_bytes_without_a_shape_are_one_row(folder: Path) -> None:
    assert read_tensor(f"{folder}/out.bin:int16").tolist() == NUMBERS.ravel().tolist()


def test_table_of_one_column_has_one_axis(tmp_path: Path) -> None:
    (tmp_path / "column.csv").write_text("1\n2\n3\n")
    assert read_tensor(f"{tmp_path}/column.csv", "int32").tolist() == [1, 2, 3]


@pytest.mark.parametrize("key", ["conv.npy", "layers.csv", "StatefulPartitionedCall:0", "BiasAdd;" * 100])
def test_arrays_of_an_archive_have_any_names(tmp_path: Path, key: str) -> None:
    """Those of tensors are: of fused operators all of them, some look like those of files."""
    np.savez(tmp_path / "net.npz", a=NUMBERS, **{key: NUMBERS + 1})  # type: ignore[arg-type]  # none is `allow_pickle`
    found = read_arrays(tmp_path / "net.npz")
    assert {name: array.tolist() for name, array in found.items()} == {
        "a": NUMBERS.tolist(),
        key: (NUMBERS + 1).tolist(),
    }


def test_a_member_that_is_no_array_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "raw.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("raw", bytes(5000))
    monkeypatch.setattr("sim.explanation.tensor_file.MAX_BYTES", 5000)
    with pytest.raises(TensorError, match=r"raw\.npz holds \|S5000: give integers or floating-point numbers$"):
        read_tensor(f"{tmp_path}/raw.npz")
    monkeypatch.setattr("sim.explanation.tensor_file.MAX_BYTES", 4999)
    with pytest.raises(TensorError, match=r"^the key 'raw' of .* has more than 4,999 bytes$"):
        read_arrays(tmp_path / "raw.npz")


def test_npz_in_npy_clothes_is_refused(folder: Path) -> None:
    (folder / "one.npz").rename(folder / "one.npy")
    with pytest.raises(TensorError, match="is an archive of arrays"):
        read_tensor(f"{folder}/one.npy")


class Trap:
    """Whoever unpickles it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "trap.npy", np.array([Trap(tmp_path / "sprung")], object), allow_pickle=True)
    (tmp_path / "bare.npy").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    np.savez(tmp_path / "trap.npz", out=np.array([Trap(tmp_path / "sprung")], object), allow_pickle=True)
    why_not = {
        "trap.npy": "it holds objects of Python, which are not read",
        "trap.npz:out": "it holds objects of Python, which are not read",
        "bare.npy": "it is no .npy file",
    }
    for name, why in why_not.items():
        with pytest.raises(TensorError, match=f"cannot read .*: {why}"):
            read_tensor(f"{tmp_path}/{name}")
    assert not (tmp_path / "sprung").exists()


def test_text_that_is_named_like_an_archive_is_not_said_to_be_pickled(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(TensorError, match=r"cannot read .*: it is no \.npz archive"):
        read_tensor(f"{tmp_path}/text.npz")


@pytest.mark.parametrize("kept", [0, 1, 60, 127, -1])
@pytest.mark.parametrize("name", ["out.npy", "two.npz"])
def test_truncated_file_gets_a_sentence(folder: Path, name: str, kept: int) -> None:
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:kept])
    with pytest.raises(TensorError, match="cannot read"):
        read_tensor(f"{folder}/{name}")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("none.npy", "there is no file"),
        ("", "is no file"),
        ("out.npy:out", "has its own dtype and shape: give nothing after its name"),
        ("two.npz", "has 2 arrays: give"),
        ("two.npz:wrong", "has no key 'wrong'"),
        ("out.csv", "has no dtype: write it after the name"),
        ("out.csv:int8:2x3", "has its own shape"),
        ("out.csv:int3", "is given the dtype 'int3'"),
        ("out.csv:uint8", "has -2, which lies outside uint8"),
        ("out.bin", "is read as raw bytes: give its dtype and shape"),
        ("out.bin:int16:2x4", "has 12 bytes, but (2, 4) of int16 takes 16"),
        ("out.bin:int64", "has 12 bytes, but (1,) of int64 takes 8"),
        ("out.bin:int16:2,3", "is given the shape '2,3': write it as 4x16"),
        ("out.bin:int16:2x3:1", "is read as raw bytes: give its dtype and shape"),
        ("out.bin:object:6", "is given the dtype 'object'"),
    ],
)
def test_bad_name_gets_a_sentence(folder: Path, name: str, sentence: str) -> None:
    with pytest.raises(TensorError) as error:
        read_tensor(f"{folder}/{name}")
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1,2\n3\n", "row 2 of"),
        ("1,x\n", "has 'x', which is no number of dtype int32"),
        ("1,2.5\n", "has '2.5', which is no number of dtype int32"),
        ("nan\n", "has 'nan'"),
        ("99999999999999999999\n", "has '99999999999999999999'"),
        ("3000000000\n", "has 3000000000, which lies outside int32"),
    ],
)
def test_bad_table_gets_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(TensorError) as error:
        read_tensor(f"{tmp_path}/t.csv", "int32")
    assert sentence in str(error.value)


def test_a_table_without_a_row_has_no_number(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\n\n")
    assert read_tensor(f"{tmp_path}/t.csv", "int32").shape == (0,)


def test_a_file_may_have_as_many_bytes_as_are_read_and_no_more(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = (folder / "out.bin").stat().st_size
    monkeypatch.setattr("sim.explanation.tensor_file.MAX_BYTES", size)
    assert read_tensor(f"{folder}/out.bin:int16").size == size // 2
    monkeypatch.setattr("sim.explanation.tensor_file.MAX_BYTES", size - 1)
    with pytest.raises(TensorError, match=f"has more than {size - 1} bytes"):
        read_tensor(f"{folder}/out.bin:int16")


def test_table_that_is_no_text_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TensorError, match="as text"):
        read_tensor(f"{tmp_path}/t.csv:int8")


def test_booleans_are_no_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "b.npy", np.zeros(3, np.bool_))
    with pytest.raises(TensorError, match="holds bool"):
        read_tensor(f"{tmp_path}/b.npy")


def test_a_table_has_the_numbers_of_its_dtype_from_the_lowest_on_and_one_row_has_one_axis(tmp_path: Path) -> None:
    (tmp_path / "row.csv").write_text("-128, 0, 127\n")
    assert read_tensor(f"{tmp_path}/row.csv:int8").tolist() == [-128, 0, 127]
    (tmp_path / "one.csv").write_text("-128\n")
    assert read_tensor(f"{tmp_path}/one.csv:int8").tolist() == [-128]


def test_what_is_no_archive_gives_no_arrays(folder: Path) -> None:
    with pytest.raises(TensorError, match=r"there is no file .*none\.npz"):
        read_arrays(folder / "none.npz")
    with pytest.raises(TensorError, match=r"out\.npy is no \.npz file"):
        read_arrays(folder / "out.npy")


def test_raw_bytes_that_cannot_be_read_get_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_bytes(path: Path) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    with pytest.raises(TensorError, match=r"cannot read .*out\.bin: Input/output error"):
        read_tensor(f"{folder}/out.bin:int16")


@pytest.mark.parametrize(
    ("size", "sentence"), [(2**32, "is read as raw bytes"), (2**32 + 1, "has more than 4,294,967,296 bytes")]
)
def test_more_than_four_gibibytes_are_not_read(size: int, sentence: str, tmp_path: Path) -> None:
    """Before it is asked what they are; none of them is written to the disk."""
    with (tmp_path / "large.bin").open("wb") as file:
        file.truncate(size)
    with pytest.raises(TensorError, match=sentence):
        read_tensor(f"{tmp_path}/large.bin")
