"""How benchmarks are measured: in turns, since other programs share the machine; by cachegrind; or as whole processes."""
import os
import re
import subprocess

# The speed of a shared machine changes within seconds, so benchmarks that are compared alternate, and the lowest time of each
# counts, which was disturbed least.
TURNS = 7


class Failed(Exception):
    """A benchmark reports that its result is not valid."""


def run(command, variables=None):
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | (variables or {})).stdout


def in_turns(*measurements, turns=TURNS):
    """The lowest of several alternating runs of each; None for a missing measurement."""
    best = [None] * len(measurements)
    for _ in range(turns):
        for i, measure in enumerate(measurements):
            value = measure() if measure else None
            if value is not None and (best[i] is None or value < best[i]):
                best[i] = value
    return best


def cachegrind(command, variables=None):
    """The instructions of a process and its misses of the data cache; None without valgrind's result."""
    result = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null", *command],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=os.environ | (variables or {}))
    found = [re.search(pattern + r"\s+([\d,]+)", result.stderr) for pattern in (r"I\s+refs:", r"D1\s+misses:")]
    return None if None in found else [int(one.group(1).replace(",", "")) for one in found]


def per_repetition(few, many, repetitions):
    """What each of the repetitions costs that a second run has more than a first one: results of cachegrind()."""
    return None if None in (few, many) else [(after - before) / repetitions for before, after in zip(few, many)]


def finished(command, variables=None, out=subprocess.DEVNULL):
    """What a process used until its end, and what it printed as errors."""
    with subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True, env=os.environ | (variables or {})) as process:
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)}: {errors or process.returncode}")
    return usage, errors


def processor_ns(usage):
    return (usage.ru_utime + usage.ru_stime) * 1e9
