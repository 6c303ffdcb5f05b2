"""What `rtl_models.unit_run` tells a bench through the environment."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Final

from rtl_models.benches.unit_bench import UnitBench
from rtl_models.tools import protocol
from rtl_models.tools.protocol import LANES_VARIABLE, PROFILE_VARIABLE, RULES_VARIABLE, UNIT_VARIABLE

BENCH: Final[UnitBench] = import_module(f"rtl_models.benches.{os.environ[UNIT_VARIABLE]}_bench").BENCH
"""Of the unit that was built."""
LANES: Final = int(os.environ[LANES_VARIABLE])
DEEP: Final = os.environ[PROFILE_VARIABLE] == "deep"
STRICT: Final = os.environ[RULES_VARIABLE] == protocol.STRICT
"""Whether latency, ready and reset are to be those of the package, in every cycle."""
ASYNCHRONOUS: Final = os.environ[RULES_VARIABLE] != protocol.STREAM
"""Whether the reset is to act without an edge of the clock."""
