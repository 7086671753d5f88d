#!/usr/bin/env python3
"""Prints how many runs the planted failures need until the first one is seen, without and with TRACE_PERTURB, for docs/hunt.md.

    tools/hunt_table.py [--hunts 10] [--most 2000] [--us 200] [--only NAME] build/dev

Each number is the median of the hunts. A hunt that has seen no failure after --most runs counts as that many, and its row has a `>`.
"""
import argparse
import os
import pathlib
import random
import statistics
import subprocess

# The name of the failure, and the filter of its tests.
PLANTED = {"missed wake-up": "MissedWakeUp.*", "wrong order": "WrongOrder.*", "stale cache": "StaleCache.*",
           "state left by an earlier test": "*LeftState.*", "off by one": "OffByOne.*", "time-out": "TimeOut.*",
           "value not set yet": "UnsetValue.*", "wrong thread": "WrongThread.*", "clock set back": "Clock.*"}


def fails(program, tests, perturb):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TRACE_", "GTEST_"))}
    environment |= {"TRACE_SHOW": "none", **({"TRACE_PERTURB": perturb} if perturb else {})}
    run = subprocess.run([program, f"--gtest_filter={tests}"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return run.returncode != 0


def hunt(program, tests, most, seeds):
    """How many runs it takes to see a failure. `seeds` gives the TRACE_PERTURB of each run."""
    for count in range(1, most + 1):
        if fails(program, tests, next(seeds, "")):
            return count
    return most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--hunts", type=int, default=10)
    parser.add_argument("--most", type=int, default=2000, help="runs of a hunt at most")
    parser.add_argument("--us", type=int, default=200, help="the longest wait of TRACE_PERTURB")
    parser.add_argument("--only", default="", help="only the failures whose name has this")
    options = parser.parse_args()
    program = (options.build / "testlog/testlog_planted").resolve()
    print("| planted | runs without | runs with `TRACE_PERTURB` | |\n|---|---|---|---|")
    for name, tests in PLANTED.items():
        if options.only not in name:
            continue
        counts = []
        for is_perturbed in (False, True):
            found = []
            for _ in range(options.hunts):
                first = random.randrange(1, 1_000_000)
                seeds = (f"{first + i},{options.us}" for i in range(options.most)) if is_perturbed else iter(())
                found.append(hunt(program, tests, options.most, seeds))
            counts.append(statistics.median(found))
        without, with_it = counts
        sign = ">" if without == options.most else ""
        print(f"| {name} | {sign}{without:g} | {with_it:g} | {sign}{without / with_it:.0f} times fewer |", flush=True)


if __name__ == "__main__":
    main()
