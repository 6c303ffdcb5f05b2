"""Outcomes of benches as JUnit XML: a suite for each, with a test case for each test that cocotb ran.

What goes wrong in a test is in its case, the whole report once in the suite's output.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rtl_models.outcome import BenchOutcome
from sim.view.junit import xml_text

PROPERTIES = ("lanes_compared", "coverpoints_met", "first_divergence", "seed", "reproduce")
"""The names of the JSON form."""


def render_junit(outcomes: Sequence[BenchOutcome]) -> bytes:
    """The XML document, in UTF-8.  A run that did not pass is never a suite without fault."""
    suites = Element("testsuites", name="lanewise rtl")
    for outcome in outcomes:
        failed = sum(map(bool, outcome.tests.values()))
        nothing = int(not outcome.passed and not failed)
        tests, failures, errors = map(str, (len(outcome.tests) + nothing, failed, nothing))
        title = xml_text(outcome.title)
        suite = SubElement(suites, "testsuite", name=title, tests=tests, failures=failures, errors=errors)
        properties, data = SubElement(suite, "properties"), outcome.as_json()
        for name in PROPERTIES:
            SubElement(properties, "property", name=name, value=xml_text(str(data.get(name, ""))))
        for name, said in outcome.tests.items():
            case = SubElement(suite, "testcase", classname=outcome.name, name=name)
            if said:
                SubElement(case, "failure", message=xml_text(said.split("\n")[0])).text = xml_text(said)
        if nothing:
            case = SubElement(suite, "testcase", classname=outcome.name, name="the whole bench")
            SubElement(case, "error", message="nothing was compared")
        SubElement(suite, "system-out").text = xml_text(outcome.told())
    indent(suites)
    document: bytes = tostring(suites, "utf-8", xml_declaration=True)
    return document + b"\n"
