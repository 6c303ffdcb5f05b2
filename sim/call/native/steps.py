"""Steps: a function of C for each pattern of instructions, in a library that is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from ctypes import CDLL, c_char_p, c_void_p
from dataclasses import dataclass
from functools import cache
from os import SEEK_END
from pathlib import Path

from isa.evaluate import c
from isa.instruction import Instruction
from isa.rows import TABLE
from isa.table import Table
from sim.call.definitions import cannot_verify
from sim.machine import host_compiler
from sim.machine.alignment import must_be_aligned
from sim.machine.compiled.engine import semantics_digest
from sim.machine.compiled.text import ALIGNED, MEMORY
from sim.machine.host_compiler import HostCompiler, compile_for_host
from sim.toolchain.tools import cache_directory

FOLDER = Path(__file__).parent
MOST_REGISTERS = 20
"""Of an instruction: room in `CodeEntry` of driver.c."""
UNVERIFIED = "the emulator cannot check it"
EXCLUSIVE = "an exclusive, atomic, acquire or release access"
PatternName = tuple[str, str]
"""The name of a form, and its operands."""


@dataclass(frozen=True)
class StepFunction:
    """The address of the function of a pattern, and how many accesses to memory it has; why there is none (0)."""

    function: int
    accesses: int
    refusal: str = ""


def left_to_python(instruction: Instruction) -> str:
    """Why an instruction has no step, whatever C has; "" where it may have one."""
    if cannot_verify(instruction.form):
        return UNVERIFIED
    if must_be_aligned(instruction) or any(place.file == "monitor" for place in instruction.places_written):
        return EXCLUSIVE  # one emulator alone has an exclusive monitor
    return ""


def steps_of(instructions: Sequence[Instruction], table: Table) -> list[StepFunction]:
    """The steps of the patterns of instructions, in their order, compiled or kept.  Raises what the compiler does.

    A pattern is compiled once, with those that are first met beside it, and found again by `_Shelf`.
    """
    if table is not TABLE:
        text = steps_text(instructions)
        return _steps_in(compile_for_host(hashlib.sha256(text.encode()).hexdigest(), lambda: text))
    about = json.dumps([semantics_digest(), source("log.c"), source("access.c")])
    shelf = _shelf(host_compiler.compiler_handed_over(), about, cache_directory())
    lacking = {name_of(each): each for each in instructions if name_of(each) not in shelf.steps}
    if lacking:
        shelf.take_kept({*lacking})
        shelf.make([each for name, each in lacking.items() if name not in shelf.steps])
    return [shelf.steps[name_of(each)] for each in instructions]


def name_of(instruction: Instruction) -> PatternName:
    """What tells its pattern from others of the table."""
    return instruction.form.name, instruction.pattern.operand_text


class _Shelf:
    """The steps that this process knows, by pattern, and where those are that any process has made.

    The folder of what is kept has a list, a line of JSON for each library with the patterns in it.  A line that a
    killed process has left unfinished is passed over, and so is a library that is gone.
    """

    def __init__(self, about: str, cache: Path) -> None:
        self.steps: dict[PatternName, StepFunction] = {}
        self._about = about
        self._list = cache / f"steps/{hashlib.sha256(about.encode()).hexdigest()}.txt"
        self._read = 0
        self._listed: dict[str, list[PatternName]] = {}
        """By key, the patterns of the libraries that were listed as far as the list was read, and are not loaded."""

    def take_kept(self, wanted: set[PatternName]) -> None:
        """Load libraries that have some of these patterns."""
        self._read_on()
        for key, names in [*self._listed.items()]:
            if not wanted.isdisjoint(names) and not self.steps.keys() >= wanted.intersection(names):
                del self._listed[key]  # where it is gone, who makes it again lists it again
                with suppress(_NotKept):
                    self._add(names, compile_for_host(key, _not_kept))

    def _read_on(self) -> None:
        """Read what was listed since the list was read: it has thousands of lines, and every process adds to it."""
        with suppress(OSError), self._list.open("rb") as file:
            if file.seek(0, SEEK_END) < self._read:  # it was removed, and begun again
                self._read = 0
            file.seek(self._read)
            lines = file.read()
            self._read += len(lines)
            for line in lines.splitlines():
                with suppress(ValueError, TypeError):
                    key, *listed = json.loads(line)
                    self._listed[str(key)] = [(form, operands) for form, operands in listed]

    def make(self, instructions: Sequence[Instruction]) -> None:
        """Compile a library of patterns, and list it."""
        if not instructions:
            return
        names = [name_of(each) for each in instructions]
        key = hashlib.sha256(json.dumps([self._about, names]).encode()).hexdigest()
        self._add(names, compile_for_host(key, lambda: steps_text(instructions)))
        with suppress(OSError):  # it is made again where it is not listed
            self._list.parent.mkdir(parents=True, exist_ok=True)
            with self._list.open("ab", buffering=0) as file:
                file.write(f"\n{json.dumps([key, *names])}\n".encode())

    def _add(self, names: Sequence[PatternName], library: Path) -> None:
        self.steps |= zip(names, _steps_in(library), strict=True)


class _NotKept(Exception):
    """A library that is listed is gone, or was made for another computer."""


def _not_kept() -> str:
    raise _NotKept


@cache
def _shelf(compiler: HostCompiler, about: str, cache: Path) -> _Shelf:
    return _Shelf(about, cache)


def _steps_in(path: Path) -> list[StepFunction]:
    library = _loaded(path)
    described: list[int | str] = json.loads(c_char_p.in_dll(library, "description").value or b"")
    functions = (c_void_p * len(described)).in_dll(library, "steps")
    return [
        StepFunction(0, 0, each) if isinstance(each, str) else StepFunction(function or 0, each)
        for each, function in zip(described, functions, strict=True)
    ]


def steps_text(instructions: Sequence[Instruction]) -> str:
    """A library with `steps`, the functions of the patterns, and `description`, how many accesses each has, in JSON."""
    functions, names, described = list[str](), list[str](), list[int | str]()
    for number, instruction in enumerate(instructions):
        pattern, made = instruction.pattern, f"f{number}"
        try:
            text = c.instruction(made, pattern.open_writes(), pattern.register_count, pattern.text)
        except c.NotInC as reason:
            names.append("0")
            described.append(str(reason))
            continue
        registers = "".join(f", r[{k}]" for k in range(pattern.register_count))
        head = f"static int step{number}(State *S, Memory *M, const uint8_t *r)"
        functions += [text, f"{head} {{ (void)r; return {made}(S, M{registers}); }}", ""]
        names.append(f"step{number}")
        described.append(c.accesses(text))
    ends = [
        f"const char *const description = {json.dumps(json.dumps(described))};",
        f"const Step steps[] = {{{', '.join(names)}}};",
        "",
    ]
    return "\n".join([c.PRELUDE, MEMORY, source("log.c"), source("access.c"), ALIGNED, *functions, *ends])


def driver_text() -> str:
    """The library with the hooks: see driver.c."""
    return "\n".join([c.PRELUDE, MEMORY, source("log.c"), source("driver.c")])


def source(name: str) -> str:
    """A file of C of this folder."""
    return (FOLDER / name).read_text()


def driver() -> CDLL:
    """The library of `driver_text`.  Raises what the compiler does."""
    text = driver_text()
    return _loaded(compile_for_host(hashlib.sha256(text.encode()).hexdigest(), lambda: text))


@cache
def _loaded(path: Path) -> CDLL:
    return CDLL(str(path))
