"""Where the `lanewise` command starts.

Imports nothing that takes time, so that Ctrl-C ends a start at once: an import that is cut short has nothing to say.
"""

from __future__ import annotations

import signal

from sim.terminal.interrupt import end_at_once


def main() -> None:
    """Run the command."""
    signal.signal(signal.SIGINT, end_at_once)
    from sim.command.app import app

    try:
        app()
    finally:
        signal.signal(signal.SIGINT, end_at_once)


if __name__ == "__main__":
    main()
