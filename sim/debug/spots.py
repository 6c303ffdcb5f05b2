"""What a person points at: a register, a lane of one, an element of an array, bytes of memory; and how it is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from isa.errors import LanewiseError
from isa.lane import Place
from isa.operands import ELEMENT_BITS
from sim.call.buffers import PlacedArray
from sim.check.origin import MEMORY
from sim.kernels.extent import element_name, indices_in

Number = int | float | str
LANE_BYTES: Final = {letter: bits // 8 for letter, bits in ELEMENT_BITS.items()}
_VECTOR = re.compile(r"v(\d+)(?:\.(\d*)([bhsdq])(?:\[(\d+)\])?)?")
_SCALAR = re.compile(r"([bhsdq])(\d+)")
_GENERAL = re.compile(r"([xw])(\d+)(?:\.([bhs])\[(\d)\])?")
_MEMORY = re.compile(r"\*(?:0[xX]([0-9a-fA-F]+)|(\d+))(?::(\d+))?")
_ELEMENT = re.compile(r"([A-Za-z_]\w*)((?:\[[\d, ]+\])+)")
_KIND = re.compile(r"(?:([suxf])(8|16|32|64)|q(\d{1,3}))")
_FLAGS: Final = {"nzcv": 1, "fpsr": 4, "fpcr": 4}
_WIDTH_OF_Q: Final = ((7, 8), (15, 16), (31, 32), (63, 64))
_MOST_BYTES: Final = 64
_LONGEST: Final = 1000


class SpotError(LanewiseError):
    """A text that points at nothing, or a type that lanes cannot have; the message is one sentence."""


class Spot(NamedTuple):
    """`size` bytes of a register, or of memory, from byte `first` on (of memory: the address)."""

    name: str
    where: Place | str
    first: int
    size: int

    @property
    def register(self) -> Place | None:
        """The register that it is in; None for memory."""
        return self.where if isinstance(self.where, Place) else None


class Readable(Protocol):
    """What has registers and memory: a machine, or an emulator."""

    def read(self, place: Place, /) -> int: ...

    @property
    def memory(self) -> MemoryReader: ...


class MemoryReader(Protocol):
    def read(self, address: int, size: int, /) -> bytes: ...


def bytes_at(spot: Spot, state: Readable) -> bytes:
    """What is there now.  Raises MemoryFault where nothing is mapped."""
    register = spot.register
    if register is None:
        return state.memory.read(spot.first, spot.size)
    return state.read(register).to_bytes(16, "little")[spot.first : spot.first + spot.size]


def find_spot(text: str, arrays: Mapping[str, PlacedArray], result: Place | None = None, size: int = 8) -> Spot:
    """The spot of a text: v3, v3.s[2], v3.4s, s3, x5, w5, x5.b[1], sp, nzcv, fpsr, fpcr, *0x1000:4, output[3],
    a[1][2] or a[1, 2], result.

    `arrays` are those of the call by name, `result` is the register of its result, of which so many bytes count.
    Raises SpotError.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        raise SpotError(f"{text[:40]}... has more than {_LONGEST} characters, so that it points at nothing")
    if text == "result" and result is not None:
        return Spot(text, result, 0, size)
    if text == "sp":
        return Spot(text, Place("sp"), 0, 8)
    if text in _FLAGS:
        return Spot(text, Place(text), 0, _FLAGS[text])
    if found := _VECTOR.fullmatch(text):
        number, count, letter, lane = found.groups()
        item = LANE_BYTES[letter] if letter else 16
        held = 16 // item if lane is not None or not count else int(count)
        if held * item > 16 or (lane is not None and int(lane) >= held):
            raise SpotError(f"{text} is no lane of a vector of 16 bytes")
        return Spot(text, _register("v", number, 32), *((int(lane) * item, item) if lane else (0, held * item)))
    if found := _SCALAR.fullmatch(text):
        return Spot(text, _register("v", found[2], 32), 0, LANE_BYTES[found[1]])
    if found := _GENERAL.fullmatch(text):
        item = LANE_BYTES[found[3]] if found[3] else 8 if found[1] == "x" else 4
        first = item * int(found[4] or 0)
        if first + item > (8 if found[1] == "x" else 4):
            raise SpotError(f"{text} is no part of {found[1]}{found[2]}")
        return Spot(text, _register("x", found[2], 31), first, item)
    if found := _MEMORY.fullmatch(text):
        count = int(found[3] or 1)
        if not 0 < count <= _MOST_BYTES:
            raise SpotError(f"{text} has {count} bytes: 1 to {_MOST_BYTES} can be pointed at")
        address = int(found[1], 16) if found[1] else int(found[2])
        if address + count > 1 << 64:
            raise SpotError(f"{text} is past the last address of 64 bits")
        return Spot(text, MEMORY, address, count)
    if found := _ELEMENT.fullmatch(text):
        return _element(text, found[1], indices_in(found[2]), arrays)
    known = ", ".join(["v3.s[2]", "x5", "*0x1000:4", *(f"{name}[0]" for name in arrays)])
    raise SpotError(f"{text!r} is no register, lane, array element or memory, such as {known}")


