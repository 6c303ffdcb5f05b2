"""Ends the import of the plugin with what to install, where pytest is not there.

Raises ModuleNotFoundError.
"""

from importlib.util import find_spec

from isa.errors import pip_install

if find_spec("pytest") is None:
    raise ModuleNotFoundError(f"sim.pytest_plugin is for pytest: {pip_install('lanewise[pytest]')}", name="pytest")
