"""Functions of C++ by the names that their source has: templates, in scopes, in objects and libraries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from sim.toolchain.compilers import build_text
from sim.toolchain.dwarf.function_types import function_signature
from sim.toolchain.image import Image, ImageError
from sim.toolchain.mangled import functions_called
from sim.toolchain.objects import open_image
from support.command import lanewise
from support.elf_originals import archived, compiled, linked

pytestmark = pytest.mark.usefixtures("cache")

SCALED = """
template <int BY> void scaled(const int *a, int *out) { *out = *a * BY; }
template void scaled<3>(const int *, int *);
"""
TWICE = "template void scaled<-5>(const int *, int *);\n"
KINDS = """
struct Pair { int a, b; };
namespace { int hidden(int a) { return a + 1; } }
static int local(short a) { return a + 2; }
namespace outer {
int variable = 3;
namespace inner {
int plain(int a) { return hidden(a) + local(a); }
template <class T, bool B> T *typed(T *a, const T &) { return B ? a : a + 1; }
template int *typed<int, true>(int *, const int &);
template const char **typed<const char *, false>(const char **, const char *const &);
template Pair *typed<Pair, true>(Pair *, const Pair &);
}
}
template <class T> struct Box {
    T held;
    T get() const { return held; }
    template <unsigned long N, class U> U add(U a) { return a + (U)N; }
};
template int Box<int>::get() const;
template long Box<Pair *>::add<7ul, long>(long);
template <class T> long counted(T) { return sizeof(T); }
template long counted<long (*)(int)>(long (*)(int));
"""
KERNEL = """from pathlib import Path
from sim.kernels import Domain, Kernel, parse_prototype
NAME, SIGNATURE = parse_prototype("void scaled(const int32_t a[1], int32_t out[1])")
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(Path("k.cpp"),), signature=SIGNATURE, domain={"a": Domain(-9, 9)},
                golden=lambda inputs: {"out": 3 * inputs["a"]})
