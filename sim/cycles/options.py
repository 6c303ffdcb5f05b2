"""The options of `lanewise cycles` that say what is timed, and which of them go together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from sim.cycles.input import (
    ASSEMBLY,
    Timed,
    TimedCall,
    TimedLoop,
    bare_loop,
    captured_call,
    function_call,
    kernel_calls,
)
from sim.kernels.kernel import built_in_kernel, kernel_names
from sim.kernels.kernel_file import load_kernel
from sim.timing.loop import Loop
from sim.timing.variants import interleaved, unrolled
from sim.toolchain import is_source

USUAL_COUNT: Final = 1000
USUAL_SEED: Final = 1


class Kind(StrEnum):
    """What can be timed."""

    KERNEL = "a kernel"
    FUNCTION = "a function"
    LOOP = "a loop in an assembly file"
    CAPTURED = "a file of captured calls"


_ONLY: Final = {
    Kind.KERNEL: ("mode", "length", "seed"),
    Kind.LOOP: ("loop", "count", "unroll", "interleave"),
    Kind.CAPTURED: ("call",),
}
"""Of the options that not everything takes, what they are for."""


class UsageError(Exception):
    """Options that do not go together; the message is one sentence."""


@dataclass(frozen=True)
class Wanted:
    """What is to be timed, as it was given; None for what was not given."""

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


@dataclass(frozen=True)
class Found:
    """What is timed, below a title: one thing, or several to be compared."""

    title: str
    timed: tuple[Timed, ...]


def find_timed(wanted: Wanted) -> Found:
    """What the options ask for, executed.  Raises UsageError, and what `sim.cycles.input` raises."""
    kind = _kind(wanted)
    for of, names in _ONLY.items():
        given = [name for name in names if getattr(wanted, name) is not None]
        if given and of is not kind:
            raise UsageError(f"--{given[0]} is for {of}, and {wanted.what} is {kind}")
    if kind is not Kind.FUNCTION and wanted.symbol is not None:
        raise UsageError(f"{wanted.what} is {kind} and takes no function or argument such as {wanted.symbol!r}")
    return _READERS[kind](wanted)


def _kind(wanted: Wanted) -> Kind:
    path = Path(wanted.what)
    named = wanted.what in kernel_names() or not (path.suffix or os.sep in wanted.what or path.exists())
    if named or path.suffix == ".py":
        return Kind.KERNEL
    if path.suffix == ".jsonl":
        return Kind.CAPTURED
    return Kind.LOOP if path.suffix in ASSEMBLY and wanted.symbol is None else Kind.FUNCTION


def _kernel(wanted: Wanted) -> Found:
    is_file = wanted.what.endswith(".py")
    kernel = load_kernel(Path(wanted.what), wanted.mode) if is_file else built_in_kernel(wanted.what, wanted.mode)
    seed = USUAL_SEED if wanted.seed is None else wanted.seed
    calls = kernel_calls(kernel, wanted.levels, wanted.flags, wanted.length, seed, wanted.limit)
    return Found(kernel.title, tuple(_counted(call, wanted) for call in calls))


def _function(wanted: Wanted) -> Found:
    path = Path(wanted.what)
    if wanted.symbol is None:
        raise UsageError(f"name the function of {path} to call, and give its arguments")
    levels = wanted.levels if is_source(path) else wanted.levels[:1]
    calls = [
        function_call(path, wanted.symbol, wanted.arguments, level, wanted.flags, wanted.limit) for level in levels
    ]
    return Found(f"{wanted.symbol} of {path.name}", tuple(_counted(call, wanted) for call in calls))


def _captured(wanted: Wanted) -> Found:
    path = Path(wanted.what)
    return Found(path.name, (_counted(captured_call(path, wanted.call, wanted.limit), wanted),))


def _counted(call: TimedCall, wanted: Wanted) -> TimedCall:
    return call if wanted.elements is None else replace(call, elements=wanted.elements)


def _loop(wanted: Wanted) -> Found:
    path, count = Path(wanted.what), USUAL_COUNT if wanted.count is None else wanted.count
    one = bare_loop(path, wanted.loop, count, wanted.elements or 0, wanted.flags)
    return Found(path.name, (one, *_variants(one, wanted)))


def _variants(one: Timed, wanted: Wanted) -> Iterator[TimedLoop]:
    asked = ((wanted.unroll, unrolled, "unrolled"), (wanted.interleave, interleaved, "interleaved"))
    for times, make, name in asked:
        if times is not None:
            yield _variant(one, times, make, name)


def _variant(one: Timed, times: int, make: Callable[[Loop, int], Loop], name: str) -> TimedLoop:
    """It does as many of the old iterations, or up to `times` - 1 more."""
    if not isinstance(one, TimedLoop):
        raise UsageError(f"{one.title} cannot be {name}: its iterations differ")
    try:
        loop = make(one.loop, times)
    except ValueError as error:
        raise UsageError(f"{one.title} cannot be {name} {times} times: {error}") from None
    title, count, elements = f"{name} {times} times", -(-one.count // times), times * one.elements
    return replace(one, title=title, loop=loop, count=count, elements=elements, copies=times)


_READERS: Mapping[Kind, Callable[[Wanted], Found]] = {
    Kind.KERNEL: _kernel,
    Kind.FUNCTION: _function,
    Kind.LOOP: _loop,
    Kind.CAPTURED: _captured,
}
