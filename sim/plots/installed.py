"""Ends the import of these pictures with what to install, where matplotlib is not there.

Raises ModuleNotFoundError.
"""

from importlib.util import find_spec

from isa.errors import pip_install

if find_spec("matplotlib") is None:
    raise ModuleNotFoundError(f"sim.plots draws with matplotlib: {pip_install('lanewise[plots]')}", name="matplotlib")
