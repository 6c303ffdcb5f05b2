"""The command `lanewise-capture` for gdb: calls of a function in a process that gdb holds, written for replay.

gdb runs this in its own Python, 3.6 or newer, so it imports the standard library alone, and of lanewise nothing: it
starts `lanewise capture - FILE` and answers what that asks for (`sim.attached.conversation`).  The process stands at
the entry of the function while the lane machine runs the call and asks for each page that it touches; then the process
returns from the call itself, and what it left in registers and pages is what is recorded.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from typing import Any, Dict, List, NoReturn, Optional

import gdb

PAGE = 4096
THREAD_POINTER = ("tpidr", "tpidr_el0", "TPIDR_EL0")
INTERRUPTED = 130
USAGE = (
    "lanewise-capture FUNCTION FILE.jsonl [--calls N] [--skip N] [--if CONDITION] [--limit N]\n"
    "Capture calls of a function, for `lanewise replay FILE.jsonl`.\n\n"
    "FUNCTION is a symbol, or an expression of gdb that is an address.  The process has to be started and stopped:\n"
    "starti, or target remote HOST:PORT.  Of the calls for which CONDITION holds, N (default 1) are taken after those\n"
    "that are skipped; one may take as many instructions as --limit says.  `lanewise` is looked for in PATH, or is\n"
    "what the environment variable LANEWISE names."
)


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise gdb.GdbError(f"{message}; usage: {USAGE.splitlines()[0]}")


class Ended(Exception):
    """There is no process any more, or something else stopped it: the sentence says which."""


class CaptureProcess:
    """The lanewise that runs the calls and writes them."""

    def __init__(self, file: str, limit: Optional[int]) -> None:
        command = os.environ.get("LANEWISE") or shutil.which("lanewise")
        if not command:
            raise gdb.GdbError("there is no lanewise in PATH: let the environment variable LANEWISE name it")
        self._file, self._limit, self._kept = file, limit, 0
        try:
            process: Any = subprocess.Popen(
                [command, "capture", "-", file],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                universal_newlines=True,
                start_new_session=True,  # Ctrl-C is for gdb: what is captured is written
            )
        except OSError as error:
            raise gdb.GdbError(f"cannot start {command}: {error.strerror}") from None
        self._process, self._requests, self._answers = process, process.stdin, process.stdout
        if not self._answers.readline():  # it has said why
            raise gdb.GdbError("nothing is captured")

    def run(self, name: str, registers: Dict[str, Any]) -> Dict[str, Any]:
        """Let the machine run a call; what it foresees: what to read at the return, a fault, or that it cannot."""
        request = {"call": name, "registers": registers, "limit": self._limit}
        while True:
            answer = self._ask(request)
            if "page" not in answer:
                break
            request = {"bytes": _memory(answer["page"], PAGE)}
        if "refused" in answer:
            gdb.write(f"{name} is not recorded: {answer['refused']}\n")
        return answer

    def keep(self, results: Dict[str, Any]) -> None:
        gdb.write(self._ask(results)["kept"] + "\n")
        self._kept += 1

    def drop(self) -> None:
        self._ask({"drop": 1})

    def interrupt(self) -> None:
        """Let it leave a call that it may still be running."""
        self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Let it write what it has, and say what that is."""
        with suppress(OSError):  # it has ended then, and its status tells
            self._requests.close()
        self._answers.read()
        self._answers.close()
        if self._process.wait() not in (0, INTERRUPTED):
            raise gdb.GdbError(f"not all of {self._kept} calls are written to {self._file}")
        gdb.write(f"{self._kept} calls captured" + (f"; next: lanewise replay {self._file}\n" if self._kept else "\n"))

    def _ask(self, request: Dict[str, Any]) -> Dict[str, Any]:
        try:
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
            line = self._answers.readline()
        except OSError:
            line = ""
        if not line:
            raise Ended("lanewise has ended")
        answer: Dict[str, Any] = json.loads(line)
        return answer


class CaptureCalls(gdb.Command):  # type: ignore[misc]
    __doc__ = USAGE

    def __init__(self) -> None:
        super().__init__("lanewise-capture", gdb.COMMAND_RUNNING)

    def invoke(self, text: str, _from_terminal: bool) -> None:
        self.dont_repeat()
        parser = _Arguments(prog="lanewise-capture", add_help=False)
        parser.add_argument("function")
        parser.add_argument("file")
        parser.add_argument("--calls", type=int, default=1)
        parser.add_argument("--skip", type=int, default=0)
        parser.add_argument("--if", dest="condition")
        parser.add_argument("--limit", type=int)
        given = parser.parse_args(gdb.string_to_argv(text))
        if given.calls < 1 or given.skip < 0 or (given.limit is not None and given.limit < 1):
            raise gdb.GdbError("--calls and --limit are at least 1, --skip is not negative")
        _require_stopped()
        recorder = CaptureProcess(given.file, given.limit)
        settings = {name: gdb.parameter(name) for name in ("scheduler-locking", "stop-on-solib-events")}
        try:
            _capture(given, recorder)
        except Ended as ended:
            gdb.write(f"{ended}\n")
        except KeyboardInterrupt:
            recorder.interrupt()
            gdb.write("interrupted\n")
        finally:
            for name, value in settings.items():
                _try(f"set {name} {value}")
            recorder.close()


