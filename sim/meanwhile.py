"""Work in two parts, spread over copies of this process: what the second part needs is made while the first is done."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import connection, get_context
from traceback import format_exc
from typing import Any, TypeVar

from sim.processes import LostProcess, interrupts_held, leave_interrupts_to

Item = TypeVar("Item")
Begun = TypeVar("Begun")
Given = TypeVar("Given")
Result = TypeVar("Result")


@contextmanager
def spread_meanwhile(
    first: Callable[[], Given],
    begin: Callable[[Item], Begun],
    finish: Callable[[Begun, Given], Result],
    items: Sequence[Item],
    jobs: int,
) -> Iterator[tuple[Given, Iterator[Result]]]:
    """What `first` gives, and `finish(begin(item), given)` of every item, in no order, in copies of this process.

    One copy does what is first while the others begin items; each finishes what it has begun.  Raises what these raise,
    and as `spread_here`; what is given and the results must be fit for pickle.
    """
    if jobs <= 1 or sys.platform != "linux":
        given = first()
        yield given, (finish(begin(item), given) for item in items)
        return
    with ExitStack() as stack:
        with interrupts_held():
            copies = list[_Copy]()
            for _ in range(jobs):
                copies.append(_Copy(first, begin, finish, items))
                stack.callback(copies[-1].end)
        left, found = list(reversed(range(len(items)))), list[Given]()
        copies[0].tell(None)

        def answers() -> Iterator[Any]:
            """Of those that are done by now; before, those that have nothing to do are told what there is to do."""
            for copy in copies:
                if not copy.is_busy and (left or (found and copy.begun)):
                    copy.tell(left.pop() if left else copy.begun.pop(0), *found)
            busy = [copy for copy in copies if copy.is_busy]
            done = connection.wait([copy.pipe for copy in busy])
            for copy in busy:
                if copy.pipe in done:
                    yield from copy.answer()

        def results() -> Iterator[Result]:
            while left or any(copy.is_busy or copy.begun for copy in copies):
                yield from answers()

        while not found:
            found += answers()
        yield found[0], results()


class _Copy:
    """A copy of this process for `spread_meanwhile`; `begun` are the numbers of the items that it is to finish."""

    def __init__(self, *work: Any) -> None:
        self.begun: list[int] = []
        self.is_busy = False
        context = get_context("fork")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, os.getpid(), *work), daemon=True)
        self._process.start()
        theirs.close()

    def tell(self, number: int | None, *given: object) -> None:
        """Let it do what is first (None), or begin an item, or finish one with what is given."""
        self.is_busy = True  # from before it is told: Ctrl-C may come in between, and what is idle is waited for
        with suppress(BrokenPipeError):  # then there is no answer either
            self.pipe.send((number, given))
        if number is not None and not given:
            self.begun.append(number)

    def answer(self) -> tuple[Any, ...]:
        """What it gives, nothing of an item that is begun.  Raises what it has raised."""
        try:
            result, error = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            raise LostProcess from None
        self.is_busy = False
        if error is not None:
            raise error
        return tuple(result)

    def end(self) -> None:
        """End it; where nobody waits for what it does, at once."""
        with interrupts_held():
            if self.is_busy:
                self._process.kill()
            else:
                with suppress(BrokenPipeError):
                    self.pipe.send(None)
            self._process.join()


def _serve(
    pipe: connection.Connection, starter: int, first: Callable[[], Any], begin: Callable[[Any], Any],
    finish: Callable[[Any, Any], Any], items: Sequence[Any],
) -> None:  # fmt: skip
    """Do what a `_Copy` is told, one thing after the other, until it is told nothing more."""
    leave_interrupts_to(starter)
    begun = {}
    for number, given in iter(pipe.recv, None):
        result: tuple[Any, ...] = ()
        try:
            if number is None:
                result = (first(),)
            elif not given:
                begun[number] = begin(items[number])
            else:
                result = (finish(begun.pop(number) if number in begun else begin(items[number]), *given),)
        except BaseException as error:
            error.add_note(f"in a copy of the process:\n{format_exc()}")
            pipe.send(((), error))
        else:
            pipe.send((result, None))
