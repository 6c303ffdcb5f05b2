"""Where the `lanewise` command starts.

Imports nothing that takes time, so that Ctrl-C ends a start at once: an import that is cut short has nothing to say.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

from isa.errors import MISSING
from sim.terminal.interrupt import came_of_an_interrupt, end_at_once
from sim.terminal.watched import run_watched

NARROWEST = 20
"""Columns that reports need to be read; a narrower terminal breaks their lines itself."""


def main() -> None:
    """Run the command, watched by this process."""
    signal.signal(signal.SIGINT, end_at_once)
    run_watched(run)


def run() -> None:
    """Run the command in this process.  Ends by SystemExit, also where lanewise itself is at fault."""
    gc.set_threshold(10_000, 10, 10)  # most of what is made goes without the collector: an eighth of a check
    os.environ["PYTHONSAFEPATH"] = "1"  # of what this starts: a folder `sim` or `random.py` here is not ours
    columns = os.environ.get("COLUMNS", "")
    if columns == "0":  # as some terminals say that they do not know
        del os.environ["COLUMNS"]
    elif columns.isdecimal() and int(columns) < NARROWEST:
        os.environ["COLUMNS"] = str(NARROWEST)
    from sim.command.app import app

    try:
        app()
    except Exception as error:
        if came_of_an_interrupt(error):
            end_at_once(signal.SIGINT, None)
        sys.excepthook(type(error), error, error.__traceback__)
        print("lanewise: stopped, without a verdict, by the fault above, which is its own", file=sys.stderr)
        sys.exit(MISSING)
    finally:
        signal.signal(signal.SIGINT, end_at_once)
        gc.freeze()  # what is left goes with the process: to look through it once more takes as long as many a command


if __name__ == "__main__":
    main()
