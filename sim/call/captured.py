"""Captured calls, read from and written to the form of `docs/captured-calls.md`.

Nothing here is executed or unpickled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np

from isa.errors import LanewiseError
from isa.lane import Place
from sim.machine.errors import MemoryFault, UnmodelledMode
from sim.machine.memory import PAGE, Memory
from sim.machine.registers import RegisterStorage, as_fpcr
from sim.numpy_files import NumpyArchive, UnreadableArray

MAX_CALL_BYTES = 0x4000_0000
"""Memory that one call may map, and bytes that its `mem` and its `outputs` may have."""
MAX_LINE = 0x400_0000
"""Characters of one line."""
IN_HEX: Final = "hex:"
"""What a key begins with that is the bytes themselves, for writers that have no ZIP."""
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})*")
_FINAL_LENGTHS = {"x": 31, "v": 32}
_TOLD: Final = 3
"""Lines that are no calls of which a sentence says why."""


class CaptureError(LanewiseError):
    """A file, a line or a key that cannot be used; the message is one sentence."""


@dataclass(frozen=True)
class Expected:
    """Bytes that memory held at the end of the captured call."""

    address: int
    data: bytes


@dataclass(frozen=True, kw_only=True)
class CapturedCall:
    """One call: where it starts and ends, the memory and the registers before it, and what was recorded after it.

    Registers that are not named held zero; of the flags, None says that they are not known.

    `regs` and `vregs` have numbers by name ("x0", "sp"; "v0"); `final` by place name, with "nzcv" and "fpsr".
    """

    name: str
    entry: int
    ret: int
    maps: tuple[tuple[int, int, str], ...]
    memory: tuple[tuple[int, bytes], ...]
    registers: Mapping[str, int]
    fpcr: int
    fpsr: int = 0
    tpidr: int = 0
    nzcv: int | None
    outputs: tuple[Expected, ...]
    final: Mapping[str, int]
    instructions: int | None

    def set_up(self, memory: Memory) -> None:
        """Map the call's memory and write what it held.  Raises CaptureError where that cannot be done."""
        try:
            for address, size, permissions in self.maps:
                memory.map(address, size, permissions)
            for address, data in self.memory:
                memory.write(address, data)
        except (ValueError, MemoryFault) as error:
            raise CaptureError(f"its memory cannot be set up: {error}") from None

    def registers_before(self) -> RegisterStorage:
        """The registers with which it begins; the program counter is not among them."""
        found = RegisterStorage()
        for name, value in {"x30": self.ret, **self.registers}.items():
            found.write(place_named(name), value)
        found.flags[:] = [self.nzcv or 0, self.fpsr, self.fpcr, 0, self.tpidr]
        return found


def place_named(name: str) -> Place:
    """The register of a name in a captured call: "x0", "v31", "sp", "nzcv"."""
    return Place(name[0], int(name[1:])) if name[1:].isdigit() else Place(name)


@dataclass(frozen=True)
class CapturedLine:
    """A line of a file: its call, or the sentence that says why there is none."""

    number: int
    call: CapturedCall | None
    error: str = ""


