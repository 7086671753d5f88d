#!/usr/bin/env python3
"""Fails if comments have too many phrases that a reader must read twice, or if the name of a test begins with Of or That.

    tools/check_prose.py [--list] [PATH...]

Reads the comments of the product's C++ files, or of the files below each PATH. Prints for each phrase its hits, its rate per 100
comment lines and its bound. --list also prints each hit, with its file and line. A comment is better with a verb first ("Returns
... if") and with the noun in place of "that", "those" or "one".
"""

import argparse
import bisect
import collections
import itertools
import os
import pathlib
import re
import subprocess
import sys

# Each phrase, its bound per 100 comment lines and its pattern. The bounds are about twice the rate that these patterns find in
# well-kept C++ libraries: absl/log, leveldb, quill, re2 and perfetto, where no rate exceeds 0.6. None of them begins a sentence
# with "Of", so this phrase may stand once in 1,000 lines.
PHRASES = (
    ("opens", 0.6, r"^(What|Whether|Where|Who|Which|Whose|How (many|much|long|often|far))\b"),
    ("is-no", 0.8, r"\b(is|are|was|were|be) no (?!longer|more\b)\w+"),
    ("those-of", 0.6, r"\b[Tt]h(ose|at) (of|with|which|whose|from|in|on)\b"),
    ("one-that", 0.8, r"\bones? (that|which|of|with|whose|where|made|in|from)\b"),
    ("same", 0.4, r"\b[Tt]he same([,.]| (of|but|for|from|to|in|with|also)\b)"),
    ("Of", 0.1, r"(^|\. )Of [a-z]"),
)

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRODUCT = ("tracing_core", "testlog", "cuda_cpu")
# Tests and their support, benchmarks, fuzzers, programs that tests run and the interpreter that checks the executor.
NOT_PRODUCT = re.compile(r"_(test|benchmark|fuzzer)(_\w+)?\.|/(testdata|benchmarks|fuzz|programs|reference)/")

# String and character literals are matched so that what looks like a comment in them is passed over.
TOKEN = re.compile(
    r"""R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+'
      | (?P<line>//[^\n]*)
      | (?P<block>/\*.*?\*/)""", re.VERBOSE | re.DOTALL)
NOT_PROSE = re.compile(r"-{3}|clang-format (on|off)\b|NOLINT|namespace( [\w:]+)?$|extern \"C\"|#?endif\b")
LICENCE = re.compile(r"\bCopyright\b|\bSPDX-License|\bLicensed under\b")
BAD_TEST_NAME = re.compile(r"\b(?:TYPED_)?TEST(?:_LOG)?(?:_[FP])?\(\s*(\w+),\s*((?:Of|That)(?![a-z])\w*)")

Line = collections.namedtuple("Line", "number text")


def tracked_files(patterns, paths):
    files = subprocess.run(["git", "ls-files", "-z", "--", *patterns], check=True, capture_output=True, text=True).stdout
    return [file for file in files.split("\0") if file and (not paths or any(is_below(file, path) for path in paths))]


def is_below(file, path):
    path = path.rstrip("/")
    return path in (".", file) or file.startswith(path + "/")


def read(file):
    with open(file, encoding="utf-8", errors="replace") as text:
        return text.read()


def comment_lines(source):
    """Yields each line of prose in a comment, and whether nothing but the comment stands in that line."""
    line_starts = [0] + [match.end() for match in re.finditer("\n", source)]
    for match in TOKEN.finditer(source):
        comment = match["line"] or match["block"]
        if comment is None or match["block"] and " " not in comment:  # `/*name=*/` names an argument
            continue
        first = bisect.bisect_right(line_starts, match.start())
        is_alone = not source[line_starts[first - 1]:match.start()].strip()
        for number, text in enumerate(comment.split("\n"), first):
            text = re.sub(r"^\s*(//[/!]?<?|/\*\*?|\*(?!/))|\*/$", "", text.rstrip("\\ ")).strip()
            yield Line(number, "" if NOT_PROSE.match(text) else text), is_alone


def comment_blocks(source):
    """Yields each comment as a list of lines. A comment behind code is a block of its own."""
    block = []
    was_alone = False
    for line, is_alone in comment_lines(source):
        follows = is_alone and was_alone and block and line.number == block[-1].number + 1
        if block and not (follows and line.text):
            yield block
            block = []
        if line.text:
            block.append(line)
        was_alone = is_alone
    if block:
        yield block


def hits_of(block):
    """Yields the name of a phrase, a line and a part of the text for each hit in a block."""
    text = " ".join(line.text for line in block)
    starts = list(itertools.accumulate((len(line.text) + 1 for line in block[:-1]), initial=0))
    for name, _, pattern in PHRASES:
        for match in re.finditer(pattern, text):
            begin = match.end() - len(match[0].lstrip(". "))
            line = block[bisect.bisect_right(starts, begin) - 1]
            yield name, line.number, text[max(0, begin - 40):match.end() + 60]


def check_comments(paths, lists):
    """Returns whether all phrases are within their bounds."""
    lines = 0
    hits = collections.Counter()
    files = [file for file in tracked_files(["*.h", "*.cc"], paths) if file.split("/")[0] in PRODUCT and not NOT_PRODUCT.search(file)]
    for file in files:
        for block in comment_blocks(read(file)):
            if LICENCE.search(" ".join(line.text for line in block)):
                continue
            lines += len(block)
            for name, number, excerpt in hits_of(block):
                hits[name] += 1
                if lists:
                    print(f"{file}:{number}: {name}: {excerpt}")
    print(f"{lines} comment lines in {len(files)} files")
    is_good = True
    for name, bound, _ in PHRASES:
        rate = 100 * hits[name] / max(1, lines)
        is_good = is_good and rate <= bound
        print(f"  {name:8} {hits[name]:4} hits, {rate:.2f} per 100 lines, bound {bound}{'' if rate <= bound else ': too many'}")
    return is_good


def check_test_names(paths):
    """Returns whether no test's name begins with Of or That; prints the names that do. Approved reports have the names of
    the tests in testdata."""
    count = 0
    for file in tracked_files(["*.h", "*.cc", "*.cu", ":!*/testdata/*"], paths):
        source = read(file)
        for match in BAD_TEST_NAME.finditer(source):
            count += 1
            number = source.count("\n", 0, match.start()) + 1
            print(f"{file}:{number}: the name of {match[1]}.{match[2]} should begin with a verb")
    return count == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print each hit")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a folder or file, from the root of the repository")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    for path in arguments.paths:
        if not tracked_files(["."], [path]):
            parser.error(f"no tracked file is at or below {path}")
    has_good_names = check_test_names(arguments.paths)
    has_good_comments = check_comments(arguments.paths, arguments.list)
    if not has_good_comments and not arguments.list:
        print("'tools/check_prose.py --list [PATH...]' prints the hits")
    return 0 if has_good_names and has_good_comments else 1


if __name__ == "__main__":
    sys.exit(main())
