#!/usr/bin/env python3
"""Runs the benchmarks, each in a process of its own, next to their peers, and prints what they cost and the ratio."""
import argparse
import json
import re
import subprocess
import sys

REPETITIONS = 7


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def names(program):
    return run([program, "--benchmark_list_tests=true"]).split()


def ours_ns(program, name):
    """The lowest of several repetitions: the one that was disturbed least."""
    text = run([program, f"--benchmark_filter=^{re.escape(name)}$", f"--benchmark_repetitions={REPETITIONS}",
                "--benchmark_min_time=0.1", "--benchmark_format=json"])
    rows = [row for row in json.loads(text)["benchmarks"] if row.get("run_type") == "iteration"]
    errors = [row["error_message"] for row in rows if row.get("error_occurred")]
    if errors:
        sys.exit(f"{name}: {errors[0]}")
    return min(row["real_time"] for row in rows)


def rust_ns(rust, name):
    return json.loads(run([rust, name]))["ns"] if rust else None


def instructions(program, name):
    """Instructions for one iteration: the difference between two runs of known length."""
    counts = []
    for iterations in (2000, 12000):
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, f"--benchmark_filter=^{re.escape(name)}$",
             f"--benchmark_min_time={iterations}x"], capture_output=True, text=True)
        found = re.search(r"refs:\s+([\d,]+)", result.stderr)
        if not found:
            return None
        counts.append(int(found.group(1).replace(",", "")))
    return (counts[1] - counts[0]) / 10000


def versions(rust):
    lines = [run(["c++", "--version"]).splitlines()[0]]
    for package in ("libspdlog-dev", "libfmt-dev", "librust-tracing-dev", "librust-tracing-subscriber-dev"):
        result = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}", package], capture_output=True, text=True)
        if result.returncode == 0:
            lines.append(result.stdout)
    if rust:
        lines.append(run(["rustc", "--version"]).strip())
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--rust", default="")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("--instructions", action="store_true")
    args = parser.parse_args()

    for line in versions(args.rust):
        print(f"# {line}")
    rows = []
    measured = {}
    for name in names(args.program):
        base = name.split("/")[0]
        if not re.search(args.only, base):
            continue
        ours = ours_ns(args.program, name)
        measured[base] = ours
        peer, peer_ns = "rust tracing", rust_ns(args.rust, base)
        if peer_ns is None and base.startswith("line_full") and "line_spdlog" in measured:
            peer, peer_ns = "spdlog", measured["line_spdlog"]
        row = {"name": base, "ours_ns": round(ours, 2), "peer": peer if peer_ns else None,
               "peer_ns": peer_ns, "ratio": round(ours / peer_ns, 3) if peer_ns else None}
        if args.instructions:
            row["instructions"] = instructions(args.program, name)
        rows.append(row)
        shown = f"{peer_ns:10.2f} {row['ratio']:7.2f}" if peer_ns else f"{'-':>10} {'-':>7}"
        counted = f" {row['instructions']:9.0f}" if row.get("instructions") is not None else ""
        print(f"{base:32} {ours:10.2f} {shown}{counted}  {row['peer'] or ''}", flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
