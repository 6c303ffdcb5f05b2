"""What is asked of one job, and the digests by which equal work is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple

Kind = Literal["check", "rtl", "cycles", "prove", "claim", "exhaust", "replay", "model", "mutants", "idle"]


@dataclass(frozen=True, kw_only=True)
class JobCase:
    """One question: what stays the same from night to night, while code and versions change.

    `kernel` is a built-in kernel, the path of a kernel file, or what else the kind is about: a claim, an instruction, a
    file of captured calls, a network.  `source` is the file name of one implementation, "program" for intrinsics.
    `more` has the rest: numbers, texts and lists of them, by name.
    """

    kind: Kind
    kernel: str
    mode: str = ""
    source: str = ""
    compiler: str = ""
    level: str = ""
    flags: str = ""
    core: str = ""
    seed: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @cached_property
    def hash(self) -> bytes:
        """16 bytes of the digest of all fields."""
        return digest_of([getattr(self, one.name) for one in fields(self)])

    @property
    def title(self) -> str:
        """Such as "quantize_down:page kernel.c -O2"."""
        whole = f"{self.kernel}:{self.mode}" if self.mode else self.kernel
        told = (whole, self.source, self.compiler, f"-{self.level}" if self.level else "", self.flags, self.core)
        return " ".join(word for word in told if word)


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


class PlannedJob(NamedTuple):
    """A case of certain contents and versions.

    `made_of` names the files that it reads with digests of their contents, as JSON; `cost` is a guess, in seconds.
    """

    case: JobCase
    hash: bytes
    made_of: str
    cost: float


def digest_of(value: object) -> bytes:
    """16 bytes, of anything that is JSON."""
    return sha256(_CANONICAL.encode(value).encode()).digest()[:16]
