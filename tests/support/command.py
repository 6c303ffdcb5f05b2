"""The `lanewise` command in this process."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from sim.command.app import app


def lanewise(*arguments: object, columns: int = 80) -> Result:
    """What the command prints and ends with; each argument as its text."""
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(app, words, prog_name="lanewise", env={"COLUMNS": str(columns)})
