"""A user's kernel file: what it may say, and what is said where it cannot be used."""

from __future__ import annotations

import json
import os
import pickle
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import sim.command.app
from sim.check import check_kernel
from sim.check.aim.aiming import aim
from sim.check.vectors import make_vectors
from sim.kernels import Domain, Kernel, KernelError, Signature, built_in_kernel, parse_prototype
from sim.kernels.kernel import missing_input
from sim.kernels.kernel_file import load_kernel

pytestmark = pytest.mark.usefixtures("nothing_aimed")
SMALL = ("--vectors", "100", "--opt", "O1")


def lanewise(*arguments: str) -> Result:
    return CliRunner().invoke(sim.command.app.app, list(arguments))


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """What `lanewise init kernel` writes."""
    assert lanewise("init", "kernel", "product", "--folder", str(tmp_path)).exit_code == 0
    return tmp_path / "product.py"


@pytest.fixture(scope="module")
def example_checked(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The check of the example as it is."""
    folder = tmp_path_factory.mktemp("example")
    assert lanewise("init", "kernel", "product", "--folder", str(folder)).exit_code == 0
    return lanewise("check", str(folder / "product.py"), *SMALL, "--json")


@pytest.mark.slow
def test_the_example_passes_its_check(example_checked: Result) -> None:
    report = json.loads(example_checked.stdout)
    assert (example_checked.exit_code, report["passed"], report["kernel"]) == (0, True, "product")


@pytest.mark.parametrize("options", [(), ("--golden", "single_rounding")])
def test_inputs_are_aimed_at_a_kernel_as_init_writes_it(options: tuple[str, ...], tmp_path: Path) -> None:
    """What guards a user's functions is not taken for arguments and samples of the user's own."""
    assert lanewise("init", "kernel", "mine", "--folder", str(tmp_path), *options).exit_code == 0
    kernel = load_kernel(tmp_path / "mine.py")
    power = aim(kernel, [], make_vectors(kernel, 10, 1)).power
    assert (power.beyond, power.lanes_aimed > 1000) == ("", True)


@pytest.mark.slow
def test_the_examples_other_convention_is_separated_from_it(example_checked: Result) -> None:
    assert json.loads(example_checked.stdout)["separated"]


@pytest.mark.slow
def test_a_fault_in_the_source_is_found_with_its_line(example: Path) -> None:
    source = example.with_suffix(".c")
    source.write_text(source.read_text().replace("(a * b + 64) >> 7", "(a * b + 63) >> 7"))
    result = lanewise("check", str(example), "--opt", "O0", "--vectors", "100")
    line = 1 + source.read_text().splitlines().index("    const int32_t rounded = (a * b + 63) >> 7;")
    assert (result.exit_code, f"product.c:{line}" in result.stdout) == (1, True)


def test_a_kernel_is_what_its_file_says_now(example: Path) -> None:
    """Python keeps byte code by size and second: a number changed for another of its size is as long and as old."""
    text = example.read_text() + "\nfrom dataclasses import replace\n\nKERNEL = replace(KERNEL, name='k7')\n"
    names = []
    for number in "7", "9":
        example.write_text(text.replace("k7", f"k{number}"))
        os.utime(example, (1e9, 1e9))
        names.append(load_kernel(example).name)
    assert names == ["k7", "k9"]


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
def test_a_kernel_that_follows_the_other_convention_is_told_so(example: Path) -> None:
    source = example.with_suffix(".c")
    text = source.read_text().replace("(a * b + 64) >> 7", "(a * b) >> 7").replace("vqrshrn_n", "vqshrn_n")
    source.write_text(text)
    assert "rounded down" in lanewise("check", str(example), *SMALL).stdout


PROGRAM = """
import numpy as np
from isa.intrinsics import vaddq_s8, vld1q_s8, vst1q_s8, {add}
from sim.kernels import Kernel, parse_prototype

NAME, SIGNATURE = parse_prototype("void twice(const int8_t x[16], int8_t y[16])")
def program(x, y):
    value = vld1q_s8(x)
    vst1q_s8(y, {add}(value, value))
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(), signature=SIGNATURE, program=program,
                golden=lambda inputs: {{"y": inputs["x"] + inputs["x"]}})