"""


def names_of_debug_information(image: Image) -> dict[str, str]:
    """By linked name, the names that the compiler itself gives functions, with their scopes."""

    def read(dwarf: Any) -> dict[str, str]:
        found = dict[str, str]()

        def text(die: Any, attribute: str) -> str:
            value = die.attributes[attribute].value if attribute in die.attributes else b""
            return bytes(value).decode()

        def walk(die: Any, scopes: tuple[str, ...]) -> None:
            for child in die.iter_children():
                name = text(child, "DW_AT_name")
                if "DW_AT_linkage_name" in child.attributes and child.tag == "DW_TAG_subprogram":
                    found[text(child, "DW_AT_linkage_name")] = "::".join((*scopes, name))
                if child.tag in ("DW_TAG_namespace", "DW_TAG_structure_type"):
                    walk(child, (*scopes, *([name] if name else [])))

        for unit in dwarf.iter_CUs():
            walk(unit.get_top_DIE(), ())
        return found

    return image.from_debug_information(read)


def test_names_are_those_that_the_compiler_writes_into_the_debug_information() -> None:
    image = build_text(KINDS, ".cpp", "-O0", "-g")
    told = names_of_debug_information(image)
    functions = {symbol: name for symbol, name in told.items() if symbol in image.symbols}
    assert len(functions) == 9
    for symbol, name in functions.items():
        short = re.sub(r"<.*?>(?=$|::)", "", name)
        (whole,) = functions_called(short.rpartition("::")[2], [symbol]).values()
        if not whole.endswith("<...>"):  # a pointer to a function among the arguments
            assert whole.replace(" ", "") == name.replace("UL", "").replace(" ", "")
            assert functions_called(name.replace("UL", ""), image.symbols) == {symbol: whole}
    assert functions_called("counted", image.symbols).popitem()[1] == "counted<...>"
    assert functions_called("variable", image.symbols) == {}
    assert len(functions_called("typed", image.symbols)) == 3
    for name in ("inner::typed<int, true>", "outer::inner::plain", "plain", "hidden", "local", "Box<int>::get", "get"):
        assert len(functions_called(name, image.symbols)) == 1, name
    for name in ("outer", "inner", "Box", "Box<int>", "typed<int>", "ner::plain", "lain", ""):
        assert functions_called(name, image.symbols) == {}, name


@pytest.mark.parametrize(
    "name",
    [
        "_Z", "_Z6scale", "_Z99999999999999999999scaledi", "_ZN", "_ZN6scaled", "_ZNE", "_ZN6scaledI",
        "_ZN6scaledILi3EE", "_ZN6scaledILZEEEi", "_Z6scaledILi3EEvPKiPi.cold", "scaled", "_ZN" + 500 * "1a" + "Ei",
        "_ZN6scaledI" + 900 * "P" + "iEEvi" + 100 * "i", "_ZN1sIS_E6scaledEi", "_ZL6scaled",
    ],
)  # fmt: skip
def test_what_is_no_whole_name_of_a_function_is_none(name: str) -> None:
    assert functions_called("scaled", [name]) == {}


def test_a_template_is_found_by_its_short_name_where_there_is_one(tmp_path: Path) -> None:
    image = build_text(SCALED, ".cpp", "-O1")
    for name in ("scaled", "scaled<3>", "_Z6scaledILi3EEvPKiPi"):
        assert image.symbol(name).name == "_Z6scaledILi3EEvPKiPi"
        assert [argument.name for argument in function_signature(image, name).arguments] == ["a", "out"]
    both = build_text(SCALED + TWICE, ".cpp", "-O1")
    assert both.symbol("scaled<-5>").name == "_Z6scaledILin5EEvPKiPi"
    says = r"has 2 functions 'scaled': give one of _Z6scaledILi3EEvPKiPi \(scaled<3>\), _Z6scaledILin5EEvPKiPi \(sc"
    with pytest.raises(ImageError, match=says):
        both.symbol("scaled")


def test_a_function_of_c_goes_before_one_of_its_name(tmp_path: Path) -> None:
    text = 'namespace n { int f(int a, int b) { return a + b; } }\nextern "C" int f(int c) { return c; }\n'
    image = build_text(text, ".cpp", "-O1")
    assert image.symbol("f").name == "f"
    assert [argument.name for argument in function_signature(image, "f").arguments] == ["c"]
    assert [argument.name for argument in function_signature(image, "n::f").arguments] == ["a", "b"]


def test_a_template_that_is_only_inlined_is_refused_with_its_caller(tmp_path: Path) -> None:
    text = "template <int BY> static inline int by(int a) { return a * BY; }\n"
    image = build_text(f'{text}extern "C" int f(int a) {{ return by<3>(a); }}\n', ".cpp", "-O2", "-g")
    with pytest.raises(ImageError, match=r"'by' only where it was inlined: in f at .*:2; name f"):
        image.symbol("by")


def test_objects_libraries_and_programs_have_it_too(tmp_path: Path) -> None:
    one, other = compiled(tmp_path, "k.cpp", SCALED, "-O1"), compiled(tmp_path, "o.cpp", "int other() { return 1; }")
    library, shared = archived(tmp_path, "l.a", one, other), linked(tmp_path, "k.so", one, flags=("-shared",))
    for path in (one, library, shared):
        assert open_image(path, "scaled").symbol("scaled").name == "_Z6scaledILi3EEvPKiPi"
    assert "_Z5otherv" not in open_image(library, "scaled").symbols
    many = archived(tmp_path, "m.a", one, compiled(tmp_path, "t.cpp", SCALED.replace("3", "4")))
    with pytest.raises(ImageError, match="has 2 functions 'scaled': give one of"):
        open_image(many, "scaled")


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_aimed")
def test_commands_take_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "k.cpp").write_text(SCALED)
    (tmp_path / "k.py").write_text(KERNEL)
    monkeypatch.chdir(tmp_path)
    assert lanewise("check", "k.py", "--vectors", "20", "--opt", "O0,O2").exit_code == 0
    assert "out = [21]" in lanewise("run", "k.cpp", "scaled", "7", "zeros:1").stdout
    (tmp_path / "k.cpp").write_text(SCALED + TWICE)
    refused = lanewise("check", "k.py", "--vectors", "20", "--opt", "O2")
    assert refused.exit_code == 2
    assert "give one of _Z6scaledILi3EEvPKiPi (scaled<3>), " in refused.output
    wrong = lanewise("check", "k.py", "--vectors", "20", "--opt", "O2", "--symbol", "scaled<-5>")
    assert wrong.exit_code == 1
