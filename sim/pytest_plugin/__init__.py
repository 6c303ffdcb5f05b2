"""The pytest plugin: `assert_kernel_equal`, the fixture `kernel`, `--lanewise-seed` and `--lanewise-kernel`.

The fixture is parametrised over the kernels of the option, else of the ini option `lanewise_kernels` (one a line), else
over all built-in ones in their default mode.  A fixture or a parameter `kernel` of the user's own takes its place.

pytest imports this in every run of the environment, most of which have no kernel: what they need is imported with the
first that there is.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import sim.pytest_plugin.installed  # noqa: F401  before what imports pytest

# isort: split
import pytest

from isa.errors import LanewiseError
from isa.lazy import lazy_exports
from sim.kernels.names import kernel_names
from sim.pytest_plugin.running import SEED, running

if TYPE_CHECKING:
    from sim.kernels.kernel import Kernel
    from sim.pytest_plugin.assertion import assert_kernel_equal

__all__ = ["assert_kernel_equal"]

if not TYPE_CHECKING:  # without a __dir__: pytest looks for fixtures in what that lists, and would import it
    __getattr__, _ = lazy_exports(__name__, {"assert_kernel_equal": "sim.pytest_plugin.assertion"})


def pytest_addoption(parser: pytest.Parser) -> None:
    """The seed, and the kernels of the fixture."""
    what = "a built-in kernel, the path of a kernel file, or either with :mode"
    group = parser.getgroup("lanewise", "kernels on 128-bit lanes")
    group.addoption("--lanewise-seed", type=_seed, default=SEED, metavar="N", help=f"seed of vectors (default: {SEED})")
    group.addoption(
        "--lanewise-kernel", action="append", metavar="KERNEL", help=f"of the fixture kernel: {what}; may be repeated"
    )
    parser.addini("lanewise_kernels", f"the kernels of the fixture kernel, one a line: {what}", "linelist")


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"give a number of 0 or more, not {text!r}")
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    """Make the fixture.  Raises UsageError for a kernel that cannot be used.

    It is that of a plugin of this run's own: what a fixture is parametrised over cannot be told later.
    """
    here, beside_ini = config.invocation_params.dir, (config.inipath or config.rootpath / "pytest.ini").parent
    given: list[str] = config.getoption("lanewise_kernel") or []
    listed: list[str] = config.getini("lanewise_kernels")
    kernels: dict[str, Kernel | None] = {}
    try:
        for text in given or listed:
            kernels[text] = _kernel_of(text, here if given else beside_ini)
    except LanewiseError as error:
        advice = "; lanewise_kernels takes one on a line" * (not given and any(" " in text for text in listed))
        raise pytest.UsageError(f"lanewise: {error}{advice}") from error
    kernels = kernels or dict.fromkeys(kernel_names())  # the built-in ones are loaded when they are used

    class Fixtures:
        @pytest.fixture(params=kernels)
        def kernel(self, request: pytest.FixtureRequest) -> Kernel:
            """Each kernel that the run is about."""
            return kernels[request.param] or _kernel_of(request.param, here)

    config.pluginmanager.register(Fixtures(), "lanewise kernels")


def _kernel_of(text: str, folder: Path) -> Kernel:
    from sim.pytest_plugin.naming import kernel_of

    return kernel_of(text, folder)


def pytest_report_header(config: pytest.Config) -> str:
    """The seed, so that a log tells it."""
    return f"lanewise seed: {config.getoption('lanewise_seed')}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let the assertion know which test it is in."""
    with running(item):
        return (yield)
