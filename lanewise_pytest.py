"""Where pytest begins with lanewise (`pytest11` in pyproject.toml): `sim.pytest_plugin`, if `sim` is lanewise's.

`python -m pytest` looks for modules in the folder that it is started in before all others.  A package `sim` of the
user's own there hides lanewise's: then its plugin is left out, and the run does not end before its first test.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

_found = find_spec("sim")
_places = _found.submodule_search_locations if _found is not None else None

if any((Path(place) / "pytest_plugin").is_dir() for place in _places or ()):
    pytest_plugins = ("sim.pytest_plugin",)
else:

    def pytest_report_header() -> str:
        """What pytest says before the first test."""
        where = _found.origin if _found is not None else "nothing"
        return (
            f"lanewise: no fixture kernel in this run, as its package sim is hidden by {where}: start pytest instead "
            "of python -m pytest, start it in another folder, or give that package another name"
        )
