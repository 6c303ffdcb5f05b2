"""Arrays from files: .npy, .npz with a key, .csv, and raw bytes with a dtype and a shape.  Nothing is unpickled.

out.npy                 an array of NumPy
layer.npz:conv1         the array of that key; a file of one array needs no key
out.csv:int8            numbers in rows, separated by commas or blanks; the dtype may be left out where it is known
out.bin:uint8:4x16      raw little-endian bytes, row after row; without the shape, one row
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from isa.errors import LanewiseError
from sim.numpy_files import AnyArray, NumpyArchive, UnreadableArray, read_npy

MAX_BYTES: Final = 1 << 32
"""Of one array."""
_DTYPES: Final = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float32", "float64")


class TensorError(LanewiseError):
    """A file that gives no array; the message is one sentence."""


def read_tensor(text: str, default: str | None = None) -> AnyArray:
    """The array that a text such as "out.npy" or "out.bin:uint8:4x16" names; raises TensorError.

    `default` is the dtype of a .csv that names none.  An array of .npy and .npz keeps its own dtype.
    """
    if Path(text).exists():
        name, parts = text, list[str]()
    elif found := re.match(r"(.*\.(?:npy|npz|csv))(?::(.*))?$", text):
        name, parts = found[1], found[2].split(":") if found[2] is not None else []
    else:
        name, *parts = text.split(":")
    path = Path(name)
    if not path.is_file():
        raise TensorError(f"{path} is no file" if path.exists() else f"there is no file {path}")
    if path.stat().st_size > MAX_BYTES:
        raise TensorError(f"{path} has more than {MAX_BYTES:,} bytes")
    return _numbers(path, _READERS.get(path.suffix, _raw)(path, parts, default))


def _numbers(path: Path, array: AnyArray) -> AnyArray:
    if array.dtype.kind not in "iuf":
        raise TensorError(f"{path} holds {array.dtype}: give integers or floating-point numbers")
    return np.asarray(array)


def read_arrays(path: Path) -> dict[str, AnyArray]:
    """All arrays of an .npz archive by key; raises TensorError."""
    if not path.is_file() or path.suffix != ".npz":
        raise TensorError(f"{path} is no .npz file" if path.exists() else f"there is no file {path}")
    archive = _archive(path)
    return {key: _numbers(path, _member(path, archive, key)) for key in archive.keys}


def _npy(path: Path, parts: list[str], default: str | None) -> AnyArray:
    if parts:
        raise TensorError(f"{path} has its own dtype and shape: give nothing after its name")
    if zipfile.is_zipfile(path):
        raise TensorError(f"{path} is an archive of arrays: name it .npz")
    with _telling(path):
        return read_npy(path)


def _npz(path: Path, parts: list[str], default: str | None) -> AnyArray:
    archive = _archive(path)
    key = ":".join(parts) or (archive.keys[0] if len(archive.keys) == 1 else "")
    if key not in archive.keys:
        wrong = f"has no key {key!r}" if key else f"has {len(archive.keys)} arrays"
        raise TensorError(f"{path} {wrong}: give {path}:KEY, of the keys {', '.join(archive.keys) or '(none)'}")
    return _member(path, archive, key)


def _member(path: Path, archive: NumpyArchive, key: str) -> AnyArray:
    if archive.size(key) > MAX_BYTES:
        raise TensorError(f"the key {key!r} of {path} has more than {MAX_BYTES:,} bytes")
    with _telling(path):
        return archive.array(key)


def _archive(path: Path) -> NumpyArchive:
    with _telling(path):
        return NumpyArchive(path)


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    try:
        yield
    except UnreadableArray as reason:
        raise TensorError(f"cannot read {path}: {reason}") from None


def _csv(path: Path, parts: list[str], default: str | None) -> AnyArray:
    """A table of one row or one column has one axis.  Nothing is rounded or wrapped into an integer dtype."""
    dtype = _dtype(path, parts[0] if parts else default)
    if len(parts) > 1:
        raise TensorError(f"{path} has its own shape: give only its dtype, such as {path}:int8")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise TensorError(f"cannot read {path} as text") from None
    rows = [re.split(r"[\s,;]+", line.strip().rstrip(",;")) for line in lines if line.strip()]
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise TensorError(f"row {number} of {path} has {len(row)} numbers, the first has {len(rows[0])}")
    numbers = []
    for cell in (cell for row in rows for cell in row):
        try:
            numbers.append(_number(cell, dtype))
        except (ValueError, OverflowError):
            raise TensorError(f"{path} has {cell[:40]!r}, which is no number of dtype {dtype}") from None
    if dtype.kind != "f":
        info = np.iinfo(dtype)
        outside = [number for number in numbers if not info.min <= number <= info.max]
        if outside:
            raise TensorError(f"{path} has {outside[0]}, which lies outside {dtype}")
    array = np.array(numbers, dtype)
    return array.reshape(len(rows), -1) if len(rows) > 1 and len(numbers) > len(rows) else array


def _number(cell: str, dtype: np.dtype[Any]) -> float:
    """Of an integer dtype an integer, also where it is written as 3.0."""
    if dtype.kind == "f":
        return float(cell)
    try:
        number = int(cell)
    except ValueError:
        if not float(cell).is_integer():
            raise
        number = int(float(cell))
    return int(np.int64(number))  # an OverflowError where it is beyond all dtypes


def _raw(path: Path, parts: list[str], default: str | None) -> AnyArray:
    if not 1 <= len(parts) <= 2:
        raise TensorError(f"{path} is read as raw bytes: give its dtype and shape, such as {path}:int8:4x16")
    dtype = _dtype(path, parts[0])
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TensorError(f"cannot read {path}: {error.strerror}") from None
    shape: tuple[int, ...] = (len(data) // dtype.itemsize,)
    if len(parts) == 2:
        if not re.fullmatch(r"\d{1,12}(x\d{1,12}){0,5}", parts[1]):
            raise TensorError(f"{path} is given the shape {parts[1]!r}: write it as 4x16, one to six axes")
        shape = tuple(int(size) for size in parts[1].split("x"))
    wanted = prod(shape) * dtype.itemsize
    if len(data) != wanted:
        raise TensorError(f"{path} has {len(data):,} bytes, but {shape} of {dtype} takes {wanted:,}")
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(shape)


def _dtype(path: Path, name: str | None) -> np.dtype[Any]:
    if name is None:
        raise TensorError(f"{path} has no dtype: write it after the name, such as {path}:int8")
    if name not in _DTYPES:
        raise TensorError(f"{path} is given the dtype {name!r}: it must be one of {', '.join(_DTYPES)}")
    return np.dtype(name)


_READERS: Final = {".npy": _npy, ".npz": _npz, ".csv": _csv}
