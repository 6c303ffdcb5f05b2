"""A call of a compiled kernel on symbolic inputs: arrays and numbers whose values are all of their domains at once.

Everything else is as in `sim.call`: where arguments travel, where arrays lie, what may be touched, what a function must
give back as it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from isa.evaluate.smt import Impossible, Solver
from isa.evaluate.smt_terms import Untranslatable
from isa.instruction import Instruction
from isa.lane import Int, Lane, Place, Read, walk
from sim.call.buffers import PlacedArray
from sim.call.caller import RETURN_ADDRESS, Call, Caller
from sim.call.guards.bounds import AccessBounds, StackFrame
from sim.call.guards.convention import PRESERVED, name_of
from sim.kernels.domain import domain_of, number_types
from sim.kernels.kernel import Inputs, Kernel, KernelError
from sim.kernels.signature import RETURNED, Pointer, ScalarArgument, Signature, Stack, is_given
from sim.machine.machine import Machine
from sim.machine.registers import VISIBLE_PLACES
from sim.symbolic.following.machine import MOST_INSTRUCTIONS, RAISED, Observe, SymbolicMachine
from sim.symbolic.following.state import SymbolicState
from sim.symbolic.nodes import Simplifier
from sim.symbolic.pieces import BitPiece, Pieces, cut, number
from sim.symbolic.simplify import SIMPLIFIER
from sim.symbolic.unknowns import cut_out
from sim.toolchain.image import Image

INPUT = "in."
"""What the register file of an input's leaf begins with."""
UNDEFINED = "undefined"
"""The register file of leaves for bytes that nobody defines: registers, the stack, outputs before a call."""
PLACED = 0
"""The seed of a call by which arrays are placed here, wherever they lie."""
ADDRESS = "address of "
"""What the register file of an array's address begins with: where arrays lie is not known."""
LOWEST, HIGHEST = 1 << 16, 1 << 47
"""Where arrays begin: in the half of 48 bits of addresses that a process has, behind its first bytes."""
SECONDS_FOR_A_PATH = 5.0
"""How long the solver may look for an input that takes a way which fails."""


def input_leaf(kernel: Kernel, name: str, index: int = 0) -> Read:
    """The leaf for element `index`, counted in C order, of an input, or for a number; its range is the domain's."""
    dtype = dict(number_types(kernel.signature)).get(name)
    if dtype is None:
        raise KernelError(f"{name!r} is no input of {kernel.name}")
    if dtype.kind not in "iub":
        low, high = 0, (1 << 8 * dtype.itemsize) - 1
    elif dtype.kind == "b":
        low, high = 0, 1
    else:
        domain = domain_of(kernel.domain, name)
        edges = [int(edge) for edge in domain.edges(dtype).tolist()]
        low, high = min(edges), max(edges)
    return Read(Place(f"{INPUT}{name}", index), low, high)


@dataclass(frozen=True, kw_only=True)
class Path:
    """One way through a kernel: what it leaves for all inputs that meet `condition`.

    `outputs` are the elements of each output array in C order, and the result under its name; `saturates` is 1 where
    QC is set.  `faults` says what a caller may not find, such as a register that was not kept.  `branches` are the
    instructions after which it depends on inputs how the code goes on, with their names.  `addresses` are those of the
    example.  `lost` is what registers held at the entry that must be kept, and what they hold.
    """

    condition: Lane
    outputs: Mapping[str, list[Lane]]
    saturates: Lane
    faults: tuple[str, ...]
    instructions: int
    branches: Mapping[str, Collection[str]]
    addresses: Mapping[Place, int]
    lost: tuple[tuple[Lane, Lane], ...] = ()


class Filled:
    """Undefined bytes that are all the same."""

    def __init__(self, byte: int) -> None:
        self._byte = byte

    def draw(self, size: int) -> bytes:
        return bytes([self._byte]) * size

    def draw_words(self, count: int) -> bytes:
        return self.draw(8 * count)


@dataclass(frozen=True, kw_only=True)
class SymbolicEntry:
    """A call as it begins, and what a machine needs to follow it: see `SymbolicMachine`."""

    state: SymbolicState
    placed: Mapping[str, PlacedArray]
    places: Mapping[Lane, tuple[int, int]]
    instruction_at: Callable[[int], Instruction]
    first: Callable[[int], BitPiece]
    breach: Callable[[int, int, bool, int], str]
    stack: StackFrame


