#!/usr/bin/env python3
"""A program that knows W3C's trace context, but nothing of testlog. Appends a span of its own to a file, as OTLP/JSON.

The span is a child of the span that started the program: TRACEPARENT names it."""
import json
import os
import secrets
import sys
import time


def main():
    parent = os.environ.get("TRACEPARENT", "").split("-")
    span = {"traceId": secrets.token_hex(16), "spanId": secrets.token_hex(8), "name": "index", "kind": 1}
    if len(parent) >= 4:
        span["traceId"], span["parentSpanId"] = parent[1], parent[2]
    span["startTimeUnixNano"] = str(time.time_ns())
    words = sorted("to be or not to be".split())  # the work
    span["endTimeUnixNano"] = str(time.time_ns())
    span["attributes"] = [{"key": "words", "value": {"intValue": str(len(words))}}]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "child_process.py"}}]}
    request = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        file.write(json.dumps(request) + "\n")


if __name__ == "__main__":
    main()
