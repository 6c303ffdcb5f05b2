"""`lanewise kernels`: what is listed and shown is what the records and the operators say; errors in one sentence."""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from sim.command import app as cli
from sim.kernels import built_in_kernel, kernel_modes, kernel_names, names, operator_interface
from sim.kernels.domain import Domain

MODES = [(name, mode) for name in kernel_names() for mode in kernel_modes(name)]
WITH_OPERATOR = [(name, mode) for name, mode in MODES if not (name == "quantized_add" and mode.startswith("tflite"))]


def run(*arguments: str, columns: int = 100) -> Result:
    return CliRunner().invoke(cli.app, ["kernels", *arguments], env={"COLUMNS": str(columns)})


@cache
def shown(name: str, mode: str) -> Any:
    return json.loads(run("show", name, "--mode", mode, "--json").stdout)


def test_the_docstring_example_runs() -> None:
    result = doctest.testmod(names)
    assert (result.failed, result.attempted) == (0, 1)


def test_the_list_has_every_kernel_with_its_modes() -> None:
    listed = json.loads(run("--json").stdout)
    assert {row["kernel"]: tuple(row["modes"]) for row in listed} == {
        name: kernel_modes(name) for name in kernel_names()
    }


def test_the_list_is_a_table() -> None:
    lines = run().stdout.splitlines()
    assert [line.split()[0] for line in lines[2:] if not line.startswith("  ")] == list(kernel_names())


@pytest.mark.parametrize("name", kernel_names())
def test_every_kernel_has_tests_of_its_own(name: str) -> None:
    """No other test of the suite runs all kernels: `make kernels` does."""
    assert list(Path(__file__).parent.glob(f"test_kernel_{name}*.py")) != []


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_every_mode_is_shown_with_its_arguments(name: str, mode: str) -> None:
    told = shown(name, mode)
    kernel = built_in_kernel(name, mode)
    assert [argument["name"] for argument in told["arguments"]] == [a.name for a in kernel.signature.arguments]
    assert [row["mode"] for row in told["modes"] if row["summary"]] == list(kernel_modes(name))
    assert (told["function"], told["mode"]) == (kernel.symbol, mode)


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_the_table_says_what_json_says(name: str, mode: str) -> None:
    told, printed = shown(name, mode), run("show", name, "--mode", mode, columns=400).stdout
    errors = [error["description"] for error in (told["operator"] or {"errors": []})["errors"]]
    summaries = [row["summary"] for row in told["modes"]]
    arguments = [argument["domain"] for argument in told["arguments"]]
    assert [text for text in (*errors, *summaries, *arguments, told["spec"]) if text not in printed] == []


def test_the_default_is_the_first_mode() -> None:
    assert json.loads(run("show", "transpose1xw", "--json").stdout)["mode"] == "acl_19_08"


def test_the_domain_of_an_argument_is_that_of_the_mode() -> None:
    domains = {a["name"]: a["domain"] for a in shown("quantize_down", "acl_19_08")["arguments"]}
    assert (domains["shift"], domains["multiplier"]) == ("0..31", "any")
    assert {a["name"]: a["domain"] for a in shown("quantized_add", "page")["arguments"]}[
        "activation"
    ] == "0, 1, 2, 3, 6, 8"


def test_what_no_operator_stands_for_is_said() -> None:
    assert shown("quantized_add", "tflite")["operator"] is None
    assert "no operator stands for mode tflite" in run("show", "quantized_add", "--mode", "tflite").stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("show", "nothing"), "lanewise: there is no kernel 'nothing': the kernels are activation_table, arithmetic"),
        (
            ("show", "transpose1xw", "--mode", "page"),
            "the kernel 'transpose1xw' has no mode 'page': its modes are acl_19_08",
        ),
    ],
)
def test_what_does_not_exist_is_refused_in_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout, sentence in result.stderr) == (2, "", True)
    assert len(result.stderr.splitlines()) == 1


