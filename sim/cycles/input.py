"""What `lanewise cycles` times, by what it is given: a kernel, a function, a loop without a caller, a captured call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from isa.instruction import Instruction
from sim.call.call import MAX_INSTRUCTIONS
from sim.call.captured import chosen_call
from sim.call.kernel_image import open_kernel, without_lines
from sim.call.single import open_function, read_arguments
from sim.cycles.branches import Branches, branches_of
from sim.cycles.executed import execute_call, execute_captured, executed_program
from sim.cycles.runtime import runtime_in_words
from sim.cycles.typical import elements_of, typical_arguments
from sim.kernels.extent import value_of
from sim.kernels.kernel import Inputs, Kernel, KernelError
from sim.timing.loops.bare_loop import ASSUMED, BareLoopError, body_in_file, loop_of_body, stream_of_body
from sim.timing.loops.loop import Loop
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import array_stream
from sim.toolchain.compilers import is_source
from sim.toolchain.image import Image
from sim.toolchain.levels import level_flags

_LONGEST_STREAM = 1_000_000  # instructions of a loop that is no `Loop`
_SEED = 1  # of what a call does not define; odd, so that arrays begin where their mappings do


@dataclass(frozen=True)
class TimedCall:
    """One call: all that it executes.

    `call` says which one it is, `elements` how many its largest output has (0: not known), `image` holds its source
    lines (None: it has none), `assumed` what nobody said of it, in words.
    """

    title: str
    call: str
    stream: Sequence[Executed]
    elements: int
    image: Image | None
    assumed: str = ""

    @property
    def instructions(self) -> list[Instruction]:
        """In the order of execution."""
        return [one.instruction for one in self.stream]

    @property
    def code(self) -> set[tuple[int | None, Instruction]]:
        """What was executed, with its addresses (None in a program of intrinsics)."""
        return set(array_stream(self.stream).sites)

    @cached_property
    def branches(self) -> Branches:
        """How well they are predicted, the same on every core."""
        return branches_of(self.stream)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What must be known to read its figures, in sentences."""
        runtime = runtime_in_words(self.stream, self.image) if self.image else ""
        return tuple(text for text in (self.assumed, runtime) if text)


@dataclass(frozen=True, kw_only=True)
class TimedLoop:
    """A loop and how many times its body is timed; `elements` are those of one body (0: not known).

    A body does `copies` iterations of the loop that was given.  `chosen` says of several which one it is, where nobody
    named one.
    """

    title: str
    loop: Loop
    count: int
    elements: int
    image: Image
    copies: int = 1
    chosen: str = ""

    @property
    def instructions(self) -> list[Instruction]:
        """Of one body."""
        return [one.instruction for one in self.loop.body]

    @property
    def code(self) -> set[tuple[int | None, Instruction]]:
        """Of one body, with its addresses."""
        return {(one.pc, one.instruction) for one in self.loop.body}


Timed = TimedCall | TimedLoop


def kernel_calls(
    kernel: Kernel, levels: Sequence[str], flags: Sequence[str], length: int | None, seed: int, limit: int
) -> Iterator[TimedCall]:
    """One call, the same each time: of its first source at every level, such as -O2, and of its program.

    Raises KernelError, and what compiling and calling raise: ToolchainError, ImageError, ExecutionError, CallError.
    """
    arguments = typical_arguments(kernel, length, seed)
    for level in levels if kernel.sources else ():
        yield _compiled_call(kernel, arguments, level, flags, limit)
    if kernel.program is not None:
        try:
            stream = executed_program(kernel, arguments, _SEED)
        except ValueError as error:
            raise KernelError(f"the program of {kernel.name} has no place in registers: {error}") from None
        except TypeError as error:  # of the author's own function
            raise KernelError(f"the program of {kernel.name} fails: {error}") from error
        yield _timed_call(kernel, arguments, "program", stream, None)