def _capture(given: argparse.Namespace, recorder: CaptureProcess) -> None:
    entry = _address(given.function)
    breakpoint = gdb.Breakpoint(f"*{entry:#x}", internal=True)
    try:
        breakpoint.silent = True
        breakpoint.ignore_count = given.skip
        try:
            breakpoint.condition = given.condition
        except gdb.error as error:
            raise gdb.GdbError(f"{given.condition} is no condition: {error}") from None
        for number in range(given.calls):
            if gdb.selected_frame().pc() != entry or number or given.skip or given.condition:
                _run_to(entry)
            breakpoint.enabled = False  # a call within the call is part of it
            _capture_call(f"{given.function} {given.skip + number}", recorder)
            breakpoint.enabled = True
    finally:
        breakpoint.delete()


def _capture_call(name: str, recorder: CaptureProcess) -> None:
    """Capture the call at whose entry the selected thread stands, and let the thread return from it."""
    before = _registers()
    ret, sp, thread = before["x"][30], before["sp"], gdb.selected_thread()
    foreseen = recorder.run(name, before)
    threads = len(gdb.selected_inferior().threads())
    if not _try("set scheduler-locking on") and threads > 1:
        gdb.write("other threads run on during the call: what they write may be taken for its results\n")
    at_return = gdb.Breakpoint(f"*{ret:#x}", internal=True)
    at_return.condition = f"$sp == {sp:#x}"
    at_return.thread = thread.global_num
    at_return.silent = True
    try:
        _run_to(ret)
    except Ended as ended:
        fault = foreseen.get("fault")
        if fault is not None and _is_stopped() and gdb.selected_frame().pc() == fault:
            recorder.keep({"fault": fault})
            raise Ended(f"{ended}: it is recorded without results, and stops there in a replay too") from None
        recorder.drop()
        raise Ended(f"{ended}, within the call {name}: it is not recorded") from None
    except BaseException:
        recorder.drop()
        raise
    finally:
        at_return.delete()
        _try("set scheduler-locking off")
    if "after" in foreseen:
        pages = [_memory(address, size) for address, size in foreseen["after"]]
        recorder.keep({"registers": _registers(), "memory": pages})
    elif "fault" in foreseen:
        gdb.write(f"{name} is not recorded: {foreseen['says']}, but the process returned\n")
        recorder.drop()


def _require_stopped() -> None:
    if not _is_stopped():
        raise gdb.GdbError("there is no process that stands still: start it first, by starti or target remote")
    architecture = gdb.selected_frame().architecture().name()
    if not architecture.startswith("aarch64") or "ilp32" in architecture:
        raise gdb.GdbError(f"the process is of {architecture}: lanewise knows AArch64 with pointers of 64 bits")


def _is_stopped() -> bool:
    thread = gdb.selected_thread()
    return thread is not None and thread.is_valid() and thread.is_stopped()


def _address(function: str) -> int:
    """The address of a function; where no file that is loaded has it, the process runs until one does."""
    expression = "&" + function if function.isidentifier() else function
    while True:
        try:
            if "gnu-indirect" in str(gdb.parse_and_eval(function).type):
                raise gdb.GdbError(
                    f"which function {function} is, the process decides as it starts (an IFUNC): name that one"
                )
            return int(gdb.parse_and_eval(f"(unsigned long) ({expression})"))
        except gdb.error as error:
            if not function.isidentifier():
                raise gdb.GdbError(f"{function} is no address: {error}") from None
        _execute("set stop-on-solib-events 1")
        try:
            _run()
        except Ended as ended:
            raise gdb.GdbError(f"no file that the process has loaded has a symbol {function}: {ended}") from None
        finally:
            _execute("set stop-on-solib-events 0")


def _run() -> None:
    """Let the process run until it stops; what was said is seen meanwhile."""
    gdb.flush()
    try:
        _execute("continue")
    except gdb.error as error:
        raise Ended(str(error).rstrip(".")) from None
    if not _is_stopped():
        raise Ended("the process has ended")


def _run_to(address: int) -> None:
    stops: List[Any] = []
    gdb.events.stop.connect(stops.append)
    try:
        _run()
    finally:
        gdb.events.stop.disconnect(stops.append)
    pc = gdb.selected_frame().pc()
    signals = [stop.stop_signal for stop in stops if isinstance(stop, gdb.SignalEvent)]
    if pc != address or signals:
        raise Ended(f"the process is stopped at {pc:#x}" + "".join(f" by {name}" for name in signals))


def _memory(address: int, size: int) -> Optional[str]:
    """Bytes of the process in hexadecimal digits; None where it has no such memory."""
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size)).hex()
    except gdb.MemoryError:
        return None


def _registers() -> Dict[str, Any]:
    frame = gdb.newest_frame()

    def number(name: str) -> int:
        return int(frame.read_register(name)) % 2**64

    def vector(name: str) -> str:
        low, high = (int(frame.read_register(name)["d"]["u"][half]) % 2**64 for half in (0, 1))
        return f"{high:016x}{low:016x}"

    def known(name: str) -> int:
        try:
            return number(name)
        except ValueError:  # no register of this target
            return 0

    return {
        "x": [number(f"x{i}") for i in range(31)],
        "sp": number("sp"),
        "pc": number("pc"),
        "v": [vector(f"v{i}") for i in range(32)],
        "nzcv": number("cpsr") >> 28 & 15,
        "fpsr": number("fpsr") % 2**32,
        "fpcr": number("fpcr") % 2**32,
        "tpidr": next(iter(filter(None, map(known, THREAD_POINTER))), 0),
    }


def _execute(command: str) -> None:
    """Let gdb do something without a word.  Ctrl-C, which gdb may tell as an error, is KeyboardInterrupt."""
    try:
        gdb.execute(command, to_string=True)
    except gdb.error as error:
        if str(error) == "Quit":
            raise KeyboardInterrupt from None
        raise


def _try(command: str) -> bool:
    try:
        _execute(command)
        return True
    except gdb.error:
        return False


CaptureCalls()