class Bytes:
    """The arrays of an .npz by key; a key "hex:00ff" is its bytes itself, and needs no .npz.  Raises CaptureError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_there = path.exists()
        if not self._is_there:
            return
        try:
            self._archive = NumpyArchive(path)
        except UnreadableArray as reason:
            raise CaptureError(f"cannot read {path}: {reason}; it must be the .npz beside the calls") from None

    def __getitem__(self, key: str) -> bytes:
        if key.startswith(IN_HEX):
            digits = key[len(IN_HEX) :]
            if _HEX.fullmatch(digits) is None:
                raise CaptureError(f"{key!r:.80} is no bytes: behind {IN_HEX} are two hexadecimal digits for each")
            return bytes.fromhex(digits)
        if not self._is_there:
            raise CaptureError(f"cannot read {self._path}: there is no such file; it must be the .npz beside the calls")
        if key not in self._archive.keys:
            raise CaptureError(f"{self._path.name} has no key {key!r:.80}")
        if self._archive.size(key) > MAX_CALL_BYTES:
            raise CaptureError(f"the key {key!r:.80} of {self._path.name} has more than {MAX_CALL_BYTES} bytes")
        try:
            return np.ascontiguousarray(self._archive.array(key)).tobytes()
        except UnreadableArray as reason:
            raise CaptureError(f"the key {key!r:.80} of {self._path.name} cannot be read: {reason}") from None


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers from 1.

    Raises CaptureError, also for a line without an end, such as /dev/zero is: behind it nothing is known.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for number in count(1):
                text = file.readline(MAX_LINE + 1)
                if len(text) > MAX_LINE:
                    raise CaptureError(f"line {number} of {path} has more than {MAX_LINE} characters: it is no call")
                if not text:
                    return
                if text.strip():
                    yield number, text
    except OSError as error:
        raise CaptureError(f"cannot read {path}: {error.strerror}") from None


def read_line(number: int, text: str, data: Bytes) -> CapturedLine:
    """The call on one line; what is wrong with it is said in the line, not raised."""
    try:
        try:
            found = json.loads(text.rstrip())
        except json.JSONDecodeError as error:  # its own count of lines is not that of the file
            raise CaptureError(f"this is no JSON: {error.msg} at character {error.pos + 1}") from None
        except (ValueError, RecursionError) as error:
            raise CaptureError(f"this is no JSON: {error}") from None
        if not isinstance(found, dict):
            raise CaptureError(f"a call is a JSON object, not {type(found).__name__}")
        return CapturedLine(number, _call(found, data))
    except CaptureError as error:
        return CapturedLine(number, None, f"line {number}: {error}")


def chosen_call(file: Path, name: str | None) -> CapturedCall:
    """The first call of that id in a file, or the one on "line 3", or its only one.  Raises CaptureError."""
    texts, data = list(read_lines(file)), Bytes(file.with_suffix(".npz"))
    first, on_line, count, faults = None, None, 0, list[str]()
    for line in (read_line(number, text, data) for number, text in texts):  # one at a time: each may have a gibibyte
        if line.call is None:
            faults.append(line.error)
        elif name is None:
            first, count = first or line.call, count + 1
        elif line.call.name == name:
            return line.call
        elif name == f"line {line.number}":
            on_line = line.call
    if first is not None and count > 1:
        raise CaptureError(f"{file} has {count:,} calls: name one with --call, such as {first.name!r}")
    if (found := first or on_line) is not None:
        return found
    more = f"; and {len(faults) - _TOLD} lines more" if len(faults) > _TOLD else ""
    told = "".join(f"; {fault}" for fault in faults[:_TOLD]) + more
    raise CaptureError(f"{file} has no call" + (f" {name!r:.80}" if name else "") + told)


def _call(found: dict[str, Any], data: Bytes) -> CapturedCall:
    for key in ("id", "entry", "ret", "maps", "mem"):
        if key not in found:
            raise CaptureError(f"the call has no {key!r}")
    entry, ret = _number(found["entry"], "entry", 64), _number(found["ret"], "ret", 64)
    maps = _maps(found["maps"])
    rows = _rows(found["mem"], "mem", 2)
    memory = tuple(
        (_number(at, "an address of mem", 64), content) for (at, _), content in _with_bytes(rows, "mem", data)
    )
    registers = _registers(found)
    try:
        fpcr = as_fpcr(_number(found.get("fpcr", 0), "fpcr", 32))
    except UnmodelledMode as error:
        raise CaptureError(str(error)) from None
    fpsr = _number(found.get("fpsr", 0), "fpsr", 32)
    tpidr = _number(found.get("tpidr", 0), "tpidr", 64)
    nzcv = _flags(found["nzcv"]) if found.get("nzcv") is not None else None
    outputs = []
    rows = _rows(found.get("outputs", []), "outputs", 3)
    for (at, size, key), content in _with_bytes(rows, "outputs", data):
        address, length = _number(at, "an address of outputs", 64), _number(size, "a length of outputs", 64)
        if len(content) != length:
            raise CaptureError(f"the output at {address:#x} has {length} bytes, its key {key!r:.80} has {len(content)}")
        outputs.append(Expected(address, content))
    final = _final(found.get("final") or {})
    instructions = _number(found["insns"], "insns", 64) if found.get("insns") is not None else None
    return CapturedCall(
        name=str(found["id"]), entry=entry, ret=ret, maps=maps, memory=memory, registers=registers, fpcr=fpcr,
        fpsr=fpsr, tpidr=tpidr, nzcv=nzcv, outputs=tuple(outputs), final=final, instructions=instructions,
    )  # fmt: skip


def _number(value: Any, what: str, bits: int) -> int:
    """A number of so many bits, negative ones in two's complement."""
    try:
        number = int(value, 0) if isinstance(value, str) else value
    except ValueError:
        raise CaptureError(f"{what} must be a number, not {value!r:.80}") from None
    if isinstance(number, bool) or not isinstance(number, int) or not -(1 << bits - 1) <= number < 1 << bits:
        raise CaptureError(f"{what} must be a number of {bits} bits, not {value!r:.80}")
    return number % (1 << bits)


