"""A small client of gdb's remote protocol."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType

from sim.debug.gdb.packets import framed
from sim.debug.gdb.server import GdbServer
from sim.debug.session import Session


class GdbClient:
    """Asks one packet after the other; `console` is what the server said besides."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self._bytes = b""
        self.console = ""
        self._acknowledges = True

    def ask(self, text: str) -> str:
        """The body of the answer."""
        self.socket.sendall(framed(text.encode("latin-1")))
        if self._acknowledges:
            assert self._take(1) == b"+"
        answer = self.body()
        while answer.startswith("O") and answer != "OK":
            self.console += bytes.fromhex(answer[1:]).decode()
            answer = self.body()
        if text == "QStartNoAckMode":
            self._acknowledges = False
        return answer

    def monitor(self, text: str) -> str:
        """What a monitor command says."""
        return bytes.fromhex(self.ask(f"qRcmd,{text.encode().hex()}")).decode().rstrip("\n")

    def body(self) -> str:
        """The body of the next packet."""
        while b"#" not in self._bytes or len(self._bytes) < self._bytes.index(b"#") + 3:
            self._receive()
        end = self._bytes.index(b"#") + 3
        packet, self._bytes = self._bytes[:end], self._bytes[end:]
        assert framed_again(packet) == packet
        return packet[1:-3].decode("latin-1")

    def _take(self, count: int) -> bytes:
        while len(self._bytes) < count:
            self._receive()
        taken, self._bytes = self._bytes[:count], self._bytes[count:]
        return taken

    def _receive(self) -> None:
        """More bytes.  Raises EOFError where the server has gone."""
        data = self.socket.recv(1 << 16)
        if not data:
            raise EOFError
        self._bytes += data

    def close(self) -> None:
        self.socket.close()


def framed_again(packet: bytes) -> bytes:
    """A packet with its checksum computed anew."""
    body = packet[1:-3]
    return b"$" + body + b"#" + f"{sum(body) % 256:02x}".encode()


class Serving:
    """A server in a thread, for as long as a `with` lasts."""

    def __init__(self, session: Session) -> None:
        self._over = Event()
        self.server = GdbServer(session)
        self._thread = Thread(target=self.server.serve, kwargs={"is_over": self._over.is_set}, daemon=True)

    def __enter__(self) -> int:
        self._thread.start()
        return self.server.port

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        with suppress(OSError):  # it asks whether it is over when somebody comes, or half a second later
            socket.create_connection(("127.0.0.1", self.server.port)).close()
        self._thread.join(10)
        assert not self._thread.is_alive()
