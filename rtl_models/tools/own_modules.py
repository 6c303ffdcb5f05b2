"""Modules of a user's own, tested in the place of those of the same names here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from isa.errors import LanewiseError
from rtl_models.tools.sources import module_names


class NothingReplaced(LanewiseError):
    """A folder without any module that could be tested in the place of one here: one sentence."""


def own_modules(folder: Path) -> Path:
    """The folder as an absolute path.  Raises NothingReplaced where no `.sv` in it is named as a module here."""
    if not folder.is_dir():
        raise NothingReplaced(f"there is no folder {folder}")
    if not {file.stem for file in folder.glob("*.sv")} & set(module_names()):
        raise NothingReplaced(
            f"{folder} has no module in the place of one here, such as sqrdmulh.sv: see lanewise rtl list"
        )
    return folder.absolute()


def modules_option(before: Sequence[Path], known: Path | None = None) -> Mapping[str, str]:
    """The option of a command that names the folder whose modules went before those here, unless it is `known`."""
    return {"modules": str(before[0])} if before and before[0] != known else {}