def _flags(value: Any) -> int:
    """N, Z, C, V as four bits; a whole NZCV register has them in bits 31 to 28."""
    number = _number(value, "nzcv", 32)
    return number if number < 16 else number >> 28


def _rows(value: Any, what: str, width: int) -> list[list[Any]]:
    if not isinstance(value, list) or not all(isinstance(row, list) and len(row) == width for row in value):
        raise CaptureError(f"{what} must be a list of lists of {width}")
    return value


def _with_bytes(rows: list[list[Any]], what: str, data: Bytes) -> Iterator[tuple[list[Any], bytes]]:
    """Rows with the bytes that their last entries name: one key of many bytes may stand in each of a million rows."""
    left = MAX_CALL_BYTES
    for row in rows:
        content = data[str(row[-1])]
        left -= len(content)
        if left < 0:
            raise CaptureError(f"{what} has more than {MAX_CALL_BYTES} bytes together")
        yield row, content


def _maps(value: Any) -> tuple[tuple[int, int, str], ...]:
    maps = []
    for address, size, permissions in _rows(value, "maps", 3):
        start, length = _number(address, "an address of maps", 64), _number(size, "a size of maps", 64)
        if start % PAGE or length % PAGE or not length:
            raise CaptureError(f"maps must be of whole pages of {PAGE} bytes, not {length:#x} bytes at {start:#x}")
        letters = str(permissions).replace("-", "")
        if not letters or set(letters) - set("rwx") or len(set(letters)) < len(letters):
            raise CaptureError(f"the permissions of a map are some of 'rwx', not {permissions!r:.80}")
        maps.append((start, length, letters))
    if sum(length for _, length, _ in maps) > MAX_CALL_BYTES:
        raise CaptureError(f"the maps have more than {MAX_CALL_BYTES} bytes together")
    return tuple(maps)


def _registers(found: dict[str, Any]) -> dict[str, int]:
    registers: dict[str, int] = {}
    for key, names, read in (("regs", _GENERAL, _general), ("vregs", _VECTORS, _vector)):
        given = found.get(key) or {}
        if not isinstance(given, dict):
            raise CaptureError(f"{key} must be an object")
        if unknown := sorted(set(given) - names):
            raise CaptureError(f"{key} has no register {unknown[0]!r:.80}")
        registers |= {name: read(value, name) for name, value in given.items()}
    return registers


_GENERAL = frozenset([*(f"x{i}" for i in range(31)), "sp"])
_VECTORS = frozenset(f"v{i}" for i in range(32))


def _general(value: Any, name: str) -> int:
    return _number(value, name, 64)


def _vector(value: Any, name: str) -> int:
    """32 hexadecimal digits, the most significant first."""
    try:
        if isinstance(value, str) and len(value) == 32:
            return int.from_bytes(bytes.fromhex(value), "big")
    except ValueError:
        pass
    raise CaptureError(f"{name} must have 32 hexadecimal digits, not {value!r:.80}")


def _final(found: Any) -> dict[str, int]:
    """The recorded registers by the names of places: x0 to x30, sp, v0 to v31, nzcv, fpsr."""
    if not isinstance(found, dict):
        raise CaptureError("final must be an object")
    final: dict[str, int] = {}
    for key, read in (("x", _general), ("v", _vector)):
        values = found.get(key, [])
        if not isinstance(values, list) or len(values) not in (0, _FINAL_LENGTHS[key]):
            raise CaptureError(f"{key} of final must be a list of {_FINAL_LENGTHS[key]}")
        final |= {f"{key}{i}": read(value, f"{key}{i} of final") for i, value in enumerate(values)}
    if "sp" in found:
        final["sp"] = _general(found["sp"], "sp of final")
    if "nzcv" in found:
        final["nzcv"] = _flags(found["nzcv"])
    if "fpsr" in found:
        final["fpsr"] = _number(found["fpsr"], "fpsr of final", 32)
    return final
