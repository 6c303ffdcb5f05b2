"""What gdb's script asks, and the answers: JSON, a line each, of which the bytes are hexadecimal digits.

The script sends, in this order for each call:

- `{"call": name, "registers": {...}, "limit": instructions or null}`.  The answer is `{"page": address}`, and then it
  sends `{"bytes": digits or null}`, as often as the call touches a page that is not known yet.  At last it is one
  of `{"after": [[address, size], ...]}`, what to read at the return; `{"fault": pc, "says": sentence}`, an access to
  memory that the process does not have; `{"refused": sentence}`.
- `{"registers": {...}, "memory": [digits, ...]}` at the return, or `{"fault": pc}` where the process has stopped there:
  the call is kept, the answer `{"kept": sentence}`; or `{"drop": 1}`, with an empty answer.

Before the first comes `{"hello": 1}` from here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from isa.lane import Place
from sim.attached.live_call import LiveCall
from sim.call.capture import Capture
from sim.call.limits import MAX_INSTRUCTIONS
from sim.machine.errors import ExecutionError, MemoryFault, UnmodelledMode
from sim.machine.registers import SP, RegisterStorage, as_fpcr

_SHARE_OF_SAVING = 10
"""From one writing of all calls to the next passes at least so many times what it takes."""


class Conversation:
    """Captures the calls that a script hands over into a file, which is whole at every moment."""

    def __init__(self, lines: Iterator[str], say: Callable[[str], None], file: Path) -> None:
        self._lines, self._say, self._file = lines, say, file
        self._calls = Capture()
        self._in_file = 0
        self._saving_is_due = 0.0

    def hold(self) -> None:
        """Answer until the script asks no more; what is captured last is then yet to be saved.

        Raises OSError where the file cannot be written.
        """
        call = None
        with suppress(EOFError):
            request = self._ask({"hello": 1})
            while True:
                if "call" in request:
                    call, answer = self._foreseen(request)
                elif call is not None and "drop" not in request:
                    answer = {"kept": self._keep(call, request)}
                else:
                    answer = {}
                request = self._ask(answer)

    def _ask(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Say an answer; what the script says then.  Raises EOFError at its end, also in the midst of a line."""
        self._say(json.dumps(answer))
        line = next(self._lines, "")
        if not line.endswith("\n"):
            raise EOFError
        request: dict[str, Any] = json.loads(line)
        return request

    def _page(self, address: int) -> bytes | None:
        digits = self._ask({"page": address})["bytes"]
        return None if digits is None else bytes.fromhex(digits)

    def _foreseen(self, request: dict[str, Any]) -> tuple[LiveCall | None, dict[str, Any]]:
        """The call, run on the machine, and what the script is to do at its return."""
        limit = request["limit"] or MAX_INSTRUCTIONS
        try:
            call = _live_call(request["call"], request["registers"], self._page)
            machine = call.run(limit)
        except MemoryFault as fault:
            return call, {"fault": fault.pc, "says": str(fault)}
        except (ExecutionError, UnmodelledMode) as error:
            return None, {"refused": f"the lane machine cannot run the call: {error}"}
        if machine.pc != call.ret:
            return None, {"refused": f"the lane machine did not come to its return within {limit:,} instructions"}
        return call, {"after": list(call.results())}

    def _keep(self, call: LiveCall, results: dict[str, Any]) -> str:
        key, registers = self._calls.key, call.registers
        nzcv, fpsr, fpcr, _monitor, tpidr = registers.flags
        record: dict[str, Any] = {
            "id": call.name,
            "entry": call.entry,
            "ret": call.ret,
            "maps": list(call.runs()),
            "mem": [[start, key(call.before(start, size))] for start, size, _ in call.runs()],
            "regs": {("sp" if i == SP else f"x{i}"): value for i, value in enumerate(registers.general)},
            "vregs": {f"v{i}": f"{registers.read(Place('v', i)):032x}" for i in range(32)},
            "fpcr": fpcr,
            "fpsr": fpsr,
            "nzcv": nzcv,
            "tpidr": tpidr,
        }
        came_back = "fault" not in results
        if came_back:
            after = [bytes.fromhex(digits) for digits in results["memory"]]
            parts = zip(call.results(), after, strict=True)
            record["outputs"] = [[start, size, key(data)] for (start, size), data in parts]
            record["final"] = {name: results["registers"][name] for name in ("x", "sp", "v", "nzcv", "fpsr")}
        self._calls.append(record)
        if time.monotonic() >= self._saving_is_due:
            begun = time.monotonic()
            self.save()
            self._saving_is_due = begun + _SHARE_OF_SAVING * (time.monotonic() - begun)
        how = f"{call.executed:,} instructions" if came_back else "up to its fault"
        return f"captured {call.name}: {how}, {len(call.pages)} pages"

    def save(self) -> None:
        """Write all calls, if there are some that are not in the file.  Raises OSError."""
        if len(self._calls) > self._in_file:
            self._calls.save(self._file)
            self._in_file = len(self._calls)


def _live_call(name: str, given: dict[str, Any], read_page: Callable[[int], bytes | None]) -> LiveCall:
    """The call at whose entry a process with these registers stands.  Raises UnmodelledMode for its FPCR."""
    registers = RegisterStorage()
    registers.general[:] = [*given["x"], given["sp"]]
    registers.vectors[:] = b"".join(int(digits, 16).to_bytes(16, "little") for digits in given["v"])
    registers.flags[:] = [given["nzcv"], given["fpsr"], as_fpcr(given["fpcr"]), 0, given["tpidr"]]
    return LiveCall(name=name, registers=registers, entry=given["pc"], ret=given["x"][30], read_page=read_page)
