"""What several tests share: the check that they test this checkout, settings, and the recorded machine words."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

if TYPE_CHECKING:
    from sim import Emulator, Machine

ROOT = Path(__file__).resolve().parents[1]
Words = dict[str, tuple[int, ...]]

# The same examples in every run: whatever the clock, the load, the order of the tests, and what else is imported.
settings.register_profile(
    "lanewise", derandomize=True, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
# Other examples in every run: `make explore`, which gives the seed.
settings.register_profile(
    "explore", settings.get_profile("lanewise"), derandomize=False, database=None, max_examples=500
)
settings.load_profile("lanewise")
providers._get_local_constants = Constants  # else numbers in the modules that happen to be imported are drawn too


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest -m rtl --simulator icarus`."""
    simulators = ("verilator", "icarus")
    parser.addoption("--simulator", choices=simulators, default="verilator", help="what the benches of hardware run in")


def pytest_configure() -> None:
    """Stop with one line where `isa` or `sim` are not the ones beside these tests; let interrupts in; find our pip.

    A shell's background starts programs, and so all that these start, with interrupts ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # messages name the pip there
    for package in ("isa", "sim"):
        spec = find_spec(package)
        found = Path(spec.origin).resolve().parents[1] if spec is not None and spec.origin else None
        if found != ROOT:
            where = f"resolves to {found}" if found else "is not installed"
            advice = f"install this checkout: {sys.executable} -m pip install -e {ROOT}"
            pytest.exit(f"the package {package} {where}, these tests are about {ROOT}; {advice}", returncode=3)
    if "PYTEST_XDIST_WORKER" in os.environ:  # the others have the other processors, and copies of this one are dear
        import_module("sim.processes").processors = lambda: 1  # type: ignore[attr-defined]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files without a test that `make test-slow`, `test-hardware` or `long` wants are not read, half of their start.

    A mark is given by its name, so it stands in the file; that of `long` by what `support.sampled` has.
    """
    lacking: dict[str, Callable[[str], bool]] = {
        "slow and not rtl and not long": lambda text: "\npytestmark = pytest.mark.rtl\n" in text,
        "slow and rtl": lambda text: "pytest.mark.rtl" not in text,
        "long": lambda text: "from support.sampled" not in text,
    }
    wanted: str = config.option.markexpr
    if collection_path.suffix != ".py" or wanted not in lacking:
        return None
    text = collection_path.read_text(encoding="utf-8")
    return True if lacking[wanted](text) or "pytest.mark.slow" not in text else None


def pytest_collection() -> None:
    """What is collected is kept: the garbage collector, which would take a third of the time, has nothing to find."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was collected stays to the end: the garbage collector need not walk it again and again.

    It walks what is new more rarely, as most of what tests make goes without it: that was a third of their time.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 10, 1000)  # not more rarely: what waits for it may hold emulators, megabytes each


@pytest.fixture(scope="module", autouse=True)
def kept_by_the_file() -> Iterator[None]:
    """What is left of a file's objects, in caches above all, stays too."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def documents() -> None:
    """Whatever a command prints for machines in a test is compared with its schema."""
    output: Any = import_module("sim.terminal.output")
    as_document = output.as_document

    def compared(name: str, value: object) -> object:
        made = as_document(name, value)
        import_module("support.documents").compare(name, json.loads(json.dumps(made)))
        return made

    output.as_document = compared


