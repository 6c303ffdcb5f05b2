"""What a function returns in registers, by hand: a number, a structure, vectors, each from the bytes that are its."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from isa.lane import Place
from sim.call.caller import Caller
from sim.kernels.signature import RETURNED, Signature, Struct, VectorArgument

JUNK = 0xA5
"""What is in registers above and beside a result."""


class Registers:
    """Full of junk, but for bytes that begin a register."""

    def __init__(self, **known: bytes) -> None:
        self._known = known

    def read(self, place: Place) -> int:
        data = self._known.get(str(place), b"")
        return int.from_bytes(data + bytes([JUNK] * (place.bits // 8 - len(data))), "little")


def returned(signature: Signature, **known: bytes) -> dict[str, Any]:
    """The outputs of a call that has no others."""
    caller: Any = SimpleNamespace(signature=signature, buffers=SimpleNamespace(outputs=lambda memory, placed: {}))
    caller._returned = lambda *given: Caller._returned(caller, *given)
    memory: Any = None
    found = Caller.outputs(caller, Registers(**known), memory, {})
    return {name: (array.dtype.name, array.tolist()) for name, array in found.items()}


@pytest.mark.parametrize(
    ("dtype", "known", "number"),
    [
        ("int8", {"x0": b"\xfe"}, -2),
        ("uint16", {"x0": b"\x34\x12"}, 0x1234),
        ("uint64", {"x0": bytes(range(0xF8, 0x100))}, 0xFFFEFDFCFBFAF9F8),
        ("float32", {"v0": np.float32(-1.5).tobytes()}, -1.5),
        ("float64", {"v0": np.float64(0.1).tobytes()}, 0.1),
    ],
)
def test_a_number_is_the_low_bytes_of_its_register(dtype: str, known: dict[str, bytes], number: float) -> None:
    assert returned(Signature((), returns=dtype), **known) == {RETURNED: (dtype, number)}


def test_a_structure_is_in_one_register_behind_the_other_or_has_one_for_each_member() -> None:
    mixed = Struct(RETURNED, (("a", "int64"), ("b", "int16"), ("c", "uint8")))
    data = np.int64(-3).tobytes(), np.int16(-300).tobytes() + b"\xc8"
    assert returned(Signature((), returned=mixed), x0=data[0], x1=data[1]) == {
        "returned.a": ("int64", -3), "returned.b": ("int16", -300), "returned.c": ("uint8", 200),
    }  # fmt: skip
    words = Struct(RETURNED, (("all", "(3,)int32"),))
    assert returned(
        Signature((), returned=words), x0=np.array([1, -2], np.int32).tobytes(), x1=np.int32(3).tobytes()
    ) == {"returned.all": ("int32", [1, -2, 3])}
    alike = Struct(RETURNED, tuple((name, "float32") for name in "abcd"))
    numbers = {f"v{at}": np.float32(at + 0.5).tobytes() for at in range(4)}
    assert returned(Signature((), returned=alike), **numbers) == {
        f"returned.{name}": ("float32", at + 0.5) for at, name in enumerate("abcd")
    }


def test_a_vector_is_a_whole_register_or_its_low_half_and_several_are_next_to_each_other() -> None:
    lanes = np.array([1, -2, 3, -(2**31)], np.int32)
    whole = VectorArgument(RETURNED, "int32", 4)
    assert returned(Signature((), returned=whole), v0=lanes.tobytes()) == {RETURNED: ("int32", lanes.tolist())}
    half = VectorArgument(RETURNED, "int16", 4)
    assert returned(Signature((), returned=half), v0=np.arange(4, dtype=np.int16).tobytes()) == {
        RETURNED: ("int16", [0, 1, 2, 3])
    }
    three = VectorArgument(RETURNED, "uint8", 8, 3)
    rows = {f"v{at}": bytes(range(8 * at, 8 * at + 8)) for at in range(3)}
    assert returned(Signature((), returned=three), **rows) == {
        RETURNED: ("uint8", [list(range(8 * at, 8 * at + 8)) for at in range(3)])
    }


def test_a_function_that_returns_nothing_has_no_such_output() -> None:
    assert returned(Signature(())) == {}
