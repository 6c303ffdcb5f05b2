"""Compilers and linkers, and the ELF images that they make.

Public is what a kernel file takes from its source: `declared_types`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from sim.toolchain.dwarf.function_types import declared_types

__all__ = ["declared_types"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, {"declared_types": "sim.toolchain.dwarf.function_types"})
