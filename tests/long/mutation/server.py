"""A process of pytest that has collected the tests, and from which each mutant is tried in a process of its own.

Where the mistake is inside of a function, the code of that function is exchanged in a copy of the process (`fork`):
nothing is loaded anew and no file is written.  A plugin for pytest, which takes the place of its loop over the tests:
it reads a question a line, as JSON, from the file descriptor that `LANEWISE_ASKED` names, and answers on that of
`LANEWISE_ANSWERED`.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from select import select
from types import CodeType, FunctionType
from typing import Any, Final

import pytest

ASKED: Final = "LANEWISE_ASKED"
ANSWERED: Final = "LANEWISE_ANSWERED"
ABSENT: Final = "is not there"
"""Where a test is not collected, as its parameters come from what is mutated."""
NOT_PLANTED: Final = "no function has the mistake"
MEMORY: Final = 4 << 30
"""Bytes that a mutant may really use; emulators set much more aside."""
CPU_LEAST, CPU_TIMES = 20, 10
"""Seconds of a processor that a test may take at least, and how many times what it takes without a mistake."""
LONGEST: Final = 1200.0
"""Seconds in which a mutant must be judged that waits for something, and so takes no time of a processor."""
_Functions = Mapping[tuple[str, str, int], Sequence[FunctionType]]
"""By the file, the qualified name and the first line of their code."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Answer what is asked, until there is nothing more."""
    tests = {item.nodeid: item for item in session.items}
    with open(int(os.environ.pop(ASKED))) as asked, open(int(os.environ.pop(ANSWERED)), "w") as answered:
        for module in json.loads(asked.readline()):
            import_module(module)
        functions = _functions()
        print(json.dumps({"collected": len(tests), "failed": session.testsfailed}), file=answered, flush=True)
        gc.freeze()
        pipes = asked.fileno(), answered.fileno()
        for line in asked:
            answer = _answer(session, tests, functions, json.loads(line), pipes)
            print(json.dumps(answer), file=answered, flush=True)
    return True


def _functions() -> _Functions:
    found = defaultdict(list)
    gc.unfreeze()  # what the collector does not walk is not named either
    for one in gc.get_objects():
        if type(one) is FunctionType:
            found[one.__code__.co_filename, one.__code__.co_qualname, one.__code__.co_firstlineno].append(one)
    return found


def _answer(
    session: pytest.Session,
    tests: Mapping[str, pytest.Item],
    functions: _Functions,
    question: dict[str, Any],
    pipes: Iterable[int],
) -> dict[str, Any]:
    """What became of a mutant, from a process of its own, which does not hold these pipes open."""
    missing = [name for name, _ in question["tests"] if name not in tests]
    if missing:
        return {"killed": missing[0], "how": ABSENT}
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        for pipe in pipes:
            os.close(pipe)
        try:
            if "text" in question and not _exchange(functions, question["file"], question["text"]):
                os.write(tell, json.dumps({"error": NOT_PLANTED}).encode())
            else:
                chosen = [(tests[name], seconds) for name, seconds in question["tests"]]
                _try(session, chosen, question["longest"], tell)
        finally:
            os._exit(0)
    os.close(tell)
    lines = b""
    begun = time.monotonic()
    while time.monotonic() - begun < LONGEST and _resident_bytes(child) < MEMORY:
        if select([told], [], [], 1.0)[0]:
            piece = os.read(told, 1 << 16)
            if not piece:
                break
            lines += piece
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.close(told)
    _, status = os.waitpid(child, 0)
    last: dict[str, Any] = json.loads(lines.splitlines()[-1]) if lines else {"error": "it is not begun"}
    if test := last.get("running"):
        return {"killed": test, "how": "does not end" if os.WIFSIGNALED(status) else "ends the process"}
    return last


def _resident_bytes(process: int) -> int:
    """0 where the system does not say."""
    with suppress(OSError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()
    return 0


def _try(session: pytest.Session, chosen: Sequence[tuple[pytest.Item, float]], longest: float, tell: int) -> None:
    """Run the tests one after the other until one fails; say which is run, and at the end what became of it all.

    What tests find in caches where all are run, may be made anew here: so many seconds of a processor are enough.
    """
    failed, begun = session.testsfailed, sum(os.times()[:4])

    def say(**what: object) -> None:
        os.write(tell, f"{json.dumps(what)}\n".encode())

    for at, (item, seconds) in enumerate(chosen):
        used = sum(os.times()[:4]) - begun
        if used > longest:
            say(survived=at)
            return
        say(running=item.nodeid)
        most = int(time.process_time() + max(CPU_LEAST, CPU_TIMES * seconds)) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
        following = chosen[at + 1][0] if at + 1 < len(chosen) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed > failed:
            say(killed=item.nodeid, how="fails")
            return
    say(survived=len(chosen))


def _exchange(functions: _Functions, file: str, text: str) -> bool:
    """Give every function of a file the code of the same name and place in the other text; whether any differed.

    One inside of another that was made already, as decorators make them, is left where it sees other names around it.
    """
    exchanged = False
    for code in _codes(compile(text, file, "exec")):
        for function in functions.get((file, code.co_qualname, code.co_firstlineno), ()):
            if function.__code__ != code:
                with suppress(ValueError):
                    function.__code__ = code
                    exchanged = True
    return exchanged


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)
