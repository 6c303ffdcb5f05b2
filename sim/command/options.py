"""What several commands share: the kernel and its vectors, the compiler's options, captured calls that they write."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import typer

from isa.errors import MISMATCH
from sim.call.capture import Capture
from sim.call.needs import Lacking
from sim.check.vectors import MAX_SETS, Vectors, make_vectors
from sim.kernels.kernel import Kernel, KernelError, built_in_kernel
from sim.kernels.kernel_file import is_path, load_kernel
from sim.kernels.names import kernel_names
from sim.terminal.output import fail, print_text, require_one_of, writing_file
from sim.terminal.writable import require_writable
from sim.toolchain.compile_commands import object_as_told
from sim.toolchain.levels import LEVELS

MAX_LANES = 10_000_000
"""Random ones that --vectors takes; so many already run for hours."""


def chosen_kernel(name: str, mode: str | None) -> Kernel:
    """A built-in kernel, or that of a file where the name is a path.  Raises KernelError."""
    if is_path(name):
        return load_kernel(Path(name), mode)
    if name not in kernel_names() and Path(f"{name}.py").is_file():
        raise KernelError(f"there is no built-in kernel {name!r}: that of the file beside you is {name}.py")
    return built_in_kernel(name, mode)


def chosen_vectors(kernel: Kernel, random_lanes: int | None, seed: int) -> Vectors:
    """The vectors, as many as usual where no number is given; refused where they are too many, in lanes or in sets."""
    if random_lanes is not None and random_lanes > MAX_LANES:
        fail(f"--vectors takes at most {MAX_LANES:,} lanes, not {random_lanes:,}")
    made = make_vectors(kernel, random_lanes, seed)
    if random_lanes and len(made.inputs) >= MAX_SETS:
        fail(f"--vectors {random_lanes:,} needs more than the {MAX_SETS:,} input sets of a check: give fewer")
    return made


def optimisation_flag(level: str) -> str:
    """The flag of --opt with one level, such as -O2; ends the command where it is none."""
    return f"-{require_one_of('--opt', level.removeprefix('-'), LEVELS)}"


def optimisation_levels(opt: str) -> list[str]:
    """The levels of --opt, such as O2, each once; ends the command where one is none, or there is none."""
    levels = list(dict.fromkeys(level.strip().removeprefix("-") for level in opt.split(",") if level.strip()))
    if not levels or not set(levels) <= set(LEVELS):
        fail(f"--opt takes some of {','.join(LEVELS)}, not {opt!r}")
    return levels


def compile_flags(march: str | None, cflags: str, include: Sequence[Path] | None) -> tuple[str, ...]:
    """The flags of --march, --include and --cflags; ends the command where the last one is no shell text."""
    try:
        more = shlex.split(cflags)
    except ValueError as error:
        fail(f"--cflags cannot be split as a shell does: {error}")
    folders = (f"-I{folder.absolute()}" for folder in include or ())
    return (*([f"-march={march}"] if march else []), *folders, *more)


def as_compiled(source: Path, compile_with: str | None) -> Path:
    """What stands for a source: its object where --compile says how that is made.  Raises as `object_as_told`."""
    return source if compile_with is None else object_as_told(compile_with, source)


def held_numbers(texts: Sequence[str] | None) -> dict[str, int]:
    """The numbers of --hold by the names of their arguments; ends the command where one is none."""
    numbers = {}
    for text in texts or ():
        name, _, number = text.partition("=")
        try:
            numbers[name] = int(number, 0)
        except ValueError:
            fail(f"--hold takes an argument and its number, such as n=8, not {text!r}")
    return numbers


def tell_lacking(found: Sequence[Lacking], quiet: bool) -> None:
    """Print what processors lack, a line each, unless `quiet`; ends the command with 1 where there is something."""
    for one in () if quiet else found:
        print_text(str(one))
    if found:
        raise typer.Exit(MISMATCH)


def require_calls_file(option: str, file: Path | None) -> None:
    """End the command, with one sentence, where captured calls cannot be written to the file: before they are made."""
    if file is not None and file.suffix != ".jsonl":
        fail(f"captured calls are written to a file that ends in .jsonl, not to {file}")
    require_writable(option, file)
    require_writable(option, file and file.with_suffix(".npz"))


def save_calls(calls: Capture, file: Path) -> None:
    """Write captured calls and say what to do with them; ends the command where that cannot be."""
    with writing_file(file):
        calls.save(file)
    print_text(f"wrote {len(calls)} calls to {file}; next: lanewise replay {file}")
