"""The SystemVerilog files of the lanes and units: one module a file, of the same name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from isa.errors import LanewiseError

LANES: Final = Path(__file__).parents[1] / "lanes"
"""The directory of the modules, their package and what they include."""

_MENTIONS: Final = (
    (re.compile(r'^ *`include "(\w+\.svh)"', re.MULTILINE), ""),
    (re.compile(r"\b(\w+_pkg)::"), ".sv"),
    (re.compile(r"^ +(\w+) (?:#\(|u_\w+ \()", re.MULTILINE), ".sv"),
)
"""How a file of the package says which others it needs; an instance starts a line."""
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z_]\w*(?:\.s?vh)?")
"""A file of anybody else may say it in any way: what it needs are all files that have the name of a word in it."""
MODULE_ENDINGS: Final = (".sv", ".v")
_INCLUDED: Final = (".svh", ".vh")


class UnreadableModule(LanewiseError):
    """A file of a user's that cannot be read: one sentence."""


def module_names() -> list[str]:
    """The modules there are, in alphabetical order."""
    return sorted(file.stem for file in LANES.glob("*.sv") if not file.stem.endswith("_pkg"))


def sources_of(module: str, before: Sequence[Path] = ()) -> dict[str, str]:
    """By file name the texts of a module and of all that it needs: what is included, then packages, then modules.

    Files in the folders `before` go before those here.  Raises ValueError where there is no module of that name here,
    and UnreadableModule for a file of those folders that cannot be read, or is not text in UTF-8.
    """
    if module not in module_names():
        raise ValueError(f"no lane module is called {module!r}: there are {', '.join(module_names())}")
    return needed([f"{module}.sv"], before)


def needed(names: Sequence[str], before: Sequence[Path] = ()) -> dict[str, str]:
    """The texts of these files, of the folders `before` or here, and of all that they need, as `sources_of`."""
    files = _reached(list(names), before)
    order = sorted(files, key=lambda name: (_place(name), name))
    return {name: _text(files[name]) for name in order}


def _place(name: str) -> int:
    return 0 if name.endswith(_INCLUDED) else 1 if Path(name).stem.endswith("_pkg") else 2


def _reached(names: list[str], before: Sequence[Path]) -> dict[str, Path]:
    own = {file.name: file for folder in reversed(before) for file in _files(folder)}
    found: dict[str, Path] = {}
    while names:
        name = names.pop()
        if name not in found and (file := own.get(name, LANES / name)).is_file():
            found[name] = file
            text = _text(file)
            names += _mentioned(text, own) if name in own else _instanced(text)
    return found


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UnreadableModule(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableModule(f"cannot read {file}: it is not text in UTF-8") from error


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in sorted(folder.iterdir()) if file.suffix in (*MODULE_ENDINGS, *_INCLUDED))


def _instanced(text: str) -> list[str]:
    return [f"{match}{end}" for mention, end in _MENTIONS for match in mention.findall(text)]


def _mentioned(text: str, own: Collection[str]) -> list[str]:
    words = set(_WORD.findall(_COMMENT.sub(" ", text)))
    names = (f"{word}{end}" for word in sorted(words) for end in (*MODULE_ENDINGS, ""))
    return [name for name in names if name in own or (LANES / name).is_file()]
