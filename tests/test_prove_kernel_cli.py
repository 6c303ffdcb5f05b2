"""`lanewise prove KERNEL` as a user meets it: verdicts, exit codes, a failing check, errors in one sentence."""

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import sim.command.app
import sim.kernels.quantize_down
from sim.symbolic.proof import Prover

SOURCE = Path(sim.kernels.quantize_down.__file__).parent / "kernel.c"
QUICK = ("quantize_down", "--lengths", "1", "--each", "shift=3", "--jobs", "1")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(sim.command.app.app, ["prove", *arguments])


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path / "cache"))


@pytest.mark.slow
def test_builds_are_proved_and_what_is_said_of_them() -> None:
    result = run(*QUICK)
    assert result.exit_code == 0, result.output
    assert "kernel_plain.c -O2" in result.stdout
    assert "assumed: inputs that the golden reference does not refuse" in result.stdout


@pytest.mark.slow
def test_a_counter_example_is_shown_as_a_failing_check(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.c"
    wrong.write_text(SOURCE.read_text().replace("vqrdmulhq_n_s32", "vqdmulhq_n_s32"))
    result = run(*QUICK, "--source", str(wrong))
    assert result.exit_code == 1
    assert "FAILED wrong.c -O2" in result.stdout
    assert "counter-example, output[0] in length 1" in result.stdout


@pytest.mark.slow
def test_a_call_that_is_wrong_by_undefined_bytes_is_checked_with_its_seed_and_comes_again(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.c"
    before, body, after = (SOURCE.parent / "kernel_plain.c").read_text().partition("    if (bias) {\n")
    undefined = '    size_t r; __asm__ volatile("mov %0, x17" : "=r"(r)); if (r < 5) length = 0;\n'
    wrong.write_text(before + undefined + body + after)
    result = run(*QUICK, "--source", str(wrong), "--json")
    found = json.loads(result.stdout)
    told, *_ = (one for one in found["builds"][0]["not_proved"] if one["outcome"] == "counter-example")
    assert result.exit_code == 1
    assert (found["check"]["seed"], found["check"]["passed"]) == (told["call_seed"], False)
    again = run(*shlex.split(found["check"]["reproduce"])[2:])
    assert again.exit_code == 1
    assert f"{told['reason']} (called with the seed {told['call_seed']})" in again.stdout


def opened(command: str) -> Result:
    """What a command says that a report has printed; a session that nobody asks anything stands where it opens."""
    program, *words = shlex.split(command)
    assert program == "lanewise"
    return CliRunner().invoke(sim.command.app.app, words, input="")


@pytest.mark.slow
def test_the_command_of_a_counter_example_opens_it_at_the_fault(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.c"
    wrong.write_text(SOURCE.read_text().replace("vqrdmulhq_n_s32", "vqdmulhq_n_s32"))
    found = json.loads(run(*QUICK, "--source", str(wrong), "--march", "armv8.2-a", "--json").stdout)["check"]
    session = opened(found["debug"])
    assert session.exit_code == 0, session.output
    (told,) = (line for line in found["first_divergence"].splitlines() if line.startswith("wrong.c -O2: output[0]"))
    assert told.removeprefix("wrong.c -O2: ").split("  (")[0] in session.stdout
    assert "quantize_down, mode acl_19_08, wrong.c -O2" in session.stdout
    assert "--march armv8.2-a" in found["debug"]


@pytest.mark.slow
def test_the_command_of_a_call_that_reads_undefined_bytes_has_its_seed(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.c"
    before, body, after = (SOURCE.parent / "kernel_plain.c").read_text().partition("    if (bias) {\n")
    undefined = '    size_t r; __asm__ volatile("mov %0, x17" : "=r"(r)); if (r < 5) length = 0;\n'
    wrong.write_text(before + undefined + body + after)
    found = json.loads(run(*QUICK, "--source", str(wrong), "--json").stdout)["check"]
    assert f"--seed {found['seed']} " in found["debug"]
    assert found["first_divergence"].splitlines()[0].partition("input set 0: ")[2] in opened(found["debug"]).stdout


@pytest.mark.slow
def test_two_builds_are_compared() -> None:
    result = run(*QUICK, "--same", "O1", "kernel_plain.c@O2", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["outcome"], [build["build"] for build in found["builds"]]) == ("proved", ["kernel_plain.c -O2"])


@pytest.mark.slow
def test_builds_that_are_not_the_same_have_a_command_for_the_one_that_the_reference_refutes(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.c"
    wrong.write_text(SOURCE.read_text().replace("vqrdmulhq_n_s32", "vqdmulhq_n_s32"))
    found = json.loads(run(*QUICK, "--same", str(wrong), "kernel.c", "--json").stdout)["check"]
    assert opened(found["debug"]).stdout.startswith("quantize_down, mode acl_19_08, wrong.c -O2")
    assert (found["beside"], found["debug_beside"]) == ("", "")


@pytest.mark.slow
def test_a_build_that_is_another_is_refuted_without_the_reference(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.c"
    wrong.write_text(SOURCE.read_text().replace("vqrdmulhq_n_s32", "vqdmulhq_n_s32"))
    result = run(*QUICK, "--same", "kernel.c", str(wrong), "--json")
    assert (result.exit_code, json.loads(result.stdout)["outcome"]) == (1, "counter-example")


@pytest.mark.slow
def test_other_operations_of_floating_point_are_unknown_and_named() -> None:
    own = SOURCE.parents[1] / "requantize" / "kernel_bytes_plain.c"
    result = run("requantize", "--mode", "xnnpack_fp32_qs8", "--lengths", "1", "--source", str(own))
    assert result.exit_code == 3
    assert "add f32->f32, compare f32->u4" in result.stdout
    assert "assumed of floating point: an FPCR of 0" in result.stdout
    assert "proved" not in result.stdout.replace("elements proved", "").replace("proving", "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("quantize_down", "--lengths", "3..1"), "--lengths takes numbers such as"),
        (("quantize_down", "--each", "shift"), "--each takes NAME=0..31"),
        (("quantize_down", "--each", "shfit=3"), "--each: quantize_down, mode acl_19_08 has no input 'shfit'; it has"),
        (
            ("quantize_down", "--known", "mulitplier"),
            "--known: quantize_down, mode acl_19_08 has no input 'mulitplier'",
        ),
        (("quantize_down", "--opt", "O9"), "--opt takes some of"),
        (("quantize_down", "--same", "O7", "O2"), "--same takes builds such as"),
        (("quantize_down", "--same", "O2", "nothing.c"), "there is no file nothing.c"),
        (("quantize_down", "--same", "O2", "O2"), "twice"),
        (("sqadd", "--each", "x=1"), "--each is about kernels"),
        (("transpose1xw", "--lengths", "7"), "no input set of length 7: give some of 0, 16..17, 21"),
        (
            ("void f(size_t n)", "--same", "a.c", "b.c", "--compile", "cc -c a.c"),
            "--compile says how a kernel's source is compiled, and a prototype has none",
        ),
        (("no_such_kernel",), "no kernel and no claim is called 'no_such_kernel'; `lanewise kernels` names"),
        (("no_such_file.py",), "cannot read no_such_file.py: No such file or directory; give the path"),
    ],
)
def test_what_is_given_wrong_is_one_sentence(arguments: tuple[str, ...], says: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in " ".join(result.output.split())
    assert "Traceback" not in result.output


@pytest.mark.slow
def test_an_interrupt_is_told_and_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Prover, "_collect", interrupted)
    result = run(*QUICK)
    assert (result.exit_code, "interrupted: what is shown" in result.stdout) == (130, True)
    assert "  proved  " not in result.stdout


ROWS = """
from pathlib import Path
from sim.kernels import Domain, Kernel, parse_prototype
NAME, SIGNATURE = parse_prototype("void f(const int8_t x[rows][n], int8_t out[rows][n], size_t rows, size_t n)")
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(Path("f.c"),), signature=SIGNATURE,
                golden=lambda inputs: {"out": inputs["x"]}, domain={"rows": Domain(MOST)})
"""


FIVE = " + (rows > 4 && i == 2 && x[r * n + i] == 77)"
"""A fault of the row after a block of four."""


def _rows_kernel(folder: Path, most: str, fault: str = "") -> str:
    (folder / "f.c").write_text(
        "#include <stddef.h>\n#include <stdint.h>\n"
        "void f(const int8_t *x, int8_t *out, size_t rows, size_t n)\n"
        "{ size_t r = 0;\n"
        "  for (; r + 4 <= rows; r += 4) for (size_t i = 0; i < 4 * n; i++) out[r * n + i] = x[r * n + i];\n"
        f"  for (; r < rows; r++) for (size_t i = 0; i < n; i++) out[r * n + i] = x[r * n + i]{fault}; }}\n"
    )
    (folder / "f.py").write_text(ROWS.replace("MOST", most))
    return str(folder / "f.py")


@pytest.mark.parametrize(
    ("most", "given", "shapes", "held"),
    [
        ("0, 3", (), 4, []),
        ("0, 9", (), 6, ["rows 0..5"]),
        ("7, 9", (), 1, ["rows 7"]),
        ("0, 9", ("--rows", "2,8"), 2, ["rows 2, 8"]),
        ("2, 2", (), 1, []),
    ],
)
def test_numbers_of_rows_are_proved_as_shapes_have_them_and_others_said_to_be_left_out(
    most: str, given: tuple[str, ...], shapes: int, held: list[str], tmp_path: Path
) -> None:
    command = (_rows_kernel(tmp_path, most), "--opt", "O1", "--lengths", "3", "--jobs", "1", *given)
    lines = run(*command).stdout.splitlines()
    told = [line for line in lines if line.startswith("only ")]
    assert told == [f"only of these sizes: {each}" for each in held]
    assert [line for line in lines if f"in {shapes} shape" in line]
    refused = run(*command, "--each", "rows=0..3")
    assert (refused.exit_code, "--each: 'rows' is an extent of arrays" in refused.output) == (2, True)


@pytest.mark.slow
def test_a_fault_of_the_row_after_a_block_of_rows_is_refuted_by_default(tmp_path: Path) -> None:
    command = (_rows_kernel(tmp_path, "0, 9", FIVE), "--opt", "O1", "--lengths", "3", "--jobs", "1")
    result = run(*command)
    assert (result.exit_code, "counter-example, out[14] in length 3, rows 5" in result.stdout) == (1, True)
    assert run(*command, "--rows", "0..4").exit_code == 0
    assert "--lengths 3 --rows 9,5" in run(*command, "--rows", "9,5").stdout


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("2,10", "f has no input set of 10 rows: give some of its domain by --rows"),
        ("two", "--rows takes numbers such as 0..33,64, at most 4,096, not 'two'"),
        ("-1", "f has no input set of -1 rows"),
    ],
)
def test_numbers_of_rows_that_a_kernel_cannot_have_are_refused(rows: str, says: str, tmp_path: Path) -> None:
    result = run(_rows_kernel(tmp_path, "0, 9"), "--rows", rows, "--lengths", "3")
    assert (result.exit_code, says in " ".join(result.output.split())) == (2, True)


def test_rows_of_a_kernel_without_a_number_of_rows_or_with_inputs_of_its_own_are_refused(tmp_path: Path) -> None:
    own = run("quantize_down", "--rows", "1", "--lengths", "3")
    assert (own.exit_code, "input sets of its own" in " ".join(own.output.split())) == (2, True)
    file = Path(_rows_kernel(tmp_path, "0, 9"))
    file.write_text(file.read_text().replace("[rows]", "").replace('domain={"rows": Domain(0, 9)}', "domain={}"))
    none = run(str(file), "--rows", "1", "--lengths", "3")
    assert (none.exit_code, "no extent of f is a number of rows" in " ".join(none.output.split())) == (2, True)


@pytest.mark.slow
def test_shapes_without_the_padding_that_a_step_writes_are_no_inputs() -> None:
    result = run("offset_contribution", "--mode", "acl_19_08_neon", "--lengths", "4", "--opt", "O1", "--jobs", "1")
    assert (result.exit_code, "examples: columns 0\n" in result.stdout) == (0, True)


@pytest.mark.slow
def test_a_source_of_the_kernel_that_is_not_its_first_is_named_in_that_command(tmp_path: Path) -> None:
    file = Path(_rows_kernel(tmp_path, "0, 9"))
    (tmp_path / "g.c").write_text((tmp_path / "f.c").read_text().replace("= x[r", "= 1 + x[r"))
    file.write_text(file.read_text().replace('Path("f.c")', 'Path("f.c"), Path("g.c")'))
    found = json.loads(run(str(file), "--lengths", "1", "--rows", "2", "--jobs", "1", "--json").stdout)["check"]
    assert opened(found["debug"]).stdout.startswith("f, g.c -O2")
