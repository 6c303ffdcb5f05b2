"""Members of a static library, in the `ar` form that ar(5) describes, with GNU's and BSD's long names."""

import re
from dataclasses import dataclass
from errno import EINVAL
from pathlib import Path

from sim.toolchain.image import ImageError

MAGIC, THIN_MAGIC = b"!<arch>\n", b"!<thin>\n"

_HEADER = re.compile(rb"(?s)(.{16}).{12}.{6}.{6}.{8}(\d+) *`\n")
_HEADER_SIZE = 60
_LONG_NAMES = "//"
_TABLES = re.compile(r"/|//|/SYM64/")  # what a thin archive holds itself
_INDICES = re.compile(r"/|/SYM64/|__\.SYMDEF.*")  # of symbols, by GNU's and BSD's ranlib


@dataclass(frozen=True)
class Member:
    """One file of an archive; `name` as it was archived, and not unique."""

    name: str
    content: bytes


def members(path: object, data: bytes) -> list[Member]:
    """The files in an archive, in order, without its index; ImageError where the archive is malformed.

    A thin archive only names its members: each is read from where it lies, seen from the archive.  The path is that,
    and what messages name.
    """
    thin = data.startswith(THIN_MAGIC)
    stored = []  # under the names in their headers, each at an even offset
    at = len(MAGIC)
    while at < len(data):
        header = _HEADER.fullmatch(data, at, at + _HEADER_SIZE)
        if header is None:
            raise _corrupt(path, at)
        name, begin = header[1].decode(errors="replace").rstrip(), at + _HEADER_SIZE
        end = begin if thin and not _TABLES.fullmatch(name) else begin + int(header[2])
        if end > len(data):
            raise _corrupt(path, at)
        stored.append(Member(name, data[begin:end]))
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
    listed = [member for member in found if not _INDICES.fullmatch(member.name)]
    return [_outside(path, member.name) for member in listed] if thin else listed


def whole(path: object, data: bytes) -> bytes:
    """The archive with its members in it, also where it is a thin one.  Raises ImageError as `members`."""
    if not data.startswith(THIN_MAGIC):
        return data
    parts = [MAGIC]
    for number, member in enumerate(members(path, data)):
        content = member.content
        header = f"{f'{number}.o/':16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n"
        parts += [header.encode(), content, b"\n" * (len(content) % 2)]
    return b"".join(parts)


def read_regular(file: Path) -> bytes:
    """The content of a file.  Raises OSError, also for a device, which may never end."""
    if file.exists() and not file.is_file():
        raise OSError(EINVAL, "it is no regular file")
    return file.read_bytes()


def _outside(archive: object, name: str) -> Member:
    """A member of a thin archive."""
    file = Path(str(archive)).parent / name
    try:
        return Member(file.name, read_regular(file))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ImageError(
            f"{archive} is a thin archive, and its member {file} cannot be read: {reason}; "
            "give it beside its objects, or an archive that ar made without T"
        ) from error


def _corrupt(path: object, at: int) -> ImageError:
    return ImageError(f"{path} is a truncated or corrupt archive at byte {at}; build or copy it again")


def _text(name: bytes) -> str:
    return name.decode(errors="replace")
