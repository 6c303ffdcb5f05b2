"""Members of a static library, in the `ar` form that ar(5) describes, with GNU's and BSD's long names."""

import re
from dataclasses import dataclass

from sim.toolchain.image import ImageError

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
    stored = []  # under the names in their headers, each at an even offset
    at = len(MAGIC)
    while at < len(data):
        header = _HEADER.fullmatch(data, at, at + _HEADER_SIZE)
        begin = at + _HEADER_SIZE
        end = begin + int(header[2]) if header else 0
        if header is None or end > len(data):
            raise ImageError(f"{path} is a truncated or corrupt archive at byte {at}; build or copy it again")
        stored.append(Member(header[1].decode(errors="replace").rstrip(), data[begin:end]))
        at = end + end % 2
    long_names = next((member.content for member in stored if member.name == _LONG_NAMES), b"")
    found = []
    for name, content in ((member.name, member.content) for member in stored if member.name != _LONG_NAMES):
        if place := re.fullmatch(r"/(\d+)", name):  # GNU: at that byte of the long names
            found.append(Member(_text(long_names[int(place[1]) :].split(b"/\n")[0]), content))
        elif length := re.fullmatch(r"#1/(\d+)", name):  # BSD: the first so many bytes
            size = int(length[1])
            found.append(Member(_text(content[:size].rstrip(b"\0")), content[size:]))
        elif not _INDICES.fullmatch(name):
            found.append(Member(name.removesuffix("/"), content))
    return [member for member in found if not _INDICES.fullmatch(member.name)]


def _text(name: bytes) -> str:
    return name.decode(errors="replace")