@pytest.fixture(scope="session", autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Temporary folders go with pytest's own; those of failing benches have the same name wherever the same fails."""
    tempfile.tempdir = str(tmp_path_factory.mktemp("scratch"))


@pytest.fixture(scope="session")
def form_words() -> Words:
    """By form name, the machine words that the package records (`isa.encodings`)."""
    recorded: Words = import_module("isa.encodings").recorded_words()
    return recorded


@pytest.fixture(params=["machine", "compiled", "emulator"])
def engine(request: pytest.FixtureRequest) -> Machine | Emulator:
    """What all promise is tested on all; `sim` is imported only after `pytest_configure` has found it."""
    sim = import_module("sim")
    if request.param == "emulator":
        emulator: Emulator = sim.Emulator()
        return emulator
    machine: Machine = sim.Machine(engine="interpreted" if request.param == "machine" else request.param)
    return machine


@pytest.fixture(scope="session")
def simulator(request: pytest.FixtureRequest) -> str:
    """What the benches of hardware run in: the option --simulator."""
    name: str = request.config.getoption("--simulator")
    return name


@pytest.fixture
def machine() -> Machine:
    made: Machine = import_module("sim").Machine()
    return made


WORDS = {
    "nop": 0xD503201F,
    "add x0, x0, #1": 0x91000400,
    "add x2, x2, #1": 0x91000442,
    "add x1, x1, #2, lsl #12": 0x91400821,
    "mov x0, #5": 0xD28000A0,
    "ldr x0, [x1]": 0xF9400020,
    "ldr xzr, [x1]": 0xF940003F,
    "ldrb w0, [x1]": 0x39400020,
    "str x0, [x1]": 0xF9000020,
    "str w0, [x1]": 0xB9000020,
    "strb w0, [x1]": 0x39000020,
    "str x0, [x1], #8": 0xF8008420,
    "stp x2, x3, [x1]": 0xA9000C22,
    "stp x2, x3, [x1, #-0x10]!": 0xA9BF0C22,
    "ldp x2, x3, [x1], #0x10": 0xA8C10C22,
    "b #8": 0x14000002,
    "b #0x1000000": 0x14400000,
    "bl #8": 0x94000002,
    "ret": 0xD65F03C0,
    "cbz x0, #8": 0xB4000040,
    "cbnz x0, #0xfffffffffffffffc": 0xB5FFFFE0,
    "b.ne #0xffffffffffffffec": 0x54FFFF61,
    "subs x0, x0, #1": 0xF1000400,
    "subs x2, x2, #1": 0xF1000442,
    "sqadd v0.4s, v0.4s, v1.4s": 0x4EA10C00,
    "sdot v0.4s, v1.16b, v2.16b": 0x4E829420,
    "fcmla v0.4h, v1.4h, v2.h[0], #0": 0x2F421020,
    "svc #0": 0xD4000001,
    "brk #0": 0xD4200000,
    "udf #0": 0,
}
"""The words of the small programs that tests run, by their text at address 0."""

Assemble = Callable[..., bytes]


@pytest.fixture(scope="session")
def assemble() -> Assemble:
    """Machine code of some of `WORDS`, named by their text."""

    def code(*texts: str) -> bytes:
        return b"".join(WORDS[text].to_bytes(4, "little") for text in texts)

    return code


Write = Callable[[str, str], Path]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for the test; empty at first."""
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a source file and returns its path."""

    def source(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return source


Without = Callable[..., None]


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Without:
    """Makes packages, and programs of the system, missing."""

    def remove(*names: str) -> None:
        packages, system = importlib.util.find_spec, shutil.which
        monkeypatch.setattr(importlib.util, "find_spec", lambda n, *a: None if n in names else packages(n, *a))
        monkeypatch.setattr(shutil, "which", lambda n, *a, **k: None if n in names else system(n, *a, **k))

    return remove


@pytest.fixture
def verdict_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that fails does not search for the lines at fault, for seconds: the test says nothing of them."""
    no_lines = import_module("sim.check.repair.fault").FaultLines()
    monkeypatch.setattr("sim.check.repair.place.find_fault", lambda *_: no_lines)


@pytest.fixture
def nothing_aimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check of the command has its own vectors alone, for half of its time: the test says nothing of aimed ones."""
    aimed, power = import_module("sim.check.aim.aiming").Aimed, import_module("sim.check.aim.power").Power
    monkeypatch.setattr("sim.command.running.check.aimed_or_kept", lambda *_: aimed([], [], power()))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tools run so far: clang or ld.lld."""
    seen: list[str] = []
    original = subprocess.run

    def counted(command: list[str], **options: Any) -> Any:
        seen.append(command[1])
        return original(command, **options)

    monkeypatch.setattr(subprocess, "run", counted)
    return seen
