"""Packets of the remote protocol in a stream of bytes: $BODY#CHECKSUM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

LARGEST: Final = 1 << 16
"""Bytes of a body; what is longer is dropped."""
INTERRUPT: Final = b"\x03"
_ESCAPED: Final = b"#$}*"


class PacketReader:
    """Takes bytes as they come, and gives the packets that are whole; what lies between packets is dropped."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The bodies that end in these bytes; None for one whose checksum is wrong, or that is too long.

        An interrupt is `INTERRUPT`, as a body cannot begin with it.
        """
        self._bytes += data
        while self._bytes:
            start = self._bytes.find(b"$")
            stop = self._bytes.find(INTERRUPT, 0, start if start >= 0 else None)
            if stop >= 0:
                del self._bytes[: stop + 1]
                yield INTERRUPT
                continue
            if start < 0:
                self._bytes.clear()
                return
            del self._bytes[:start]
            end = self._bytes.find(b"#")
            if end < 0 or len(self._bytes) < end + 3:
                if max(end, len(self._bytes)) > LARGEST:
                    self._bytes.clear()
                    yield None
                return
            body, digits = bytes(self._bytes[1:end]), bytes(self._bytes[end + 1 : end + 3])
            del self._bytes[: end + 3]
            yield _unescaped(body) if digits.lower() == _checksum(body) and len(body) <= LARGEST else None


def framed(body: bytes) -> bytes:
    """A body as a packet, with what is special in it escaped."""
    escaped = bytearray()
    for byte in body:
        escaped += bytes([0x7D, byte ^ 0x20]) if byte in _ESCAPED else bytes([byte])
    return b"$" + bytes(escaped) + b"#" + _checksum(bytes(escaped))


def _checksum(body: bytes) -> bytes:
    return f"{sum(body) % 256:02x}".encode()


def _unescaped(body: bytes) -> bytes:
    parts = body.split(b"}")
    return parts[0] + b"".join(bytes([part[0] ^ 0x20]) + part[1:] for part in parts[1:] if part)
