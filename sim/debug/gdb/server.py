"""The server: one client at a time, from this computer only; what it sends cannot bring it down."""

from __future__ import annotations

import socket
from collections.abc import Callable
from selectors import EVENT_READ, DefaultSelector
from typing import Final

from sim.debug.gdb.packets import INTERRUPT, PacketReader, framed
from sim.debug.gdb.target import GdbTarget
from sim.debug.session import Session

LOOPBACK: Final = "127.0.0.1"
_AT_ONCE: Final = 1 << 16


class GdbServer:
    """Listens on a port of this computer; 0 is one that is free, `port` the one that it is."""

    def __init__(self, session: Session, port: int = 0) -> None:
        """Raises OSError where the port is taken."""
        self._session, self._target = session, GdbTarget(session)
        self._acknowledges = True
        self._listener = socket.create_server((LOOPBACK, port), backlog=4)
        self.port: int = self._listener.getsockname()[1]

    def serve(self, once: bool = False, is_over: Callable[[], bool] = lambda: False) -> None:
        """Serve clients one after the other, for ever, or `once`; a second one at a time is turned away.

        `is_over` is asked about twice a second whether to end.
        """
        with self._listener, DefaultSelector() as selector:
            selector.register(self._listener, EVENT_READ)
            while not is_over():
                if not selector.select(0.5):
                    continue
                client, _ = self._listener.accept()
                with client:
                    self._serve_one(client, is_over)
                if once:
                    return

    def _serve_one(self, client: socket.socket, is_over: Callable[[], bool]) -> None:
        """Up to where it goes away, is done, or kills; what it asked to stop at goes with it."""
        reader, self._acknowledges, self._target = PacketReader(), True, GdbTarget(self._session)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.settimeout(30)  # of sending: one that does not read is gone
        with DefaultSelector() as selector:
            selector.register(client, EVENT_READ)
            selector.register(self._listener, EVENT_READ)
            while not is_over():
                ready = {key.fileobj for key, _ in selector.select(0.5)}
                if client in ready:  # what it has sent, its end perhaps, comes before another client
                    if not self._answered(client, reader):
                        return
                elif self._listener in ready:
                    self._listener.accept()[0].close()

    def _answered(self, client: socket.socket, reader: PacketReader) -> bool:
        """Answer what has come; whether the client is still there and wants more."""
        try:
            data = client.recv(_AT_ONCE)
            for body in reader.feed(data):
                plus, minus = (b"+", b"-") if self._acknowledges else (b"", b"")
                if body is None:
                    client.sendall(minus)
                    continue
                if body == b"k":
                    return False
                answer = framed(self._target.answer(b"?" if body == INTERRUPT else body))
                console = self._target.console.encode().hex().encode()
                said, self._target.console = framed(b"O" + console) if console else b"", ""
                client.sendall(plus + said + answer)
                self._acknowledges &= body != b"QStartNoAckMode"
                if body.startswith((b"D", b"vKill")):
                    return False
            return bool(data)
        except OSError:  # it vanished
            return False
