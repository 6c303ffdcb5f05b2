"""A check's report as JUnit XML, in the shape of cocotb's results file: a test case for each implementation.

The properties have the names of the report's JSON form.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sim.check.report import Report

PROPERTIES = (
    "vectors_compared", "lanes_compared", "instruction_forms", "first_divergence", "seed", "reproduce",
)  # fmt: skip


def render_junit(report: Report) -> bytes:
    """The XML document, in UTF-8."""
    title = xml_text(report.title)
    suites = Element("testsuites", name="lanewise")
    failures = len(report.failures)
    errors = int(not report.passed and not failures)
    suite = SubElement(
        suites, "testsuite", name=title, tests=str(len(report.outcomes) + errors), failures=str(failures),
        errors=str(errors),
    )  # fmt: skip
    data = report.as_json()
    properties = SubElement(suite, "properties")
    for name in PROPERTIES:
        SubElement(properties, "property", name=name, value=xml_text(str(data[name])))
    if report.passed:
        SubElement(properties, "property", name="verdict", value="PASSED, weak" if report.weak else "PASSED")
    for why in report.power.weaknesses if report.weak and report.power is not None else ():
        SubElement(properties, "property", name="weakness", value=xml_text(why))
    for outcome in report.outcomes:
        case = SubElement(suite, "testcase", classname=title, name=xml_text(outcome.title))
        properties = SubElement(case, "properties")
        SubElement(properties, "property", name="vectors_compared", value=str(outcome.vectors))
        SubElement(properties, "property", name="lanes_compared", value=str(outcome.lanes_compared))
        if outcome.failure:
            failure = SubElement(case, "failure", message=xml_text(outcome.failure.split("\n")[0]))
            failure.text = xml_text(outcome.failure)
    if errors:
        nothing = SubElement(suite, "testcase", classname=title, name="the whole check")
        reason = report.hindrance or ("it was interrupted" if report.interrupted else "nothing was compared")
        SubElement(nothing, "error", message=xml_text(reason))
    indent(suites)
    document: bytes = tostring(suites, "utf-8", xml_declaration=True)
    return document + b"\n"


def xml_text(text: str) -> str:
    """Without the characters that XML 1.0 does not allow (2.2), and with escapes for what is no Unicode."""
    allowed = "".join(letter for letter in text if " " <= letter not in "\ufffe\uffff" or letter in "\t\n")
    return allowed.encode(errors="backslashreplace").decode()
