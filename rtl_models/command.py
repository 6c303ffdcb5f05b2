"""The group `lanewise rtl`, registered as the entry point `rtl` of the group `lanewise.commands`.

A command is imported when it is wanted: all of them would make every start of `lanewise` half as long again, and each
needs wheels that a check of compiled code does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperGroup

from sim.terminal import MISSING, fail

COMMANDS: Final[Mapping[str, str]] = {
    "list": "rtl_models.list_command:list_hardware",
    "test": "rtl_models.benches_command:test",
    "prove": "rtl_models.formal.command:prove",
    "mutate": "rtl_models.mutation.command:mutate",
    "synth": "rtl_models.synthesis.command:synth",
}
"""By name the function of each."""
_OWN: Final = ("isa", "sim", "rtl_models")
_ANYTHING: Final = {"ignore_unknown_options": True, "allow_extra_args": True}


class _OnDemand(TyperGroup):
    """The commands, each imported by its name."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _command(cmd_name) if cmd_name in COMMANDS else None


def _command(name: str) -> Any:
    """The command, or where a wheel is missing one that says so."""
    module, function = COMMANDS[name].split(":")
    alone = typer.Typer(add_completion=False)
    try:
        alone.command(name)(getattr(import_module(module), function))
    except ModuleNotFoundError as missing:
        wheel = str(missing.name).partition(".")[0]
        if wheel in _OWN:
            raise
        said = f"lanewise rtl {name} needs {wheel}, which is not installed; run: pip install 'lanewise[rtl]'"
        alone.command(name, help=said, context_settings=dict(_ANYTHING))(lambda: fail(said, MISSING))
    return typer.main.get_command(alone)


rtl = typer.Typer(cls=_OnDemand, no_args_is_help=True, add_completion=False)


@rtl.callback()
def hardware() -> None:
    """The lanes and units as hardware: what there is, benches, proofs, planted mistakes, synthesis."""
