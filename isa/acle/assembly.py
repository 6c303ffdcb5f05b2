"""Assembly text of straight-line AArch64 code, line by line: constants, copies, the stack, and the recorded lines.

Sources: Arm ARM C3.3, C6.2 (MOVZ, MOVN, MOVK, ADD immediate); AAPCS64 6.1 (registers that a function keeps), 6.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from isa.instruction import Form, Instruction
from isa.parse import REGISTER

Role = Literal["recorded", "copy", "spill", "reload", "constant", "frame"]
"""Why a line is there: it was recorded, it copies a register, it stores a value to the stack or loads it again, it
builds a constant (an address too), or it belongs to the function's frame."""
SLOT = 16
"""Bytes of a stack slot: a vector register, and what keeps the stack pointer aligned (AAPCS64 6.4.5.1)."""
SLOTS = 4096
"""Stack slots that LDR and STR of a vector register reach: a 12-bit multiple of 16 bytes (Arm ARM C7.2, LDR)."""
POOL = ".Lconstants"
_LITERAL_BASE = "x16"
"""IP0: a register that every call may change, which no register file hands out."""
_REACH = 1 << 12
_KEPT = range(8, 16)
"""The vector registers of which a function keeps the lower half (AAPCS64 6.1.2)."""
_BASE = "armv8.6-a+aes+profile"
"""Has every feature but those of `_EXTENSIONS`; PMULL of 64-bit elements is in aes, PSB in profile."""
_EXTENSIONS = {"fp16": "fp16", "fhm": "fp16fml", "sha2": "sha2", "sha3": "sha3", "sha512": "sha3", "sm4": "sm4"}
"""What the assembler calls those features that are not in this architecture."""


class CodeLine(NamedTuple):
    """One line of code, one machine instruction.

    `number` is the recorded instruction that it is or stands before; a recorded one has its `instruction`.
    """

    text: str
    role: Role
    number: int
    instruction: Instruction | None = None


class FileAssembly(Protocol):
    """How the registers of a file are copied, kept on the stack and loaded with constants.

    `order` are the registers to use, those first that come first.
    """

    @property
    def order(self) -> tuple[int, ...]: ...

    def chosen(self, free: Sequence[int], constant: int | None) -> int:
        """Which of some free registers to take, for a constant with these bits or for something else."""

    def copied(self, to: int, source: int) -> str: ...

    def stored(self, register: int, slot: int) -> str: ...

    def loaded(self, register: int, slot: int) -> str: ...

    def constant(self, register: int, bits: int) -> list[str]: ...

    def overwritten(self, register: int) -> None:
        """A recorded instruction writes that register."""


class VectorFileAssembly:
    """v0 to v31; those that a function must keep come last.  Constants lie in a pool in memory."""

    order = (*range(8), *range(16, 32), *_KEPT)

    def __init__(self) -> None:
        self.pool: dict[int, int] = {}

    def chosen(self, free: Sequence[int], constant: int | None) -> int:
        """The first."""
        return free[0]

    def copied(self, to: int, source: int) -> str:
        """All 128 bits."""
        return f"mov v{to}.16b, v{source}.16b"

    def stored(self, register: int, slot: int) -> str:
        """To a stack slot."""
        return f"str q{register}, {_slot(slot)}"

    def loaded(self, register: int, slot: int) -> str:
        """From a stack slot."""
        return f"ldr q{register}, {_slot(slot)}"

    def constant(self, register: int, bits: int) -> list[str]:
        """Loaded from the pool, in which equal constants are one."""
        label = f"{POOL}+{SLOT * self.pool.setdefault(bits, len(self.pool))}"
        return [f"adrp {_LITERAL_BASE}, {label}", f"ldr q{register}, [{_LITERAL_BASE}, :lo12:{label}]"]

    def overwritten(self, register: int) -> None:
        """Nothing follows from it: constants are not built from each other."""


