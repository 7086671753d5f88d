#!/usr/bin/env python3
"""Runs the benchmarks, each in a process of its own, next to their peers, and prints times and ratios."""
import argparse
import itertools
import json
import re
import resource
import subprocess
import sys
import tempfile

from bench_measure import TURNS, Failed, cachegrind, in_turns, per_repetition, run
from bench_programs import bytes_of_record, ctest_rows, reader_rows, startup_rows

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

# Rows with the statement of quill that they are compared with, if its benchmarks were built.
QUILL = {"off_event": "off", "line_non_blocking": "line", **{
    f"{kind}_{row}": statement for kind in ("captured", "shown")
    for row, statement in (("event", "event"), ("event_text", "text"), ("event_five", "five"), ("request", "request"))}}

# Rows whose records are also measured in bytes of a recording.
RECORDED = [f"{kind}_{row}" for kind in ("captured", "shown")
            for row in ("event", "event_text", "event_five", "span", "span_text", "request")]

# Rows whose instructions are not counted: their iterations are too long, or they record so much before.
NOT_COUNTED = ("parse_100000_directives", "chrome_span_10m", "recorded_small_program", "recorded_event_later_lap",
               "recorded_span_later_lap", "recorded_file_event_later_lap")
# Rows whose runs take seconds and are long enough for one turn.
ONE_TURN = ("chrome_span_10m",)


# With a CUDA Toolkit: what a Driver adds to a launch, and a PTX instruction on the CPU, compared with one worker.
LAUNCHES = (("cuda_benchmarks", "launch_off", None), ("cuda_compiled_out_benchmarks", "launch_compiled_out", "launch_off"),
            ("cuda_benchmarks", "launch_captured", "launch_off"), ("cuda_benchmarks", "launch_printed", "launch_off"),
            ("cuda_benchmarks", "launch_spans_printed", "launch_off"))
KERNELS = ("matmul", "softmax", "scan")


def names(program):
    return run([program, "--benchmark_list_tests=true"]).split()


# What a benchmark counts besides its time (the maximum of all runs) and the size of the compiled code: keys of --json and their
# formats.
COUNTED = {"bytes_per_span": "{:.0f} bytes a span", "peak_kib_more": "{:.0f} KiB more at the peak",
           "bytes_of_open_span": "{:.0f} bytes an open span", "resident_kib_more": "{:.0f} KiB more in memory",
           "written_kib_more": "{:.0f} KiB of these written"}
SHOWN = COUNTED | {"peak_mib": "{:.0f} MiB at the peak", "seconds": "{} s", "recorded_bytes": "{} bytes recorded",
                   "wall_ms": "{} ms of wall time", "written_kib": "{} KiB written", "quill_instructions": "quill: {} instructions",
                    "text_bytes": "{:.0f} bytes of code", "data_misses": "{:.2f} misses of the data cache"}


def base_of(name):
    """The name of a row, from the benchmark's, which may say how often it repeats."""
    return name.split("/")[0]


def clock_of(program, name):
    """Processor time for what a test pays on one thread, as for quill, whose other part runs on this thread in between."""
    return "cpu_time" if program.startswith("testlog/") and not name.endswith("manual_time") else "real_time"


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


def instructions(program, name):
    """Instructions and misses of the data cache for one iteration: the difference between two runs of known length."""
    runs = [cachegrind([program, f"--benchmark_filter=^{re.escape(base_of(name))}(/|$)"],
                       {"TRACING_BENCH_ITERATIONS": str(iterations)} | VARIABLES.get(base_of(name), {})) for iterations in (2000, 12000)]
    return per_repetition(*runs, 10000)


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


class Table:
    """Prints rows, and keeps them for --json."""

    def __init__(self, wants_instructions):
        self.rows, self.failed, self.measured = [], [], {}
        self.wants_instructions = wants_instructions
        columns = f"{'row, in nanoseconds':30} {'shared':>14} {'static':>11} {'peer':>14} {'ratio':>7} {'quill':>9}"
        print(columns + (f" {'instructions':>12}" if wants_instructions else ""))

    def add(self, name, ours, peer=None, peer_ns=None, static_ns=None, counted=None, more=None, quill_ns=None):
        self.measured[name] = ours
        more = dict(more or {})
        row = {"name": name, "ours_ns": round(ours, 2), "static_ns": round(static_ns, 2) if static_ns else None,
               "peer": peer if peer_ns else None, "peer_ns": round(peer_ns, 2) if peer_ns else None,
               "ratio": round(ours / peer_ns, 3) if peer_ns else None, "quill_ns": round(quill_ns, 2) if quill_ns else None}
        if counted is not None:
            row["instructions"], more["data_misses"] = counted
        row.update(more)
        self.rows.append(row)

        def cell(value, form, width):
            return f"{value:{form}}" if value is not None else f"{'-':>{width}}"

        cells = [f"{name:30} {ours:14.2f}", cell(static_ns or None, "11.2f", 11), cell(row["peer_ns"], "14.2f", 14),
                 cell(row["ratio"], "7.3f", 7), cell(row["quill_ns"], "9.2f", 9)]
        if self.wants_instructions:
            cells.append(cell(row.get("instructions"), "12.0f", 12))
        notes = [row["peer"] or "", *(SHOWN[key].format(value) for key, value in more.items())]
        print(" ".join(cells) + "  " + ", ".join(note for note in notes if note), flush=True)

    def in_turns(self, name, *measurements, turns=TURNS):
        """None, and an error message, if a benchmark failed; the other rows are still measured."""
        try:
            return in_turns(*measurements, turns=turns)
        except Failed as error:
            self.fail(name, error)
            return None

    def fail(self, name, error):
        self.failed.append(name)
        print(error, file=sys.stderr)

    def add_all(self, name, rows):
        """Adds rows until one of them fails."""
        try:
            for row in rows:
                self.add(**row)
        except Failed as error:
            self.fail(name, error)

    def counted(self, program, name):
        return instructions(program, name) if self.wants_instructions and base_of(name) not in NOT_COUNTED else None


