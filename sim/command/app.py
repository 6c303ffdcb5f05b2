"""The `lanewise` command and its subcommands.

Results go to stdout, progress to stderr.  Exit codes: 0 all agree, 1 a mismatch, 2 wrong usage, 3 something is
missing from the environment, 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points, version
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand

from isa.errors import MISSING
from sim.terminal.on_demand import NUMBERS_BELOW_ZERO, EdgeGroup, OnDemand
from sim.terminal.output import fail, print_text


class Lanewise(EdgeGroup):
    """lanewise's own commands, then those of other installed packages (entry points `lanewise.commands`)."""

    COMMANDS: ClassVar[Mapping[str, OnDemand]] = {
        "check": OnDemand(
            "sim.command.signatures.check:check",
            "Compile a kernel at every level and compare it, lane by lane, with its golden reference.",
        ),
        "capture": OnDemand(
            "sim.command.signatures.capture:capture_calls",
            "Call a kernel with the input sets of a check, on the lane machine, and write every call with "
            "what it left.",
        ),
        "replay": OnDemand(
            "sim.command.signatures.replay:replay_calls",
            "Run captured calls again and compare memory and registers with what was recorded.",
        ),
        "prove": OnDemand(
            "sim.command.signatures.prove:prove",
            "Decide for all inputs: claims about instructions and conventions, or that compiled kernels are their "
            "references.",
        ),
        "debug": OnDemand(
            "sim.command.signatures.looking.debug:debug",
            "Stand on any instruction of one call: step, go back, look at lanes, ask why.",
            NUMBERS_BELOW_ZERO,
        ),
        "trace": OnDemand(
            "sim.command.signatures.looking.trace:trace",
            "Write down every instruction that a call executes, with the lanes that it wrote.",
            NUMBERS_BELOW_ZERO,
        ),
        "gdb": OnDemand(
            "sim.command.signatures.looking.gdb:serve_gdb",
            "Serve one call to gdb-multiarch, forwards and back: lanes, breakpoints, watchpoints, monitor why.",
            NUMBERS_BELOW_ZERO,
        ),
        "cycles": OnDemand(
            "sim.command.signatures.cycles:cycles",
            "Time what is executed on named cores, and say why it takes so long.",
            NUMBERS_BELOW_ZERO,
        ),
        "conventions": OnDemand(
            "sim.command.signatures.conventions:conventions",
            "List the conventions that systems are known to use, by family: formula, who uses it, rows of the "
            "differences.",
        ),
        "explain": OnDemand(
            "sim.command.signatures.explain:explain_output",
            "Say which rounding convention made a quantized output, or which come near and where they part.",
        ),
        "model": OnDemand(
            "sim.command.signatures.model:model",
            "Say of each layer of a quantized network which convention makes what a runtime computed, and which layer "
            "parts.",
        ),
        "exhaust": OnDemand(
            "sim.command.signatures.exhaust:exhaust",
            "Compare model and emulator on all values of an instruction's lanes: 2^32 pairs of 16 bits, 2^32 of 32 "
            "bits.",
        ),
        "campaign": OnDemand(
            "sim.command.signatures.many.campaign:campaign",
            "Do all jobs of a file that have no result yet, here or on a cluster, and keep what comes of them.",
        ),
        "results": OnDemand(
            "sim.command.signatures.many.results:results",
            "Say what failed in a campaign, in groups with the smallest case of each, and what is different "
            "from before.",
        ),
        "run": OnDemand(
            "sim.command.signatures.run:run_function",
            "Call a function once, in lockstep; print its result, the arrays that it may change, and the "
            "instruction count.",
            NUMBERS_BELOW_ZERO,
        ),
        "doctor": OnDemand(
            "sim.command.signatures.doctor:doctor",
            "Say what is installed, what each missing tool costs, and how to get it.",
        ),
        "cache": OnDemand(
            "sim.command.signatures.cache:cache",
            "Say what is kept of what was compiled, built and proved, and where, or clear it.",
        ),
        "schema": OnDemand(
            "sim.command.schema:schema",
            "Print the JSON Schema of what a command prints with --json, or list those that there are.",
        ),
        "kernels": OnDemand(
            "sim.command.signatures.kernels:kernels", "The built-in kernels: list them, show what one models."
        ),
        "init": OnDemand(
            "sim.command.init:init",
            "Write files to begin with.",
        ),
        "isa": OnDemand(
            "sim.command.signatures.isa:isa",
            "The instruction table: list its forms, show what one does, verify it.",
        ),
    }

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.COMMANDS, *foreign_commands()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return self.find(ctx, cmd_name) if cmd_name in foreign_commands() else super().get_command(ctx, cmd_name)

    def find(self, ctx: Any, name: str) -> Any:
        if name not in foreign_commands():
            return super().find(ctx, name)
        entry = foreign_commands()[name]
        try:
            command: Any = typer.main.get_group(entry.load())
        except Exception as error:  # what another package does as it is loaded is its own, and may be anything
            command = broken_command(name, f"{entry.value} cannot be loaded: {type(error).__name__}: {error}")
        command.name = name
        return command


@cache
def foreign_commands() -> dict[str, EntryPoint]:
    """By name the commands of other installed packages."""
    return {entry.name: entry for entry in entry_points(group="lanewise.commands")}


def broken_command(name: str, why: str) -> TyperCommand:
    """A command of another package that cannot be loaded: help lists it with the reason, and it ends with that."""

    def refuse() -> None:
        fail(f"lanewise {name}: {why}", MISSING)

    context = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    return TyperCommand(name, callback=refuse, help=why, context_settings=context)


app = typer.Typer(cls=Lanewise, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        print_text(f"lanewise {version('lanewise')}")
        raise typer.Exit


@app.callback()
def lanewise(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Simulate and verify quantized kernels on NEON-style 128-bit lanes."""
