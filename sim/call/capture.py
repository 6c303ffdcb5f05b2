"""Writing captured calls (their form: `sim.call.captured`) from calls of a compiled kernel on the machine."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from errno import EINVAL
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from isa.lane import Place
from sim.machine.machine import Machine
from sim.machine.memory import merged

_REGISTERS = ("sp", "nzcv", "fpsr")


class Capture:
    """The calls so far.  Equal bytes are kept once, under a digest of them."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._arrays: dict[str, np.ndarray[Any, Any]] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def before(self, machine: Machine) -> dict[str, Any]:
        """The part of a call that is known before it runs: where it starts, memory and registers."""
        registers = {f"x{i}": machine.x[i] for i in range(31)}
        return {
            "entry": machine.pc,
            "maps": [[r.start, r.end - r.start, r.permissions] for r in machine.memory.regions],
            "mem": [
                [region.start + start, self.key(region.buffer[start:end])]
                for region in machine.memory.regions
                for start, end in merged(region.filled())
            ],
            "regs": {**registers, "sp": machine.sp},
            "vregs": {f"v{i}": digits for i, digits in enumerate(_vectors(machine))},
            "fpcr": machine.fpcr,
            "fpsr": machine.fpsr,
            "nzcv": machine.nzcv,
            "tpidr": machine.tpidr,
        }

    def add(
        self, name: str, before: Mapping[str, Any], machine: Machine, executed: int, outputs: Sequence[tuple[int, int]]
    ) -> None:
        """Add a call that has returned; `outputs` are the addresses and lengths of what it wrote."""
        final = {name: machine.read(Place(name)) for name in _REGISTERS}
        after = [[address, length, self.key(machine.memory.read(address, length))] for address, length in outputs]
        call = {
            "id": name,
            **before,
            "ret": machine.pc,
            "outputs": after,
            "final": {"x": [machine.x[i] for i in range(31)], "v": _vectors(machine), **final},
            "insns": executed,
        }
        self.append(call)

    def append(self, call: Mapping[str, Any]) -> None:
        """Add a call as the form has it; its bytes are named by `key`."""
        self._lines.append(json.dumps(call))

    def key(self, data: bytes) -> str:
        """Keep bytes; the key that names them."""
        key = sha256(data).hexdigest()[:16]
        self._arrays[key] = np.frombuffer(data, np.uint8)
        return key

    def save(self, path: Path) -> None:
        """Write the calls to `path` and the bytes beside it, each whole or not at all.  Raises OSError."""
        if path.exists() and not path.is_file():
            raise OSError(EINVAL, "calls are two files, and that is none")
        packed = io.BytesIO()
        np.savez_compressed(packed, allow_pickle=False, **self._arrays)
        with TemporaryDirectory(dir=path.parent) as scratch:
            data, calls = Path(scratch, "data"), Path(scratch, "calls")
            data.write_bytes(packed.getvalue())
            calls.write_text("".join(f"{line}\n" for line in self._lines), encoding="utf-8")
            data.replace(path.with_suffix(".npz"))
            calls.replace(path)


def _vectors(machine: Machine) -> list[str]:
    """Each vector register as 32 hex digits."""
    return [f"{machine.v[i]:032x}" for i in range(32)]
