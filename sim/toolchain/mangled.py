"""C++ functions by the names that their source has: `ns::scaled<3>` of what is linked as `_ZN2ns6scaledILi3EEEvPi`.

Source: Itanium C++ ABI, section 5.1 (mangling), which AArch64 Linux has (CPPABI64, section 3.1).  What is read are
functions, members and templates with names; of the arguments of templates numbers, built-in types, classes without
scopes, pointers and references to these, and of a function in no scope also those of which nothing more is told than
`<...>`.  Operators, constructors and local functions have no name here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_NUMBER: Final = re.compile(r"\d+")
_QUALIFIERS: Final = re.compile(r"[rVK]*[RO]?")
_LITERAL: Final = re.compile(r"(n?)(\d+)E")
_ANONYMOUS: Final = "_GLOBAL__N_"
_TYPES: Final = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip
_AROUND: Final = {"P": "*", "R": "&", "O": "&&", "K": " const"}
_AROUND_A_TYPE: Final = re.compile("[PROK]*")
_LONGEST: Final = 1000
"""Characters of a name that is read."""


class _Unread(Exception):
    """A part of a name that is not read here."""


class _Part(NamedTuple):
    """A namespace, a class or a function; with the arguments of a template as they are written, `<3>`, else ""."""

    name: str
    arguments: str = ""


def functions_called(name: str, linked: Iterable[str]) -> dict[str, str]:
    """Of linked names those of C++ functions that a source calls so, each with its whole name in the source.

    The scopes before it may be left out, and the arguments of a template too; spaces do not count.
    """
    wanted, found = name.replace(" ", ""), dict[str, str]()
    for each in linked:
        is_read = each.startswith("_Z") and len(each) <= _LONGEST and "." not in each  # "." is of a part or a clone
        parts = _parts_of(each) if is_read else None
        if not parts:
            continue
        whole = ["".join(part) for part in parts]
        for last in ("".join(parts[-1]), parts[-1].name):
            if wanted in ("::".join([*whole[at:-1], last]).replace(" ", "") for at in range(len(whole))):
                found[each] = "::".join(whole)
    return found


def _parts_of(linked: str) -> list[_Part] | None:
    """The scopes of a function and the function; None for what has no such name."""
    reader = _Reader(linked.removeprefix("_Z"))
    try:
        parts = reader.nested() if reader.accept("N") else reader.unscoped()
    except _Unread:
        return None
    return parts if reader.left else None  # behind a variable's name there is nothing


class _Reader:
    """A linked name, read from left to right."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    @property
    def left(self) -> str:
        return self._text[self._at :]

    def accept(self, start: str) -> bool:
        """Whether this comes next; then it is taken."""
        if not self.left.startswith(start):
            return False
        self._at += len(start)
        return True

    def unscoped(self) -> list[_Part]:
        scope = [_Part("std")] if self.accept("St") else []
        name = self._name()
        if not self.left.startswith("I"):
            return [*scope, _Part(name)]
        try:
            return [*scope, _Part(name, self._arguments())]
        except _Unread:
            return [*scope, _Part(name, "<...>")]

    def nested(self) -> list[_Part]:
        self._match(_QUALIFIERS)
        parts = [_Part("std")] if self.accept("St") else []
        while not self.accept("E"):
            if self.left.startswith("I") and parts:
                parts[-1] = _Part(parts[-1].name, self._arguments())
            else:
                parts.append(_Part(self._name()))
        return [part for part in parts if not part.name.startswith(_ANONYMOUS)]

    def _name(self) -> str:
        self.accept("L")  # of internal linkage
        length = int(self._match(_NUMBER)[0])
        self._at += length
        name = self._text[self._at - length : self._at]
        if len(name) != length:
            raise _Unread
        return name

    def _arguments(self) -> str:
        self.accept("I")
        told = []
        while not self.accept("E"):
            told.append(self._literal() if self.accept("L") else self._type())
        return f"<{', '.join(told)}>"

    def _literal(self) -> str:
        kind = self._type()
        sign, digits = self._match(_LITERAL).groups()
        if kind == "bool":
            return "true" if digits == "1" else "false"
        return f"{'-' if sign else ''}{digits}"

    def _type(self) -> str:
        around = self._match(_AROUND_A_TYPE)[0]
        if _NUMBER.match(self.left):
            kind = self._name()
        elif (kind := _TYPES.get(self.left[:1], "")) == "":
            raise _Unread
        else:
            self._at += 1
        constant = "const " * around.endswith("K")
        return constant + kind + "".join(_AROUND[letter] for letter in reversed(around.removesuffix("K")))

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise _Unread
        self._at = found.end()
        return found
