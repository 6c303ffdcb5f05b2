"""The keys of the application: what they do, and how help says it."""

from __future__ import annotations

from typing import Final, NamedTuple

PARTS: Final = ("registers", "why", "golden", "memory", "cycles", "answers")
"""What the lower part of the screen shows, by the keys 1 to 6."""


class Key(NamedTuple):
    """Keys as they are shown, what each is bound to (by the terminal's names, with commas), and what they do."""

    shown: str
    actions: tuple[tuple[str, str], ...]
    does: str


KEYS: Final = (
    Key("s →", (("s,right", "step(1)"),), "execute one instruction"),
    Key("b ←", (("b,left", "step(-1)"),), "go back over one"),
    Key("l L", (("l", "line(1)"), ("L", "line(-1)")), "on to another source line; back to one"),
    Key("Home End", (("home", "goto_start"), ("end", "goto_end")), "the first instruction; the end of the call"),
    Key("g", (("g", "ask('goto')"),), "go to an instruction by its number"),
    Key("t", (("t", "trouble"),), "go to the instruction at fault; what is wrong, in full"),
    Key("/", (("slash", "ask('run')"),), "go on to FILE:LINE, writes out[3], reads x1, saturates, sets qc"),
    Key(
        "n N", (("n", "again(1)"), ("N", "again(-1)")), "on to the same again; back to it; Escape ends what takes long"
    ),
    Key("w", (("w", "ask('why')"),), "why a lane is what it is: v3.s[2], out[5]"),
    Key("W", (("W", "ask('slice')"),), "what a lane reaches from here on"),
    Key("Enter Space", (), "in the tree: go behind that instruction; open or close it"),
    Key(
        "y Y",
        (("y", "kind"), ("Y", "ask('type')")),
        "the next type of lanes; by name: s16 q15 x8 own, u8 0.05 128",
    ),
    Key("c", (("c", "core"),), "the next core: cycles, and what held instructions up"),
    Key("m", (("m", "ask('memory')"),), "memory of an array, sp, x3, 0x1000; of all arrays"),
    Key("1 to 6", tuple((str(n), f"part({n})") for n in range(1, 7)), ", ".join(PARTS)),
    Key("Tab ↑ ↓", (), "another part of the screen; scroll it, also by PageUp PageDown"),
    Key("z", (("z", "zoom"),), "the lower part alone, and back"),
    Key("o", (("o", "order"),), "instructions by address; as they are executed"),
    Key("a", (("a", "registers"),), "all registers; those that the code around uses"),
    Key(":", (("colon", "ask('command')"),), "any command of the prompt: list, lanes v0 s16, emulator, help"),
    Key("d", (("d", "dark"),), "dark or light"),
    Key("?  q", (("question_mark", "help"), ("q", "quit")), "this help, which any key ends; leave"),
)
HINTS: Final = "s step  b back  l line  / find  w why  t fault  y type  c core  ? help  q quit"
