"""The wrappers of the units for AXI in a simulator, as they are or with a fault."""

from __future__ import annotations

import re
import shutil

from rtl_models.integration.axi_wrappers import FOLDER, axi_wrapper
from rtl_models.session import Session
from rtl_models.tools.build_cache import TopModule, built
from rtl_models.tools.protocol import LANES_VARIABLE, UNIT_VARIABLE
from rtl_models.tools.sources import LANES
from rtl_models.units import UNITS

REGISTERS = "axi_lite_registers.sv"


def simulated(
    unit: str, right: str = "", wrong: str = "", bench: str = "rtl_models.benches.axi_bench", **variables: str
) -> dict[str, str]:
    """What a bench says of a wrapper of 4 lanes, shallow, by test; its first `right` is `wrong`."""
    top, wrapper = f"axi_{unit}", axi_wrapper(UNITS[unit])
    assert right in wrapper
    texts = {f"{top}.sv": wrapper.replace(right, wrong, 1), REGISTERS: (FOLDER / REGISTERS).read_text()}
    ports = re.findall(r"^  (input |output) logic (?:\[.*\] )?(\w+),?$", texts[f"{top}.sv"], re.MULTILINE)
    access = {"input ": "public_flat_rw", "output": "public_flat_rd"}
    control = [f'{access[way]} -module "{top}" -var "{name}"' for way, name in ports]
    texts["ports.vlt"] = "\n".join(["`verilator_config", *control, ""])
    known = {UNIT_VARIABLE: unit, LANES_VARIABLE: "4"}
    session = Session(top, top, 1, built(TopModule(top, texts, (LANES,))), known | variables)
    said = session.run(bench)
    shutil.rmtree(session.folder)
    return said
