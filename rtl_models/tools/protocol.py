"""What the runs outside and the benches inside agree on: environment variables, files where the simulator runs."""

from __future__ import annotations

from typing import Final

OPERATOR_VARIABLE, WIDTHS_VARIABLE = "LANEWISE_OPERATOR", "LANEWISE_WIDTHS"
UNIT_VARIABLE, LANES_VARIABLE, PROFILE_VARIABLE = "LANEWISE_UNIT", "LANEWISE_LANES", "LANEWISE_PROFILE"
CHANNELS_VARIABLE, BUILT_IN_VARIABLE = "LANEWISE_CHANNELS", "LANEWISE_BUILT_IN"
RULES_VARIABLE: Final = "LANEWISE_RULES"
STRICT, STREAM, STREAM_ASYNCHRONOUS = "strict", "stream", "stream, reset asynchronous"
"""The rules of a streaming unit: every cycle as the package's own units have it, or those of AXI-Stream."""
CORE_VARIABLE, LAYERS_VARIABLE = "LANEWISE_CORE", "LANEWISE_LAYERS"
FAILURE: Final = "failure.json"
"""What failed first: a row of operands, or the frames and the traffic of a unit; for what shrinks it."""
SMALLEST: Final = "smallest.json"
"""The shrunk case, and what it gives."""
SEEN: Final = "seen.json"
"""What a unit gave of a long frame that is wrong: its settings, and accumulators with their results."""
REPORT: Final = "report.json"
"""What was compared."""
COVERPOINTS: Final = "coverpoints.json"
"""How often each coverpoint was met."""
FRAMES, NUMBERS = "frames.json", "numbers.json"
"""What a unit is sent from outside, and what it gave."""
