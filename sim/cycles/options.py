"""The options of `lanewise cycles` that say what is timed, and which of them go together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from isa.errors import LanewiseError
from sim.call.kernel_image import Build
from sim.cycles.input import (
    Timed,
    TimedCall,
    TimedLoop,
    bare_loop,
    captured_call,
    function_call,
    kernel_calls,
)
from sim.kernels.kernel import built_in_kernel
from sim.kernels.kernel_file import load_kernel
from sim.kernels.names import kernel_names
from sim.timing.loops.variants import interleaved, unrolled
from sim.toolchain.compile_commands import object_as_told, source_as_told
from sim.toolchain.compilers import ASSEMBLY, is_source

USUAL_COUNT: Final = 1000
USUAL_SEED: Final = 1


class TimedKind(StrEnum):
    """What can be timed."""

    KERNEL = "a kernel"
    FUNCTION = "a function"
    LOOP = "a loop in an assembly file"
    CAPTURED = "a file of captured calls"


_ONLY: Final = {
    TimedKind.KERNEL: ("mode", "length", "seed"),
    TimedKind.LOOP: ("loop", "count", "unroll", "interleave"),
    TimedKind.CAPTURED: ("call",),
}
"""Of the options that not everything takes, what they are for."""


class UsageError(LanewiseError):
    """Options that do not go together; the message is one sentence."""


@dataclass(frozen=True, kw_only=True)
class TimingRequest:
    """What is to be timed, as it was given; None for what was not given.

    `compile_with` is how the source, or the first one of a kernel, is compiled.  `source` is timed in place of that of
    a kernel; an `other` version of a function says how it is called, where its own file does not.
    """

    what: str
    symbol: str | None
    arguments: tuple[str, ...]
    levels: tuple[str, ...]
    flags: tuple[str, ...]
    limit: int
    elements: int | None = None
    mode: str | None = None
    length: int | None = None
    seed: int | None = None
    loop: str | None = None
    count: int | None = None
    unroll: int | None = None
    interleave: int | None = None
    call: str | None = None
    compile_with: str | None = None
    source: Path | None = None
    other: Path | None = None


@dataclass(frozen=True)
class TimedGroup:
    """What is timed, below a title: one thing, or several to be compared."""

    title: str
    timed: tuple[Timed, ...]


def two_versions(wanted: TimingRequest, other: str) -> tuple[TimingRequest, TimingRequest]:
    """What is to be timed, and another version of it: of a kernel another one, or another file with its function, which
    is not compiled by the command that makes the first.
    """
    after = replace(wanted, what=other, compile_with=None)
    if _kind(wanted) is TimedKind.KERNEL and _kind(after) is not TimedKind.KERNEL:
        return wanted, replace(wanted, source=Path(other), compile_with=None)
    if _kind(wanted) is _kind(after) is TimedKind.FUNCTION:
        return replace(wanted, other=Path(other)), replace(after, other=Path(wanted.what))
    return wanted, after


def find_timed(wanted: TimingRequest) -> TimedGroup:
    """What the options ask for, executed.  Raises UsageError, and what `sim.cycles.input` raises."""
    kind = _kind(wanted)
    for of, names in _ONLY.items():
        given = [name for name in names if getattr(wanted, name) is not None]
        if given and of is not kind:
            raise UsageError(f"--{given[0]} is for {of}, and {wanted.what} is {kind}")
    if wanted.compile_with is not None and kind not in (TimedKind.KERNEL, TimedKind.FUNCTION):
        raise UsageError(f"--compile is for {TimedKind.KERNEL} or {TimedKind.FUNCTION}, and {wanted.what} is {kind}")
    if kind is not TimedKind.FUNCTION and wanted.symbol is not None:
        raise UsageError(f"{wanted.what} is {kind} and takes no function or argument such as {wanted.symbol!r}")
    return _READERS[kind](wanted)


def _kind(wanted: TimingRequest) -> TimedKind:
    path = Path(wanted.what)
    named = wanted.what in kernel_names() or not (path.suffix or os.sep in wanted.what or path.exists())
    if named or path.suffix == ".py":
        return TimedKind.KERNEL
    if path.suffix == ".jsonl":
        return TimedKind.CAPTURED
    return TimedKind.LOOP if path.suffix in ASSEMBLY and wanted.symbol is None else TimedKind.FUNCTION


def _kernel(wanted: TimingRequest) -> TimedGroup:
    is_file = wanted.what.endswith(".py")
    kernel = load_kernel(Path(wanted.what), wanted.mode) if is_file else built_in_kernel(wanted.what, wanted.mode)
    if wanted.source is not None:
        kernel = replace(kernel, sources=(wanted.source,), program=None)
    kernel = Build(compile_with=wanted.compile_with).of(kernel)
    seed = USUAL_SEED if wanted.seed is None else wanted.seed
    if not kernel.sources and kernel.program is None:
        raise UsageError(f"{kernel.title} has neither sources nor a program: there is nothing to time")
    levels = wanted.levels if kernel.sources and is_source(kernel.sources[0]) else wanted.levels[:1]
    calls = kernel_calls(kernel, levels, wanted.flags, wanted.length, seed, wanted.limit)
    return TimedGroup(kernel.title, tuple(_counted(call, wanted) for call in calls))


def _function(wanted: TimingRequest) -> TimedGroup:
    path = Path(wanted.what)
    if wanted.symbol is None:
        raise UsageError(f"name the function of {path} to call, and give its arguments")
    instead = ""
    if wanted.compile_with is not None:
        other = source_as_told(wanted.compile_with, path).resolve() != path.resolve()
        instead = f", in place of {path.name}" if other else ""
        path = object_as_told(wanted.compile_with, path)
    levels = wanted.levels if is_source(path) else wanted.levels[:1]
    calls = [
        function_call(path, wanted.symbol, wanted.arguments, level, wanted.flags, wanted.limit, wanted.other)
        for level in levels
    ]
    return TimedGroup(f"{wanted.symbol} of {path.name}{instead}", tuple(_counted(call, wanted) for call in calls))


def _captured(wanted: TimingRequest) -> TimedGroup:
    path = Path(wanted.what)
    return TimedGroup(path.name, (_counted(captured_call(path, wanted.call, wanted.limit), wanted),))


def _counted(call: TimedCall, wanted: TimingRequest) -> TimedCall:
    return call if wanted.elements is None else replace(call, elements=wanted.elements)


def _loop(wanted: TimingRequest) -> TimedGroup:
    path, count = Path(wanted.what), USUAL_COUNT if wanted.count is None else wanted.count
    one = bare_loop(path, wanted.loop, count, wanted.elements or 0, wanted.flags)
    timed = [one]
    for times, make, name in ((wanted.unroll, unrolled, "unrolled"), (wanted.interleave, interleaved, "interleaved")):
        if times is None:
            continue
        if not isinstance(one, TimedLoop):
            raise UsageError(f"{one.title} cannot be {name}: its iterations differ")
        try:
            loop = make(one.loop, times)
        except ValueError as error:
            raise UsageError(f"{one.title} cannot be {name} {times} times: {error}") from None
        # It does as many of the old iterations, or up to `times` - 1 more.
        title, bodies, elements = f"{name} {times} times", -(-one.count // times), times * one.elements
        timed.append(replace(one, title=title, loop=loop, count=bodies, elements=elements, copies=times))
    return TimedGroup(path.name, tuple(timed))


_READERS: Mapping[TimedKind, Callable[[TimingRequest], TimedGroup]] = {
    TimedKind.KERNEL: _kernel,
    TimedKind.FUNCTION: _function,
    TimedKind.LOOP: _loop,
    TimedKind.CAPTURED: _captured,
}
