"""The body of a loop, found in the code of an image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from isa.decode import decode
from isa.errors import LanewiseError
from isa.instruction import Instruction
from isa.table import UnknownInstruction
from sim.toolchain.branches import branch_target
from sim.toolchain.image import Image, ImageError

CONDITIONAL = ("b.cond", "cbz", "cbnz", "tbz", "tbnz")
_Code = Mapping[int, Instruction | UnknownInstruction]


class BareLoopError(LanewiseError):
    """Code that cannot be timed as a loop of its own; the message is one sentence."""


@dataclass(frozen=True)
class Body:
    """The instructions of one iteration, which lie in the image from address `start` on.

    The last one is the branch back to the first; or there is no branch at all, and the code is just repeated.
    `of_loops` is how many loops there are where it was looked for.
    """

    image: Image
    start: int
    code: tuple[Instruction, ...]
    of_loops: int = 1

    @property
    def label(self) -> str:
        """The name of its first instruction; its address where it has none."""
        names = (name for name, symbol in self.image.symbols.items() if symbol.address == self.start)
        return next(names, f"{self.start:#x}")

    @property
    def addresses(self) -> range:
        """Of its instructions."""
        return range(self.start, self.start + 4 * len(self.code), 4)

    @property
    def last(self) -> int:
        """The address of its last instruction."""
        return self.addresses[-1]


def find_body(image: Image, label: str | None = None) -> Body:
    """The loop of which a local label (.L...) is the head, the last loop of the function of that name, or of all code.

    It ends with the last branch back to its head; others may go back there before.  Code without any branch is a body
    as a whole.  Raises BareLoopError for an unknown label, where there is no loop or another one inside of it, and for
    an instruction that is unknown.
    """
    code = _code(image, label)
    backward = list(_backward(code))
    if label is not None and label.startswith("."):
        backward = [(pc, head) for pc, head in backward if head == min(code)]
    if not backward and not any(isinstance(one, Instruction) and one.is_branch for one in code.values()):
        return _body(image, code, min(code), max(code))
    if not backward:
        raise BareLoopError(f"no loop: {image.path} has no branch back to {label or 'an instruction before it'}")
    last, head = backward[-1]
    return replace(_body(image, code, head, last), of_loops=len({head for _, head in backward}))


def _body(image: Image, code: _Code, head: int, last: int) -> Body:
    inner = [target for pc, target in _backward(code) if head < target and pc < last]
    if inner:
        raise BareLoopError(
            f"the loop at {head:#x} has another one inside, at {inner[0]:#x}: name the label of that one"
        )
    instructions = []
    for pc, one in code.items():
        if not head <= pc <= last:
            continue
        if isinstance(one, UnknownInstruction):
            raise BareLoopError(f"{one.text} at {pc:#x} cannot be timed: {one.reason}")
        instructions.append(one)
    return Body(image, head, tuple(instructions))


def _backward(code: _Code) -> Iterator[tuple[int, int]]:
    """The branches back to an instruction of the code: their addresses and targets."""
    for pc, one in code.items():
        target = branch_target(one.text) if isinstance(one, Instruction) else None
        if target is not None and target in code and target <= pc:
            yield pc, target


def _code(image: Image, label: str | None) -> _Code:
    """The instructions by address: all, or those from a label on.

    These go to the end of the function where it has one; else to the next symbol that is not local to one.
    """
    if label is None:
        start, data = next(((s.address, s.data) for s in image.segments if "x" in s.permissions), (0, b""))
    else:
        try:
            start, data = image.symbol(label).address, image.code_of(label)
        except ImageError as error:
            raise BareLoopError(str(error)) from None
        following = [s.address for name, s in image.symbols.items() if s.address > start and not name.startswith(".")]
        data = data[: min(following, default=start + len(data)) - start]
    words = -(-len(data.rstrip(b"\0")) // 4)  # segments are filled up with zeros, which are no instructions
    if not words:
        raise BareLoopError(f"{image.path} has no code" + (f" at {label}" if label else ""))
    code: dict[int, Instruction | UnknownInstruction] = {}
    for number in range(words):
        pc = start + 4 * number
        try:
            code[pc] = decode(data[4 * number :][:4], pc)
        except UnknownInstruction as unknown:
            code[pc] = unknown
    return code
