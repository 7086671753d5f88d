#!/usr/bin/env python3
"""Prints the sources of targets of BUILD.bazel, one per line: sources.py <target>...

sources.py --compare <file> compares them with the sources of CMake's targets. The file has a line
`<target> <folder> <source>;...` for each, and `VERSION <version>`.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def targets_of(build_file):
    """Returns the arguments of the rules in a file, by name. Rules are calls, and the rest is Python, too."""
    targets = {}

    def found(patterns):
        patterns = [pattern + "/*" if pattern.endswith("**") else pattern for pattern in patterns]
        return {path for pattern in patterns for path in ROOT.glob(pattern)}

    def glob(include, exclude=()):
        return sorted(str(path.relative_to(ROOT)) for path in found(include) - found(exclude) if path.is_file())

    def rule(**arguments):
        targets[arguments["name"]] = arguments

    names = {"glob": glob, "load": lambda *symbols: None, "exports_files": lambda files: None}
    names.update(dict.fromkeys(["cc_binary", "cc_library", "genrule"], rule))
    exec(compile(build_file.read_text(), str(build_file), "exec"), names)  # pylint: disable=exec-used
    return targets, names["VERSION"]


def sources_of(targets, names):
    made = {out for target in targets.values() for out in target.get("outs", [])}
    return {source for name in names for source in targets[name].get("srcs", []) if source not in made}


# The targets of Bazel that have the sources of CMake's targets.
SAME = [
    (["tracing_core"], ["tracing_core"]),
    (["tracing_subscriber", "tracing_spdlog_calls"], ["tracing_subscriber"]),
    (["tracing_inspect"], ["tracing_inspect"]),
    (["tracing_mock"], ["tracing_mock"]),
    (["tracing_profile"], ["tracing_profile"]),
    (
        ["testlog", "testlog_main", "testlog_session", "testlog_compare", "testlog_why", "testlog_command"],
        ["testlog", "testlog_run", "testlog_keep", "testlog_hooks", "testlog_main", "testlog_compare", "testlog_why", "testlog_otlp", "testlog_command"],
    ),
]


# Made by the build, or objects of another target.
def is_made(path):
    return path.name.endswith("_assets.cc") or not path.is_relative_to(ROOT)


def compare(cmake_file, targets, version):
    lines = dict(line.split(" ", 1) for line in cmake_file.read_text().splitlines())
    versions = {
        "CMakeLists.txt": lines["VERSION"],
        "BUILD.bazel": version,
        "MODULE.bazel": re.search(r'\n    version = "(.*)"', (ROOT / "MODULE.bazel").read_text())[1],
        "meson.build": re.search(r"\n  version: '(.*)'", (ROOT / "meson.build").read_text())[1],
    }
    problems = []
    if len(set(versions.values())) != 1:
        problems.append(f"the versions differ: {versions}")
    for bazel, cmake in SAME:
        ours = sources_of(targets, bazel)
        theirs = set()
        for name in cmake:
            folder, sources = lines[name].split(" ", 1)
            paths = [pathlib.Path(folder, source).resolve() for source in sources.split(";")]
            theirs |= {str(path.relative_to(ROOT)) for path in paths if path.suffix == ".cc" and not is_made(path)}
        problems += [f"{path} is in CMake's {cmake}, not in Bazel's {bazel}" for path in sorted(theirs - ours)]
        problems += [f"{path} is in Bazel's {bazel}, not in CMake's {cmake}" for path in sorted(ours - theirs)]
    return problems


def main(arguments):
    targets, version = targets_of(ROOT / "BUILD.bazel")
    if len(arguments) == 2 and arguments[0] == "--compare":
        problems = compare(pathlib.Path(arguments[1]), targets, version)
        print("\n".join(problems) or "the same sources")
        return 1 if problems else 0
    unknown = [name for name in arguments if name not in targets]
    if unknown or not arguments:
        print(f"sources.py: no target {unknown}; expected some of {sorted(targets)}", file=sys.stderr)
        return 2
    print("\n".join(sorted(sources_of(targets, arguments))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
