"""Calling the functions of sim/toolchain/runtime by name, on machine and emulator in lockstep."""

from __future__ import annotations

from dataclasses import dataclass

from sim import Emulator, Machine
from sim.call.lockstep import Lockstep
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image
from sim.toolchain.starting import map_image

MEMORY, SIZE = 0x8000_0000, 0x1000
STACK = 0x9000_0000
RETURN = 0x7FFF_0000_0000
MOST = 10_000  # instructions of one call

ROUNDED = ("round", "rint", "nearbyint", "floor", "ceil", "trunc")
CONVERTED = ("lrint", "llrint", "lround", "llround")
OTHERS = ("fma", "fabs", "sqrt", "fmin", "fmax")
BLOCKS = ("memcpy", "memmove", "memset", "memcmp")
WIDE = ("ashlti3", "ashrti3", "lshrti3", "multi3", "divti3", "modti3", "udivti3", "umodti3", "udivmodti4", "divmodti4")
FLOATED = ("floattisf", "floattidf", "floatuntisf", "floatuntidf")
FIXED = ("fixsfti", "fixdfti", "fixunssfti", "fixunsdfti")
OPERATIONS = ("cas", "swp", "ldadd", "ldclr", "ldset", "ldeor")
ORDERS = ("relax", "acq", "rel", "acq_rel", "sync")
ATOMICS = tuple(f"__aarch64_{name}{size}_{order}" for name in OPERATIONS for size in (1, 2, 4, 8) for order in ORDERS)
STOPS = ("abort", "__assert_fail", "__stack_chk_fail", "__cxa_pure_virtual", "_ZdlPv", "_ZdlPvm", "_ZdaPv")
NAMES = (
    *(name + width for name in (*ROUNDED, *CONVERTED, *OTHERS) for width in ("", "f")),
    *(f"__{name}" for name in (*WIDE, *FLOATED, *FIXED)),
    *BLOCKS,
    *ATOMICS,
    *STOPS,
    *("__stack_chk_guard", "__cxa_guard_acquire", "__cxa_guard_release", "__cxa_atexit", "__dso_handle"),
)


@dataclass(frozen=True)
class Returned:
    """What AAPCS64 returns values in, and the memory after the call."""

    x0: int
    x1: int
    v0: int
    memory: bytes

    @property
    def wide(self) -> int:
        return self.x1 << 64 | self.x0


class Runtime:
    """One machine and one emulator that hold an image, and a page of memory at MEMORY."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.machine, emulator = Machine(), Emulator()
        self._memories = (self.machine.memory, emulator.memory)
        for memory in self._memories:
            map_image(memory, image)
            memory.map(MEMORY, SIZE, "rw")
            memory.map(STACK - SIZE, SIZE, "rw")
        self._lockstep = Lockstep(self.machine, emulator, image)

    def call(self, name: str, *general: int, floating: tuple[int, ...] = (), memory: bytes = b"") -> Returned:
        """Call with x0, x1, ... and the bits of v0, v1, ...; both engines have to agree on every instruction."""
        self._prepare(name, general, floating, memory)
        assert self._lockstep.run(RETURN, MOST) is None
        return self._returned(len(memory))

    def _prepare(self, name: str, general: tuple[int, ...], floating: tuple[int, ...], content: bytes) -> None:
        for memory in self._memories:
            memory.write(MEMORY, content)
        for index, value in enumerate(general):
            self.machine.x[index] = value
        for index, value in enumerate(floating):
            self.machine.v[index] = value
        self.machine.x[30], self.machine.sp, self.machine.pc = RETURN, STACK, self.image.symbol(name).address

    def _returned(self, size: int) -> Returned:
        assert self.machine.pc == RETURN
        machine = self.machine
        return Returned(machine.x[0], machine.x[1], machine.v[0], self._memories[0].read(MEMORY, size))


def whole_runtime() -> Image:
    """An image of a program that refers to all that the runtime has."""
    return build_text(".text\n.globl kernel\nkernel: ret\n.data\n" + "".join(f".quad {n}\n" for n in NAMES), ".s")