def add_benchmarks(table, args, is_wanted):
    for program, name in ((program, name) for program in PROGRAMS for name in names(f"{args.programs}/{program}")):
        base = base_of(name)
        if is_wanted(base):
            add_benchmark(table, args, program, name)


def add_benchmark(table, args, program, name):
    base, shared, static, more = base_of(name), f"{args.programs}/{program}", f"{args.static_programs}/{program}", {}
    clock = clock_of(program, name)
    found = table.in_turns(base, lambda: ours_ns(shared, name, clock, more),
                           (lambda: ours_ns(static, name, clock)) if args.static_programs else None, lambda: rust_ns(args.rust, base),
                           (lambda: ours_ns(args.quill, QUILL[base], "cpu_time")) if args.quill and base in QUILL else None,
                           turns=1 if base in ONE_TURN else TURNS)
    if found is None:
        return
    ours, static_ns, peer_ns, quill_ns = found
    peer = "rust tracing"
    if peer_ns is None and base.startswith("line_full") and "line_spdlog" in table.measured:
        peer, peer_ns = "spdlog", table.measured["line_spdlog"]
    if peer_ns is None and OWN_PEERS.get(base) in table.measured:
        peer, peer_ns = OWN_PEERS[base], table.measured[OWN_PEERS[base]]
    if base in RECORDED:
        more["recorded_bytes"] = bytes_of_record(args.programs, shared, base)
    counted = table.counted(shared, name)
    if counted is not None and quill_ns is not None:
        more["quill_instructions"] = round(instructions(args.quill, QUILL[base])[0])
    table.add(base, ours, peer, peer_ns, static_ns, counted, more, quill_ns)


def add_launches(table, folder):
    programs = {name: f"{folder}/cuda_tests/benchmarks/{program}" for program, name, _ in LAUNCHES}
    found = table.in_turns("launch", *(lambda name=name: ours_ns(programs[name], name) for name in programs))
    for (_, name, peer), ns in zip(LAUNCHES, found or ()):
        table.add(name, ns, peer, table.measured.get(peer), counted=table.counted(programs[name], name))


def add_runtime(table, folder):
    program = f"{folder}/cuda_cpu/runtime/cuda_cpu_runtime_benchmarks"
    with tempfile.TemporaryDirectory() as recordings:
        VARIABLES["runtime_launch_captured"] = {"TRACE_RECORD": f"{recordings}/%p.rec"}
        found = table.in_turns(
            "runtime", lambda: ours_ns(program, "runtime_launch", "cpu_time"),
            lambda: ours_ns(program, "runtime_launch_captured", "cpu_time"), lambda: once_ns(program, "runtime_load_first"),
            lambda: ours_ns(program, "runtime_load_further"))
        peers = {"runtime_launch_captured": "runtime_launch"}
        for name, ns in zip(("runtime_launch", "runtime_launch_captured", "runtime_load_first", "runtime_load_further"), found or ()):
            counted = table.counted(program, name) if name.startswith("runtime_launch") else None
            table.add(name, ns, peers.get(name), table.measured.get(peers.get(name)), counted=counted)


def add_executor(table, folder):
    program = f"{folder}/cuda_cpu/executor/cuda_cpu_executor_benchmarks"
    for kernel in KERNELS:
        one, two = in_turns(lambda: instruction_ns(program, kernel, 1), lambda: instruction_ns(program, kernel, 2))
        table.add(f"executor_{kernel}", one)
        table.add(f"executor_{kernel}_2", two, f"executor_{kernel}", one)


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, metavar="FOLDER", help="build folder of " + " and ".join(PROGRAMS))
    parser.add_argument("--static-programs", default="", metavar="FOLDER", help="build folder of the same, linked statically")
    parser.add_argument("--rust", default="")
    parser.add_argument("--quill", default="", metavar="PROGRAM", help="the benchmarks of the peer quill")
    parser.add_argument("--cuda", default="", metavar="FOLDER", help="the build folder with the benchmarks of CUDA")
    parser.add_argument("--include", action="append", default=[], metavar="FOLDER", help="include folders for the compile-time rows")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("--recording", type=int, default=256, metavar="MIB", help="how large a recording is read")
    parser.add_argument("--tests", type=int, default=1000, metavar="N", help="how many tests ctest runs")
    parser.add_argument("--instructions", action="store_true")
    return parser.parse_args()


def main():
    args = parsed_arguments()

    def is_wanted(name):
        return re.search(args.only, name)

    for line in versions(args.rust):
        print(f"# {line}")
    table = Table(args.instructions)
    add_benchmarks(table, args, is_wanted)
    for name, add in (("launch", add_launches), ("runtime", add_runtime), ("executor", add_executor)):
        if args.cuda and is_wanted(name):
            add(table, args.cuda)
    if is_wanted("startup"):
        table.add_all("startup", startup_rows(args.programs, args.static_programs, args.instructions))
    table.add_all("ctest", ctest_rows(args.programs, args.tests, is_wanted, args.instructions))
    table.add_all("readers", reader_rows(args.programs, args.recording, is_wanted, args.instructions))
    if args.include and is_wanted("compile"):
        for row in compile_rows(args.include):
            table.add(*row[:4], more=row[4])
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(table.rows, file, indent=1)
    if table.failed:
        sys.exit(f"rows that failed: {', '.join(table.failed)}")


if __name__ == "__main__":
    main()
