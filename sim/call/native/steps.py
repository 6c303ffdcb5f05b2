"""Steps: a function of C for each pattern of instructions, in a library that is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from ctypes import CDLL, c_char_p, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from isa.evaluate import c
from isa.instruction import Instruction
from isa.rows import TABLE
from isa.table import Table
from sim.call.definitions import cannot_verify
from sim.machine.alignment import must_be_aligned
from sim.machine.compiled.engine import semantics_digest
from sim.machine.compiled.text import ALIGNED, MEMORY
from sim.machine.host_compiler import compile_for_host

FOLDER = Path(__file__).parent
MOST_REGISTERS = 20
"""Of an instruction: room in `CodeEntry` of driver.c."""
UNVERIFIED = "the emulator cannot check it"
EXCLUSIVE = "an exclusive, atomic, acquire or release access"


@dataclass(frozen=True)
class StepFunction:
    """The address of the function of a pattern, and how many accesses to memory it has; why there is none (0)."""

    function: int
    accesses: int
    refusal: str = ""


def left_to_python(instruction: Instruction) -> str:
    """Stop an instruction has no step, whatever C has; "" where it may have one."""
    if cannot_verify(instruction.form):
        return UNVERIFIED
    if must_be_aligned(instruction) or any(place.file == "monitor" for place in instruction.places_written):
        return EXCLUSIVE  # one emulator alone has an exclusive monitor
    return ""


def steps_of(instructions: Sequence[Instruction], table: Table) -> list[StepFunction]:
    """The steps of the patterns of instructions, in their order, compiled or kept.  Raises what the compiler does."""
    if table is TABLE:
        names = [[each.form.name, each.pattern.operand_text] for each in instructions]
        key = json.dumps([semantics_digest(), source("log.c"), source("access.c"), names])
        path = compile_for_host(hashlib.sha256(key.encode()).hexdigest(), lambda: steps_text(instructions))
    else:
        text = steps_text(instructions)
        path = compile_for_host(hashlib.sha256(text.encode()).hexdigest(), lambda: text)
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
        described.append(text.count("load_") + text.count("store_"))
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