def kernel_call(
    kernel: Kernel, inputs: Inputs, level: str = "O2", flags: Sequence[str] = (), limit: int = MAX_INSTRUCTIONS
) -> TimedCall:
    """One call of a kernel's first source, compiled at a level ("O0" to "Oz"), on one input set.

    It may take `limit` instructions.  Raises ValueError for another level, KernelError for the inputs, and what
    compiling and calling raise: ToolchainError, ImageError, ExecutionError, CallError.
    """
    (flag,) = level_flags((level,))
    return _compiled_call(kernel, dict(kernel.arguments(inputs)), flag, flags, limit)


def _compiled_call(
    kernel: Kernel, arguments: dict[str, Any], level: str, flags: Sequence[str], limit: int
) -> TimedCall:
    source = kernel.sources[0]
    image = open_kernel(kernel, source, level, *kernel.flags, *flags)
    stream = execute_call(image, kernel, arguments, _SEED, limit)
    title = f"{source.name} {level}" if is_source(source) else source.name
    return _timed_call(kernel, arguments, title, stream, image)


def _timed_call(
    kernel: Kernel, arguments: dict[str, Any], title: str, stream: Sequence[Executed], image: Image | None
) -> TimedCall:
    """Its elements are those of its largest output, or what the kernel says that its work is."""
    elements, assumed = elements_of(kernel.signature, arguments), ""
    if kernel.work is not None:
        unit, count = kernel.work
        elements, assumed = value_of(count, arguments), f"an element is a {unit}"
    if image is not None:
        assumed = "; ".join(filter(None, (assumed, *without_lines(image, kernel.symbol))))
    return TimedCall(title, shown_arguments(arguments), stream, elements, image, assumed)


def function_call(
    file: Path,
    symbol: str,
    texts: Sequence[str],
    level: str,
    flags: Sequence[str],
    limit: int,
    other: Path | None = None,
) -> TimedCall:
    """A call of a function as `lanewise run` makes it; `symbol` is its name or its prototype.

    An `other` version may say how it is called, where the file does not.  Raises ArgumentError and PrototypeError, and
    what compiling and calling raise.
    """
    name, image, prototype = open_function(file, symbol, (level, *flags), other=other)
    title = f"{name} {level}" if is_source(file) else name
    signature, values = read_arguments(prototype.signature, texts)
    kernel = Kernel(name=name, symbol=name, sources=(file,), signature=signature, golden=dict)
    stream = execute_call(image, kernel, values, _SEED, limit)
    elements, assumed = elements_of(signature, values), "; ".join(without_lines(image, name))
    return TimedCall(title, shown_arguments(values), stream, elements, image, assumed)


def bare_loop(file: Path, label: str | None, count: int, elements: int, flags: Sequence[str]) -> Timed:
    """`count` iterations of a loop of which the file has only the code.

    Where the iterations differ, they are a stream.  Raises BareLoopError, and what compiling raises.
    """
    body = body_in_file(file, label, *flags)
    title, chosen = label or "loop", ""
    if label is None and body.of_loops > 1:
        title = body.label
        chosen = f"{file.name} has {body.of_loops} loops, of which the last is timed, {title}: --loop names another"
    try:
        return TimedLoop(
            title=title, loop=loop_of_body(body), count=count, elements=elements, image=body.image, chosen=chosen
        )
    except BareLoopError:
        if count * len(body.code) > _LONGEST_STREAM:
            raise
    stream = stream_of_body(body, count)
    return TimedCall(title, f"{count:,} iterations, which differ", stream, count * elements, body.image, ASSUMED)


def captured_call(file: Path, name: str | None, limit: int) -> TimedCall:
    """The first call of that id in a file of captured calls, or its only one.

    Raises CaptureError, and what executing raises.
    """
    call = chosen_call(file, name)
    title = call.name if call.name.isprintable() else repr(call.name)
    return TimedCall(title, f"entry {call.entry:#x}", execute_captured(call, limit), 0, None)


def shown_arguments(arguments: dict[str, Any]) -> str:
    """Such as "length=16, a[16], bias=null"."""
    shown = []
    for name, value in arguments.items():
        shape = getattr(value, "shape", ())
        text = f"[{', '.join(map(str, shape))}]" if shape else "=null" if value is None else f"={value}"
        shown.append(f"{name}{text}")
    return ", ".join(shown)
