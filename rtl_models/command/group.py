"""The group `lanewise rtl`, registered as the entry point `rtl` of the group `lanewise.commands`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import typer

from sim.terminal.on_demand import NUMBERS_BELOW_ZERO, OnDemand, OnDemandGroup


class HardwareCommands(OnDemandGroup):
    """Commands about the hardware, each imported when it is wanted."""

    EXTRA: ClassVar[str] = "rtl"
    COMMANDS: ClassVar[Mapping[str, OnDemand]] = {
        "list": OnDemand(
            "rtl_models.command.list:list_hardware",
            "The lanes, the streaming units, the cores, what these are made of, and the configuration registers.",
        ),
        "test": OnDemand(
            "rtl_models.command.test:test",
            "Simulate operators against the isa semantics, and units against the golden references.",
        ),
        "run": OnDemand(
            "rtl_models.command.run:run",
            "Run a compiled function on core128: each instruction as on the lane machine, each in the cycle predicted.",
            NUMBERS_BELOW_ZERO,
        ),
        "prove": OnDemand(
            "rtl_models.command.prove:prove",
            "Prove for all inputs that the lane modules compute what the isa semantics say.",
        ),
        "mutate": OnDemand(
            "rtl_models.command.mutate:mutate",
            "Plant one wrong bit at a time in the modules: benches must notice it, or proofs that it changes nothing.",
        ),
        "synth": OnDemand(
            "rtl_models.command.synth:synth",
            "Synthesize, place and route the units for an ECP5: cells, multipliers, registers, highest clock.",
        ),
        "bulk": OnDemand(
            "rtl_models.command.bulk:bulk",
            "Run a unit under random stalls against the goldens, beats and results in memories of the simulator.",
        ),
        "exhaust": OnDemand(
            "rtl_models.command.exhaust:exhaust",
            "Compare all 2^32 pairs of 16-bit operands of a lane with its expression in the isa semantics.",
        ),
        "cover": OnDemand(
            "rtl_models.command.cover:cover",
            "Count the branches and expressions of the modules that their benches execute.",
        ),
    }


rtl = typer.Typer(cls=HardwareCommands, no_args_is_help=True, add_completion=False)


@rtl.callback()
def hardware() -> None:
    """The lanes and units as hardware: what there is, benches, proofs, planted mistakes, synthesis."""
