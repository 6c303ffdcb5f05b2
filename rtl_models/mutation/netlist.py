"""Netlists with mutants in them: all behind a select input for the simulator, or one alone for the solver."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rtl_models.formal.equations.written import READ, WRITE, SubjectSources
from rtl_models.mutation.mutants import Mutant, mutants_in
from rtl_models.tools.yosys import reading, run_script

SELECT: Final = "mutant_i"
"""The input that a netlist with all mutants has besides its own; 0 selects none."""
_MUTABLE: Final = f"{READ}; pmuxtree"
"""A multiplexer of many ways says nothing of what happens where a mutant selects two of them: one of two ways does."""
_FOR_SIMULATION: Final = (
    "memory_map; opt_clean; chtype -set $shift t:$shiftx; select -set mutated c:$auto$mutate* %x w:* %i; "
    "splitnets -ports -format _ @mutated i:* o:* %u; write_verilog -noattr"
)
"""Ports bit by bit, and words where a mutant drives a bit: they look like a loop to Verilator.  Others stay words, of
which it makes less: with all in bits it took 16 GB for a pipeline of 46 stages.  What is taken from beyond the end of a
word is 0, as in the equations: Verilator would take it from the word's other end.
"""
_READ: Final = "read_rtlil netlist"
PASSES: Final = (_MUTABLE, WRITE, _FOR_SIMULATION)
"""What yosys does."""


class NetlistOrigin(NamedTuple):
    """What a netlist without mutants is: the digest of its RTLIL, and the script that makes it of the sources."""

    sha256: str
    script: str


class Netlist:
    """A module read once, in a directory of its own: `text` is its RTLIL, `origin` what that is made of.

    Every method may raise YosysMissing, Refused and OSError.
    """

    def __init__(self, design: SubjectSources, directory: Path) -> None:
        self._directory = directory
        module = design.subject.module
        read = reading(design.sources, module, dict(design.subject.parameters), directory)
        script = f"{read}; rename -top {module}; {_MUTABLE}; write_rtlil netlist"
        run_script(script, directory)
        self.text = (directory / "netlist").read_text()
        self.origin = NetlistOrigin(hashlib.sha256(self.text.encode()).hexdigest(), script)

    def mutants(self, count: int, seed: int) -> list[Mutant]:
        """So many different mutants, or all where there are fewer, chosen by the seed from all parts of the module."""
        run_script(f"{_READ}; mutate -list {count} -seed {seed} -o listing", self._directory)
        return mutants_in((self._directory / "listing").read_text())

    def simulated(self, mutants: Sequence[Mutant]) -> str:
        """Verilog of the module with the input `SELECT` as well, which selects one of the mutants by its number.

        Bit k of a port is called `<port>_<k>`.
        """
        return self._written(self._selectable(mutants), f"{_FOR_SIMULATION} written")

    def equations(self, mutants: Sequence[Mutant]) -> str:
        """Equations of the same, of mutants that change no clock: else they would not have the registers at all."""
        if any(mutant.changes_a_clock for mutant in mutants):
            raise ValueError("equations that select among mutants have one clock, which no mutant may change")
        return self._written(self._selectable(mutants), f"{WRITE} written")

    def equations_with(self, mutant: Mutant) -> str:
        """Equations of the module with the mutant in it."""
        return self._written([mutant.command], f"{WRITE} written")

    def _selectable(self, mutants: Sequence[Mutant]) -> list[str]:
        bits = max(mutant.number for mutant in mutants).bit_length()
        return [mutant.selected_by(SELECT, bits) for mutant in mutants]

    def _written(self, changes: list[str], command: str) -> str:
        run_script("\n".join([_READ, *changes, command]), self._directory)
        return (self._directory / "written").read_text()
