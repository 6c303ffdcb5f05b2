"""Parts of programs: functions that, for the same numbers, call the same intrinsics, whatever lanes and addresses are.

Such a part is recorded once for its numbers, on vectors and pointers of which nothing is known, and then repeated on
others.  What asks for a lane, an address or a register is noticed while it is recorded: that part is called each time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, wraps
from numbers import Integral, Number
from typing import Any, NamedTuple, NoReturn, ParamSpec, TypeVar, cast

from isa.acle.parameters import with_offset
from isa.acle.program import OpenProgram, VirtualRegisters, current_program
from isa.acle.values import REACH, ElementPointer, StructureValue, VectorType, VectorValue
from isa.instruction import Pattern
from isa.lane import Place

GENERAL = 1 << 24
"""The first number of a general register of a part; vector registers are below."""
P = ParamSpec("P")
R = TypeVar("R")


def part(function: Callable[P, R]) -> Callable[P, R]:
    """A function of intrinsics of which a program may record what it calls, and repeat that without calling it again.

    What it does and returns may depend on nothing but its arguments: vectors, pointers, integers, texts and functions,
    also in tuples, lists and dictionaries, which it leaves as they are.  Raises TypeError for a function that takes
    variables from around it.
    """
    if getattr(function, "__closure__", None):
        raise TypeError(f"{function.__qualname__} takes variables from around it: a part has its arguments alone")

    @wraps(function)
    def performed(*arguments: P.args, **named: P.kwargs) -> R:
        program = current_program()
        if program is None or named:
            return function(*arguments, **named)
        result: R = program.perform(function, arguments)
        return result

    return performed


class Unrecordable(Exception):
    """A part does not follow from its numbers alone."""


class TakenArguments(NamedTuple):
    """Arguments of a part: `key` is all of them but what vectors and pointers hold, which are there in order."""

    key: Hashable
    vectors: list[VectorValue]
    pointers: list[ElementPointer]


def taken(arguments: tuple[Any, ...]) -> TakenArguments:
    """The arguments of a part.  Raises Unrecordable for others than `part` says."""
    vectors, pointers = list[VectorValue](), list[ElementPointer]()
    key = _key(arguments, vectors, pointers)
    # One object twice is not the same as two: a part may ask which it has.
    same = [id(each) for each in (*vectors, *pointers)]
    if len(set(same)) < len(same):
        key = key, tuple(map(same.index, same))
    return TakenArguments(key, vectors, pointers)


def _key(tree: Any, vectors: list[VectorValue], pointers: list[ElementPointer]) -> Hashable:
    kind = type(tree)
    if kind is int:
        return cast(int, tree)
    if kind is VectorValue:
        vectors.append(tree)
        return (kind, tree.type)
    if kind is ElementPointer:
        pointers.append(tree)
        return (kind, tree.dtype)
    if kind is StructureValue:
        return (kind, tree.type, *[_key(each, vectors, pointers) for each in tree.val])
    if kind is list or isinstance(tree, tuple):
        return (kind, *[_key(each, vectors, pointers) for each in tree])
    if kind is dict:
        return (kind, *[(name, _key(each, vectors, pointers)) for name, each in tree.items()])
    # Floats that are equal need not be the same: -0.0.
    if isinstance(tree, Number) and not isinstance(tree, Integral):
        raise Unrecordable
    return (kind, tree)


def _mapped(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """The same lists, tuples, dictionaries and structures of other leaves."""
    if type(tree) is StructureValue:
        vectors = tuple(leaf(each) for each in tree.val)
        return tree if vectors == tree.val else StructureValue(tree.type, vectors)
    if type(tree) is dict:
        return {name: _mapped(each, leaf) for name, each in tree.items()}
    if type(tree) is list or isinstance(tree, tuple):
        made = [_mapped(each, leaf) for each in tree]
        return made if type(tree) is list else tree._make(made) if hasattr(tree, "_make") else tuple(made)
    return leaf(tree)


class PartAddress(NamedTuple):
    """What a general register of a part holds: bytes from a pointer on, less the offset of accesses of `size`."""

    pointer: int
    further: int
    size: int


@dataclass(frozen=True, eq=False)
class PartSteps:
    """What a part is for some offsets: the patterns of its instructions, and what its general registers hold.

    That is a number, or bytes from the pointer of that place on; the place is -1 for numbers.
    """

    patterns: tuple[Pattern, ...]
    general: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordedPart:
    """What a part does.

    Vector registers are those of the vectors taken, then fresh ones, of which `constants` hold these bits from the
    beginning.  General registers begin at `GENERAL`.
    """

    instructions: tuple[tuple[Pattern, tuple[int, ...]], ...]
    general: tuple[int | PartAddress, ...]
    constants: tuple[tuple[int, int], ...]
    taken: int
    fresh: int
    result: Any
    _steps: dict[tuple[int, ...], PartSteps] = field(default_factory=dict)

    def steps(self, pointers: list[ElementPointer]) -> PartSteps:
        """The instructions where these pointers were taken: their offsets decide which loads have offsets."""
        offsets = tuple([pointers[each.pointer].offset(each.size, each.further) for _, each in self._sized])
        if offsets not in self._steps:
            self._steps[offsets] = self._with_offsets(offsets)
        return self._steps[offsets]

    @property
    def patterns(self) -> Iterator[Pattern]:
        """The patterns that its instructions have for any offsets, some more than once."""
        yield from (pattern for pattern, _ in self.instructions)
        for at, register in self._displaced:
            size = dict(self._sized)[register].size
            yield from (with_offset(self.instructions[at][0], offset) for offset in range(size, REACH, size))

    @cached_property
    def _sized(self) -> list[tuple[int, PartAddress]]:
        """The general registers from which accesses have offsets."""
        numbered = enumerate(self.general, GENERAL)
        return [(register, held) for register, held in numbered if isinstance(held, PartAddress) and held.size]

    @cached_property
    def _displaced(self) -> list[tuple[int, int]]:
        """The instructions that have such an offset, by their numbers, and from which register."""
        sized = {register for register, _ in self._sized}
        numbered = enumerate(self.instructions)
        return [(at, register) for at, (_, registers) in numbered for register in registers if register in sized]

    def _with_offsets(self, offsets: tuple[int, ...]) -> PartSteps:
        patterns = [pattern for pattern, _ in self.instructions]
        general = [
            (held.pointer, held.further) if isinstance(held, PartAddress) else (-1, held) for held in self.general
        ]
        by_register = dict[int, int]()
        for (register, held), offset in zip(self._sized, offsets, strict=True):
            general[register - GENERAL] = held.pointer, held.further - offset
            by_register[register] = offset
        for at, register in self._displaced:
            if by_register[register]:
                patterns[at] = with_offset(patterns[at], by_register[register])
        return PartSteps(tuple(patterns), tuple(general))

    def results(self, pointers: list[ElementPointer], value: Callable[[VectorType, int], VectorValue]) -> Any:
        """What it returns where these pointers were taken; `value` gives what a register of the part holds."""

        def leaf(found: Any) -> Any:
            if type(found) is _PartPointer:
                pointer = pointers[found.number]
                return ElementPointer(pointer.address + found.further, found.dtype, pointer.origin)
            if type(found) is VectorValue and found.register is not None:
                return value(found.type, found.register)
            return found

        return _mapped(self.result, leaf)


def record(function: Callable[..., Any], arguments: tuple[Any, ...], inside: OpenProgram) -> RecordedPart:
    """What a part does with arguments of this kind; the program inside of which it is called is not touched.

    Raises Unrecordable, and whatever the part raises.
    """
    recording = _Recording(inside)
    unknown = _mapped(arguments, recording.unknown_of)
    before = _mapped(unknown, lambda leaf: leaf)
    with recording:
        result = function(*unknown)
    _mapped(result, recording.returnable)
    if recording.refused or before != unknown:  # it changed a list that it was given
        raise Unrecordable
    registers = recording.unknown
    return RecordedPart(
        instructions=tuple(recording.instructions),
        general=tuple(registers.held),
        constants=tuple(registers.constants),
        taken=recording.vectors,
        fresh=registers.count - recording.vectors,
        result=result,
    )


class _PartPointer(ElementPointer):
    """Bytes from the pointer on that a part took in that place; where that is is not known."""

    def __init__(self, recording: _Recording, number: int, dtype: str, further: int = 0) -> None:
        for name, value in (("recording", recording), ("number", number), ("dtype", dtype), ("further", further)):
            object.__setattr__(self, name, value)

    recording: _Recording
    number: int
    further: int

    @property
    def address(self) -> int:
        """Refused."""
        self.recording.refuse()

    @property
    def origin(self) -> int:
        """Refused."""
        self.recording.refuse()

    def __eq__(self, other: object) -> bool:
        self.recording.refuse()

    def __hash__(self) -> int:
        self.recording.refuse()

    def __add__(self, elements: int) -> ElementPointer:
        return _PartPointer(self.recording, self.number, self.dtype, self.further + self.element_size * elements)

    def offset(self, size: int, further: int = 0) -> int:
        """0: `RecordedPart.steps` has the offset."""
        return 0


class _UnknownRegisters(VirtualRegisters):
    """Registers of which is known what they begin with, and not what they come to hold."""

    def __init__(self, refuse: Callable[[], NoReturn]) -> None:
        super().__init__()
        self.count = 0
        self.constants: list[tuple[int, int]] = []
        self.held: list[int | PartAddress] = []
        self._refuse = refuse

    def new_vector(self, bits: int = 0) -> int:
        """The number of a fresh vector register that holds `bits`."""
        self.count += 1
        if bits:
            self.constants.append((self.count - 1, bits))
        return self.count - 1

    def new_general(self, value: int = 0) -> int:
        """The number of a fresh general register that holds `value` modulo 2^64."""
        self.held.append(value % 2**64)
        return GENERAL + len(self.held) - 1

    def read(self, place: Place) -> int:
        """Refused."""
        self._refuse()

    def vector(self, number: int) -> int:
        """Refused."""
        self._refuse()


class _Recording(OpenProgram):
    """Records a part, inside of a program that it leaves alone."""

    def __init__(self, inside: OpenProgram) -> None:
        self.unknown = _UnknownRegisters(self.refuse)
        super().__init__(None, self.unknown)
        self._outer = inside
        self.instructions: list[tuple[Pattern, tuple[int, ...]]] = []
        self.vectors = self.pointers = 0
        self.refused = False
        self._registers_of: dict[PartAddress, int] = {}
        self._given: dict[int, Any] = {}

    def unknown_of(self, argument: Any) -> Any:
        """What the part gets for an argument: vectors and pointers become unknown, one that comes twice the same."""
        unknown = argument
        if type(argument) is VectorValue:
            self.vectors += 1
            unknown = VectorValue(argument.type, None, self.registers.new_vector(), self)
        elif type(argument) is ElementPointer:
            self.pointers += 1
            unknown = _PartPointer(self, self.pointers - 1, argument.dtype)
        return self._given.setdefault(id(argument), unknown)

    def refuse(self) -> NoReturn:
        """Give the recording up.  Raises Unrecordable; where the part catches that, it is refused all the same."""
        self.refused = True
        raise Unrecordable

    @property
    def saturated(self) -> bool:
        """Refused."""
        self.refuse()

    def run(self, pattern: Pattern, registers: tuple[int, ...]) -> None:
        """Record one instruction."""
        self.instructions.append((pattern, registers))

    def vector_register(self, value: VectorValue) -> int:
        """The register that holds a value; one of another program is refused: who knows when it was made."""
        if value.owner is not None and value.owner is not self:
            self.refuse()
        return super().vector_register(value)

    def follow(self, registers: tuple[int, ...]) -> bool:
        """Whether registers follow each other, which is not known of those that are taken."""
        if min(registers) < self.vectors:
            self.refuse()
        return super().follow(registers)

    def address_register(self, pointer: ElementPointer, size: int) -> int:
        """The general register that holds where an access begins, less its offset."""
        if not isinstance(pointer, _PartPointer) or pointer.recording is not self:
            self.refuse()
        address = PartAddress(pointer.number, pointer.further, size)
        if address not in self._registers_of:
            self.unknown.held.append(address)
            self._registers_of[address] = GENERAL + len(self.unknown.held) - 1
        return self._registers_of[address]

    def returnable(self, leaf: Any) -> None:
        """Refuse what a part cannot return."""
        foreign = type(leaf) is VectorValue and leaf.owner not in (None, self)
        known = (VectorValue, _PartPointer, int, bool, str, type(None))
        if foreign or type(leaf) not in known or (type(leaf) is _PartPointer and leaf.recording is not self):
            self.refuse()
