"""The exit codes of the scripts that build and run hardware."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rtl_models.build_cache import BuildError
from rtl_models.environment import SimulationUnavailable


def exit_code(run: Callable[[], int]) -> int:
    """What the run returns; 2 for a design that cannot be built, 3 where something is missing, 130 for an interrupt.

    The reason goes to stderr.
    """
    try:
        return run()
    except (SimulationUnavailable, BuildError) as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, BuildError) else 3
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
