"""The `lanewise` command.

Results go to stdout, progress to stderr.  Exit codes: 0 all agree, 1 a mismatch, 2 wrong usage, 3 something is
missing from the environment, 130 interrupted.
"""

from __future__ import annotations

from importlib.metadata import entry_points

import typer

from sim.capture_cli import capture_calls
from sim.check_cli import check
from sim.conventions_cli import conventions
from sim.cycles_cli import cycles
from sim.doctor_cli import doctor
from sim.explain_cli import explain_output
from sim.init_cli import init
from sim.isa_cli import isa
from sim.prove_cli import prove
from sim.replay_cli import replay_calls
from sim.run_cli import run_function

app = typer.Typer(
    help="Simulate and verify quantized kernels on NEON-style 128-bit lanes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def lanewise() -> None:
    """Simulate and verify quantized kernels on NEON-style 128-bit lanes."""


app.command("check")(check)
app.command("capture")(capture_calls)
app.command("replay")(replay_calls)
app.command("prove")(prove)
app.command("cycles", context_settings={"ignore_unknown_options": True})(cycles)
app.command("conventions")(conventions)
app.command("explain")(explain_output)
app.command("run", context_settings={"ignore_unknown_options": True})(run_function)  # so that -5 is a number
app.command("doctor")(doctor)
app.add_typer(init, name="init")
app.add_typer(isa, name="isa")


def main() -> None:
    """Run the command, with the subcommands of other installed packages (entry points `lanewise.commands`)."""
    for entry in entry_points(group="lanewise.commands"):
        app.add_typer(entry.load(), name=entry.name)
    app()