class SymbolicCall:
    """Calls of one compiled kernel on symbolic inputs; `stopped_under` as in `SymbolicMachine`, of the last."""

    def __init__(self, kernel: Kernel, build: Image, simplifier: Simplifier = SIMPLIFIER) -> None:
        self._kernel, self._image, self._s = kernel, build, simplifier
        # A byte is defined where it is the same whatever undefined bytes are.
        self._machines = [Machine(), Machine()]
        self._callers = [Caller(build, kernel, machine) for machine in self._machines]
        self.stopped_under: tuple[Lane, ...] = ()

    def traced(
        self, arguments: Inputs, symbolic: Collection[str], required: Collection[Lane] = (),
        observe: Observe | None = None, most_instructions: int = MOST_INSTRUCTIONS,
    ) -> list[Path]:  # fmt: skip
        """What the kernel leaves for all values of the named inputs; the others are those of the arguments.

        Where arrays lie is not known.  `required` are conditions that inputs meet; for `observe` see
        `SymbolicMachine`.  Raises NotFollowed, KernelError, and what an instruction raises that some input executes.
        """
        entry = self.entered(arguments)
        state, placed = entry.state, entry.placed
        passed = {
            *self._pass_numbers(state, placed, symbolic), *put_arrays(self._s, self._kernel, state, placed, symbolic)
        }  # fmt: skip
        if left := sorted(set(symbolic) - passed):
            raise KernelError(f"the argument {left[0]!r} is missing, or passed in a way that proofs do not follow")
        machine = SymbolicMachine(
            self._s, entry.instruction_at, entry.first, entry.breach, possibility(required),
            self._image.place_of, entry.places, observe, most_instructions,
        )  # fmt: skip
        before = dict(state.registers)
        try:
            state = machine.run(state, RETURN_ADDRESS)
        finally:
            self.stopped_under = machine.stopped_under
        outputs = output_lanes(self._s, self._kernel.signature, machine, state, placed)
        if self._kernel.signature.returns:
            element = element_type(self._kernel.signature.returns)
            held = machine.held(state, self._kernel.signature.result)
            outputs[RETURNED] = [number(self._s, cut(held, 0, element.bits), element)]
        lost = not_kept(self._s, before, state)
        faults = [*lost, *undefined_outputs(outputs)]
        saturates = self._s.number(0)
        for condition in self._s.sorted(state.saturated):  # in their order nothing is put in between
            saturates = self._s.computed("maximum", saturates, condition)
        addresses = {leaf.place: at // times for leaf, (times, at) in entry.places.items() if isinstance(leaf, Read)}
        way = Path(
            condition=self._s.number(1), outputs=outputs, saturates=saturates, faults=tuple(faults),
            instructions=machine.executed, branches=machine.branches, addresses=addresses, lost=tuple(lost.values()),
        )  # fmt: skip
        return [way]

    def entered(self, arguments: Inputs) -> SymbolicEntry:
        """The call as it begins: arrays lie somewhere, all else is what the arguments are."""
        call = Call(arguments, PLACED)
        placed, _ = (c.prepare(call, Filled(byte)) for c, byte in zip(self._callers, (0, 255), strict=True))
        bounds = AccessBounds(placed.values(), self._image.segments, self._callers[0].stack, self._image.absent)
        first, second = self._machines
        known = dict[int, BitPiece]()

        def before(address: int) -> BitPiece:
            if address not in known:
                one, other = (machine.memory.load(address, 1)[0] for machine in self._machines)
                known[address] = (
                    BitPiece(self._s.number(one), 0, 8) if one == other else self._undefined("memory", address, 8)
                )
            return known[address]

        def breach(address: int, size: int, writes: bool, sp: int) -> str:
            found = bounds.breach(address, size, writes, sp)
            return "" if found is None or found.allowed else found.says

        registers = {}
        for place in (*VISIBLE_PLACES, Place("monitor")):
            registers[place] = self._entry(place, first.registers.read(place), second.registers.read(place))
        state, places = SymbolicState(first.pc, registers), dict[Lane, tuple[int, int]]()
        for name, array in placed.items():
            if isinstance(array.pointer, Pointer) and not array.pointer.indirect and not array.is_part:
                times = array.pointer.alignment
                leaf = self._s.made(Read(Place(ADDRESS + name), LOWEST // times, HIGHEST // times))
                places[leaf] = times, array.address
                self.pass_number(state, name, self._s.computed("multiply", leaf, times))
        return SymbolicEntry(
            state=state, placed=placed, places=places, instruction_at=first.instruction_at, first=before,
            breach=breach, stack=self._callers[0].stack,
        )  # fmt: skip

    def _undefined(self, file: str, index: int, bits: int) -> BitPiece:
        return BitPiece(self._s.made(Read(Place(f"{UNDEFINED}.{file}", index), 0, (1 << bits) - 1)), 0, bits)

    def _entry(self, place: Place, one: int, other: int) -> Pieces:
        """What a register holds at the call: bits that differ are undefined."""
        pieces, at = list[BitPiece](), 0
        differs = one ^ other
        while at < place.bits:
            unlike = differs >> at & 1
            rest = ((~differs if unlike else differs) >> at) & ((1 << place.bits - at) - 1)
            size = (rest & -rest).bit_length() - 1 if rest else place.bits - at
            known = BitPiece(self._s.number(one >> at & (1 << size) - 1), 0, size)
            pieces.append(self._undefined(str(place), at, size) if unlike else known)
            at += size
        return tuple(pieces)

    def _pass_numbers(
        self, state: SymbolicState, placed: Mapping[str, PlacedArray], symbolic: Collection[str]
    ) -> Iterator[str]:
        """Put the leaves of the symbolic numbers where these travel; their names."""
        for argument in self._kernel.signature.arguments:
            if argument.name in symbolic and argument.name not in placed and isinstance(argument, ScalarArgument):
                self.pass_number(state, argument.name, self._s.made(input_leaf(self._kernel, argument.name)))
                yield argument.name

    def pass_number(self, state: SymbolicState, name: str, lane: Lane) -> None:
        """Put the number that an argument is where it travels."""
        (piece,) = self._kernel.signature.passed()[name].pieces
        if isinstance(piece.location, Stack):
            at = self._callers[0].stack.sp + piece.location.offset
            state.memory |= {at + i: BitPiece(lane, 8 * i, 8) for i in range(piece.size)}
        else:
            held, bits = state.registers[piece.location], 8 * piece.size
            above = cut(held, bits, piece.location.bits - bits) if bits < piece.location.bits else ()
            state.registers[piece.location] = (BitPiece(lane, 0, bits), *above)


def put_arrays(
    s: Simplifier, kernel: Kernel, state: SymbolicState, placed: Mapping[str, PlacedArray], symbolic: Collection[str]
) -> list[str]:
    """Put the leaves of the elements of symbolic arrays, and of fields of structures, into memory; their names."""
    names = list[str]()
    for name, array in placed.items():
        if name in symbolic and isinstance(array.pointer, Pointer) and is_given(array.pointer):
            names.append(name)
            size = np.dtype(array.pointer.dtype).itemsize
            for index, address in enumerate(element_addresses(array)):
                leaf = s.made(input_leaf(kernel, name, index))
                state.memory |= {address + i: BitPiece(leaf, 8 * i, 8) for i in range(size)}
    return names


def output_lanes(
    s: Simplifier, signature: Signature, machine: SymbolicMachine, state: SymbolicState,
    placed: Mapping[str, PlacedArray],
) -> dict[str, list[Lane]]:  # fmt: skip
    """The elements of each output array that memory holds."""
    outputs = {}
    for pointer in signature.outputs:
        if pointer.name in placed:
            array, element = placed[pointer.name], element_type(pointer.dtype)
            outputs[pointer.name] = [
                number(s, machine.load(state, s.number(address), element.bits // 8), element)
                for address in element_addresses(array)
            ]
    return outputs


def undefined_outputs(outputs: Mapping[str, list[Lane]]) -> list[str]:
    """The elements of outputs that depend on what nobody defines."""
    found = []
    for name, lanes in outputs.items():
        for index, lane in enumerate(lanes):
            files = [node.place.file for node in walk([lane]) if isinstance(node, Read)]
            undefined = [file for file in files if file.startswith((UNDEFINED, RAISED))]
            if undefined:
                found.append(f"{name}[{index}] depends on undefined bytes ({undefined[0]})")
    return found


def possibility(required: Collection[Lane]) -> Callable[[tuple[Lane, ...]], bool]:
    """Whether some input meets conditions and those that are required, or whether that is not known."""

    def is_possible(conditions: tuple[Lane, ...]) -> bool:
        try:
            solver = Solver(time.monotonic() + SECONDS_FOR_A_PATH)
            return not isinstance(solver.check(*cut_out([*required, *conditions])), Impossible)
        except Untranslatable:
            return True

    return is_possible


def not_kept(s: Simplifier, entry: Mapping[Place, Pieces], state: SymbolicState) -> dict[str, tuple[Lane, Lane]]:
    """The registers that a function must give back as they were at its entry and does not: what they held and hold."""
    found = {}
    for place in PRESERVED:
        bits = 64 if place.file == "v" else place.bits
        was, now = (number(s, cut(of[place], 0, bits), Int(bits, False)) for of in (entry, state.registers))
        if was is not now:
            found[f"{name_of(place)} is not given back as it was"] = was, now
    return found


def element_type(dtype: str) -> Int:
    """The type of an array's elements; of floating-point numbers their bits."""
    numbers = np.dtype(dtype)
    return Int(8 * numbers.itemsize, signed=numbers.kind == "i")


def element_addresses(array: PlacedArray) -> list[int]:
    """Where the elements of an array lie, in C order."""
    size = array.pointer.type.itemsize
    offsets = [
        sum(i * stride for i, stride in zip(at, array.strides, strict=True)) for at in np.ndindex(*array.extents)
    ]
    return [array.address + size * offset for offset in offsets]


def traced(kernel: Kernel, build: Image, inputs: Inputs, symbolic: Collection[str]) -> list[Path]:
    """What a compiled kernel leaves for all values of the named arguments, the others being those of an input set."""
    return SymbolicCall(kernel, build).traced(kernel.arguments(inputs), symbolic)
