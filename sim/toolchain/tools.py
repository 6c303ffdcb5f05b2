"""The programs in the `ziglang` package and the user's own compilers, run; what their failures mean; what is kept.

The only file that runs a compiler or a linker.
"""

import contextlib
import errno
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path

from isa.errors import MISSING, LanewiseError, pip_install
from sim.toolchain.kept import Make, kept_or_made

# Variables by which the user's shell would change what clang compiles.
_CLANG_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS")

_REQUIRED_FEATURE = re.compile(r"requires target feature '([\w.]+)'|instruction requires: ([\w.]+)")
_ARCHITECTURE = re.compile(r"v\d+(\.\d+)?a")
_EXTENSION_NAMES = {"fullfp16": "fp16", "complxnum": "fcma"}  # where LLVM's feature and -march differ
_UNDEFINED = re.compile(r"undefined (?:\w+ )?symbol: (.+)")

# What a tool says of its own output, not of a line of the source, when the cache takes no more.
_FULL = "|".join(os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS))
_CANNOT_WRITE = re.compile(rf"^(?:error|fatal error|LLVM ERROR|ld\.lld: error): .*(?:{_FULL})'?$", re.MULTILINE)
_CACHE_ADVICE = "set LANEWISE_CACHE to a directory that can be written"
AGAIN = "--force-reinstall ziglang"
"""What pip is told where the package is damaged."""

LONGEST = 300.0
"""Seconds that a compiler or linker may take; a kernel takes a tenth of one."""


class ToolchainError(LanewiseError):
    """A source that cannot be built: one sentence, then the compiler's or linker's own message."""


class UndefinedSymbols(ToolchainError):
    """A program that uses what it does not define."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(f"undefined symbols: {', '.join(names)}")
        self.names = names


class ToolchainUnavailable(ToolchainError):
    """The environment is at fault, whatever the source: one sentence."""

    exit_code = MISSING


class ToolMissing(ToolchainUnavailable):
    """The compiler is not installed."""


class CacheUnusable(ToolchainUnavailable):
    """The cache has no place, or nothing can be written there."""


def zig(tool: str) -> list[str]:
    """The program in `ziglang` itself: Python, to start it, takes as long as a small file takes to compile."""
    return [str(ziglang() / "zig"), tool]


def ziglang() -> Path:
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise ToolMissing(f"no AArch64 compiler: the package ziglang is not installed; run: {pip_install('ziglang')}")
    return Path(found.origin).parent


def ziglang_version() -> str:
    try:
        return importlib.metadata.version("ziglang")
    except importlib.metadata.PackageNotFoundError as error:
        raise ToolMissing(f"the package ziglang is installed only in part; run: {pip_install(AGAIN)}") from error


def cache_directory() -> Path:
    if chosen := os.environ.get("LANEWISE_CACHE"):
        return Path(chosen).absolute()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "lanewise").absolute()
    except RuntimeError as error:  # no HOME, and the system does not know the user
        raise CacheUnusable(f"no home directory is known, so the cache has no place: {_CACHE_ADVICE}") from error


def has_new_cache() -> bool:
    """Whether the folder of what is kept was not there before: it is now.  Raises CacheUnusable."""
    directory = cache_directory()
    is_new = not directory.is_dir()
    with writing_to(directory):
        directory.mkdir(parents=True, exist_ok=True)
    return is_new


@contextlib.contextmanager
def writing_to(directory: Path) -> Iterator[None]:
    """CacheUnusable for an OSError within."""
    try:
        yield
    except OSError as error:
        raise CacheUnusable(f"cannot keep the result in {directory}: {error}; {_CACHE_ADVICE}") from error


def key_of(settings: object, content: bytes) -> str:
    return hashlib.sha256(json.dumps([settings, ziglang_version()]).encode() + content).hexdigest()


def cached(key: str, suffix: str, make: Make) -> Path:
    """The file that was kept under the key, else what `make` makes."""
    directory = cache_directory()
    with writing_to(directory):
        return kept_or_made(directory, key, suffix, make)


def _tool(command: list[str]) -> str:
    """The name of the program that a command runs."""
    program, *words = command
    return words[0] if Path(program).name == "zig" and words else Path(program).name


def run(command: list[str], directory: Path | None = None) -> str:
    """What the command writes to stdout, run in the directory or else in the working directory.

    A failure is the environment's fault where the tool could not write or was stopped without a word, else the
    source's; its message is led by what to do where that is known.
    """
    done = executed(command, directory)
    tool, said = _tool(command), done.stderr
    if not done.returncode:
        return done.stdout
    if full := _CANNOT_WRITE.search(said):
        raise CacheUnusable(f"{tool} cannot write to the cache: {full[0]}; free space there or {_CACHE_ADVICE}")
    if done.returncode == -signal.SIGSEGV:
        raise ToolchainError(f"{tool} crashes on it: mend or replace what it is given\n{said}")
    if done.returncode < 0 and not said:  # what lld does on a full disk, and what a lack of memory does
        raise ToolchainUnavailable(f"{tool} was stopped by signal {-done.returncode}: free memory and disk space")
    if undefined := _UNDEFINED.findall(said):
        raise UndefinedSymbols(undefined)
    features = {name or required for name, required in _REQUIRED_FEATURE.findall(said)}
    if not features:
        raise ToolchainError(f"the source does not build: mend what the tool reports\n{said}")
    # v8.3a names an architecture, others are extensions of at least Armv8.2-A.
    versions = {name for name in features if _ARCHITECTURE.fullmatch(name)}
    architecture = max(["armv8.2-a", *(f"armv{name[1:-1]}-a" for name in versions)])
    march = "+".join([architecture, *sorted({_EXTENSION_NAMES.get(name, name) for name in features - versions})])
    raise ToolchainError(f"an instruction is not in the target: add the flag -march={march}\n{said}")


def run_as_told(command: list[str], directory: Path) -> None:
    """Run a user's own compiler in that directory, in an environment as it is.

    Raises ToolchainError with what it says where it fails, ToolchainUnavailable where it cannot be run.
    """
    if not directory.is_dir():
        raise ToolchainUnavailable(f"cannot run {_tool(command)}: there is no folder {directory}")
    done = executed(command, directory, left_out=())
    if done.returncode:
        how = f"ends with {done.returncode}" if done.returncode > 0 else f"was stopped by signal {-done.returncode}"
        said = done.stderr.strip() or done.stdout.strip() or "nothing"
        raise ToolchainError(f"the command {shlex.join(command)} {how}; it says:\n{said}")


def executed(
    command: list[str], directory: Path | None = None, left_out: Collection[str] = _CLANG_VARIABLES
) -> subprocess.CompletedProcess[str]:
    """Run a program in an environment without these variables."""
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    try:
        return subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", env=environment, cwd=directory,
            timeout=LONGEST,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        endless = f"{_tool(command)} does not end: it was stopped after {LONGEST:g} s; give it less, or a source"
        raise ToolchainUnavailable(f"{endless} that does not include itself or a device") from None
    except FileNotFoundError as error:
        raise ToolchainUnavailable(f"cannot run {_tool(command)}: there is no program {command[0]}") from error
    except OSError as error:
        raise ToolchainUnavailable(f"cannot run {_tool(command)}: {error}") from error