class GeneralFileAssembly:
    """x0 to x15, which a function may change.  A constant is built, or made from one near it that is at hand."""

    order = tuple(range(16))

    def __init__(self) -> None:
        self._content: dict[int, int] = {}

    def chosen(self, free: Sequence[int], constant: int | None) -> int:
        """What is nearest to the constant, so that a pointer moves on in its register; else one of unknown content."""
        near = self._nearest(constant) if constant is not None else None
        if near is not None and near in free:
            return near
        return next((register for register in free if register not in self._content), free[0])

    def copied(self, to: int, source: int) -> str:
        """All 64 bits."""
        self.overwritten(to)
        return f"mov x{to}, x{source}"

    def stored(self, register: int, slot: int) -> str:
        """To a stack slot."""
        return f"str x{register}, {_slot(slot)}"

    def loaded(self, register: int, slot: int) -> str:
        """From a stack slot."""
        self.overwritten(register)
        return f"ldr x{register}, {_slot(slot)}"

    def constant(self, register: int, bits: int) -> list[str]:
        """One MOV where that is enough; else an ADD or SUB from an address at hand; else MOV and MOVKs."""
        built = built_constant(register, bits)
        moved = self._moved(register, bits) if len(built) > 1 else None
        self._content[register] = bits
        return [moved] if moved else built

    def _moved(self, register: int, bits: int) -> str | None:
        near = self._nearest(bits)
        if near is None:
            return None
        distance = bits - self._content[near]
        return f"{'add' if distance > 0 else 'sub'} x{register}, x{near}, #{abs(distance)}"

    def _nearest(self, bits: int) -> int | None:
        """The register from which one ADD or SUB leads there."""
        near = min(self._content, key=lambda at: abs(bits - self._content[at]), default=None)
        return near if near is not None and abs(bits - self._content[near]) < _REACH else None

    def overwritten(self, register: int) -> None:
        """What it held is gone."""
        self._content.pop(register, None)


def _slot(slot: int) -> str:
    return f"[sp, #{SLOT * slot}]" if slot else "[sp]"


def built_constant(register: int, bits: int) -> list[str]:
    """MOV, and a MOVK for each further 16 bits, that set a general register to a number of 64 bits."""
    width, letter = (32, "w") if bits < 1 << 32 else (64, "x")
    inverse = bits ^ (1 << width) - 1
    if len(_parts(inverse)) < 2:
        return [f"mov {letter}{register}, #{~inverse}"]
    (at, part), *rest = _parts(bits) or [(0, 0)]
    number = part << at
    first = f"mov {letter}{register}, #{number if number < _REACH else hex(number)}"
    return [first, *(f"movk {letter}{register}, #{part:#x}, lsl #{at}" for at, part in rest)]


def _parts(bits: int) -> list[tuple[int, int]]:
    """The parts of 16 bits that are not 0, each with the place of its lowest bit."""
    return [(at, part) for at in range(0, 64, 16) if (part := bits >> at & 0xFFFF)]


def framed(lines: Iterable[CodeLine], slots: int, length: int) -> tuple[CodeLine, ...]:
    """The lines with those before and after that make them a function; `length` recorded instructions are in them."""
    body = tuple(lines)
    used = {int(number) for line in body for letter, number in REGISTER.findall(line.text) if letter not in "xw"}
    kept = [f"d{number}" for number in sorted(used.intersection(_KEPT))]
    pairs = [kept[k : k + 2] for k in range(0, len(kept), 2)]  # the last is one register where their number is odd
    saved = [("p" if len(pair) == 2 else "r", ", ".join(pair)) for pair in pairs]
    saves = [f"st{suffix} {registers}, [sp, #-{SLOT}]!" for suffix, registers in saved]
    restores = [f"ld{suffix} {registers}, [sp], #{SLOT}" for suffix, registers in reversed(saved)]
    opening = [*saves, *_moved_stack("sub", slots)]
    closing = [*_moved_stack("add", slots), *restores, "ret"]
    before = (CodeLine(text, "frame", 0) for text in opening)
    return (*before, *body, *(CodeLine(text, "frame", length) for text in closing))


def _moved_stack(mnemonic: str, slots: int) -> list[str]:
    """The stack pointer moved by so many slots; an immediate has 12 bits, at bit 0 or bit 12."""
    high, low = divmod(SLOT * slots, _REACH)
    parts = ((high, ", lsl #12"), (low, ""))
    return [f"{mnemonic} sp, sp, #{part}{shift}" for part, shift in parts if part]


def architecture(forms: Iterable[Form]) -> str:
    """What an assembler must know to take instructions of these forms: the operand of `.arch` or -march."""
    features = {feature for form in forms for feature in form.features}
    return "+".join(dict.fromkeys([_BASE, *(name for feature, name in _EXTENSIONS.items() if feature in features)]))


def assembly(name: str, lines: Iterable[CodeLine], pool: Mapping[int, int]) -> str:
    """The text of a function of that name and of its constants, as GNU as and clang take it."""
    lines = tuple(lines)
    arch = architecture(line.instruction.form for line in lines if line.instruction is not None)
    head = [f"    .arch {arch}", "    .text", f"    .globl {name}", f"    .type {name}, %function", f"{name}:"]
    tail = [f"    .size {name}, .-{name}"]
    constants = [f"    .quad {bits % 2**64:#x}, {bits >> 64:#x}" for bits in pool]
    data = ["    .section .rodata", "    .balign 16", f"{POOL}:", *constants] if pool else []
    body = [f"    {line.text}{f'  // {line.role}' if line.role in ('spill', 'reload') else ''}" for line in lines]
    return "\n".join([*head, *body, *tail, *data, ""])
