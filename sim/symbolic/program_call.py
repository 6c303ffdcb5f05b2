"""A call of a kernel's program of intrinsics on symbolic inputs, as `sim.symbolic.call` makes one of compiled code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from itertools import count
from typing import Any

from isa.acle.elements import ElementType
from isa.acle.program import OpenProgram, VirtualRegisters
from isa.instruction import Instruction, Pattern
from isa.intrinsics import ElementPointer
from isa.lane import Lane, Place, Read, walk
from sim.call.buffers import Buffers
from sim.call.call import NO_STACK
from sim.call.guards.bounds import AccessBounds
from sim.kernels.kernel import Inputs, Kernel, KernelError
from sim.kernels.signature import ScalarArgument
from sim.machine.memory import Memory
from sim.machine.registers import VISIBLE_PLACES
from sim.symbolic.call import (
    UNDEFINED,
    Filled,
    Path,
    input_leaf,
    output_lanes,
    possibility,
    put_arrays,
    undefined_outputs,
)
from sim.symbolic.following.machine import SymbolicMachine
from sim.symbolic.following.state import SymbolicState
from sim.symbolic.nodes import Simplifier
from sim.symbolic.numbers.integers import SymbolicInt
from sim.symbolic.numbers.tracing import Untraceable, every_way, refuse
from sim.symbolic.pieces import BitPiece
from sim.symbolic.simplify import SIMPLIFIER


class SymbolicProgramCall:
    """Calls of a kernel's program of intrinsics on symbolic inputs: each instruction is executed as it is called."""

    def __init__(self, kernel: Kernel, simplifier: Simplifier = SIMPLIFIER) -> None:
        if kernel.program is None:
            raise KernelError(f"{kernel.title} has no program of intrinsics")
        self._kernel, self._program, self._s = kernel, kernel.program, simplifier
        self.stopped_under: tuple[Lane, ...] = ()

    def traced(self, arguments: Inputs, symbolic: Collection[str], required: Collection[Lane] = ()) -> list[Path]:
        """What the program leaves for all values of the named inputs, whatever it decides on these.

        `required` are conditions that inputs meet.  Raises NotFollowed, KernelError, Untraceable.
        """
        scalars = {one.name for one in self._kernel.signature.arguments if isinstance(one, ScalarArgument)}
        named = sorted(scalars & set(symbolic))
        numbers = {name: SymbolicInt(self._s.made(input_leaf(self._kernel, name))) for name in named}
        given = [pointer.name for pointer in self._kernel.signature.pointers if not pointer.indirect]
        if left := sorted(set(symbolic) - numbers.keys() - set(given)):
            raise KernelError(f"the argument {left[0]!r} is passed in a way that proofs do not follow")
        with unknown_numbers_in_programs():
            ways = every_way(lambda: self._run(arguments, symbolic, numbers))
        s, is_possible, whole = self._s, possibility(required), None
        for way in reversed(ways):  # each for what none of those before is for
            if way.raised is not None and is_possible(tuple(map(s.simplified, way.conditions))):
                raise Untraceable(f"the program of {self._kernel.title} raises on some input: {way.raised}")
            if way.result is None:
                continue
            here = reduce(lambda a, b: s.computed("and", a, s.simplified(b)), way.conditions, s.number(1))
            whole = way.result if whole is None else _either(s, here, way.result, whole)
        if whole is None:
            raise Untraceable(f"the program of {self._kernel.title} takes no input")
        names = {node.place.file for way in ways for node in walk(way.conditions) if isinstance(node, Read)}
        return [replace(whole, branches={"what the program decides": names} if names else {})]

    def _run(self, arguments: Inputs, symbolic: Collection[str], numbers: Mapping[str, SymbolicInt]) -> Path:
        """The program once, under the conditions that this run is for."""
        s, signature, memories = self._s, self._kernel.signature, (Memory(), Memory())
        placed, _ = (
            Buffers(signature, [memory]).place(arguments, Filled(byte), at_end=True)
            for memory, byte in zip(memories, (0, 255), strict=True)
        )
        bounds = AccessBounds(placed.values(), (), NO_STACK)

        def first(address: int) -> BitPiece:
            one, other = (memory.load(address, 1)[0] for memory in memories)
            if one == other:
                return BitPiece(s.number(one), 0, 8)
            return BitPiece(s.made(Read(Place(f"{UNDEFINED}.memory", address), 0, 255)), 0, 8)

        def breach(address: int, size: int, writes: bool, sp: int) -> str:
            found = bounds.breach(address, size, writes, sp)
            return "" if found is None or found.allowed else found.says

        state = SymbolicState(0, {place: (BitPiece(s.number(0), 0, place.bits),) for place in VISIBLE_PLACES})
        state.registers[Place("sp")] = (BitPiece(s.number(NO_STACK.sp % 2**64), 0, 64),)
        put_arrays(s, self._kernel, state, placed, symbolic)
        program = SymbolicProgram(s, state, first, breach)
        at = {name: array.address for name, array in placed.items()}
        pointers = {
            pointer.name: ElementPointer(at[pointer.name], pointer.dtype) if pointer.name in at else None
            for pointer in signature.pointers
        }
        with program:
            self._program(**{**arguments, **numbers, **pointers})
        outputs = output_lanes(s, signature, program.machine, state, placed)
        return Path(
            condition=s.number(1), outputs=outputs, saturates=s.number(0), faults=tuple(undefined_outputs(outputs)),
            instructions=program.machine.executed, branches={}, addresses={},
        )  # fmt: skip


