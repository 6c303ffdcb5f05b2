"""`lanewise isa intrinsics` as a user meets it."""

from __future__ import annotations

import fnmatch
import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import sim.command.app
from isa.intrinsics import intrinsic_names


def run(*arguments: str) -> Result:
    return CliRunner().invoke(sim.command.app.app, ["isa", "intrinsics", *arguments], env={"COLUMNS": "140"})


def parsed(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


@pytest.mark.slow
def test_the_list_has_every_intrinsic() -> None:
    assert [row["name"] for row in parsed()] == list(intrinsic_names())


def test_the_list_ends_with_a_count() -> None:
    wanted = fnmatch.filter(intrinsic_names(), "vqrdmulh*")
    assert run("vqrdmulh*").stdout.splitlines()[-1] == f"{len(wanted)} intrinsics"


@pytest.mark.parametrize(
    ("pattern", "some", "none"),
    [
        ("qrdmulh", "vqrdmulhq_s32", "vqrdmlahq_s32"),
        ("vld3*_f32", "vld3q_lane_f32", "vld3q_lane_f32_x2"),
        ("fmla*", "vfmaq_laneq_f32", "vmlaq_f32"),
        ("VADDQ_F32", "vaddq_f32", "vaddq_f64"),
    ],
)
def test_a_pattern_is_part_of_a_name_or_a_glob_of_names_or_mnemonics(pattern: str, some: str, none: str) -> None:
    listed = {row["name"] for row in parsed(pattern)}
    assert some in listed
    assert none not in listed


def test_a_row_has_the_prototype_and_the_instruction() -> None:
    line = next(line for line in run("vqrdmulhq_lane_s32").stdout.splitlines() if "vqrdmulhq" in line)
    assert "int32x4_t vqrdmulhq_lane_s32(int32x4_t, int32x2_t, const int)" in line
    assert "sqrdmulh v0.4s, v1.4s, v2.s[0]" in line


def test_an_intrinsic_of_two_instructions_shows_both() -> None:
    assert parsed("vmlaq_f32")[0]["instructions"] == ["fmul v4.4s, v2.4s, v3.4s", "fadd v0.4s, v1.4s, v4.4s"]


def test_an_extension_is_named() -> None:
    assert parsed("vdotq_s32")[0]["extensions"] == ["dotprod"]


def test_a_reinterpretation_has_no_instruction() -> None:
    assert "none: the same register" in run("vreinterpretq_s32_f32").stdout


def test_an_unknown_name_is_wrong_usage_with_near_names() -> None:
    result = run("vqrdmulq_s32")
    assert result.exit_code == 2
    assert result.stderr.startswith("lanewise: there is no intrinsic 'vqrdmulq_s32'; near it are vqrdmulhq_s32")
