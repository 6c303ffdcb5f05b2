"""What yosys does not take of SystemVerilog is told in a sentence, and what the sentence says to write is taken."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rtl_models.tools.plainer_verilog import in_words
from rtl_models.tools.yosys import Refused, reading, run_script

PAIR = "typedef struct packed {logic [3:0] x; logic [3:0] z;} pair; pair s; assign y = s;"
PORTS = "input logic clk, input logic [7:0] a, output logic [7:0] y"


def read(body: str, folder: Path) -> None:
    """Let yosys read a module.  Raises Refused."""
    text = f"package p; localparam int K = 3; endpackage\nmodule m({PORTS});\n{body}\nendmodule\n"
    run_script(f"{reading({'m.sv': text}, 'm', {}, folder)}; proc; flatten", folder)


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("refused", "words", "taken"),
    [
        (f"{PAIR}\nassign s = '{{a[3:0], a[7:4]}};", "an assignment pattern '{...}: write a concatenation {...}, or e",
         f"{PAIR}\nassign s = {{a[3:0], a[7:4]}};"),
        (f"{PAIR}\nassign s = '{{x: a[3:0], z: a[7:4]}};", "an assignment pattern '{...}: write a concatenation {...}",
         f"{PAIR}\nassign s.x = a[3:0]; assign s.z = a[7:4];"),
        ("assign y = 8'(-9'(a));", "a sign before the size of a cast, -33'(x): write -(33'(x)) (it says: Static",
         "assign y = 8'(-(9'(a)));"),
        ("assign y = a inside {1, [3:5]};", "inside: write ==, >= and <=", "assign y = a == 1 || a >= 3 && a <= 5;"),
        ("function automatic logic [7:0] f(input logic [7:0] x); return x + 1; endfunction\nassign y = f(a);",
         "return: write an assignment to the name of the function",
         "function automatic logic [7:0] f(input logic [7:0] x); f = x + 1; endfunction\nassign y = f(a);"),
        ("always_comb begin foreach (y[i]) y[i] = a[7-i]; end", "foreach: write for with an index",
         "always_comb begin for (int i = 0; i < 8; i++) y[i] = a[7-i]; end"),
        ("assign y = {<<{a}};", "a streaming concatenation: write a loop over the bits",
         "always_comb begin for (int i = 0; i < 8; i++) y[i] = a[7-i]; end"),
        ("import p::*;\nassign y = a + K;", "import: write the name with its package", "assign y = a + p::K;"),
        ("assign y = a ==? 8'b1xxx_0000;", "==?: write casez, or a mask before ==", "assign y = (a & 8'h8f) == 8'h80;"),
        ("always_ff @(posedge clk iff a[0]) y <= a;", "iff: write an if inside",
         "always_ff @(posedge clk) if (a[0]) y <= a;"),
        ("assert property (@(posedge clk) a |-> y); assign y = a;", "a concurrent assertion: write it between `ifn",
         "`ifndef YOSYS\nassert property (@(posedge clk) a |-> y);\n`endif\nassign y = a;"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named_and_what_is_to_be_written_is_taken(
    refused: str, words: str, taken: str, tmp_path: Path
) -> None:
    with pytest.raises(Refused) as caught:
        read(refused, tmp_path)
    said = str(caught.value)
    assert said.startswith("m.sv:")
    assert f"takes less of SystemVerilog than Verilator, and not {words}" in said
    assert "\n" not in said
    read(taken, tmp_path)


def test_of_what_is_not_known_the_error_of_yosys_comes_first(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        read("let f(x) = x + 1; assign y = f(a);", tmp_path)
    said = str(caught.value)
    assert re.match(r"m\.sv:\d+: syntax error, unexpected .* \(yosys, which reads modules for proofs, ", said)
    assert said.endswith("what that takes is to be written in plainer words)")


@pytest.mark.parametrize(
    "error",
    [
        "ERROR: Module `\\my_if' referenced in module `\\m' in cell `\\i' is not part of the design.",
        "m.sv:1: ERROR: m: Width is the bits of a number",
        "elsewhere.sv:1: ERROR: syntax error, unexpected ':'",
    ],
)
def test_an_error_of_another_kind_or_of_no_file_stays_as_it_is(error: str, tmp_path: Path) -> None:
    (tmp_path / "m.sv").write_text("return '{")
    assert in_words(error, tmp_path) == error
