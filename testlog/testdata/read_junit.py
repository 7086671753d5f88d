#!/usr/bin/env python3
"""Reads a JUnit file with Python's parser, fails if it has what tools do not expect, and prints it as JSON."""
import json
import sys
import xml.etree.ElementTree as xml

COUNTS = {"name", "tests", "failures", "errors", "skipped", "time"}
FAILURE = {"message", "type"}
REPORTS = {"failure": "assertion crash hang timeout", "error": "unfinished"}
ATTEMPTS = {"flakyFailure": REPORTS["failure"], "rerunFailure": REPORTS["failure"], "flakyError": "unfinished",
            "rerunError": "unfinished"}
# The element: its required attributes, its optional ones, and its children.
SCHEMA = {
    "testsuites": (COUNTS, set(), {"testsuite"}),
    "testsuite": (COUNTS, set(), {"testcase", "system-out"}),
    "testcase": ({"classname", "name", "time"}, {"file", "line"},
                 {"properties", "skipped", "system-out", *REPORTS, *ATTEMPTS}),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "skipped": ({"message"}, set(), set()),
    "system-out": (set(), set(), set()),
    "stackTrace": (set(), set(), set()),
    **{tag: (FAILURE, set(), set()) for tag in REPORTS},
    **{tag: (FAILURE, set(), {"stackTrace"}) for tag in ATTEMPTS},
}


def check(condition, *what):
    if not condition:
        sys.exit("read_junit.py: " + " ".join(map(repr, what)))


def check_element(element):
    required, optional, children = SCHEMA[element.tag]
    check(required <= set(element.attrib) <= required | optional, element.tag, element.attrib)
    check(all(child.tag in children for child in element), element.tag, [child.tag for child in element])
    types = {**REPORTS, **ATTEMPTS}.get(element.tag)
    check(types is None or element.get("type") in types.split(), element.tag, element.get("type"))
    if children:
        check(not (element.text or "").strip(), element.tag, "has a text")


def result_of(case):
    found = [child for child in case if child.tag in REPORTS or child.tag == "skipped"]
    check(len(found) <= 1, "one case has", [child.tag for child in found])
    return found[0] if found else None


def check_counts(element, cases, is_whole):
    results = [result_of(case) for case in cases]
    tags = [result.tag if result is not None else "" for result in results]
    for name, found in (("tests", len(cases)), ("failures", tags.count("failure")), ("errors", tags.count("error")),
                        ("skipped", tags.count("skipped"))):
        count = int(element.get(name))
        check(count == found if is_whole else count >= found, element.tag, name, count, found)


def read_case(case):
    result = result_of(case)
    read = {**case.attrib, "result": "passed" if result is None else result.tag,
            "properties": {one.get("name"): one.get("value") for one in case.iter("property")},
            "attempts": [{**one.attrib, "tag": one.tag, "text": one.findtext("stackTrace")} for one in case
                         if one.tag in ATTEMPTS],
            "output": case.findtext("system-out") or ""}
    if result is not None:
        read.update(message=result.get("message"), type=result.get("type"), text=result.text or "")
    return read


root = xml.parse(sys.argv[1] if len(sys.argv) > 1 else sys.stdin.buffer).getroot()
check(root.tag == "testsuites", root.tag)
objects = 1
for element in root.iter():
    check_element(element)
    objects += 1 + len(element.attrib) + (element.text is not None) + (element.tail is not None)
suites = []
for suite in root:
    cases = suite.findall("testcase")
    check_counts(suite, cases, suite.find("system-out") is None)
    names = {(case.get("classname"), case.get("name")) for case in cases}
    check(len(names) == len(cases), suite.get("name"), "has cases of one name")
    suites.append({**suite.attrib, "note": suite.findtext("system-out") or "", "cases": list(map(read_case, cases))})
check_counts(root, root.findall("testsuite/testcase"), root.find("testsuite/system-out") is None)
json.dump({**root.attrib, "objects": objects, "suites": suites}, sys.stdout)
