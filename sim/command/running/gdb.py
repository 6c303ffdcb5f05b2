"""`lanewise gdb`: one call served to gdb, on this computer."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from isa.errors import INTERRUPTED, MISSING
from sim.command.which_call import request_of
from sim.debug.gdb.monitor import GDB_COMMANDS
from sim.debug.gdb.server import LOOPBACK, GdbServer
from sim.debug.request import find_call
from sim.debug.session import Session
from sim.terminal.output import fail, print_text, write_file
from sim.terminal.writable import require_writable
from sim.toolchain.shell import typed


def serve_gdb(
    what: str,
    symbol: str | None,
    arguments: list[str] | None,
    port: int,
    elf: Path | None,
    once: bool,
    opt: str,
    source: str | None,
    mode: str | None,
    length: int | None,
    input_set: int | None,
    inputs: str | None,
    failing: bool,
    fault: list[str] | None,
    vectors: int | None,
    seed: int,
    call: str | None,
    march: str | None,
    cflags: str,
    include: list[Path] | None,
    beside: list[Path] | None,
    limit: int,
    object_file: Path | None,
    kernel_symbol: str | None,
    compile_with: str | None,
    constructors: bool,
    hold: list[str] | None,
) -> None:
    """Do what `lanewise gdb` says: its options are those of `sim.command.signatures.looking.gdb`."""
    require_writable("--elf", elf)
    wanted = request_of(
        what=what, symbol=symbol, arguments=arguments, opt=opt, source=source, mode=mode, length=length,
        input_set=input_set, inputs=inputs, failing=failing, fault=fault, vectors=vectors, seed=seed, call=call,
        march=march, cflags=cflags, include=include, beside=beside, limit=limit, object_file=object_file,
        kernel_symbol=kernel_symbol, compile_with=compile_with, constructors=constructors, hold=hold,
    )  # fmt: skip
    session = Session(find_call(wanted))
    try:
        server = GdbServer(session, port)
    except OSError as error:
        fail(f"cannot listen on port {port}: {error.strerror}", MISSING)
    with TemporaryDirectory(prefix="lanewise-gdb-") as folder:
        program = elf or Path(folder) / "program.elf"
        words = ["gdb-multiarch"]
        if session.call.image is not None:
            write_file(program, session.call.image.file)
            words.append(str(program))
        words += ["-x", str(GDB_COMMANDS), "-ex", f"target remote {LOOPBACK}:{server.port}"]
        print_text(f"{session.call.title}\n{typed(words)}")
        try:
            server.serve(once)
        except KeyboardInterrupt:
            fail("ended by Ctrl-C", INTERRUPTED)
