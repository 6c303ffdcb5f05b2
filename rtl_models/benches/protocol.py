"""What `rtl_models.run` and the benches agree on: variables of the environment, and files where the simulator runs."""

from __future__ import annotations

from typing import Final

OPERATOR_VARIABLE, WIDTHS_VARIABLE = "LANEWISE_OPERATOR", "LANEWISE_WIDTHS"
FAILURE: Final = "failure.json"
"""A wrong row of operands, from the bench to what shrinks it."""
SMALLEST: Final = "smallest.json"
"""The shrunk row, and what it gives."""
REPORT: Final = "report.json"
"""What was compared."""
