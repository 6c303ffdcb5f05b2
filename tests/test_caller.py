"""How a call begins, and what a function returns in registers, by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from isa.lane import Place
from sim.call.buffers import FIRST_BUFFER
from sim.call.caller import RETURN_ADDRESS, STACK_SIZE, STACK_TOP, Call, Caller
from sim.kernels import Kernel, KernelError, ScalarArgument
from sim.kernels.signature import RETURNED, Signature, Struct, VectorArgument
from sim.machine.machine import Machine
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image, ImageError

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


class Drawn:
    """Undefined bytes that count, and the sizes in which they are drawn."""

    def __init__(self) -> None:
        self.sizes = list[int]()

    def draw(self, size: int) -> bytes:
        self.sizes.append(size)
        return bytes((0xA0 + len(self.sizes) + at) % 256 for at in range(size))

    def draw_words(self, count: int) -> bytes:
        return b"".join((1000 + at).to_bytes(8, "little") for at in range(count))


@pytest.fixture(scope="module")
def image() -> Image:
    """With a thread pointer."""
    return replace(build_text(".globl f\n.type f, %function\nf: ret\n.size f, . - f\n", ".s"), thread_pointer=0x1230)


def begun(signature: Signature, image: Image, arguments: dict[str, Any]) -> tuple[Machine, Drawn]:
    machine, drawn = Machine(), Drawn()
    kernel = Kernel(name="f", symbol="f", sources=(), signature=signature, golden=dict)
    Caller(image, kernel, machine).prepare(Call(arguments, 0), drawn)
    return machine, drawn


def test_registers_that_no_argument_is_in_are_undefined_but_for_those_that_a_call_has(image: Image) -> None:
    machine, drawn = begun(Signature((ScalarArgument("n", "int64"),)), image, {"n": 5})
    assert machine.registers.vectors == bytes((0xA1 + at) % 256 for at in range(512))
    general = [5, *range(1001, 1030), RETURN_ADDRESS]
    assert [machine.x[number] for number in range(31)] == general
    assert machine.registers.flags == [2, 0, 0, 0, 0x1230]  # the low half of 0xa2
    assert drawn.sizes[:3] == [512, 1, STACK_SIZE]
    assert (machine.sp, machine.pc) == (STACK_TOP, image.symbol("f").address)


def test_what_is_returned_in_memory_has_its_address_in_x8(image: Image) -> None:
    large = Struct(RETURNED, (("all", "(5,)int64"),))
    machine, _ = begun(Signature((), returned=large), image, {})
    assert machine.memory.read(machine.x[8], 40)
    assert [machine.x[number] for number in (7, 9)] == [1007, 1009]


def test_an_argument_that_is_missing_is_refused(image: Image) -> None:
    with pytest.raises(KernelError, match="the argument 'n' is missing"):
        begun(Signature((ScalarArgument("n", "int64"),)), image, {})


@pytest.mark.parametrize(
    "address", [FIRST_BUFFER, STACK_TOP - STACK_SIZE - 4, STACK_TOP - 4, RETURN_ADDRESS - 4, RETURN_ADDRESS + 4092]
)
def test_a_program_that_lies_where_calls_have_their_own_is_refused(address: int) -> None:
    image = build_text("int f(void) { return 1; }", ".c")
    kernel = Kernel(name="f", symbol="f", sources=(), signature=Signature((), returns="int32"), golden=dict)
    code = replace(image.segments[0], address=address, data=bytes(8), size=8)
    with pytest.raises(ImageError, match=f"the program has memory at {address:#x}, but calls have their own at 0x"):
        Caller(replace(image, segments=(*image.segments, code)), kernel, Machine())


@pytest.mark.parametrize("address", [FIRST_BUFFER - 8, STACK_TOP - STACK_SIZE - 4104, STACK_TOP, RETURN_ADDRESS + 4096])
def test_a_program_may_lie_beside_that(address: int) -> None:
    image = build_text("int f(void) { return 1; }", ".c")
    kernel = Kernel(name="f", symbol="f", sources=(), signature=Signature((), returns="int32"), golden=dict)
    code = replace(image.segments[0], address=address, data=bytes(8), size=8)
    caller = Caller(replace(image, segments=(*image.segments, code)), kernel, Machine())
    assert caller.machine.memory.read(address, 1) == b"\0"
