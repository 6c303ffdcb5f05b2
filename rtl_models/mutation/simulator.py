"""A simulator that has all mutants of a module, and what it says of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rtl_models.mutation.netlist import SELECT
from rtl_models.mutation.scenarios.scenario import Scenario, Steps
from rtl_models.mutation.scenarios.signals import places, word_count
from rtl_models.tools.build_cache import OPTIMISATION, TopModule, kept, linked, unity, verilate
from rtl_models.tools.environment import SimulationUnavailable, execute
from rtl_models.tools.scratch import scratch_folder

REPLAY: Final = Path(__file__).parent / "replay.cpp"
"""The program around the module."""
CLOCK: Final = ("clk_i", "rst_ni")
HANDSHAKE: Final = ("valid_i", "ready_o", "valid_o", "ready_i")
_TOP: Final = "mutants"
_KIND: Final = "bulk"
"""Of program: many cycles without Python."""
_QUIET: Final = "`verilator_config\nlint_off\n"
"""Yosys writes widths and cases that Verilator's warnings would be about."""


@dataclass(frozen=True)
class Killed:
    """The first thing that a bench finds wrong: in which scenario, at which row of it, and which rule is broken."""

    scenario: int
    row: int
    rule: str

    def operands(self, scenarios: Sequence[Scenario]) -> dict[str, Any]:
        """The numbers on the inputs in that row, if there is such a row."""
        scenario = scenarios[self.scenario]
        steps = scenario.cycles if self.rule == "cycle" else scenario.beats
        return steps.operands(self.row) if self.row < len(steps) else {}


def killed_by(
    module: str, control: Sequence[str], netlist: str, mutants: Sequence[int], scenarios: Sequence[Scenario]
) -> list[Killed | None]:
    """What is found of the module itself and of each mutant, by their numbers, in order; None where nothing is.

    `netlist` is the Verilog that has them all; `control` are those of `CLOCK` and `HANDSHAKE` that the module has.
    Raises SimulationUnavailable, NeverEnds, ScratchUnusable, and BuildError for a netlist that Verilator refuses.
    """
    texts = {f"{_TOP}.sv": _top(module, control, netlist, max(mutants), scenarios[0].cycles), "netlist.sv": netlist}
    design = TopModule(_TOP, {**texts, "quiet.vlt": _QUIET, REPLAY.name: REPLAY.read_text()}, ())
    program = kept(_KIND, design, ".mutants", lambda scratch: _make(design, scratch))
    with scratch_folder() as folder:
        (folder / "scenarios").write_bytes(b"".join(scenario.image() for scenario in scenarios))
        done = execute(
            [program, "scenarios", *map(str, (0, *mutants))], folder, called=f"the simulator of the mutants of {module}"
        )
    lines = done.output.splitlines()
    if done.status or len(lines) != len(mutants) + 1:
        raise SimulationUnavailable(f"the mutants of {module} ended with status {done.status}: {done.output.strip()}")
    words = [line.split() for line in lines]
    return [None if rule == "-" else Killed(int(scenario), int(row), rule) for scenario, row, rule in words]


def _make(design: TopModule, scratch: Path) -> tuple[Path, list[Path]]:
    inputs = verilate(design, scratch)
    unity(scratch / "all.cpp", scratch / REPLAY.name)
    return linked(scratch, OPTIMISATION[_KIND]), inputs


def _top(module: str, control: Sequence[str], netlist: str, highest: int, steps: Steps) -> str:
    """One port for all inputs and one for all outputs, and the control ports whether the module has them or not."""
    ports = {SELECT: (SELECT, highest.bit_length() - 1, 0)}
    for bus, signals in (("inputs_i", steps.inputs), ("outputs_o", steps.outputs)):
        ports |= {port: (bus, high, low) for port, (high, low) in places(signals).items()}
    whole = set(re.findall(r"^  (?:input|output) (\w+);$", netlist, re.MULTILINE))
    connected = [f".{port}" if port in whole else f".{port}_0({port})" for port in control]
    for port, (bus, high, low) in ports.items():  # as a whole where the netlist has it, else its bits
        if port in whole:
            connected.append(f".{port}({bus}[{low}])")
        else:
            connected += [f".{port}_{bit}({bus}[{low + bit}])" for bit in range(high - low + 1)]
    unused = [f"  assign {port} = 1'b0;" for port in HANDSHAKE if port.endswith("_o") and port not in control]
    high, used = 32 * word_count(steps.outputs) - 1, sum(signal.port_bits for signal in steps.outputs.values())
    return "\n".join([
        f"module {_TOP} (",
        f"  input  logic [{32 * word_count(steps.inputs) - 1}:0] inputs_i,",
        f"  output logic [{high}:0] outputs_o,",
        *(f"  {'output' if port.endswith('_o') else 'input '} logic {port}," for port in (*CLOCK, *HANDSHAKE)),
        f"  input  logic [31:0] {SELECT}",
        ");",
        *unused,
        f"  assign outputs_o[{high}:{used}] = '0;",
        f"  {module} u_{module} ({', '.join(connected)});",
        "endmodule",
        "",
    ])  # fmt: skip
