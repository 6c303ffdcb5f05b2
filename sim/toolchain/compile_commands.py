"""Sources compiled as their authors' build does it: by a command line, or by the entry of compile_commands.json."""

from __future__ import annotations

import atexit
import json
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from isa.errors import LanewiseError
from sim.toolchain.compilers import is_source
from sim.toolchain.tools import run_as_told

_DATABASE = ".json"
_SHOWN = 6
_DRIVERS = re.compile(r"(.+-)?(gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(-[\d.]+)?(\.exe)?")


class CompileCommandError(LanewiseError):
    """A command line, or a file of them, that cannot be used; one sentence."""


class CompileCommand(NamedTuple):
    """A command as a list of words, and the folder in which it runs."""

    words: list[str]
    folder: Path


def object_as_told(command: str, source: Path) -> Path:
    """The object of a source, compiled by a command line, or by its entry in a file whose name ends in .json.

    The command runs without a shell, with `-o` of ours behind it, and with `-g`, for source lines, where it is one of
    gcc or clang that says nothing of them: the object has the name of the one source that the command names, else of
    this one, in a folder that is removed at the end of this process.  Raises CompileCommandError, also for what is no
    source, and ToolchainError where the command fails.
    """
    if not is_source(source):
        raise CompileCommandError(f"--compile says how a source is compiled, and {source} is none")
    words, folder = _as_told(command, source)
    made = Path(mkdtemp(prefix="lanewise-"), f"{source_as_told(command, source).name}.o")
    atexit.register(shutil.rmtree, made.parent, ignore_errors=True)
    run_as_told([*words, *_with_lines(words), "-o", str(made)], folder)
    if not made.is_file():
        raise CompileCommandError(f"the command {words[0]} ends well and has made no object of {source} by -o {made}")
    return made


def source_as_told(command: str, source: Path) -> Path:
    """The one source that a command names, else this one.  Raises CompileCommandError."""
    words, folder = _as_told(command, source)
    named = {folder / word for word in words if is_source(Path(word))}
    return named.pop() if len(named) == 1 else source


def _as_told(command: str, source: Path) -> CompileCommand:
    return _entry(Path(command), source) if command.endswith(_DATABASE) else _given(command)


def _with_lines(words: Sequence[str]) -> list[str]:
    """What a command lacks so that its object has source lines; the code is the same with them."""
    is_known = any(_DRIVERS.fullmatch(Path(word).name) for word in words)
    return ["-g"] if is_known and not any(word.startswith("-g") for word in words) else []


def _given(command: str) -> CompileCommand:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CompileCommandError(f"--compile cannot be split as a shell does: {error}") from None
    if not words:
        raise CompileCommandError("--compile takes a command line, or a compile_commands.json, and nothing is given")
    return CompileCommand(words, Path.cwd())


def _entry(database: Path, source: Path) -> CompileCommand:
    """How the file says that the source is compiled (Clang: JSON Compilation Database Format)."""
    try:
        entries = json.loads(database.read_bytes())
    except OSError as error:
        raise CompileCommandError(f"cannot read {database}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise CompileCommandError(f"{database} is no JSON: {str(error) or 'it is nested too deeply'}") from None
    if not isinstance(entries, list) or not all(_is_entry(entry) for entry in entries):
        raise CompileCommandError(
            f"{database} is no list of entries with 'directory', 'file', and 'command' or 'arguments'"
        )
    folders = [(database.parent / entry["directory"]).resolve() for entry in entries]
    files = [(folder / entry["file"]).resolve() for folder, entry in zip(folders, entries, strict=True)]
    if source.resolve() not in files:
        names = ", ".join([*dict.fromkeys(file.name for file in files)][:_SHOWN]) or "nothing"
        raise CompileCommandError(f"{database} has no entry for {source}; it has some for {names}")
    at = files.index(source.resolve())
    entry = entries[at]
    words = entry.get("arguments") or _given(entry["command"]).words
    return CompileCommand(words, folders[at])


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or not all(_is_word(entry.get(key)) for key in ("directory", "file")):
        return False
    words = entry.get("arguments")
    if words:
        return isinstance(words, list) and all(map(_is_word, words))
    return _is_word(entry.get("command"))


def _is_word(value: object) -> bool:
    """Whether it is a text that the system takes: no NUL, and no half of a character, both of which JSON can say."""
    try:
        return isinstance(value, str) and b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False
