"""Groups of commands that are imported when they are wanted.

All of them would make every start of `lanewise` several times as long, and some need packages that others do not.
"""

from __future__ import annotations

import os
import re
import select
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from errno import ENAMETOOLONG
from functools import wraps
from importlib import import_module
from inspect import cleandoc
from itertools import islice
from traceback import walk_tb
from typing import Any, ClassVar, Final, TypeVar, cast

import typer
from typer.core import TyperCommand, TyperGroup

from isa.errors import INTERRUPTED, MISSING, USAGE, LanewiseError, did_you_mean, pip_install
from sim.terminal.interrupt import end_at_once
from sim.terminal.output import fail, say

NUMBERS_BELOW_ZERO: Final = {"ignore_unknown_options": True}
"""Settings of a command whose arguments may be such as -5."""
_OWN: Final = ("isa", "sim", "rtl_models")
Command = TypeVar("Command", bound=Callable[..., None])
WORK: Final[dict[Callable[..., Any], str]] = {}
"""By signature of a command, what does the work: "module:function"."""


@dataclass(frozen=True)
class OnDemand:
    """A command by where it is, "module:function" or "module:app", and the line that help has of it."""

    target: str
    help: str
    settings: Mapping[str, Any] = field(default_factory=dict)


class _WithNumbers(TyperCommand):
    """A command whose arguments may be numbers below zero: what looks like an option that it lacks is refused still."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = dict.fromkeys(ctx.help_option_names, 0)  # by name, how many values it takes
        for option in self.params:
            if option.param_type_name == "option":
                values = 0 if getattr(option, "is_flag", False) else option.nargs
                known |= dict.fromkeys((*option.opts, *option.secondary_opts), values)
        words = iter(args)
        for word in words:
            name, equals, _ = word.partition("=")
            if word == "--":
                break
            if name in known and not equals:
                list(islice(words, known[name]))
            elif name not in known and re.match("--[A-Za-z]", name):
                ctx.fail(f"No such option: {name}{did_you_mean(name, known)}")
        return super().parse_args(ctx, args)


class OnDemandGroup(TyperGroup):
    """The commands of `COMMANDS`; `EXTRA` names the extra of the package that brings what they import."""

    COMMANDS: ClassVar[Mapping[str, OnDemand]]
    EXTRA: ClassVar[str] = ""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """What help needs of a command: its name and one line."""
        found = self.COMMANDS.get(cmd_name)
        return None if found is None else TyperCommand(cmd_name, help=found.help)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command itself."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and (meant := did_you_mean(args[0], known)):
            ctx.fail(f"No such command '{args[0]}'{meant}.")
        name, _, rest = super().resolve_command(ctx, args)
        return name, self.find(ctx, str(name)), rest

    def find(self, ctx: Any, name: str) -> Any:
        """The command of that name, imported."""
        found = self.COMMANDS[name]
        target = _loaded(found.target, f"{ctx.command_path} {name}", self.EXTRA)
        if isinstance(target, typer.Typer):
            group = typer.main.get_group(target)
            group.name = name
            return _wrapped_once(group)
        alone = typer.Typer(add_completion=False)
        kind = _WithNumbers if found.settings is NUMBERS_BELOW_ZERO else TyperCommand
        alone.command(name, cls=kind, context_settings=dict(found.settings))(target)
        return _wrapped_once(typer.main.get_command(alone))


def done_by(target: str) -> Callable[[Command], Command]:
    """Declare a command's signature, without a body: the function "module:name" of the same parameters does the work.

    That is imported when it is called, so neither help nor a wrong option waits for what the work needs.
    """

    def declare(signature: Command) -> Command:
        @wraps(signature)
        def run(*arguments: Any, **options: Any) -> None:
            _loaded(target, "the command")(*arguments, **options)

        WORK[run] = target
        return cast("Command", run)

    return declare


def _loaded(target: str, command: str, extra: str = "") -> Any:
    """What is at "module:name"; ends the command where a package that it needs is not installed."""
    module, name = target.split(":")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as missing:
        package = str(missing.name).partition(".")[0]
        if package in _OWN:
            raise
        install = f"lanewise[{extra}]" if extra else package
        fail(f"{command} needs {package}, which is not installed; run: {pip_install(install)}", MISSING)


def _hindrance(error: OSError) -> tuple[str, int]:
    """What the system refused, in one sentence, and the exit code."""
    try:
        os.getcwd()
    except OSError:
        return "the working directory is there no more: change to one that is", MISSING
    file = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    if error.errno == ENAMETOOLONG:
        return f"cannot read {file}{error.strerror}", USAGE
    return f"stopped, without a verdict: {file}{error.strerror or error}", MISSING


def _reader_left(error: BaseException) -> bool:
    """Whether a reader has read enough of what typer and rich print, as help is: `lanewise --help | head`."""
    if isinstance(error, SystemExit):  # rich's, which drops the rest by itself
        *_, (last, _) = walk_tb(error.__traceback__)
        return str(last.f_globals["__name__"]) == "rich.console"
    output = select.poll()
    output.register(1, 0)
    if not isinstance(error, BrokenPipeError) or not output.poll(0):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that the flush at exit does not fail again
    return True


def _wrapped_once(command: Any) -> Any:
    """The command with its paragraphs of help as single lines, which the terminal's width wraps, and nothing else."""
    paragraphs = cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs) or None
    for under in getattr(command, "commands", {}).values():
        _wrapped_once(under)
    return command


class EdgeGroup(OnDemandGroup):
    """The outermost group: the one place where an error becomes a sentence and an exit code."""

    def make_context(self, *given: Any, **extra: Any) -> Any:
        """Reads the arguments, and prints the help of all commands."""
        try:
            return super().make_context(*given, **extra)
        except (BrokenPipeError, SystemExit) as error:
            if _reader_left(error):
                raise typer.Exit from None
            raise

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except LanewiseError as error:
            say(error)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except OSError as error:  # what no command knew more about
            if _reader_left(error):
                return None
            sentence, code = _hindrance(error)
            say(sentence)
            raise typer.Exit(code) from None
        except MemoryError:
            say("stopped, without a verdict: there is no memory left; run less at once, or where there is more")
            raise typer.Exit(MISSING) from None
        except SystemExit as end:  # click's own are raised further out
            if _reader_left(end):
                return None
            say(f"stopped, without a verdict: Python that the command ran ended it by sys.exit({end.code!r})")
            raise typer.Exit(USAGE) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        found = super().resolve_command(ctx, args)
        if signal.getsignal(signal.SIGINT) is end_at_once:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # the command knows what it has to keep
        return found
