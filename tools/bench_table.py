#!/usr/bin/env python3
"""Runs the benchmarks, each in a process of its own, next to their peers, and prints times and ratios."""
import argparse
import itertools
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

# The speed of a shared machine changes within seconds, so benchmarks that are compared alternate, and the lowest time of each
# counts, which was disturbed least.
TURNS = 7


PROGRAMS = ("tracing_core/benchmarks/tracing_benchmarks", "testlog/benchmarks/testlog_benchmarks",
            "testlog/benchmarks/testlog_shown_benchmarks")

# Rows of programs that run with variables.
VARIABLES = {"field_capture_info": {"TRACE_CAPTURE": "info"},
             "store_off": {"TRACE_CAPTURE": "off", "TRACE_FILTER": "off"},
             "store_capture_info": {"TRACE_CAPTURE": "info"},
             "store_capture_debug": {"TRACE_CAPTURE": "debug"},
             "store_shown": {"TRACE_FILTER": "trace", "TRACE_OUTPUT": "/dev/null"}}

# Rows that are compared with another row.
OWN_PEERS = {"perf_off": "off_span", "perf_below": "span_full", "perf_summary": "span_full", "perf_printed": "line_full",
             "perf_summary_2_threads": "perf_summary", "span_registry_2_threads": "span_registry", "request_full_2_threads": "request_full",
             "spdlog_bridged": "spdlog_alone", "nvtx_out": "nvtx_tool", "nvtx_in": "nvtx_tool", "nvtx_in_off": "nvtx_tool",
             "captured_event": "captured_spdlog", "captured_event_text": "captured_spdlog_text",
             "captured_event_five": "captured_spdlog_five", "captured_span": "counter",
             "shown_event": "captured_event", "shown_event_text": "captured_event_text", "shown_event_five": "captured_event_five",
             "shown_span": "captured_span", "shown_span_text": "captured_span_text", "shown_request": "captured_request",
             "shown_span_2_threads": "shown_span", "shown_event_first_lap": "shown_event", "shown_span_first_lap": "shown_span",
             "shown_event_below_100": "shown_event", "shown_event_below_1000": "shown_event",
             "shown_event_below_10000": "shown_event", "field_evaluated": "field_function", "field_capture_info": "off_event",
             "records_again": "records_first", "line_non_blocking_2_threads": "line_non_blocking",
             **{f"store_{kind}": "store_without" for kind in ("off", "capture_info", "capture_debug", "captured", "shown")},
             "captured_span_2_threads": "captured_span",
             "captured_event_2_threads": "captured_event", "captured_event_4_threads": "captured_event",
             "captured_spdlog_2_threads": "captured_spdlog", "captured_spdlog_4_threads": "captured_spdlog",
             "recorded_event_first_lap": "recorded_event_later_lap", "recorded_span_first_lap": "recorded_span_later_lap",
             "recorded_file_event_first_lap": "recorded_file_event_later_lap"}

# Rows whose instructions are not counted: their iterations are too long, or they record so much before.
NOT_COUNTED = ("parse_100000_directives", "chrome_span_10m", "recorded_small_program", "recorded_event_later_lap",
               "recorded_span_later_lap", "recorded_file_event_later_lap")
# Rows whose runs take seconds and are long enough for one turn.
ONE_TURN = ("chrome_span_10m",)


class Failed(Exception):
    """A benchmark reports that its result is not valid."""


def run(command, variables=None):
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | (variables or {})).stdout


# With a CUDA Toolkit: a launch, as processor time of the launching thread, and a PTX instruction on the CPU, compared with one
# worker.
LAUNCHES = (("cuda_benchmarks", "launch_raw", None), ("cuda_compiled_out_benchmarks", "launch_compiled_out", "launch_raw"),
            ("cuda_benchmarks", "launch_off", "launch_raw"), ("cuda_benchmarks", "launch_captured", "launch_raw"),
            ("cuda_benchmarks", "launch_printed", "launch_raw"), ("cuda_benchmarks", "launch_spans_printed", "launch_raw"))
KERNELS = ("matmul", "softmax", "scan")


def names(program):
    return run([program, "--benchmark_list_tests=true"]).split()


# What a benchmark counts besides its time (the maximum of all runs) and the size of the compiled code: keys of --json and their
# formats.
COUNTED = {"bytes_per_span": "{:.0f} bytes a span", "peak_kib_more": "{:.0f} KiB more at the peak",
           "bytes_of_open_span": "{:.0f} bytes an open span", "resident_kib_more": "{:.0f} KiB more in memory",
           "written_kib_more": "{:.0f} KiB of these written"}
SHOWN = COUNTED | {"peak_mib": "{:.0f} MiB at the peak", "text_bytes": "{:.0f} bytes of code", "data_misses": "{:.2f} misses of the data cache"}


