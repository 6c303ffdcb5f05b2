"""What `lanewise cycles` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from sim.command.signatures.shared import Cflags, CompileWith, Include, March, Mode
from sim.cycles.cores import REAL_CORES
from sim.cycles.limits import LARGEST_LENGTH, LIMIT
from sim.kernels.names import kernel_names
from sim.terminal.on_demand import done_by

_WHAT = (
    f"A kernel ({', '.join(kernel_names())}), a kernel file (.py), a source or object, a loop in assembly, or captured "
    "calls (.jsonl)."
)
_Number = int | None
_Text = str | None
_Several = list[str] | None
_CORES: Final = [",".join(REAL_CORES)]


@done_by("sim.command.running.cycles:cycles")
def cycles(
    what: Annotated[_Text, typer.Argument(metavar="FILE|KERNEL", help=_WHAT)] = None,
    symbol: Annotated[_Text, typer.Argument(help="The function of a file, or its prototype.")] = None,
    arguments: Annotated[_Several, typer.Argument(help="Its arguments, as lanewise run takes them.")] = None,
    core: Annotated[list[str], typer.Option(help="Cores and core files (.toml), with commas.")] = _CORES,
    mode: Mode = None,
    length: Annotated[_Number, typer.Option(min=1, max=LARGEST_LENGTH, help="Elements of a kernel's row: 256.")] = None,
    seed: Annotated[_Number, typer.Option(min=0, help="Of a kernel's random call; default 1.")] = None,
    opt: Annotated[str, typer.Option(help="Optimisation levels of a source, with commas.")] = "O2",
    compile_with: CompileWith = None,
    march: March = None,
    cflags: Cflags = "",
    include: Include = None,
    limit: Annotated[int, typer.Option(min=1, help="Instructions that a call may take.")] = LIMIT,
    elements: Annotated[_Number, typer.Option(min=1, help="What a call, or an iteration, works on.")] = None,
    loop: Annotated[_Text, typer.Option(metavar="LABEL", help="Of an assembly file; default: its last loop.")] = None,
    count: Annotated[_Number, typer.Option(min=1, max=10**15, help="Iterations of that loop; default 1000.")] = None,
    unroll: Annotated[_Number, typer.Option(min=1, max=64, help="That loop so often in a row, beside it.")] = None,
    interleave: Annotated[_Number, typer.Option(min=1, max=64, help="So many copies of it at once, beside it.")] = None,
    call: Annotated[_Text, typer.Option(metavar="ID", help="Which one of the captured calls.")] = None,
    compare: Annotated[_Text, typer.Option(help="llvm-mca: what it says of the same instructions.")] = None,
    diff: Annotated[
        _Text, typer.Option(metavar="FILE", help="Another version: what gains or loses, and how much.")
    ] = None,
    advise: Annotated[bool, typer.Option("--advise", help="Changes that would help, each tried in the model.")] = False,
    sweep: Annotated[_Text, typer.Option(help="alignment, cache: cycles by offset, by L2's latency.")] = None,
    megahertz: Annotated[
        float | None, typer.Option(min=0.001, max=1e6, help="A clock, for nanoseconds and GOPS.")
    ] = None,
    measured: Annotated[Path | None, typer.Option(help="Measured cycles (CSV: timed,core,cycles), beside.")] = None,
    latency: Annotated[_Several, typer.Option(metavar="CLASS=N", help="What if: another latency.")] = None,
    pipe: Annotated[_Several, typer.Option(metavar="CLASS=USES", help="What if: other pipes, as F0|F1*2.")] = None,
    parameter: Annotated[_Several, typer.Option("--set", metavar="NAME=N", help="What if: another width...")] = None,
    cold: Annotated[bool, typer.Option("--cold", help="No branch of the call was seen before.")] = False,
    caches: Annotated[bool, typer.Option("--caches", help="The call's caches, empty at first; else all hits.")] = False,
    l2_latency: Annotated[_Number, typer.Option(min=1, max=1000, help="Cycles of a hit in L2; means --caches.")] = None,
    brief: Annotated[bool, typer.Option("--brief", help="A line for each call and core, no more.")] = False,
    timeline: Annotated[bool, typer.Option("--timeline", help="Show the pipeline cycle by cycle.")] = False,
    kanata_file: Annotated[Path | None, typer.Option("--kanata", help="Write a log for Konata.")] = None,
    perfetto_file: Annotated[Path | None, typer.Option("--perfetto", help="Write a trace for ui.perfetto.dev.")] = None,
    html_file: Annotated[Path | None, typer.Option("--html", help="Write a page for a browser.")] = None,
    roofline_file: Annotated[
        Path | None, typer.Option("--roofline", help="Draw what each core allows and is reached: .png or .svg.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    about: Annotated[_Text, typer.Option(metavar="CORE", help="Only say how good a core's figures are.")] = None,
) -> None:
    """Time what is executed on named cores, and say why it takes so long.

    A kernel is called with a row of its domain, compiled and as its program of intrinsics, side by side; a function
    as by lanewise run.  A kernel file is imported, so it runs as your own Python does.
    """
