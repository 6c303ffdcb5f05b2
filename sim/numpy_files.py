"""Arrays in files as NumPy writes them: .npy, and .npz by key.  Nothing is unpickled."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.format import MAGIC_PREFIX

AnyArray = npt.NDArray[Any]


class UnreadableArray(Exception):
    """Why there is no array, in some words of a sentence."""


def read_npy(path: Path) -> AnyArray:
    """The array of a .npy file, of any dtype and shape.  Raises UnreadableArray."""
    with _in_words():
        with path.open("rb") as file:
            if file.read(len(MAGIC_PREFIX)) != MAGIC_PREFIX:  # of which numpy says that it were pickled
                raise UnreadableArray("it is no .npy file")
        return np.asarray(np.load(path, allow_pickle=False))


class NumpyArchive:
    """The arrays of an .npz file by key.  Raises UnreadableArray."""

    def __init__(self, path: Path) -> None:
        with _in_words():
            if path.is_file() and not zipfile.is_zipfile(path):  # of which numpy says that it were pickled
                raise UnreadableArray("it is no .npz archive")
            self._file: np.lib.npyio.NpzFile = np.load(path, allow_pickle=False)

    @property
    def keys(self) -> list[str]:
        return self._file.files

    def size(self, key: str) -> int:
        """The bytes of the array of a key, with its header, as the archive states them."""
        archive = self._file.zip
        assert archive is not None  # it is open
        try:
            return archive.getinfo(key).file_size
        except KeyError:
            return archive.getinfo(f"{key}.npy").file_size

    def array(self, key: str) -> AnyArray:
        """The array of a key, of any dtype and shape; raises UnreadableArray where it is damaged."""
        with _in_words():
            return np.asarray(self._file[key])


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except UnreadableArray:
        raise
    except (Exception, MemoryError) as error:  # a damaged file raises whatever zipfile, zlib or numpy met first
        raise UnreadableArray(_reason(error)) from None


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    reason = re.split(r"\n|(?<=\.) ", str(error))[0] or type(error).__name__
    return "it holds objects of Python, which are not read: save numbers" if "allow_pickle" in reason else reason
