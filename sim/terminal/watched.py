"""A command run in a process of its own, so that its end is told whatever ends it.  Imports nothing that takes time.

A command runs what users wrote: a kernel file, a golden reference.  `os._exit(0)` there, or a crash, would end it like
a check that passed, or without a word.  So the process that was started waits for another one, which runs the command.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from isa.errors import INTERRUPTED, MISSING
from sim.signals import signal_name

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_CAME_TO_ITS_END: Final = b"."
_UNTIL_RAISED: Final = 0.05
"""Seconds in which a process that asks for its interrupt again gets to where it can be raised."""


def run_watched(command: Callable[[], None]) -> None:
    """Run a command, which ends by SystemExit as Python programs do, and end as it does.

    Where it ends otherwise, by a signal or behind our back, that is said in one sentence, and the exit code is 3.
    Where the system has no `sigwaitinfo` (macOS, Windows) the command runs in this process, unwatched.
    """
    if not hasattr(signal, "sigwaitinfo"):
        command()
        return
    told, tell = os.pipe()
    alive, held = os.pipe()
    awaited = {signal.SIGINT, signal.SIGCHLD}
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    child = os.fork()
    if not child:
        os.close(told)
        os.close(held)
        _end_with(alive)
        sys.unraisablehook = _sent_again
        signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
        try:
            command()
        except SystemExit:
            os.write(tell, _CAME_TO_ITS_END)
            raise
        sys.exit("a command ends by SystemExit")
    os.close(tell)
    os.close(alive)
    status = _status_of(child, awaited)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGINT:  # at the very end of Python nothing handles it any more
        code = INTERRUPTED
    if code < 0 or (code != INTERRUPTED and not os.read(told, 1)):
        os.write(2, f"lanewise: stopped, without a verdict: {_reason(code)}\n".encode())
        code = MISSING
    sys.exit(code)


def _sent_again(unraisable: UnraisableHookArgs) -> None:
    """Where an interrupt cannot be raised, in a destructor or as a process is started, the watcher sends it again.

    One that was sent from here would be raised here, and be lost again; so is one that comes before this returns.
    """
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    while True:
        try:
            os.kill(os.getppid(), signal.SIGINT)
            return
        except KeyboardInterrupt:
            continue


def _end_with(pipe: int) -> None:
    """End this process when the other end of a pipe is closed, which is when the process that has it is no more."""
    import fcntl

    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_ASYNC)  # SIGIO then, which nobody handles


def _status_of(child: int, awaited: set[signal.Signals]) -> int:
    """How a process ended; until then, an interrupt that only this process was sent is passed on.

    A terminal sends it to both.
    """
    while True:
        met = signal.sigwaitinfo(awaited)
        if met.si_signo == signal.SIGINT and met.si_code <= 0:  # of a process: SI_USER, SI_QUEUE, SI_TKILL
            if met.si_pid == child:
                time.sleep(_UNTIL_RAISED)
            os.kill(child, signal.SIGINT)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status


def _reason(code: int) -> str:
    if code >= 0:
        return f"something that the command ran, such as a golden reference, ended its process by os._exit({code})"
    name = signal_name(-code)
    if -code == signal.SIGKILL:
        return f"its process was ended by {name}, as a system does that has no memory left"
    return f"its process was ended by {name}; where that is a crash, look at native code that your Python calls"
