"""Functions of stripped programs by their address, and debug information that lies in a file of its own."""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

import pytest

from sim.kernels.prototype import parse_prototype
from sim.toolchain.dwarf.function_types import function_signature
from sim.toolchain.image import ImageError
from sim.toolchain.objects import open_image
from support.command import lanewise
from support.elf_originals import compiled, linked

TEXT = """static const int table[2] = {10, 20};
int before(int a) { return a - 1; }
int kernel(int a) { return 2 * a + table[a & 1]; }
"""
LINK = '.section .gnu_debuglink, "", @progbits\n.asciz "{name}"\n.balign 4\n.long {checksum}\n'


@pytest.mark.parametrize("flags", [(), ("-shared",), ("-pie",)])
def test_a_function_of_a_stripped_program_is_called_by_its_address(tmp_path: Path, flags: tuple[str, ...]) -> None:
    made = compiled(tmp_path, "kernel.c", TEXT, "-O1", "-fPIC")
    whole = linked(tmp_path, "whole", made, flags=flags)
    stripped = linked(tmp_path, "stripped", made, flags=(*flags, "-s"))
    moved = 0x10000 if flags else 0  # what begins at 0 is put there
    address = open_image(whole, "kernel").symbol("kernel").address - moved
    if not flags:
        with pytest.raises(ImageError, match="defines no symbol 'kernel'; it defines none at all"):
            open_image(stripped, "kernel")
    done = lanewise("run", stripped, f"int {address:#x}(int a)", "3", "--json")
    assert json.loads(done.stdout)["outputs"]["returned"] == 26


@pytest.mark.parametrize("address", ["0x4", "0x2", "0xffffffffffffffff"])
def test_an_address_without_code_is_refused(tmp_path: Path, address: str) -> None:
    program = linked(tmp_path, "a.elf", compiled(tmp_path, "kernel.c", TEXT, "-O1"))
    with pytest.raises(ImageError, match=f"has no instruction at {address}: its code is at 0x"):
        open_image(program, address)


def test_an_address_in_an_object_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="is not linked, so 0x10 is no address in it: give the name"):
        open_image(compiled(tmp_path, "kernel.c", TEXT, "-O1"), "0x10")


def test_a_prototype_may_have_an_address_for_a_name() -> None:
    assert parse_prototype("int 0X10A4(int a)").name == "0x10a4"


@pytest.mark.parametrize("folder", [".", ".debug"])
@pytest.mark.parametrize(
    ("name", "wrong", "is_found"), [("whole", 0, True), ("whole", 1, False), ("../whole", 0, False)]
)
def test_what_was_split_off_is_found_by_its_name_and_content(
    tmp_path: Path, folder: str, name: str, wrong: int, is_found: bool
) -> None:
    made = compiled(tmp_path, "kernel.c", TEXT, "-O1", "-g")
    (tmp_path / folder).mkdir(exist_ok=True)
    whole = linked(tmp_path, f"{folder}/whole", made)
    link = LINK.format(name=name, checksum=crc32(whole.read_bytes()) ^ wrong)
    stripped = linked(tmp_path, "stripped", made, compiled(tmp_path, "link.s", link), flags=("-s",))
    if not is_found:
        with pytest.raises(ImageError, match="it defines none at all"):
            open_image(stripped, "kernel")
        return
    image = open_image(stripped, "kernel")
    symbol = image.symbol("kernel")
    assert image.place_of(symbol.address) == "kernel.c:3"
    assert [argument.name for argument in function_signature(image, "kernel").arguments] == ["a"]
