"""What the subcommands share of the terminal: exit codes, errors in one sentence, output that may be cut off."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TextIO, TypeVar, cast

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.segment import Segment
from rich.text import Text

from isa.errors import MISSING, USAGE, LanewiseError
from sim.terminal.documents import as_document
from sim.toolchain.kept import write_whole
from sim.view.sentences import visible

Choice = TypeVar("Choice")


class PlainConsole(Console):
    """A console that takes texts literally: no emoji for :x:, no escape sequences but rich's own."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


stderr = PlainConsole(stderr=True)


class CommandError(LanewiseError):
    """What only a command can find wrong: its options, and how they fit together."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def fail(message: str, code: int = USAGE) -> NoReturn:
    """End the command with one sentence."""
    raise CommandError(message, code)


def require_one_of(option: str, given: object, allowed: Sequence[Choice]) -> Choice:
    """What an option is given, one of these; ends the command, with one sentence, where it is anything else."""
    if given not in allowed:
        fail(f"{option} takes one of {', '.join(map(str, allowed))}, not {given!r}")
    return allowed[allowed.index(cast(Choice, given))]


def say(error: object) -> None:
    """Write the sentence that a command ends with."""
    stderr.print(f"lanewise: {error}", style="red", highlight=False, soft_wrap=True, markup=False)


class _Bar(Progress):
    """A bar whose thread has no interrupts: one that is held elsewhere would come through it."""

    def start(self) -> None:
        from sim.processes import interrupts_held

        with interrupts_held():
            super().start()


def progress_bar() -> Progress:
    """A bar of progress on stderr, gone at its end; disabled where stderr is no terminal, for lines in its place."""
    share = (BarColumn(), TaskProgressColumn(), MofNCompleteColumn())
    columns = (TextColumn("{task.description}", markup=False), *share, TimeElapsedColumn())
    is_terminal = stderr.is_interactive and sys.stderr.isatty()
    return _Bar(*columns, console=stderr, transient=True, disable=not is_terminal)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Shows on a terminal, while it takes, what is done that nobody can count the parts of."""
    with progress_bar() as progress:
        progress.add_task(visible(what), total=None)
        yield


def print_shown(show: Callable[[Console], None]) -> None:
    """Write what `show` prints to stdout, as this terminal shows it, with its colours."""
    console = PlainConsole()
    with writing_to(sys.stdout):
        with console.capture() as capture:
            show(console)
        typer.echo(capture.get(), nl=False, color=True)


def print_text(text: str) -> None:
    """Write a result to stdout, without colours."""
    with writing_to(sys.stdout):
        typer.echo(visible(text))


def print_json(document: str, value: object) -> None:
    """Write a result for machines to stdout: a document of a name that `lanewise schema` knows."""
    print_text(json.dumps(as_document(document, value), indent=2, allow_nan=False))


def print_progress(line: str) -> None:
    """Write a line of progress to stderr."""
    with writing_to(sys.stderr):
        typer.echo(visible(line), err=True)


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; what hinders it ends the command.

    A device or a pipe is written to, and a link stays one: nothing takes their place.
    """
    with writing_file(path):
        if path.exists() and not path.is_file():
            path.write_bytes(content)
        else:
            write_whole(Path(os.path.realpath(path)), content)


@contextmanager
def writing_file(path: Path) -> Iterator[None]:
    """What hinders the writing of a file ends the command."""
    try:
        yield
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror}", MISSING)


@contextmanager
def writing_to(stream: TextIO) -> Iterator[None]:
    """A reader that closed the pipe has read enough: the rest is dropped.  Any other fault ends the command."""
    try:
        yield
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # so that the flush at exit does not fail again
        if not isinstance(error, BrokenPipeError):
            fail(f"cannot write the report: {error.strerror}", MISSING)
