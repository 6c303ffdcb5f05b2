"""The command `lanewise` for gdb: the words of a session, without `monitor`, and lanes with those marked that changed.

gdb runs this in its own Python, 3.6 or newer, so it imports the standard library alone, and of lanewise nothing: it
asks the server that `lanewise gdb` is (`sim.debug.gdb.monitor`).
"""

import sys
from typing import Dict, List

import gdb

MOVING = ("step", "back", "goto", "end", "run", "reverse", "trouble")
"""Words behind which gdb has to look again where the call is."""


class SessionWords(gdb.Command):  # type: ignore[misc]
    """Ask the session that `lanewise gdb` serves: lanewise WORD ..., such as lanewise why v3.s[2].

    lanewise help lists the words.  lanewise lanes SPOT [TYPE] marks the lanes that are others than when it was asked
    before; lanewise show SPOT [TYPE] says the same at every stop, until it is said again;
    lanewise show alone ends all of these.
    """

    def __init__(self) -> None:
        super().__init__("lanewise", gdb.COMMAND_DATA)
        self._before: Dict[str, List[str]] = {}
        self._shown: List[str] = []
        gdb.events.stop.connect(lambda event: self._show())

    def invoke(self, argument: str, from_tty: bool) -> None:
        word, _, rest = argument.strip().partition(" ")
        if word == "lanes":
            gdb.write(self._lanes(rest.strip()))
        elif word == "show":
            rest = rest.strip()
            self._shown = [each for each in self._shown if rest not in ("", each)] + (
                [rest] if rest and rest not in self._shown else []
            )
            self._show()
        else:
            gdb.write(self._said(argument or "help"))
        if word in MOVING:
            gdb.execute("maintenance flush register-cache", to_string=True)
            self._show()

    def complete(self, text: str, word: str) -> List[str]:
        lines = self._said("help").splitlines()
        words = [line.split()[0] for line in lines if line.strip()]
        return [each for each in [*words, "show"] if " " not in text and each.startswith(word)]

    def _said(self, words: str) -> str:
        said: str = gdb.execute("monitor " + words, to_string=True)
        return said if said.endswith("\n") else said + "\n"

    def _show(self) -> None:
        for spot in self._shown:
            gdb.write(self._lanes(spot))

    def _lanes(self, spot: str) -> str:
        lanes = self._said("lanes " + spot).split()
        before = self._before.get(spot, lanes)
        self._before[spot] = lanes
        if len(before) != len(lanes):  # a sentence that says what is wrong
            return " ".join(lanes) + "\n"
        mark = "\033[1;33m{}\033[0m" if sys.stdout.isatty() else "[{}]"
        told = [new if new == old else mark.format(new) for new, old in zip(lanes, before)]
        return "%-12s %s\n" % (spot, " ".join(told))


SessionWords()
