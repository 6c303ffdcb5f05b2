"""A small client of the Debug Adapter Protocol, in the place of an editor."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from types import TracebackType
from typing import Any

Message = dict[str, Any]


class DapClient:
    """Runs an adapter on a pipe and asks it; `output` is all that it has said, for the console of an editor."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self._adapter = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder
        )
        self._messages: Queue[Message] = Queue()
        self._events: list[Message] = []
        self.output, self._sent = "", 0
        Thread(target=self._read, daemon=True).start()

    def begin(self, command: str, arguments: Message) -> int:
        """Send a request; its number."""
        assert self._adapter.stdin is not None
        self._sent += 1
        body = json.dumps({"seq": self._sent, "type": "request", "command": command, "arguments": arguments}).encode()
        self._adapter.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._adapter.stdin.flush()
        return self._sent

    def end(self, number: int) -> Message:
        """The body of the answer to a request, which must have succeeded."""
        while True:
            message = self._next()
            if message["type"] == "response" and message["request_seq"] == number:
                assert message["success"], message
                body: Message = message.get("body") or {}
                return body

    def ask(self, command: str, **arguments: Any) -> Message:
        """Send a request and wait for its answer."""
        return self.end(self.begin(command, arguments))

    def event(self, name: str) -> Message:
        """The body of the next event of a name; those before it of other names are passed over."""
        while True:
            for at, message in enumerate(self._events):
                if message["event"] == name:
                    del self._events[: at + 1]
                    body: Message = message.get("body") or {}
                    return body
            self._next()

    def _next(self) -> Message:
        try:
            message = self._messages.get(timeout=60)
        except Empty:
            raise TimeoutError("the adapter says nothing") from None
        if message["type"] == "event":
            if message["event"] == "output":
                self.output += message["body"]["output"]
            else:
                self._events.append(message)
        return message

    def _read(self) -> None:
        assert self._adapter.stdout is not None
        while header := self._adapter.stdout.readline():
            if header.lower().startswith(b"content-length:"):
                size = int(header.split(b":")[1])
                self._adapter.stdout.readline()
                self._messages.put(json.loads(self._adapter.stdout.read(size)))

    def __enter__(self) -> DapClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._adapter.kill()
        self._adapter.wait(30)
