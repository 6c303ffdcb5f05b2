"""The compiler for this computer, which the machine is handed: it knows none itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from isa.errors import MISSING, LanewiseError

HOST_COMPILERS = "lanewise.host_compilers"
"""The entry points under which packages hand over a `HostCompiler`; the first one is used."""
HostCompiler = Callable[[str, Callable[[], str]], Path]
"""Given a key and what writes a C text: the shared object kept under the key, else one compiled from the text.

Raises LanewiseError where there is no compiler, or where it does not take the text.
"""


class NoHostCompiler(LanewiseError):
    """Machine code cannot be compiled for this computer."""

    exit_code = MISSING


@cache
def compiler_handed_over() -> HostCompiler:
    """The compiler for this computer.  Raises NoHostCompiler where none was handed over."""
    for point in entry_points(group=HOST_COMPILERS):
        found: HostCompiler = point.load()
        return found
    raise NoHostCompiler(f"no package has a compiler for this computer under {HOST_COMPILERS}: install lanewise again")


def compile_for_host(key: str, text: Callable[[], str]) -> Path:
    """A shared object by the compiler that was handed over.  Raises NoHostCompiler where none was, and what it does."""
    return compiler_handed_over()(key, text)
