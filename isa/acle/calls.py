"""An intrinsic as a function: arguments checked, placed in registers, instructions run, the result read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from string import Formatter
from typing import Any, NamedTuple

from isa.acle.parameters import LiteralParameter, Parameter, VectorParameter
from isa.acle.program import OpenProgram, Program, current_program
from isa.acle.register_text import VectorText
from isa.acle.results import IntrinsicResult, VectorResult
from isa.acle.values import VectorType, VectorValue
from isa.instruction import Instruction, Pattern
from isa.rows import TABLE
from isa.table import UnknownInstruction


class CallStep(NamedTuple):
    """An instruction's pattern, and for each of its registers which of the call's it is: results, arguments, others."""

    pattern: Pattern
    order: tuple[int, ...]


class _PlainCall:
    """A call that takes vectors of some types, one of which may be `tied`, and gives one of a type, by one step."""

    def __init__(self, types: tuple[VectorType, ...], tied: int | None, result: VectorType, step: CallStep) -> None:
        self._types, self._tied, self._result = types, tied, result
        self._pattern, self._order = step

    def takes(self, arguments: tuple[Any, ...]) -> bool:
        """Whether these are vectors of the very types; else what is wrong is to be told, or nothing is."""
        if len(arguments) != len(self._types):
            return False
        for value, wanted in zip(arguments, self._types, strict=False):
            if type(value) is not VectorValue or value.type is not wanted:
                return False
        return True

    def run(self, program: OpenProgram, values: tuple[VectorValue, ...]) -> VectorValue:
        """What `Intrinsic` does in general."""
        tied = self._tied
        if tied is None:
            placed = [program.vector_register(value) for value in values]
            destination = program.registers.new_vector()
        else:
            placed = [
                program.copied(value) if at == tied else program.vector_register(value)
                for at, value in enumerate(values)
            ]
            destination = placed[tied]
        registers = [destination, *placed]
        program.run(self._pattern, tuple([registers[k] for k in self._order]))
        return program.value(self._result, destination)


@dataclass(frozen=True, eq=False, kw_only=True)
class Intrinsic:
    """A function of ACLE on values, Python numbers and `Pointer`s; `str()` gives its C prototype.

    Inside of a `Program` a call is recorded there.  Raises TypeError for arguments of the wrong number or type,
    ValueError for a number, immediate or lane out of range, RuntimeError for a load or store without memory.
    `mnemonic` and `text` are those of its instructions, apart by `; `; `between` is the type of the registers that
    carry values from one to the next.  With the highest immediate the mnemonic is `at_highest`, if there is one.
    """

    name: str
    result: IntrinsicResult
    parameters: tuple[Parameter, ...]
    mnemonic: str
    text: str
    between: VectorType | None = None
    at_highest: str = ""
    _codes: dict[tuple[int, ...], tuple[CallStep, ...]] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return f"{self.result.c_type} {self.name}({', '.join(p.c_type for p in self.parameters)})"

    def __call__(self, *arguments: Any) -> Any:
        """Run it on these arguments, in the open `Program` or else in one of its own; returns the result."""
        program, plain = current_program(), self._plain
        if program is not None and plain is not None and plain.takes(arguments):
            return plain.run(program, arguments)
        wanted = len(self.parameters)
        if len(arguments) != wanted:
            noun = "argument" if wanted == 1 else "arguments"
            raise TypeError(f"{self.name} takes {wanted} {noun}, not {len(arguments)}")
        name = self.name
        values = [check(value, name, at) for value, (check, at) in zip(arguments, self._checks, strict=True)]
        return self._run(program or Program(), values)

    def _run(self, program: OpenProgram, values: list[Any]) -> Any:
        steps = self._only_steps
        if steps is None:
            literals = [0] * len(values)
            for at, literal in self._literals:
                literals[at] = literal(values[at])
            key = tuple(literals)
            steps = self._codes.get(key) or self.steps(key)
        placed: list[int] = []
        for place, value in zip(self._places, values, strict=True):
            placed += place(program, value)
        tied = self._tied
        destination = self.result.destination(program) if tied is None else tuple(placed[tied])
        registers = [*destination, *placed]
        for _ in self._between:
            registers.append(program.registers.new_vector())
        for pattern, order in steps:
            program.run(pattern, tuple([registers[k] for k in order]))
        return self.result.value(program, destination)

    @cached_property
    def _plain(self) -> _PlainCall | None:
        """The call where it takes vectors, gives one and is one instruction, as most are: without what others need."""
        types = [each.type for each in self.parameters if type(each) is VectorParameter]
        if len(types) < len(self.parameters) or not types or type(self.result) is not VectorResult:
            return None
        steps = self._only_steps
        if steps is None or len(steps) != 1 or self._between or type(self) is not Intrinsic:
            return None
        tied = [each.tied for each in self.parameters]
        return _PlainCall(tuple(types), tied.index(True) if True in tied else None, self.result.type, steps[0])

    @cached_property
    def _checks(self) -> tuple[tuple[Callable[[Any, str, int], Any], int], ...]:
        """What checks each argument, and its position."""
        return tuple((each.checked, at) for at, each in enumerate(self.parameters, 1))

    @cached_property
    def _places(self) -> tuple[Callable[[OpenProgram, Any], tuple[int, ...]], ...]:
        """What places each argument."""
        return tuple(each.place for each in self.parameters)

    @cached_property
    def _literals(self) -> tuple[tuple[int, Callable[[Any], int]], ...]:
        """What takes the number of an argument that is put into the text of instructions, and which one it is."""
        literal = ((at, each) for at, each in enumerate(self.parameters) if type(each).literal is not Parameter.literal)
        return tuple((at, each.literal) for at, each in literal)

    @cached_property
    def _only_steps(self) -> tuple[CallStep, ...] | None:
        """The instructions where no argument puts a number into their text."""
        return None if self._literals else self.steps((0,) * len(self.parameters))

    @cached_property
    def _tied(self) -> slice | None:
        """Of the registers of all arguments those of the one that becomes the destination."""
        start = 0
        for parameter in self.parameters:
            if parameter.tied:
                return slice(start, start + parameter.width)
            start += parameter.width
        return None

    @cached_property
    def _between(self) -> tuple[str, ...]:
        """The names of the registers in between, in the order in which they are written."""
        names = [name.split(".")[0] for _, name, _, _ in Formatter().parse(self.text) if name]
        return tuple(dict.fromkeys(name for name in names if name.isalpha()))

    def steps(self, literals: tuple[int, ...]) -> tuple[CallStep, ...]:
        """The instructions with these literals, 0 where an argument is none.  Raises UnknownInstruction."""
        if literals not in self._codes:
            self._codes[literals] = tuple(self._steps(literals))
        return self._codes[literals]

    def _steps(self, literals: tuple[int, ...]) -> list[CallStep]:
        starts = list(accumulate((p.width for p in self.parameters), initial=self.result.width))
        pairs = zip(self.parameters, starts, literals, strict=False)
        texts = [parameter.text(start, literal) for parameter, start, literal in pairs]
        between = {}
        for k, name in enumerate(self._between):
            assert self.between is not None  # only rules for vectors have several instructions
            between[name] = VectorText(starts[-1] + k, self.between)
        operands = self.text.format(self.result.text(), *texts, **between).split("; ")
        pairs_of_text = zip(self._mnemonic_with(literals).split("; "), operands, strict=True)
        instructions = [TABLE.instruction(mnemonic, text) for mnemonic, text in pairs_of_text]
        return [CallStep(instruction.pattern, instruction.registers) for instruction in instructions]

    def _mnemonic_with(self, literals: tuple[int, ...]) -> str:
        pairs = zip(self.parameters, literals, strict=True)
        is_highest = any(isinstance(p, LiteralParameter) and literal == p.high for p, literal in pairs)
        return self.at_highest if self.at_highest and is_highest else self.mnemonic

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """Its instructions, with the least immediates and lanes; none where it only changes the type.

        Raises UnknownInstruction.
        """
        steps = self.steps(tuple(parameter.lowest_literal for parameter in self.parameters))
        return tuple(Instruction(step.pattern, step.order) for step in steps)

    @property
    def features(self) -> tuple[str, ...]:
        """The extensions that its instructions need."""
        return tuple(sorted({feature for i in self.instructions for feature in i.form.features}))

    @property
    def exists(self) -> bool:
        """Whether the instruction table has its instructions."""
        try:
            self.steps(tuple(parameter.lowest_literal for parameter in self.parameters))
        except UnknownInstruction:
            return False
        return True


class Reinterpretation(Intrinsic):
    """`vreinterpret`: the same bits and the same register as another type; no instruction."""

    def _run(self, program: OpenProgram, values: list[Any]) -> Any:
        return self.result.value(program, (program.vector_register(values[0]),))

    def steps(self, literals: tuple[int, ...]) -> tuple[CallStep, ...]:
        """None."""
        return ()