def base_of(name):
    """The name of a row, from the benchmark's, which may say how often it repeats."""
    return name.split("/")[0]


def ours_ns(program, name, clock="real_time", counted=None):
    # Short slices: a long one is hardly ever undisturbed on a shared machine.
    slices = ["--benchmark_min_time=0.01", "--benchmark_repetitions=10"]
    text = run([program, f"--benchmark_filter=^{re.escape(name)}$", *slices, "--benchmark_format=json"],
               VARIABLES.get(base_of(name)))
    rows = [row for row in json.loads(text)["benchmarks"] if row.get("run_type") == "iteration"]
    errors = [row["error_message"] for row in rows if row.get("error_occurred")]
    if errors:
        raise Failed(f"{name}: {errors[0]}")
    for key in COUNTED if counted is not None else ():
        found = [row[key] for row in rows if key in row]
        if found:
            counted[key] = round(max(found + [counted.get(key, 0)]), 1)
    return min(row[clock] for row in rows)


def once_ns(program, name):
    """Of a benchmark that is measured once in a process."""
    text = run([program, f"--benchmark_filter=^{name}/", "--benchmark_format=json"])
    return json.loads(text)["benchmarks"][0]["real_time"]


def instruction_ns(program, kernel, workers):
    text = run([program, f"--benchmark_filter=^{kernel}/{workers}/", "--benchmark_min_time=0.2", "--benchmark_format=json"])
    return 1e9 / json.loads(text)["benchmarks"][0]["instructions"]


def rust_ns(rust, name):
    return json.loads(run([rust, name]))["ns"] if rust else None


def in_turns(*measurements, turns=TURNS):
    """The lowest of several alternating runs of each; None for a missing measurement."""
    best = [None] * len(measurements)
    for _ in range(turns):
        for i, measure in enumerate(measurements):
            value = measure() if measure else None
            if value is not None and (best[i] is None or value < best[i]):
                best[i] = value
    return best


def instructions(program, name):
    """Instructions and misses of the data cache for one iteration: the difference between two runs of known length."""
    counts = []
    for iterations in (2000, 12000):
        result = subprocess.run(
            ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null", program,
             f"--benchmark_filter=^{re.escape(base_of(name))}(/|$)"], capture_output=True, text=True,
            env=os.environ | {"TRACING_BENCH_ITERATIONS": str(iterations)} | VARIABLES.get(base_of(name), {}))
        found = [re.search(pattern + r"\s+([\d,]+)", result.stderr) for pattern in (r"I\s+refs:", r"D1\s+misses:")]
        if None in found:
            return None
        counts.append([int(one.group(1).replace(",", "")) for one in found])
    return [(after - before) / 10000 for before, after in zip(*counts)]


def process_ns(program, variables=None):
    started = time.perf_counter()
    subprocess.run([program], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | (variables or {}))
    return (time.perf_counter() - started) * 1e9


def startup_rows(folder, static_folder):
    """What testlog adds to a process with one test and one record: shared and static; the latter is None without a folder."""
    folder += "/testlog/benchmarks"
    static = f"{static_folder}/testlog/benchmarks/startup_testlog" if static_folder else None
    with tempfile.TemporaryDirectory() as recordings:
        recording = {"TRACE_RECORD": f"{recordings}/%p.rec"}
        testlog, recorded, libraries, gtest, linked = in_turns(
            lambda: process_ns(f"{folder}/startup_testlog"), lambda: process_ns(f"{folder}/startup_testlog", recording),
            lambda: process_ns(f"{folder}/startup_plain"), lambda: process_ns(f"{folder}/startup_gtest"),
            (lambda: process_ns(static)) if static else None, turns=300)
    yield "startup", testlog - libraries, None  # compared with the same libraries without testlog
    yield "startup_recorded", recorded - libraries, None  # the same with a recording in a file
    yield "startup_over_gtest", testlog - gtest, linked - gtest if linked else None  # compared with GoogleTest alone


CONVERSIONS = ("perfetto", "xplane", "folded", "chrome")


def conversion_rows(folder, records, is_wanted):
    """Processor time for each record of a recording that `testlog export` converts, and the memory that the command takes at most;
    that is no less than this program takes, about 15 MiB."""
    formats = [one for one in CONVERSIONS if is_wanted(f"convert_{one}")]
    if not formats:
        return
    with tempfile.TemporaryDirectory() as temporary:
        recording, out = f"{temporary}/requests.rec", f"{temporary}/out"
        run([f"{folder}/tracing_core/benchmarks/record_requests", recording, str(records)])
        peaks = {}

        def convert(one):
            with subprocess.Popen([f"{folder}/bin/testlog", "export", recording, f"--{one}", out], stderr=subprocess.PIPE, text=True) as process:
                notes = process.stderr.read()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0 or notes:
                raise Failed(f"convert_{one}: {notes or process.returncode}")
            shutil.rmtree(out) if os.path.isdir(out) else os.unlink(out)
            peaks[one] = max(usage.ru_maxrss / 1024, peaks.get(one, 0))
            return (usage.ru_utime + usage.ru_stime) * 1e9 / records

        times = in_turns(*(lambda one=one: convert(one) for one in formats), turns=3)
        for one, ns in zip(formats, times):
            yield f"convert_{one}", ns, {"peak_mib": round(peaks[one], 1)}


