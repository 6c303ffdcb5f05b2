"""The pictures of the README and of these pages: `python docs/pictures.py [NAME ...]` makes them.

That of the README is `lanewise debug` at the one mistake of a kernel: a product is narrowed without rounding.  The
others are what commands print, the first lines of it; that of `lanewise gdb` needs gdb-multiarch.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import numpy as np
from rich.console import Console
from rich.text import Text

from isa.errors import did_you_mean
from sim.debug import Session
from sim.debug.commands import SessionCommands
from sim.debug.request import DebugRequest, find_call
from sim.golden import derive_tflite, double_rounding, single_rounding
from sim.terminal.script import parser_of, run_by_hand
from sim.toolchain.tools import ToolMissing


class Shown(NamedTuple):
    """A command that a picture is of, how many of its lines are shown, and the commands that go before it."""

    command: str
    lines: int
    before: tuple[str, ...] = ()


STATIC: Final = Path(__file__).parent / "static"
PICTURE: Final = STATIC / "debug.svg"
CALL: Final = "requant.c requant 96,-96,1,2,3,4,5,6,7,8,9,10,11,12,13,14 2,2,64,64,4,4,8,8,1,1,1,1,1,1,1,1 zeros:16 16"
COMMANDS: Final = {
    "check": Shown("lanewise check requant.py --opt O2 --vectors 2000", 17),
    "capture": Shown("lanewise capture requant.py calls.jsonl --opt O2 --vectors 20", 1),
    "replay": Shown(
        "lanewise replay calls.jsonl",
        11,
        ("lanewise capture requant.py calls.jsonl --opt O2 --vectors 20",),
    ),
    "prove": Shown("lanewise prove requant.py --opt O2 --lengths 0..17", 22),
    "trace": Shown("lanewise trace requant.c requant 64,-64,3 64,64,64 zeros:3 3 --opt O2", 16),
    "cycles": Shown("lanewise cycles requant.c requant zeros:64 zeros:64 zeros:64 64 --core cortex-a72", 39),
    "conventions": Shown("lanewise conventions --between double_rounding single_rounding", 4),
    "explain": Shown(
        "lanewise explain --accumulators sums.csv:int32 --output out.csv:int8 --multiplier 1583594044 --shift 9", 15
    ),
    "model": Shown("lanewise model net.onnx --against device.npz", 24),
    "exhaust": Shown("lanewise exhaust 'sqadd .8b,.8b,.8b' --anew", 4),
    "campaign": Shown("lanewise campaign night.toml", 3),
    "results": Shown("lanewise results night.sqlite", 20, ("lanewise campaign night.toml",)),
    "run": Shown("lanewise run requant.c requant 64,-64,3 64,64,64 zeros:3 3", 2),
    "doctor": Shown("lanewise doctor", 8),
    "cache": Shown("lanewise cache", 5, ("lanewise run requant.c requant 64,-64,3 64,64,64 zeros:3 3",)),
    "schema": Shown("lanewise schema", 12),
    "kernels": Shown("lanewise kernels", 16),
    "init": Shown("lanewise init kernel mine", 1),
    "isa": Shown("lanewise isa show 'sqrdmulh v0.4s, v1.4s, v2.4s'", 16),
    "rtl": Shown("lanewise rtl test sqrdmulh", 3),
}
"""By the name of the picture what it is of; `requant` is the wrong kernel."""
FILES: Final = {
    "sums.csv": "7984,-7984,4513,88526,348",
    "out.csv": "11,-11,6,127,1",
    "night.toml": """\
[[check]]
kernels = ["requant.py"]
levels = ["O1", "O2"]
vectors = 2000
seeds = [1, 2]

