"""How a command may be started."""

from __future__ import annotations

import sys

from isa.errors import USAGE


def refuse_module_start(*starts: str) -> None:
    """End `python -m` of a module of commands that is not one of `starts`: it would do nothing, and exit with 0.

    For the `__init__` of a package of commands: Python imports it, with "-m" as the name of the program, on its way to
    the module.
    """
    if sys.argv[:1] == ["-m"]:
        module = sys.orig_argv[-len(sys.argv)].removeprefix("-m")
        if module not in starts:
            print(f"lanewise: {module} is no command: start it with `lanewise` or `python -m sim`", file=sys.stderr)
            sys.exit(USAGE)