FUNCTIONS = 100
STATEMENTS = 4
SPDLOG = ("-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL")
TYPES = {"i": "int", "u": "unsigned", "l": "long", "b": "bool", "d": "double", "f": "float", "s": "char const*", "h": "short"}


def compile_ns(include, text):
    """The processor time of a compilation."""
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
        file.write(text)
        file.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(["c++", "-std=c++20", "-O2", *SPDLOG, *(f"-I{path}" for path in include), "-c", file.name, "-o", "/dev/null"],
                       check=True)
        return (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before) * 1e9


def text_bytes(include, text):
    """The size of the machine code compiled from a source, in all sections."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = f"{folder}/source.cc", f"{folder}/source.o"
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(["c++", "-std=c++20", "-O2", *(f"-I{path}" for path in include), "-c", source, "-o", made], check=True)
        sections = (line.split() for line in run(["size", "-A", made]).splitlines())
        return sum(int(words[1]) for words in sections if words and words[0].startswith(".text"))


def compile_rows(include):
    header = '#include "tracing_core/tracing.h"\n'
    spdlog = "#include <spdlog/spdlog.h>\n"

    def functions(count, start=header, statement='TRACE_INFO("moved the block @", rows, ratio);'):
        bodies = ("".join(statement.replace("@", f"{i} {number}") for number in range(count)) for i in range(FUNCTIONS))
        return start + "".join(f"void f{i}(int rows, double ratio) {{ {body} }}\n" for i, body in enumerate(bodies))

    # Each statement has three types in an order that no other one has.
    def mixes(functions, start, statement):
        mix = [", ".join(names) for names in itertools.permutations(TYPES, 3)][:functions]
        parameters = ", ".join(f"{kind} {name}" for name, kind in TYPES.items())
        return start + "".join(f"void f{i}({parameters}) {{ {statement.replace('@', names)} }}\n" for i, names in enumerate(mix))

    peer = 'SPDLOG_INFO("moved the block @ {} {}", rows, ratio);'
    mix, peer_mix = 'TRACE_INFO("moved", @);', 'SPDLOG_INFO("moved {} {} {}", @);'
    texts = {"header": header, "gtest": "#include <gtest/gtest.h>\n", "one": functions(1), "more": functions(STATEMENTS),
             "peer_one": functions(1, spdlog, peer), "peer_more": functions(STATEMENTS, spdlog, peer),
             "mixes": mixes(FUNCTIONS, header, mix), "more_mixes": mixes(3 * FUNCTIONS, header, mix),
             "peer_mixes": mixes(FUNCTIONS, spdlog, peer_mix), "peer_more_mixes": mixes(3 * FUNCTIONS, spdlog, peer_mix)}
    ns = dict(zip(texts, in_turns(*(lambda text=text: compile_ns(include, text) for text in texts.values()))))
    yield "compile_header", ns["header"], "gtest.h", ns["gtest"], {}
    # What one more statement costs in a function that already has one.
    statements = FUNCTIONS * (STATEMENTS - 1)
    added = text_bytes(include, functions(STATEMENTS)) - text_bytes(include, functions(1))
    yield ("compile_statement", (ns["more"] - ns["one"]) / statements, "spdlog", (ns["peer_more"] - ns["peer_one"]) / statements,
           {"text_bytes": round(added / statements, 1)})
    yield ("compile_new_types", (ns["more_mixes"] - ns["mixes"]) / (2 * FUNCTIONS), "spdlog",
           (ns["peer_more_mixes"] - ns["peer_mixes"]) / (2 * FUNCTIONS), {})


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
    parser.add_argument("--programs", required=True, metavar="FOLDER", help="build folder of " + " and ".join(PROGRAMS))
    parser.add_argument("--static-programs", default="", metavar="FOLDER", help="build folder of the same, linked statically")
    parser.add_argument("--rust", default="")
    parser.add_argument("--cuda", default="", metavar="FOLDER", help="the build folder with the benchmarks of CUDA")
    parser.add_argument("--include", action="append", default=[], metavar="FOLDER", help="include folders for the compile-time rows")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("--records", type=int, default=10_000_000, metavar="N", help="how many records are converted")
    parser.add_argument("--instructions", action="store_true")
    args = parser.parse_args()

    for line in versions(args.rust):
        print(f"# {line}")
    rows = []

    def add(name, ours, peer, peer_ns, static_ns=None, counted=None, more=None):
        row = {"name": name, "ours_ns": round(ours, 2), "static_ns": round(static_ns, 2) if static_ns else None, "peer": peer if peer_ns else None,
               "peer_ns": round(peer_ns, 2) if peer_ns else None, "ratio": round(ours / peer_ns, 3) if peer_ns else None}
        if counted is not None:
            row["instructions"] = counted
        row.update(more or {})
        rows.append(row)
        shown = f"{peer_ns:14.2f} {row['ratio']:7.3f}" if peer_ns else f"{'-':>14} {'-':>7}"
        extra = f" {counted:9.0f}" if counted is not None else ""
        static = f"{static_ns:11.2f}" if static_ns else f"{'-':>11}"
        notes = [row["peer"] or "", *(SHOWN[key].format(value) for key, value in (more or {}).items())]
        print(f"{name:30} {ours:14.2f} {static} {shown}{extra}  {', '.join(note for note in notes if note)}", flush=True)

    print(f"{'row, in nanoseconds':30} {'shared':>14} {'static':>11} {'peer':>14} {'ratio':>7}")

    failed = []

    def measured_in_turns(name, *measurements, turns=TURNS):
        """None, and an error message, if a benchmark failed; the other rows are still measured."""
        try:
            return in_turns(*measurements, turns=turns)
        except Failed as error:
            failed.append(name)
            print(error, file=sys.stderr)
            return None

    measured = {}
    for program, name in ((program, name) for program in PROGRAMS for name in names(f"{args.programs}/{program}")):
        base = base_of(name)
        if not re.search(args.only, base):
            continue
        shared, static = f"{args.programs}/{program}", f"{args.static_programs}/{program}"
        more = {}
        found = measured_in_turns(base, lambda: ours_ns(shared, name, counted=more),
                                  (lambda: ours_ns(static, name)) if args.static_programs else None,
                                  lambda: rust_ns(args.rust, base), turns=1 if base in ONE_TURN else TURNS)
        if found is None:
            continue
        ours, static_ns, peer_ns = found
        measured[base] = ours
        peer = "rust tracing"
        if peer_ns is None and base.startswith("line_full") and "line_spdlog" in measured:
            peer, peer_ns = "spdlog", measured["line_spdlog"]
        if peer_ns is None and OWN_PEERS.get(base) in measured:
            peer, peer_ns = OWN_PEERS[base], measured[OWN_PEERS[base]]
        counted = instructions(shared, name) if args.instructions and base not in NOT_COUNTED else None
        if counted is not None:
            more["data_misses"] = counted[1]
        add(base, ours, peer, peer_ns, static_ns, counted and counted[0], more)
    if args.cuda and re.search(args.only, "launch"):
        found = measured_in_turns("launch", *(
            lambda program=program, name=name: ours_ns(f"{args.cuda}/cuda_tests/benchmarks/{program}", name, "cpu_time")
            for program, name, _ in LAUNCHES))
        launches = dict(zip((name for _, name, _ in LAUNCHES), found or ()))
        for _, name, peer in LAUNCHES if found else ():
            add(name, launches[name], peer, launches.get(peer))
    if args.cuda and re.search(args.only, "runtime"):
        program = f"{args.cuda}/cuda_cpu/runtime/cuda_cpu_runtime_benchmarks"
        found = measured_in_turns("runtime", lambda: ours_ns(program, "runtime_launch", "cpu_time"),
                                  lambda: once_ns(program, "runtime_load_first"), lambda: ours_ns(program, "runtime_load_further"))
        for name, ns in zip(("runtime_launch", "runtime_load_first", "runtime_load_further"), found or ()):
            add(name, ns, None, None)
    if args.cuda and re.search(args.only, "executor"):
        program = f"{args.cuda}/cuda_cpu/executor/cuda_cpu_executor_benchmarks"
        for kernel in KERNELS:
            one, two = in_turns(lambda: instruction_ns(program, kernel, 1), lambda: instruction_ns(program, kernel, 2))
            add(f"executor_{kernel}", one, None, None)
            add(f"executor_{kernel}_2", two, f"executor_{kernel}", one)
    if re.search(args.only, "startup"):
        for name, ours, static_ns in startup_rows(args.programs, args.static_programs):
            add(name, ours, None, None, static_ns)
    try:
        for name, ns, more in conversion_rows(args.programs, args.records, lambda name: re.search(args.only, name)):
            add(name, ns, None, None, more=more)
    except Failed as error:
        failed.append("convert")
        print(error, file=sys.stderr)
    if args.include and re.search(args.only, "compile"):
        for row in compile_rows(args.include):
            add(*row[:4], more=row[4])
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    if failed:
        sys.exit(f"rows that failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