[[claims]]
names = ["sqadd .b,.b,.b"]
""",
}
"""What the commands read besides, by name."""
GDB: Final = ("break requant.c:8", "continue", "x/2i $pc", "stepi", "p $v2.h.s", "monitor why v2.h[1]", "reverse-stepi")
COLUMNS: Final = 110
SIZE: Final = (116, 29)
"""Columns and rows."""
_FONT_FACE: Final = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def picture(folder: Path) -> str:
    """The terminal as SVG, of a kernel that `lanewise init kernel` writes into the folder, with the mistake put in.

    It fetches nothing: its letters are those that the reader has.
    """
    from sim.debug.app.screen import Debugger

    _write_kernel(folder)
    wanted = DebugRequest(what=str(folder / "requant.py"), failing=True, vectors=2000, faults=("requant.c:8",))
    session = Session(find_call(wanted))

    async def shown() -> str:
        app = Debugger(session, SessionCommands(session).opening())
        async with app.run_test(size=SIZE) as pilot:
            for _ in range(3):  # laid out in one refresh, painted in the next
                await pilot.pause()
            return app.export_screenshot(title="lanewise debug requant.py --failing --fault requant.c:8")

    return _with_own_letters(asyncio.run(shown()))


def picture_of(name: str, folder: Path) -> str:
    """What one of `COMMANDS` prints in the folder, as SVG, with the colours of a terminal."""
    _write_kernel(folder)
    for file, text in FILES.items():
        (folder / file).write_text(text)
    if name == "model":
        _write_network(folder)
    shown = COMMANDS[name]
    own = {"LANEWISE_CACHE": str(folder / "kept")} if name == "cache" else {}
    for command in shown.before:
        _printed(command, folder, own)
    return _drawn(name, shown.command, _printed(shown.command, folder, own), shown.lines)


def picture_of_gdb(folder: Path) -> str:
    """What gdb-multiarch says to `GDB` on a session that `lanewise gdb` serves, as SVG."""
    _write_kernel(folder)
    command = f"lanewise gdb {CALL} --opt O2"
    words = [Path(sys.executable).with_name("lanewise"), *shlex.split(command)[1:]]
    if shutil.which("gdb-multiarch") is None:
        raise ToolMissing("the picture of lanewise gdb needs gdb-multiarch: install the Debian package gdb-multiarch")
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        client = shlex.split([server.stdout.readline() for _ in range(2)][-1])
        asked = [f"-ex={text}" for text in ("set print frame-arguments none", "set confirm off")]
        for text in GDB:
            asked += [f"-ex=echo (gdb) {text}\\n", f"-ex={text}"]
        told = subprocess.run(
            [client[0], "-nx", "-batch", *asked[:2], *client[1:], *asked[2:]],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        server.terminate()
    session = told.stdout[told.stdout.index(f"(gdb) {GDB[0]}") :].replace(f"{folder}/", "")
    return _drawn("gdb", f"lanewise gdb {CALL.split()[0]} requant ... --opt O2, in gdb-multiarch", session, 30)


def _printed(command: str, folder: Path, more: Mapping[str, str]) -> str:
    """What a `lanewise` command writes to a terminal of `COLUMNS` columns."""
    terminal = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    words = [Path(sys.executable).with_name("lanewise"), *shlex.split(command)[1:]]
    kept = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    done = subprocess.run(words, cwd=folder, env={**kept, **terminal, **more}, capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{command}: {done.stderr}")
    return done.stdout


def _drawn(name: str, title: str, text: str, lines: int) -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    shown = Text.from_ansi(text.strip("\n")).split("\n")[:lines]
    for line in shown:
        line.rstrip()
        console.print(line)
    return _with_own_letters(console.export_svg(title=title, unique_id=f"lanewise-{name}"))


def _write_kernel(folder: Path) -> None:
    """The example of `lanewise init kernel`, narrowed without rounding."""
    made = [Path(sys.executable).with_name("lanewise"), "init", "kernel", "requant"]
    subprocess.run(made, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    source = folder / "requant.c"
    source.write_text(source.read_text().replace("vqrshrn_n_s16", "vqshrn_n_s16"))


def _write_network(folder: Path) -> None:
    """Three layers of int8, and a recording that scales all but the last with double rounding."""
    from onnx import TensorProto, helper, numpy_helper, save

    rng = np.random.default_rng(6)
    weights = [rng.integers(-90, 91, (32, 32), np.int8) for _ in range(3)]
    factor = 2.0**-9
    constants = {"one": np.float32(1), "factor": np.float32(factor), "zero": np.int8(0)}
    constants |= {f"weights_{number}": array for number, array in enumerate(weights)}
    tensors = ["input", "first", "second", "output"]
    nodes = [
        helper.make_node("QLinearMatMul", [taken, "one", "zero", weight, "factor", "zero", "one", "zero"], [made])
        for weight, (taken, made) in zip(list(constants)[3:], pairwise(tensors), strict=True)
    ]
    ends = [helper.make_tensor_value_info(tensor, TensorProto.INT8, [64, 32]) for tensor in (tensors[0], tensors[-1])]
    stored = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], stored)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), folder / "net.onnx")
    values = [rng.integers(-128, 128, (64, 32), np.int8)]
    derived = derive_tflite(factor)
    for matrix, scaled in zip(weights, (double_rounding, double_rounding, single_rounding), strict=True):
        sums = values[-1].astype(np.int32) @ matrix.astype(np.int32)
        values.append(scaled(sums, derived.multiplier, derived.left_shift).clip(-128, 127).astype(np.int8))
    np.savez(folder / "device.npz", **dict(zip(tensors, values, strict=True)))


def _with_own_letters(drawn: str) -> str:
    return _FONT_FACE.sub("", drawn).replace("Fira Code", "ui-monospace, Menlo, Consolas")


def main() -> None:
    """Write the pictures of the names that are given, or all."""
    known = [PICTURE.stem, "gdb", *COMMANDS]
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; default: all")
    names = parser.parse_args().names
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no picture {unknown[0]!r}{did_you_mean(unknown[0], known)}")
    for name in names or known:
        with TemporaryDirectory() as made:
            folder = Path(made)
            match name:
                case "debug":
                    text = picture(folder)
                case "gdb":
                    text = picture_of_gdb(folder)
                case _:
                    text = picture_of(name, folder)
            (STATIC / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_by_hand(main)
