"""A report as JUnit XML."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from sim.check.report import Outcome, Report
from sim.view.junit import PROPERTIES, render_junit, xml_text

GOOD = Outcome(
    implementation="kernel.c",
    flags="-O2",
    vectors=10,
    lanes_compared=20,
    instructions=300,
    forms=frozenset({"add .4s,.4s,.4s"}),
    qc_events=0,
    code="abcd",
)
BAD = replace(GOOD, flags="-O3", failure="output[3]: machine 1, golden 2\n  inputs \x1b a=<5> & b")
REPORT = Report(kernel="scale", compiler="clang", seed=7, outcomes=[GOOD, BAD], reproduce="lanewise check scale")


def suite(report: Report) -> ElementTree.Element:
    found = ElementTree.fromstring(render_junit(report)).find("testsuite")
    assert found is not None
    return found


def test_the_properties_have_the_names_and_values_of_the_json_form() -> None:
    properties = {p.get("name"): p.get("value") for p in suite(REPORT).findall("properties/property")}
    assert properties == {name: str(REPORT.as_json()[name]).replace("\x1b", "") for name in PROPERTIES}


def test_every_implementation_is_a_test_case() -> None:
    assert [case.get("name") for case in suite(REPORT).findall("testcase")] == ["kernel.c -O2", "kernel.c -O3"]


def test_a_failure_is_told_whole_without_control_characters() -> None:
    failures = [failure.text for failure in suite(REPORT).findall("testcase/failure")]
    assert failures == ["output[3]: machine 1, golden 2\n  inputs  a=<5> & b"]


def test_characters_that_xml_has_not_are_left_out() -> None:
    element = ElementTree.Element("x", text=xml_text("a\x00b\x1b\ufffe\uffff\t\x85\U0010ffff"))
    assert ElementTree.fromstring(ElementTree.tostring(element)).get("text") == "ab\t\x85\U0010ffff"


@pytest.mark.parametrize(
    ("report", "counts"),
    [
        (REPORT, ("2", "1", "0")),
        (replace(REPORT, outcomes=[GOOD]), ("1", "0", "0")),
        (replace(REPORT, outcomes=[]), ("1", "0", "1")),
        (replace(REPORT, outcomes=[GOOD], stopped=True), ("2", "0", "1")),
    ],
    ids=["failed", "passed", "nothing compared", "interrupted"],
)
def test_a_check_that_did_not_pass_is_never_a_suite_without_fault(report: Report, counts: tuple[str, str, str]) -> None:
    found = suite(report)
    assert (found.get("tests"), found.get("failures"), found.get("errors")) == counts


def test_a_report_shows_itself_in_a_line() -> None:
    assert repr(REPORT) == (
        f"Report(scale: failed, 2 implementations, 1 of them fails, {REPORT.vectors_compared:,} vectors, seed 7)"
    )
