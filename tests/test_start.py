"""How the command and the packages start: what they load, what Ctrl-C does meanwhile, which spellings work."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from inspect import getdoc
from typing import Annotated, Any, get_args, get_origin

import pytest

from rtl_models.command.group import HardwareCommands
from sim.command.app import Lanewise
from sim.command.signatures.conventions import conventions
from sim.prove.separation import SOLVER_SECONDS
from sim.terminal.on_demand import WORK, OnDemand

HEAVY = (
    "bitwuzla", "capstone", "cocotb", "elftools", "hypothesis", "matplotlib", "numpy", "perfetto", "textual", "unicorn",
    "ziglang", "dask", "distributed",
)  # fmt: skip
"""What takes long to import: a start loads it only for a command that needs it."""
TERMINAL = ("rich", "typer")
COMMANDS = [*Lanewise.COMMANDS.items(), *HardwareCommands.COMMANDS.items()]

INTERRUPTED_AT = """
import os, signal, sys
from importlib.abc import MetaPathFinder

class Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.argv = ["lanewise", "check", "quantize_down"]
from sim.command.main import main
main()
"""


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


def loaded_by(program: str) -> list[str]:
    """Which of the heavy packages a program has imported at its end."""
    found = python("-c", f"import sys\n{program}\nprint(*sorted({{*{(*HEAVY, *TERMINAL)!r}}} & set(sys.modules)))")
    return found.stdout.split("\n")[-2].split()


@pytest.mark.parametrize("package", ["isa", "sim", "rtl_models"])
def test_a_package_loads_nothing_heavy(package: str) -> None:
    assert loaded_by(f"import {package}") == []


@pytest.mark.parametrize(("function", "loaded"), [("run", [*TERMINAL]), ("main", [])])
def test_help_loads_only_what_prints(function: str, loaded: list[str]) -> None:
    """What `main` starts watches what `run` does, and loads nothing itself."""
    program = (
        f"sys.argv = ['lanewise', '--help']\nfrom sim.command.main import {function} as start\n"
        "try: start()\nexcept SystemExit: pass"
    )
    assert loaded_by(program) == loaded


@pytest.mark.slow
def test_help_of_a_command_loads_nothing_of_what_it_does() -> None:
    """Of all, one after the other, in one process."""
    program = f"""
from sim.command.main import run
for name in {[*Lanewise.COMMANDS]!r}:
    sys.argv = ["lanewise", name, "--help"]
    try: run()
    except SystemExit as end: assert not end.code, name
"""
    assert loaded_by(program) == [*TERMINAL]


@pytest.mark.parametrize("name", Lanewise.COMMANDS)
def test_what_a_command_takes_is_what_does_its_work_takes(name: str) -> None:
    module, _ = Lanewise.COMMANDS[name].target.split(":")
    signatures = [one for one in vars(import_module(module)).values() if callable(one) and one in WORK]
    assert signatures or name in ("init", "schema")
    for signature in signatures:
        of_work, function = WORK[signature].split(":")
        work = getattr(import_module(of_work), function)
        taken, worked = (inspect.signature(one, eval_str=True).parameters for one in (signature, work))
        assert {n: one.annotation for n, one in worked.items()} == {
            n: get_args(one.annotation)[0] if get_origin(one.annotation) is Annotated else one.annotation
            for n, one in taken.items()
        }


def test_the_solver_has_the_time_that_help_says() -> None:
    assert inspect.signature(conventions).parameters["timeout"].default == SOLVER_SECONDS


@pytest.mark.parametrize(
    "module", ["sim.command", "sim.command.app", "sim.command.running.check", "rtl_models.command.group"]
)
def test_a_module_of_commands_that_is_no_start_refuses(module: str) -> None:
    done = python("-m", module, "quantize_down")
    said = f"lanewise: {module} is no command: start it with `lanewise` or `python -m sim`\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_every_exported_name_can_be_had() -> None:
    sim = import_module("sim")
    assert [name for name in sim.__all__ if not hasattr(sim, name)] == []


def test_a_name_that_is_not_exported_is_an_error() -> None:
    with pytest.raises(AttributeError, match="module 'sim' has no attribute 'Machin'"):
        import_module("sim").Machin  # noqa: B018  (asked for to see the error)


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", ["typer", "sim.command.running.check", "numpy", "isa.rows", "unicorn", "sim.kernels.quantize_down"]
)
def test_an_interrupt_of_a_start_is_130_and_a_word(module: str) -> None:
    ended = python("-c", INTERRUPTED_AT.format(module=module))
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "lanewise: interrupted\n")


FAULT_AT_CLOSING = """
import sim.command.app

def app():
    try:
        raise {first}
    finally:
        raise ValueError("a file is open still")

sim.command.app.app = app
from sim.command.main import main
main()
"""


@pytest.mark.parametrize(
    ("first", "code", "said"),
    [
        ("KeyboardInterrupt", 130, "lanewise: interrupted"),
        ("OSError", 3, "lanewise: stopped, without a verdict, by the fault above, which is its own"),
    ],
)
def test_a_library_that_fails_as_ctrl_c_ends_it_is_an_interrupt(first: str, code: int, said: str) -> None:
    """numpy's savez closes its file while the member that was cut short is open: ValueError in place of Ctrl-C."""
    ended = python("-c", FAULT_AT_CLOSING.format(first=first))
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (code, said)
    assert (code == 130) == (ended.stderr.count("\n") == 1)


@pytest.mark.slow
@pytest.mark.parametrize("module", ["sim", "sim.command.main"])
def test_modules_that_can_be_run_are_the_command(module: str) -> None:
    assert python("-m", module, "--version").stdout == python("-m", "sim", "--version").stdout != ""


@pytest.mark.parametrize("module", ["sim.cli", "lanewise"])
def test_modules_that_cannot_be_run_say_so(module: str) -> None:
    ended = python("-m", module, "check", "quantize_down")
    assert (ended.returncode, ended.stdout, "No module named" in ended.stderr) == (1, "", True)


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_the_line_in_help_is_what_the_command_says_of_itself(name: str, command: OnDemand) -> None:
    module, attribute = command.target.split(":")
    target: Any = getattr(import_module(module), attribute)
    said = target.info.help if hasattr(target, "info") else (getdoc(target) or "")
    assert said.split("\n")[0] == command.help
