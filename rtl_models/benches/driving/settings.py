"""What `rtl_models.run` tells a bench through the environment."""

from __future__ import annotations

import os
from typing import Final

from rtl_models.operators import OPERATORS
from rtl_models.tools.protocol import OPERATOR_VARIABLE, WIDTHS_VARIABLE

OPERATOR: Final = OPERATORS[os.environ[OPERATOR_VARIABLE]]
"""What is on the bench."""
WIDTHS: Final = [int(width) for width in os.environ[WIDTHS_VARIABLE].split(",")]
"""The widths that were built."""