"""


@pytest.mark.parametrize(("add", "said"), [("vaddq_s8", "agrees"), ("vqaddq_s8", "lanes differ")])
def test_a_program_of_intrinsics_is_checked_as_any_implementation(add: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "twice.py").write_text(PROGRAM.format(add=add))
    result = lanewise("check", str(tmp_path / "twice.py"), "--vectors", "20")
    assert (result.exit_code, said in result.stdout) == (said != "agrees", True), result.stdout


def test_files_that_are_there_are_not_overwritten(example: Path) -> None:
    result = lanewise("init", "kernel", "product", "--folder", str(example.parent))
    assert (result.exit_code, "is there already" in result.stderr) == (2, True)


@pytest.mark.parametrize("name", ["my-kernel", "int", "main", "class"])
def test_a_name_that_no_function_can_have_is_refused(tmp_path: Path, name: str) -> None:
    result = lanewise("init", "kernel", name, "--folder", str(tmp_path))
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])


@pytest.mark.slow
def test_a_golden_that_is_asked_for_comes_from_the_public_package_and_passes(tmp_path: Path) -> None:
    name = "mine_for_double_rounding"  # which stays as it is
    asked = ("init", "kernel", name, "--folder", str(tmp_path), "--golden", "single_rounding_truncated")
    assert lanewise(*asked).exit_code == 0
    text = (tmp_path / f"{name}.py").read_text().replace(name, "")
    assert ("from sim.golden import single_rounding_truncated\n" in text, "double_rounding" in text) == (True, False)
    assert lanewise("check", str(tmp_path / f"{name}.py"), *SMALL).exit_code == 0


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
def test_a_source_of_another_convention_than_its_golden_is_named(tmp_path: Path) -> None:
    assert lanewise("init", "kernel", "mine", "--folder", str(tmp_path), "--golden", "double_rounding").exit_code == 0
    source = tmp_path / "mine.c"
    source.write_text(source.read_text().replace("ties_away(ties_up(product", "ties_up(ties_up(product"))
    result = lanewise("check", str(tmp_path / "mine.py"), *SMALL)
    assert (result.exit_code, "double_rounding_ties_up" in result.stdout) == (1, True)


def test_a_golden_without_an_example_is_refused_with_those_there_are(tmp_path: Path) -> None:
    result = lanewise("init", "kernel", "mine", "--folder", str(tmp_path), "--golden", "add_base")
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "give one of double_rounding, double_rounding_ties_up" in " ".join(result.stderr.split())


HEAD = "from sim.kernels import Domain, Kernel, parse_prototype\n"
ONE = HEAD + 'NAME, SIGNATURE = parse_prototype("void f(const int8_t a[n], int8_t b[n], size_t n)")\n'
ONE += "GIVEN = dict(name='f', symbol='f', sources=(), signature=SIGNATURE, golden=dict)\n"
REAL = ONE.replace("int8_t", "float")


@pytest.mark.parametrize(("number", "holds"), [
    (3.40282346638528859811704183484516925e38, True), (3.40282356e38, True), (3.40282357e38, False),
    (-(2**128), False), (10**60, False), (float("inf"), True), (float("nan"), True),
])  # fmt: skip
def test_a_domain_of_real_numbers_has_what_its_argument_holds(number: float, holds: bool) -> None:
    _, signature = parse_prototype("void f(const float a[n], float b[n], size_t n)")
    given = {"name": "f", "symbol": "f", "sources": (), "signature": signature, "golden": dict}
    with nullcontext() if holds else pytest.raises(ValueError, match="which is no float32"):
        Kernel(**given, domain={"a": Domain(choices=(number,))})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def (", "line 1: SyntaxError"),
        ("\nraise RuntimeError('no')", "line 2: RuntimeError: no"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("x = 1", "has no kernel"),
        ("KERNEL = 1", "has no kernel"),
        (ONE + "KERNEL = Kernel(**GIVEN | {'sources': ('f.c',)})", "the source f.c of .* is not there"),
        (ONE + "KERNEL = Kernel(**GIVEN, domain={'c': Domain(0, 1)})", "'c', which is no arg"),
        (ONE + "KERNEL = Kernel(**GIVEN, domain={'a': Domain(0, 999)})", "has 999, .* no int8"),
        (ONE + "KERNEL = Kernel(**GIVEN, domain={'a': Domain(2, 1)})", "2..1 is empty"),
        (REAL + "KERNEL = Kernel(**GIVEN, domain={'a': Domain(1e38, 1e39)})", r"has 1e\+39, .* no float32: .*e\+38$"),
        (HEAD + "parse_prototype('void f(int *a)')", "has no extent"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_refused_in_one_sentence(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(KernelError, match=message):
        load_kernel(path)


def test_a_wrong_line_of_a_module_that_the_file_imports_is_told_at_the_import(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("\n\n\ndef (")
    path = tmp_path / "bad.py"
    path.write_text("\nimport beside")
    with pytest.raises(KernelError, match=r"line 2: SyntaxError: .* \(beside.py, line 4\)$"):
        load_kernel(path)


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    result = lanewise("check", str(tmp_path / "none.py"))
    assert (result.exit_code, "there is no kernel file" in result.stderr) == (2, True)


def test_a_file_by_a_relative_path_is_told_with_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KernelError, match=f"there is no kernel file k/none.py in {tmp_path}: "):
        load_kernel(Path("k/none.py"))


@pytest.mark.parametrize(("wrong", "message"), [
    ({"domain": {"a": (0, 3)}}, r"the domain of 'a' is \(0, 3\): give a Domain, such as Domain\(0, 255\)"),
    (
        {"domain": {"n": "m / 2 + k"}},
        r"Domain\(0, 255\); what follows from others is computed, Kernel\(arguments=lambda inputs: "
        r"\{\*\*inputs, 'n': inputs\[\"m\"\] // 2 \+ inputs\[\"k\"\]\}\)$",
    ),
    ({"domain": {"n": lambda inputs: inputs["k"]}}, r"'n': inputs\[\"n\"\] \+ 2\}\)$"),
    ({"signature": "void f()"}, "^signature of f is 'void f\\(\\)': parse_prototype makes one of text"),
    ({"mode": 5}, "^mode of f is 5: give a text"),
    ({"golden": 5}, "^golden of f is 5: give a function"),
    ({"steps": None}, "^steps of f is None: give a function"),
    ({"program": 5}, "^program of f is 5: give a function"),
    ({"conventions": 5}, "^conventions of f is 5: give a dict"),
    ({"conventions": {"c": 5}}, "^the convention 'c' of f is 5: give a function"),
    ({"typical": 5}, "^typical of f is 5: give a dict"),
    ({"tolerance": 5}, "^tolerance of f is 5: give a Tolerance, or None"),
    ({"summary": 5}, "^summary of f is 5: give a text"),
    ({"work": 5}, "^work of f is 5: give a pair, such as"),
    ({"work": ("product", 2.5)}, "^work of f is \\('product', 2.5\\): give a pair, such as"),
    ({"work": ("product", "n +")}, "^'n \\+' is no extent: "),
    ({"flags": "-O2"}, "^flags of f is '-O2': give texts in a tuple"),
    ({"flags": (5,)}, "^flags of f is \\(5,\\): give texts in a tuple"),
    ({"flags": ("-D\0",)}, "^flags of f is .*: give texts in a tuple"),
])  # fmt: skip
def test_a_field_of_another_type_is_refused_in_a_sentence(wrong: dict[str, Any], message: str) -> None:
    name, signature = parse_prototype("void f(const int8_t a[n], int8_t b[n], size_t n)")
    given: dict[str, Any] = {"signature": signature, "golden": dict, **wrong}
    with pytest.raises(ValueError, match=message):
        Kernel(name=name, symbol=name, sources=(), **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("sample=lambda rng: 5", r"sample of .*f\.py must return inputs by name, not 5"),
        ("arguments=lambda inputs: 5", r"arguments of .*f\.py must return inputs by name, not 5"),
        ("corners=lambda: 5", r"corners of .*f\.py must return input sets, each by name, not 5"),
    ],
)
def test_what_a_file_gives_in_another_form_is_refused_in_a_sentence(given: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(
        "golden = lambda inputs: {'b': inputs['a']}\n" + KERNEL.replace("golden)", f"golden, {given})")
    )
    (tmp_path / "f.c").write_text(SOURCE)
    with pytest.raises(KernelError, match=message):
        make_vectors(load_kernel(tmp_path / "f.py"), 10, seed=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "{'b': [[1], [2, 3]]}",
            r"^the golden reference of f returns \[\[1\], \[2, 3\]\] as 'b': it must be int8\[3\]$",
        ),
        ("{'b': inputs['a'], 'c': 1, 2: 3}", "^the golden reference of f returns 2, which is no output: "),
    ],
)
def test_outputs_that_are_no_arrays_or_of_other_names_are_refused(given: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(KERNEL.replace("golden=golden)", f"golden=lambda inputs: {given})"))
    (tmp_path / "f.c").write_text(SOURCE)
    kernel = load_kernel(tmp_path / "f.py")
    with pytest.raises(KernelError, match=message):
        kernel.expected({"a": np.zeros(3, np.int8), "n": 3})


def test_steps_that_are_no_arrays_are_refused(tmp_path: Path) -> None:
    given = "golden=lambda inputs: {'b': inputs['a']}, steps=lambda inputs: {'s': [[1], [2, 3]]})"
    (tmp_path / "f.py").write_text(KERNEL.replace("golden=golden)", given))
    (tmp_path / "f.c").write_text(SOURCE)
    with pytest.raises(
        KernelError, match=r"^steps of f returns \[\[1\], \[2, 3\]\] as 's': it must have one number for"
    ):
        load_kernel(tmp_path / "f.py").golden_steps({"a": np.zeros(3, np.int8), "n": 3})


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ("{'a': np.zeros(3, np.int8)}", "the extent n asks for 'n', and there is a"),
        ("{'a': np.zeros(3, np.int8), 'n': None}", "the extent n is no number: None"),
        ("{1: 2}", "KeyError: 'a' (f.py:5); an input set has 1"),
    ],
)
def test_an_input_set_without_a_length_is_told(sample: str, message: str, tmp_path: Path) -> None:
    own = f"sample=lambda rng: {sample}, corners=lambda: iter([{sample}]), golden=lambda inputs: {{'b': inputs['a']}})"
    (tmp_path / "f.py").write_text("import numpy as np\n" + KERNEL.replace("golden=golden)", own))
    (tmp_path / "f.c").write_text(SOURCE)
    refused = lanewise("check", str(tmp_path / "f.py"), *SMALL)
    assert (refused.exit_code, message in " ".join(refused.stderr.split())) == (2, True), refused.stderr


def test_the_modes_of_a_file_are_listed_whatever_they_are_called(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(
        KERNEL.replace("golden=golden)", "golden=dict)") + "MODES = {1: KERNEL, 'x': KERNEL}"
    )
    with pytest.raises(KernelError, match=r"f\.py has no mode 'y': its modes are 1, x$"):
        load_kernel(tmp_path / "f.py", "y")


@pytest.mark.parametrize(
    "given", [{"low": "n + 2"}, {"high": "n + 2"}, {"choices": ("n + 2",)}, {"corners": ("n + 2",)}]
)
def test_a_domain_of_what_is_no_number_is_refused_with_what_to_write(given: dict[str, Any]) -> None:
    says = r"a Domain has numbers, not 'n \+ 2'; what follows .* \{\*\*inputs, 'width': inputs\[\"n\"\] \+ 2\}\)$"
    with pytest.raises(ValueError, match=says):
        Domain(**given)


@pytest.mark.slow
def test_what_the_refusal_says_makes_a_kernel_whose_argument_follows_from_another(tmp_path: Path) -> None:
    text = "#include <stdint.h>\nvoid f(const int32_t *a, int32_t *out, int n, int width) {\n"
    source = tmp_path / "f.c"
    source.write_text(f"{text}for (int i = 0; i < n; i++) out[i] = a[i] + a[width - 1]; }}\n")
    name, signature = parse_prototype("void f(const int32_t a[n + 2], int32_t out[n], int n, int width)")
    kernel = Kernel(
        name=name, symbol=name, sources=(source,), signature=signature, domain={"a": Domain(-9, 9)},
        golden=lambda inputs: {"out": inputs["a"][: inputs["n"]] + inputs["a"][-1]},
        arguments=lambda inputs: {**inputs, "width": inputs["n"] + 2},
    )  # fmt: skip
    assert check_kernel(kernel, levels=("O0",), vectors=50).passed


KERNEL = ONE + "KERNEL = Kernel(name='f', symbol='f', sources=('f.c',), signature=SIGNATURE, golden=golden)\n"
SOURCE = (
    "#include <stddef.h>\nvoid f(const signed char *a, signed char *b, size_t n)"
    "{ for (size_t i = 0; i < n; ++i) b[i] = a[i]; }\n"
)


@pytest.mark.parametrize(
    ("golden", "message"),
    [
        ("lambda inputs: {'b': inputs['a'] / 2}", "returns float64"),
        ("lambda inputs: {'b': inputs['c']}", r"fails: KeyError: 'c' \(f\.py:1\)"),
        ("lambda inputs: {}", "does not return 'b': it must be int8"),
        ("lambda inputs: {'b': inputs['a'].astype('int16')}", "returns int16.* as 'b': it must be int8"),
        ("lambda inputs: {'b': inputs['a'], 'x': 1}", "returns 'x', which is no output: name what it gives 'b'"),
        ("lambda inputs: inputs['a']", "must return its outputs by name"),
        ("lambda inputs: {'b': inputs['a'][None]}", "as 'b': it must be int8"),
    ],
)
def test_a_golden_reference_that_is_wrong_in_form_is_refused(golden: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text(f"golden = {golden}\n" + KERNEL)
    (tmp_path / "f.c").write_text(SOURCE)
    kernel = load_kernel(path)
    with pytest.raises(KernelError, match=message):
        kernel.expected(next(kernel.corners()))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("{'s': np.zeros(3)}", r"returns float64\[3\] as 's': it must have one number for each lane .*: b\[\d+\]$"),
        ("{'s': np.zeros((2, 2, 2))}", r"returns float64\[2, 2, 2\] as 's': it must have one number for each lane"),
        ("3", "must return arrays by the names of steps, not 3"),
        ("{'s': 'abc'}", r"returns <U3\[\] as 's': it must have one number for each lane"),
        ("{'s': 1 / 0}", "line 1: ZeroDivisionError"),
    ],
)
def test_steps_that_are_wrong_in_form_are_refused_also_of_a_kernel_that_is_right(
    steps: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "f.py"
    given = KERNEL.replace("golden=golden", "golden=lambda inputs: {'b': inputs['a']}, steps=steps")
    path.write_text(f"import numpy as np; steps = lambda inputs: {steps}\n{given}")
    (tmp_path / "f.c").write_text(SOURCE)
    with pytest.raises(KernelError, match=message):
        make_vectors(load_kernel(path), 10, seed=1)


IN_A_STRUCTURE = HEAD + (
    "NAME, SIGNATURE = parse_prototype('void f(const int8_t a[n], const struct { const int8_t *by[n]; int8_t lo;'"
    " ' struct { int8_t end; } hi; } *p, int8_t b[n], size_t n)')\n"
)


@pytest.mark.parametrize("function", ["valid", "golden", "steps"])
def test_a_name_that_an_input_set_has_not_is_answered_with_those_that_it_has(function: str, tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    given = {"golden": "lambda inputs: {'b': inputs['a']}", function: "lambda inputs: inputs['p.lo']"}
    record = ", ".join(f"{name}={value}" for name, value in given.items())
    path.write_text(
        IN_A_STRUCTURE + f"KERNEL = Kernel(name='f', symbol='f', sources=('f.c',), signature=SIGNATURE, {record})\n"
    )
    (tmp_path / "f.c").write_text(SOURCE)
    message = r"fails.*: KeyError: 'p\.lo'( \(f\.py:3\))?; an input set has .*p\[\"lo\"\], p\[\"hi\"\]\[\"end\"\]"
    with pytest.raises(KernelError, match=message) as raised:
        make_vectors(load_kernel(path), 10, seed=1)
    assert {"a", "n", "p.by"} <= set(re.split("[, ]+", str(raised.value)))


def test_an_input_set_without_anything_is_said_to_have_nothing() -> None:
    with pytest.raises(KernelError, match=r"KeyError: 'accumulators'; an input set has nothing$"):
        built_in_kernel("quantize_down").expected({})


def test_a_key_of_somebody_elses_mapping_says_nothing_of_the_input_set() -> None:
    assert [missing_input(error, {"a": 1}) for error in (KeyError("a"), IndexError("c"))] == ["", ""]


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
def test_an_object_takes_the_place_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("golden = lambda inputs: {'b': inputs['a']}\n" + KERNEL)
    (tmp_path / "f.c").write_text(SOURCE.replace("b[i] = a[i]", "b[i] = 0"))
    right = tmp_path / "other.c"
    right.write_text(SOURCE.replace("void f", "void g"))
    options = ("--object", str(right), "--symbol", "g")
    results = [lanewise("check", str(tmp_path / "f.py"), *SMALL, *more) for more in ((), options)]
    assert [result.exit_code for result in results] == [1, 0]


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
def test_check_and_prove_take_several_files_by_either_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that opens the failing call names the one that fails; a name without a file is a source of its."""
    monkeypatch.chdir(tmp_path)
    Path("own").mkdir()
    Path("own/f.py").write_text("golden = lambda inputs: {'b': inputs['a']}\n" + KERNEL)
    Path("own/f.c").write_text(SOURCE)
    Path("script").write_text("")
    Path("wrong.c").write_text(SOURCE.replace("b[i] = a[i]", "b[i] = 0"))
    files = ("--source", "f.c", "--object", "wrong.c")
    checked = lanewise("check", "own/f.py", *SMALL, *files, "--json")
    report = json.loads(checked.stdout)
    assert [one["implementation"] for one in report["implementations"] if not one["passed"]] == ["wrong.c"]
    assert "--object wrong.c" in report["debug"]
    assert "f.c " not in report["debug"]
    opened = lanewise("debug", "own/f.py", "--failing", "--source", "wrong.c", "--vectors", "20", "--script", "script")
    assert opened.stdout.startswith("f, wrong.c")
    for option in ("--source", "--object"):
        proved = lanewise("prove", "own/f.py", option, "wrong.c", "--lengths", "1", "--opt", "O1")
        assert proved.exit_code == 1
        assert "wrong.c -O1" in proved.stdout


