"""What Verilator warns of in modules that are not of the package."""

from __future__ import annotations

import re
from typing import Final

from rtl_models.tools.build_cache import TopModule
from rtl_models.tools.environment import SimulatorName, execute, verilator_program, verilator_root
from rtl_models.tools.scratch import scratch_folder

_WARNING: Final = re.compile(r"%Warning-(\w+): (.*)")


def warnings_of(design: TopModule, simulator: SimulatorName = "verilator") -> tuple[str, ...]:
    """Its warnings by default, a line each and each once, such as "mine.sv:89:34: ... (WIDTHTRUNC)".

    None of a design of the package's own modules, in which every warning is an error, none where another simulator
    builds it, and none where Verilator refuses it.  Raises SimulationUnavailable, ScratchUnusable.
    """
    if not design.leniency or simulator != "verilator":
        return ()
    found = (_WARNING.match(line) for line in lint_output(design).splitlines())
    return tuple(dict.fromkeys(f"{match[2]} ({match[1]})" for match in found if match))


def lint_output(design: TopModule) -> str:
    """What it says of a design, warnings and errors.  Raises SimulationUnavailable, ScratchUnusable."""
    with scratch_folder() as folder:
        texts = design.write(folder, ".sv", ".vlt")
        command = [str(verilator_program()), "--lint-only", *design.leniency, "--top-module", design.top]
        return execute([*command, *design.search, *texts], folder, VERILATOR_ROOT=str(verilator_root())).output