def _either(s: Simplifier, condition: Lane, yes: Path, no: Path) -> Path:
    """What is left where a condition holds, and where it does not."""
    outputs = {
        name: [s.select(condition, one, other) for one, other in zip(lanes, no.outputs[name], strict=True)]
        for name, lanes in yes.outputs.items()
    }
    faults, executed = dict.fromkeys((*yes.faults, *no.faults)), yes.instructions + no.instructions
    return replace(yes, outputs=outputs, faults=tuple(faults), instructions=executed)


class SymbolicProgram(OpenProgram):
    """A program that executes what is called on a symbolic machine, whose registers are virtual."""

    def __init__(
        self, s: Simplifier, state: SymbolicState, first: Callable[[int], BitPiece],
        breach: Callable[[int, int, bool, int], str],
    ) -> None:  # fmt: skip
        super().__init__(None, SymbolicRegisters(s, state))
        self._state, self._called = state, list[Instruction]()
        self.machine = SymbolicMachine(
            s, lambda _: self._called[-1], first, breach, lambda _: True, lambda _: "the program of intrinsics"
        )

    def run(self, pattern: Pattern, registers: tuple[int, ...]) -> None:
        """Execute one instruction."""
        self._called.append(Instruction(pattern, registers))
        self.machine.step(self._state)


class SymbolicRegisters(VirtualRegisters):
    """As many registers as a program asks for, in a symbolic state; what they hold is no number."""

    def __init__(self, s: Simplifier, state: SymbolicState) -> None:
        super().__init__()
        self._s, self._state = s, state
        self._vectors, self._general = count(), count()

    def new_vector(self, bits: int = 0) -> int:
        """The number of a fresh vector register that holds `bits`."""
        number = next(self._vectors)
        self._state.registers[Place("v", number)] = (BitPiece(self._s.number(bits), 0, 128),)
        return number

    def new_general(self, value: int | SymbolicInt = 0) -> int:
        """The number of a fresh general register that holds `value` modulo 2^64, which need not be known."""
        number = next(self._general)
        lane = self._s.simplified(value.lane) if isinstance(value, SymbolicInt) else self._s.number(value % 2**64)
        self._state.registers[Place("x", number)] = (BitPiece(lane, 0, 64),)
        return number

    def read(self, place: Place) -> int:
        """Refused: Untraceable."""
        refuse("what a register holds becomes a number")

    def vector(self, number: int) -> int:
        """Refused: Untraceable."""
        refuse("what a vector holds becomes a number")


@contextmanager
def unknown_numbers_in_programs() -> Iterator[None]:
    """Let intrinsics take integers that are not known, where C passes them in registers."""
    bits_of, number_of = ElementType.bits_of, ElementType.number

    def open_bits_of(self: ElementType, value: object, what: str) -> Any:
        if type(value) is not SymbolicInt or self.is_float:
            return bits_of(self, value, what)
        if not self.integer.low <= value <= self.integer.high:
            raise ValueError(f"{what} is not always {self.c_name}_t")
        return value

    def open_number(self: ElementType, bits: Any) -> Any:
        return bits if type(bits) is SymbolicInt else number_of(self, bits)

    try:
        ElementType.bits_of, ElementType.number = open_bits_of, open_number  # type: ignore[method-assign]
        yield
    finally:
        ElementType.bits_of, ElementType.number = bits_of, number_of  # type: ignore[method-assign]