@pytest.mark.slow
def test_flags_reach_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("golden = lambda inputs: {'b': inputs['a']}\n" + KERNEL)
    (tmp_path / "f.c").write_text("#include <values.h>\n" + SOURCE.replace("a[i];", "a[i] + ADDED;"))
    folder = tmp_path / "headers"
    folder.mkdir()
    (folder / "values.h").write_text("")
    options = ("--include", str(folder), "--cflags", "-DADDED=0")
    results = [lanewise("check", str(tmp_path / "f.py"), *SMALL, *more) for more in ((), options)]
    assert [result.exit_code for result in results] == [2, 0]


@pytest.mark.slow
def test_an_endless_loop_ends_at_the_limit_that_is_given(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("golden = lambda inputs: {'b': inputs['a']}\n" + KERNEL)
    (tmp_path / "f.c").write_text(SOURCE.replace("i < n; ++i) b[i] = a[i]", '; ++i) __asm__("" :: "r"(i))'))
    result = lanewise("check", str(tmp_path / "f.py"), *SMALL, "--limit", "5000", "--json")
    report = json.loads(result.stdout)
    assert (result.exit_code, "5,000 instructions" in report["first_divergence"]) == (1, True)
    assert report["reproduce"].endswith("--limit 5000")
    assert "5,000 instructions" in report["shrunk"]  # what is left of the input set was run as long as the whole


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
def test_a_failing_input_set_is_shown_small(example: Path) -> None:
    source = example.with_suffix(".c")
    source.write_text(source.read_text().replace("rounded > 127 ? 127 : rounded", "rounded"))
    result = lanewise("check", str(example), *SMALL, "--json")
    shrunk = json.loads(result.stdout)["shrunk"].splitlines()
    assert [line.strip() for line in shrunk[1:4]] == [
        "length = 1",
        'a = np.array([-128], "int8")',
        'b = np.array([-128], "int8")',
    ]


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("const short *a, signed char *b, size_t n", "'a' is a pointer to 16-bit integer, the signature says"),
        ("const signed char *a, signed char *b, size_t n, int m", "takes 4 arguments, the signature 3"),
        ("const signed char *a, signed char *b, float n", "'n' is 32-bit floating point"),
        ("const signed char *a, size_t b, size_t n", "'b' is 64-bit integer"),
    ],
)
def test_a_signature_that_does_not_fit_is_refused(declaration: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("golden = lambda inputs: {'b': inputs['a']}\n" + KERNEL)
    (tmp_path / "f.c").write_text(f"#include <stddef.h>\nvoid f({declaration}) {{}}\n")
    result = lanewise("check", str(tmp_path / "f.py"), *SMALL)
    assert (result.exit_code, message in result.stderr) == (2, True)


@pytest.mark.slow
def test_a_signature_may_differ_in_signs_and_in_what_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("golden = lambda inputs: {'b': inputs['a']}\n" + KERNEL)
    text = SOURCE.replace("const signed char *a", "const void *c").replace("a[i]", "((const char *)c)[i]")
    (tmp_path / "f.c").write_text(text.replace("signed char *b", "unsigned char *b"))
    assert lanewise("check", str(tmp_path / "f.py"), *SMALL).exit_code == 0


def test_a_signature_may_end_with_a_size_that_the_function_does_not_take(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("golden = lambda inputs: {'b': inputs['a'][:4]}\n" + KERNEL.replace("[n]", "[4]"))
    (tmp_path / "f.c").write_text(SOURCE.replace(", size_t n", "").replace("i < n", "i < 4"))
    text = (tmp_path / "f.py").read_text().replace("a[4]", "a[n]")
    (tmp_path / "f.py").write_text(text.replace("golden=golden)", "golden=golden, domain={'n': Domain(4, 9)})"))
    assert lanewise("check", str(tmp_path / "f.py"), *SMALL).exit_code == 0


@pytest.mark.slow
def test_the_flags_of_a_kernel_reach_the_compiler_at_every_level(tmp_path: Path) -> None:
    flagged = KERNEL.replace("golden)", "golden, flags=('-DADDED=0',))")
    (tmp_path / "f.py").write_text("golden = lambda inputs: {'b': inputs['a']}\n" + flagged)
    (tmp_path / "f.c").write_text(SOURCE.replace("a[i];", "a[i] + ADDED;"))
    result = lanewise("check", str(tmp_path / "f.py"), "--vectors", "50", "--opt", "O1,O2", "--json")
    shown = json.loads(result.stdout)
    assert (result.exit_code, shown["flags"]) == (0, ["-O1 -DADDED=0", "-O2 -DADDED=0"])


def test_a_kernel_without_any_implementation_does_not_pass(tmp_path: Path) -> None:
    text = KERNEL.replace("('f.c',)", "()")
    (tmp_path / "f.py").write_text("golden = lambda inputs: {'b': inputs['a']}\n" + text)
    result = lanewise("check", str(tmp_path / "f.py"), *SMALL)
    assert (result.exit_code, "nothing was compared" in result.stdout) == (1, True)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("cycles",), "f has neither sources nor a program: there is nothing to time"),
        (("prove", "--lengths", "0..2"), "f has no sources: there is nothing to prove"),
        (("capture", "calls.jsonl", "--vectors", "0"), "f has no sources: there is no code to call"),
    ],
)
def test_a_kernel_without_any_implementation_is_refused_where_code_is_wanted(
    command: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = KERNEL.replace("('f.c',)", "()")
    (tmp_path / "f.py").write_text("golden = lambda inputs: {'b': inputs['a']}\n" + text)
    result = lanewise(command[0], "f.py", *command[1:])
    assert (result.exit_code, said in result.stderr.replace("\n", "")) == (2, True), result.stderr


def test_a_kernel_file_without_its_ending_is_named(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(example.parent)
    result = lanewise("check", "product")
    assert (result.exit_code, "that of the file beside you is product.py" in result.stderr) == (2, True)


def test_files_of_a_kernel_are_paths_however_they_are_given() -> None:
    given: dict[str, Any] = {"name": "f", "symbol": "f", "signature": Signature(()), "golden": dict}
    ways: list[Any] = ["f.c", Path("f.c"), ("f.c",), [Path("f.c")]]
    assert [Kernel(**given, sources=one, with_sources=one).sources for one in ways] == [(Path("f.c"),)] * 4
    kernel = Kernel(**given, sources=("f.c",))
    assert (kernel.with_sources, replace(kernel, name="g").sources) == ((), (Path("f.c"),))
    assert pickle.loads(pickle.dumps(kernel)).sources == (Path("f.c"),)
    with pytest.raises(TypeError, match="sources"):
        Kernel(**given)


@pytest.mark.slow
def test_sources_may_be_text_and_those_that_are_not_there_are_named(
    example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a program finds them that imports the file, or loads it from elsewhere."""
    kernel = load_kernel(str(example))
    monkeypatch.chdir(example.parent)
    as_text = replace(kernel, sources=("product.c",))  # what people write
    assert check_kernel(as_text, levels=("O1",), vectors=50).passed
    monkeypatch.chdir("/")
    with pytest.raises(KernelError, match=r"the source product\.c is not there: sim\.kernels\.load_kernel finds it"):
        check_kernel(as_text, levels=("O1",), vectors=50)