def test_a_name_is_asked_for() -> None:
    assert run("show").exit_code == 2


# The examples from which the errors are shown.


@pytest.mark.parametrize(("name", "mode"), WITH_OPERATOR)
def test_what_is_said_to_be_accepted_is(name: str, mode: str) -> None:
    interface = operator_interface(name)
    assert interface.validate(**interface.accepted(mode))


@pytest.mark.parametrize(("name", "mode"), WITH_OPERATOR)
def test_of_two_faults_the_one_that_is_shown_first_is_reported(name: str, mode: str) -> None:
    """Where both can be given at once; two changes of one argument cannot."""
    interface = operator_interface(name)
    wrong = [
        (first, second)
        for (first, status), (second, _) in combinations(interface.faults(mode), 2)
        if not first.keys() & second.keys()
        and interface.validate(**{**interface.accepted(mode), **first, **second}) != status
    ]
    assert wrong == []


def yields_of_sentences(function: Any) -> Iterator[tuple[str, int]]:
    """File and line of every sentence that a generator of faults yields."""
    source, start = inspect.getsourcelines(function)
    tree = ast.parse("".join(source))
    for node in ast.walk(tree):
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.JoinedStr | ast.Constant):
            yield str(inspect.getsourcefile(function)), start + node.value.lineno - 1


GENERATORS = {
    "quantize_down": "sim.kernels.quantize_down.configure",
    "offset_contribution": "sim.kernels.offset_contribution.validation",
    "transpose1xw": "sim.kernels.transpose1xw.configure",
    "quantized_add": "sim.kernels.quantized_add.configure",
    "requantize": "sim.kernels.requantize.configure",
    "fully_connected": "sim.kernels.fully_connected.configure",
    "conv2d": "sim.kernels.conv2d.configure",
    "activation_table": "sim.kernels.activation_table.configure",
    "depthwise_conv2d": "sim.kernels.depthwise_conv2d.configure",
    "arithmetic_addition": "sim.kernels.arithmetic_addition.configure",
    "fused_output_stage": "sim.kernels.fused_output_stage.configure",
    "interleave4x4": "sim.kernels.interleave4x4.configure",
    "pool": "sim.kernels.pool.configure",
    "matrix_product": "sim.kernels.matrix_product.configure",
    "matrix_reduction": "sim.kernels.matrix_reduction.configure",
}


@pytest.mark.parametrize("name", GENERATORS)
def test_every_sentence_of_validate_is_shown(name: str) -> None:
    """Every line that yields a sentence runs for some example of some mode."""
    module = sys.modules[GENERATORS[name]]
    functions = [
        f for f in vars(module).values() if inspect.isgeneratorfunction(f) and f.__module__.startswith("sim.kernels")
    ]
    wanted = set(
        chain.from_iterable(yields_of_sentences(function) for function in functions if "fault" in function.__name__)
    )
    reached: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        reached.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        for mode in kernel_modes(name):
            operator_interface(name).faults(mode)
    finally:
        sys.settrace(None)
    assert wanted
    assert sorted(line for file, line in wanted - reached) == []


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_every_input_set_lies_in_the_domain_that_is_shown(name: str, mode: str) -> None:
    """Corner numbers of floats apart, which may lie outside."""
    kernel, rng = built_in_kernel(name, mode), np.random.default_rng(2)
    types = {argument.name: np.dtype(getattr(argument, "dtype", "V0")) for argument in kernel.signature.arguments}
    for inputs in (*kernel.corners(), *(kernel.sample(rng) for _ in range(50))):
        arguments = kernel.arguments(inputs)
        for argument, domain in kernel.domain.items():
            values = np.asarray(arguments[argument])
            assert _inside(values, domain, types[argument]), (argument, values)


def _inside(values: Any, domain: Domain, dtype: np.dtype[Any]) -> bool:
    if domain.choices:
        return bool(np.isin(values, domain.choices).all())
    low, high = domain.bounds(dtype)
    return bool(((values >= low) & (values <= high)).all())
