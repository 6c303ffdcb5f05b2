"""`lanewise debug`: one call looked at on a screen, or by words, at a prompt or from a script."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from isa.errors import INTERRUPTED, MISSING, USAGE, LanewiseError
from sim.command.which_call import request_of
from sim.debug.commands import SessionCommands
from sim.debug.page.contents import page_contents
from sim.debug.page.html import session_page
from sim.debug.request import find_call
from sim.debug.session import Session
from sim.terminal.output import fail, print_progress, print_text, say, write_file
from sim.terminal.writable import require_writable

_PROMPT = "(lanewise) "
_LEAVE = ("quit", "exit", "q")


def debug(
    what: str,
    symbol: str | None,
    arguments: list[str] | None,
    script: Path | None,
    html: Path | None,
    plain: bool,
    opt: str,
    source: str | None,
    mode: str | None,
    length: int | None,
    input_set: int | None,
    inputs: str | None,
    failing: bool,
    fault: list[str] | None,
    diff: str | None,
    wrong: str | None,
    vectors: int | None,
    seed: int,
    call: str | None,
    march: str | None,
    cflags: str,
    include: list[Path] | None,
    beside: list[Path] | None,
    limit: int,
    object_file: Path | None,
    kernel_symbol: str | None,
    compile_with: str | None,
    constructors: bool,
    hold: list[str] | None,
) -> None:
    """Do what `lanewise debug` says: its options are those of `sim.command.signatures.looking.debug`."""
    require_writable("--html", html)
    try:
        lines = None if script is None else script.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        fail(f"cannot read {script}: {getattr(error, 'strerror', None) or 'it is no text'}", MISSING)
    if diff is not None and wrong is not None:
        fail("--diff and --wrong both say where to begin: give one of them", USAGE)
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") not in (None, "", "dumb")
    is_asked = html is None and lines is None
    is_application = is_terminal and is_asked and not plain and find_spec("textual") is not None
    if is_application:
        print_progress("opening the call")
    wanted = request_of(
        what=what, symbol=symbol, arguments=arguments, opt=opt, source=source, mode=mode, length=length,
        input_set=input_set, inputs=inputs, failing=failing, fault=fault, vectors=vectors, seed=seed, call=call,
        march=march, cflags=cflags, include=include, beside=beside, limit=limit, object_file=object_file,
        kernel_symbol=kernel_symbol, compile_with=compile_with, constructors=constructors, hold=hold,
    )  # fmt: skip
    try:
        session = Session(find_call(wanted))
        commands = SessionCommands(session)
        if wrong is not None:
            opening = commands.opening_at(wrong)
        else:
            opening = commands.opening() if diff is None else commands.opening_beside(diff)
    except KeyboardInterrupt:
        fail("interrupted before the call was opened", INTERRUPTED)
    if is_application:
        from sim.debug.app.screen import Debugger  # needs textual, which is optional

        Debugger(session, opening).run()
        return
    print_text(f"{session.call.title}\n{opening}")
    if lines is not None or (html is None and not sys.stdin.isatty()):
        _follow(commands, lines if lines is not None else sys.stdin)
    if html is not None:
        write_file(html, session_page(session.call.title, page_contents(session)).encode())
        print_progress(f"wrote {html}: open it in a browser")
    if not is_asked or not sys.stdin.isatty():
        return
    for line in _asked():
        try:
            print_text(_answer(commands, line))
        except LanewiseError as error:
            say(error)
        except KeyboardInterrupt:
            say("interrupted")


def _follow(commands: SessionCommands, lines: Iterable[str]) -> None:
    """Do what a script says; ends the command at a line that is none."""
    for number, line in enumerate(lines, 1):
        if line.strip() in _LEAVE:
            return
        if line.strip() and not line.startswith("# "):
            print_text(f"{_PROMPT}{line.strip()}")
            try:
                print_text(_answer(commands, line))
            except LanewiseError as error:
                fail(f"line {number}: {error}")
            except KeyboardInterrupt:
                fail("interrupted", INTERRUPTED)


def _answer(commands: SessionCommands, line: str) -> str:
    """What a line brings; the words that leave are of the prompt, not of the session, which gdb has too."""
    leaving = f"\n{_LEAVE[0]:20} leave; also {' and '.join(_LEAVE[1:])}" if line.strip() == "help" else ""
    return commands.answer(line) + leaving


def _asked() -> Iterator[str]:
    """The lines that a person types; an empty one is the line before again."""
    with suppress(ImportError):
        import readline  # noqa: F401  # of which `input` makes use
    line = "help"
    while True:
        try:
            line = input(_PROMPT).strip() or line
        except (EOFError, KeyboardInterrupt):
            print_text("")
            return
        if line in _LEAVE:
            return
        yield line
