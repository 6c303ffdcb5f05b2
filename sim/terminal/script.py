"""Scripts that are started by hand beside the command: long runs, benchmarks, what makes a document."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import NoReturn

from isa.errors import INTERRUPTED, MISSING, LanewiseError
from sim.terminal.output import say


def parser_of(doc: str | None) -> ArgumentParser:
    """What reads a script's arguments: `--help` prints the docstring of its module as it stands."""
    return ArgumentParser(description=doc, formatter_class=RawDescriptionHelpFormatter)


def at_least_one(text: str) -> int:
    """The type of an argument that says how many: of none nothing would be tried, and all would look well."""
    if not text.isascii() or not text.isdecimal() or not (count := int(text)):
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return count


def run_by_hand(main: Callable[[], int | None]) -> NoReturn:
    """End the process with what `main` returns; what is wrong or missing is a sentence and a command's exit code."""
    try:
        sys.exit(main())
    except LanewiseError as error:
        say(error)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as missing:
        say(f"{missing.name} is not installed, which this needs: make check brings what scripts need")
        sys.exit(MISSING)
    except OSError as error:
        say(error)
        sys.exit(MISSING)
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(INTERRUPTED)
