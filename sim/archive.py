"""Members of a static library, in the `ar` form that ar(5) describes, with GNU's and BSD's long names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sim.image import ImageError

MAGIC, THIN_MAGIC = b"!<arch>\n", b"!<thin>\n"

_HEADER = re.compile(rb"(?s)(.{16}).{12}.{6}.{6}.{8}(\d+) *`\n")
_HEADER_SIZE = 60
_LONG_NAMES = "//"
_INDICES = re.compile(r"/|/SYM64/|__\.SYMDEF.*")  # of symbols, by GNU's and BSD's ranlib


@dataclass(frozen=True)
class Member:
    """One file of an archive; `name` as it was archived, and not unique."""

    name: str
    content: bytes


def members(path: object, data: bytes) -> list[Member]:
    """The files in an archive, in order, without its index; ImageError where the archive is malformed.

    The path is what messages name.
    """
    if data.startswith(THIN_MAGIC):
        raise ImageError(f"{path} is a thin archive, which holds no members; give an archive that ar made without T")
    stored = list(_stored(path, data))
    long_names = next((member.content for member in stored if member.name == _LONG_NAMES), b"")
    named = (_named(member, long_names) for member in stored if member.name != _LONG_NAMES)
    return [member for member in named if not _INDICES.fullmatch(member.name)]


def _stored(path: object, data: bytes) -> Iterator[Member]:
    """Members under the names in their headers, each at an even offset."""
    at = len(MAGIC)
    while at < len(data):
        header = _HEADER.fullmatch(data, at, at + _HEADER_SIZE)
        begin = at + _HEADER_SIZE
        end = begin + int(header[2]) if header else 0
        if header is None or end > len(data):
            raise ImageError(f"{path} is a truncated or corrupt archive at byte {at}; build or copy it again")
        yield Member(header[1].decode(errors="replace").rstrip(), data[begin:end])
        at = end + end % 2


def _named(member: Member, long_names: bytes) -> Member:
    """GNU: `/7` is the name at byte 7 of the long names, others end in `/`.  BSD: `#1/7` is the first 7 bytes."""
    if found := re.fullmatch(r"/(\d+)", member.name):
        return Member(_text(long_names[int(found[1]) :].split(b"/\n")[0]), member.content)
    if found := re.fullmatch(r"#1/(\d+)", member.name):
        size = int(found[1])
        return Member(_text(member.content[:size].rstrip(b"\0")), member.content[size:])
    return member if _INDICES.fullmatch(member.name) else Member(member.name.removesuffix("/"), member.content)


def _text(name: bytes) -> str:
    return name.decode(errors="replace")
