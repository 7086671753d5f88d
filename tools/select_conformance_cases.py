#!/usr/bin/env python3
"""Chooses the conformance cases that are kept in this repository from a folder that holds all of them.

    tools/select_conformance_cases.py DIR [NAME...]

Writes tests/conformance/cases/NAME.json for each name, by default for those that are there already. Cases form groups:
those of one tag, apart from them those of the tag that have an `any` or an `expected_unicode_regex`. Of each group the
first case is kept and then every n-th one, with the smallest n for which the file is no larger than it may be. So every
group is there, and the same folder gives the same files. tests/conformance/README.md says what the cases mean.
"""

import collections
import json
import pathlib
import sys

MOST_BYTES_OF_FILE = 180 * 1024
MOST_BYTES = 2 * 1024 * 1024
CASES = pathlib.Path(__file__).resolve().parent.parent / "tests" / "conformance" / "cases"


def every_nth_of_each_group(cases, n):
    seen = collections.Counter()
    for case in cases:
        group = (case["tag"], "any" in case, "expected_unicode_regex" in case)
        if seen[group] % n == 0:
            yield case
        seen[group] += 1


def as_text(cases):
    lines = (json.dumps(case, separators=(",", ":"), sort_keys=True) for case in cases)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def select(cases):
    for n in range(1, len(cases) + 1):
        chosen = list(every_nth_of_each_group(cases, n))
        text = as_text(chosen)
        if len(text.encode()) <= MOST_BYTES_OF_FILE:
            break
    return chosen, text


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1])
    names = sys.argv[2:] or sorted(path.stem for path in CASES.glob("*.json"))
    CASES.mkdir(parents=True, exist_ok=True)
    for name in names:
        cases = json.loads((source / f"{name}.json").read_text())
        chosen, text = select(cases)
        (CASES / f"{name}.json").write_text(text)
        print(f"{name}: {len(chosen)} of {len(cases)} cases, {len(text)} bytes")
    total = sum(path.stat().st_size for path in CASES.glob("*.json"))
    print(f"{total} bytes in all")
    if total > MOST_BYTES:
        sys.exit(f"more than {MOST_BYTES}: lower MOST_BYTES_OF_FILE")


if __name__ == "__main__":
    main()