def _register(file: str, number: str, count: int) -> Place:
    if int(number) >= count:
        raise SpotError(f"there is no {file}{number}: {file}0 to {file}{count - 1}")
    return Place(file, int(number))


def _element(text: str, name: str, at: list[int], arrays: Mapping[str, PlacedArray]) -> Spot:
    array = arrays.get(name)
    if array is None:
        raise SpotError(f"the call has no array {name!r}: it has {', '.join(arrays) or 'none'}")
    if len(at) == 1 and len(array.extents) > 1:
        at = [int(index) for index in np.unravel_index(at[0], array.extents)] if at[0] < np.prod(array.extents) else at
    if len(at) != len(array.extents) or any(i >= extent for i, extent in zip(at, array.extents, strict=True)):
        raise SpotError(f"{text} is outside of {element_name(name, array.extents)}")
    size = array.pointer.type.itemsize
    offset = sum(index * stride for index, stride in zip(at, array.strides, strict=True))
    return Spot(text, MEMORY, array.address + offset * size, size)


def kind_of(dtype: np.dtype[Any]) -> str | None:
    """The kind of lanes, for `lane_numbers`, that an array of numbers has; None for one of other things."""
    letter = {"i": "s", "u": "u", "f": "f"}.get(dtype.kind)
    return None if letter is None else f"{letter}{8 * dtype.itemsize}"


def lane_numbers(data: bytes, kind: str, scale: float | None = None, zero_point: int = 0) -> tuple[Number, ...]:
    """Bytes as lanes of a kind, the lowest first.

    s8 to s64 and u8 to u64 are integers, x8 to x64 the same as hexadecimal text, f16 to f64 floating point; q7, q15,
    q31 and q63 are fractions with so many bits behind the point.  With a `scale` an integer n is the number
    scale * (n - zero_point).  Raises SpotError for another kind.
    """
    found = _KIND.fullmatch(kind)
    fraction = int(found[3]) if found and found[3] else 0
    bits = dict(_WIDTH_OF_Q).get(fraction, 0) if fraction else int(found[2]) if found else 0
    letter = found[1] if found and found[1] else "s"
    if not bits or (letter, bits) == ("f", 8):
        raise SpotError(f"{kind!r} is no type of lanes: s8 to s64, u8 to u64, x8 to x64, f16 to f64, q7 q15 q31 q63")
    if 8 * len(data) % bits:
        raise SpotError(f"{len(data)} bytes are no lanes of {kind}")
    values = np.frombuffer(data, f"<{'f' if letter == 'f' else 'u' if letter in 'ux' else 'i'}{bits // 8}")
    if letter == "x":
        return tuple(f"{value:0{bits // 4}x}" for value in values.tolist())
    if fraction:
        return tuple(value / (1 << fraction) for value in values.tolist())
    if scale is not None:
        return tuple(scale * (value - zero_point) for value in values.tolist())
    return tuple(values.tolist())
