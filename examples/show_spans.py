#!/usr/bin/env python3
"""Prints the spans in files of OTLP/JSON lines as trees, each span with its service and its attributes of numbers and texts.

Written from the specification of OTLP alone. Several files may belong to the same traces."""
import json
import sys

LEFT_OUT = ("thread.", "code.", "testlog.")


def read_spans(paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                for of_resource in json.loads(line)["resourceSpans"]:
                    attributes = {one["key"]: one["value"] for one in of_resource["resource"]["attributes"]}
                    for of_scope in of_resource["scopeSpans"]:
                        for span in of_scope["spans"]:
                            yield attributes["service.name"]["stringValue"], span


def show(spans, parent, depth):
    for service, span in spans.get(parent, []):
        fields = [f"{one['key']}={next(iter(one['value'].values()))}" for one in span.get("attributes", [])
                  if not one["key"].startswith(LEFT_OUT)]
        print("  " * depth + span["name"] + "{" + " ".join(fields) + "} of " + service)
        show(spans, (span["traceId"], span["spanId"]), depth + 1)


def main():
    spans = {}
    for service, span in sorted(read_spans(sys.argv[1:]), key=lambda one: int(one[1]["startTimeUnixNano"])):
        parent = (span["traceId"], span["parentSpanId"]) if span.get("parentSpanId") else None
        spans.setdefault(parent, []).append((service, span))
    ids = {(span["traceId"], span["spanId"]) for some in spans.values() for _, span in some}
    show(spans, None, 0)
    for parent in spans.keys() - ids - {None}:
        print("below a span that is in no file:")
        show(spans, parent, 1)


if __name__ == "__main__":
    main()
