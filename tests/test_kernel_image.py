"""What is said of a program of which something is not there or was not done, and how a kernel's code is chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from isa.errors import LanewiseError
from sim.call.kernel_image import Build, files_named, left_out
from sim.kernels.quantize_down import KERNEL
from sim.toolchain.image import Image

OWN, OTHER = KERNEL.sources[0], Path("other.c")


@dataclass
class Program:
    """What `left_out` asks of an image: the constructor at address 16 k is that of line k."""

    absent: dict[str, int] = field(default_factory=dict)
    constructors: tuple[int, ...] = ()

    def place_of(self, pc: int) -> str:
        return f"line {pc // 16}"


def told(program: Program, reached: tuple[str, ...] = ()) -> list[str]:
    return left_out(cast(Image, program), reached)


@pytest.mark.parametrize(
    ("names", "reached", "said"),
    [
        ("", "", []),
        ("b a", "", ["a, b"]),
        ("b a", "a", ["b"]),
        ("b a", "a b c", []),
        ("f e d c b a", "", ["a, b, c, d, e, f"]),
        ("g f e d c b a", "", ["a, b, c, d, e, f, ..."]),
        ("h g f e d c b a", "a", ["b, c, d, e, f, g, ..."]),
    ],
)
def test_six_names_that_no_call_reached_are_told(names: str, reached: str, said: list[str]) -> None:
    program = Program(absent=dict.fromkeys(names.split(), 0))
    beginning = "no call reached what nothing here defines: "
    assert told(program, tuple(reached.split())) == [beginning + some for some in said]


def test_constructors_that_were_not_run_are_counted_and_their_places_told_once() -> None:
    (said,) = told(Program(constructors=(16, 17, 32)))
    assert said.startswith("3 constructors of static objects were not run (line 1, line 2): Kernel(..., constructors=")


@pytest.mark.parametrize(("one", "other", "either"), [(False, False, False), (True, False, True), (False, True, True)])
def test_constructors_are_run_where_the_kernel_or_the_build_says_so(one: bool, other: bool, either: bool) -> None:
    assert Build(constructors=other).of(replace(KERNEL, constructors=one)).constructors is either
    assert Build().of(replace(KERNEL, constructors=one)).constructors is one


def test_a_build_changes_what_it_names_and_nothing_else() -> None:
    assert Build().of(KERNEL) == KERNEL
    built = Build(files=[OTHER], beside=[Path("more.c")]).of(KERNEL)
    assert (built.sources, built.symbol, built.program) == ((OTHER,), KERNEL.symbol, None)
    assert built.with_sources == (*KERNEL.with_sources, Path("more.c"))
    named = Build(symbol="f").of(KERNEL)
    assert (named.sources, named.symbol, named.program) == (KERNEL.sources, "f", None)


def test_files_and_a_command_together_are_refused() -> None:
    with pytest.raises(LanewiseError, match="--object names what is compiled, --compile how to do it: give one of"):
        Build(files=[OTHER], compile_with="cc {source}").of(KERNEL)


@pytest.mark.parametrize(
    ("given", "found"),
    [([], ()), ([Path(OWN.name)], (OWN,)), ([OTHER, OWN], (OTHER, OWN)), ([Path("none", OWN.name)], None)],
)
def test_a_name_of_which_there_is_no_file_is_that_of_a_source(given: list[Path], found: Any) -> None:
    assert files_named(KERNEL, given) == (tuple(given) if found is None else found)
