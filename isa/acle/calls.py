"""An intrinsic as a function: arguments checked, placed in registers, instructions run, the result read."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from string import Formatter
from typing import Any, NamedTuple

from isa.acle.parameters import LiteralParameter, Parameter
from isa.acle.program import OpenProgram, Program, current_program
from isa.acle.register_text import VectorText
from isa.acle.results import IntrinsicResult
from isa.acle.values import VectorType
from isa.instruction import Instruction, Pattern
from isa.rows import TABLE
from isa.table import UnknownInstruction


class CallStep(NamedTuple):
    """An instruction's pattern, and for each of its registers which of the call's it is: results, arguments, others."""

    pattern: Pattern
    order: tuple[int, ...]


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
        wanted = len(self.parameters)
        if len(arguments) != wanted:
            noun = "argument" if wanted == 1 else "arguments"
            raise TypeError(f"{self.name} takes {wanted} {noun}, not {len(arguments)}")
        name, numbered = self.name, zip(self.parameters, arguments, range(1, wanted + 1), strict=True)
        values = [parameter.checked(value, name, position) for parameter, value, position in numbered]
        return self._run(current_program() or Program(), values)

    def _run(self, program: OpenProgram, values: list[Any]) -> Any:
        steps = self._only_steps
        if steps is None:
            steps = self.steps(tuple([p.literal(v) for p, v in zip(self.parameters, values, strict=True)]))
        placed = [p.place(program, v) for p, v in zip(self.parameters, values, strict=True)]
        destination = self.result.destination(program) if self._tied is None else placed[self._tied]
        registers = [*destination]
        for each in placed:
            registers += each
        for _ in self._between:
            registers.append(program.registers.new_vector())
        for step in steps:
            program.run(step.pattern, tuple([registers[k] for k in step.order]))
        return self.result.value(program, destination)

    @cached_property
    def _only_steps(self) -> tuple[CallStep, ...] | None:
        """The instructions where no argument puts a number into their text."""
        without = all(type(parameter).literal is Parameter.literal for parameter in self.parameters)
        return self.steps((0,) * len(self.parameters)) if without else None

    @cached_property
    def _tied(self) -> int | None:
        return next((k for k, p in enumerate(self.parameters) if p.tied), None)

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
