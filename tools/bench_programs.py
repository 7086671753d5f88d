"""The rows of whole programs: a process of a test, ctest with many tests, and commands that read a large recording."""
import os
import shutil
import subprocess
import tempfile
import time

from bench_measure import Failed, cachegrind, finished, in_turns, per_repetition, processor_ns, run


def process_ns(program, variables=None):
    started = time.perf_counter()
    subprocess.run([program], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | (variables or {}))
    return (time.perf_counter() - started) * 1e9


def startup_rows(folder, static_folder, wants_instructions):
    """What testlog adds to a process with one test and one record: shared and static; the latter is None without a folder."""
    folder += "/testlog/benchmarks"
    static = f"{static_folder}/testlog/benchmarks/startup_testlog" if static_folder else None
    with tempfile.TemporaryDirectory() as recordings:
        recording = {"TRACE_RECORD": f"{recordings}/%p.rec"}
        testlog, recorded, libraries, gtest, linked = in_turns(
            lambda: process_ns(f"{folder}/startup_testlog"), lambda: process_ns(f"{folder}/startup_testlog", recording),
            lambda: process_ns(f"{folder}/startup_plain"), lambda: process_ns(f"{folder}/startup_gtest"),
            (lambda: process_ns(static)) if static else None, turns=300)

        def more_than(peer, variables=None):
            both = wants_instructions and (cachegrind([f"{folder}/{peer}"]), cachegrind([f"{folder}/startup_testlog"], variables))
            return per_repetition(*both, 1) if both else None

        # Compared with the same libraries without testlog; the same with a recording in a file; compared with GoogleTest alone.
        yield {"name": "startup", "ours": testlog - libraries, "counted": more_than("startup_plain")}
        yield {"name": "startup_recorded", "ours": recorded - libraries, "counted": more_than("startup_plain", recording)}
        yield {"name": "startup_over_gtest", "ours": testlog - gtest, "static_ns": linked - gtest if linked else None,
               "counted": more_than("startup_gtest")}


CTEST = {"ctest_plain": None, "ctest_off": {"TRACE_CAPTURE": "off", "TRACE_RECORD": "off"},
         "ctest_memory": {"TRACE_RECORD": "off"}, "ctest_default": {}, "ctest_keep_all": {"TRACE_RECORD_KEEP": "all"}}


def written_bytes():
    """The bytes that this process and the processes that it waited for have written by calls."""
    with open("/proc/self/io", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("wchar:"))


def ctest_rows(folder, tests, is_wanted, wants_instructions):
    """The processor time of `ctest -j2` for each of many tiny tests, each a process of its own."""
    rows = {name: variables for name, variables in CTEST.items() if is_wanted(name)}
    walls, written = {}, {}

    def program(name):
        kind = "plain" if name == "ctest_plain" else "testlog"
        return f"{folder}/testlog/benchmarks/many_tests_{kind}", f"many_tests_{kind}"

    def measure(name):
        before, started = written_bytes(), time.perf_counter()
        usage, _ = finished(["ctest", "-j2", "-I", f"1,{tests}", "--test-dir", program(name)[0]], rows[name])
        walls[name] = min((time.perf_counter() - started) * 1e3, walls.get(name, float("inf")))
        written[name] = written_bytes() - before
        return processor_ns(usage) / tests

    times = dict(zip(rows, in_turns(*(lambda name=name: measure(name) for name in rows), turns=3)))
    for name, ns in times.items():
        counted = None
        if wants_instructions:
            with tempfile.TemporaryDirectory() as recordings:
                counted = cachegrind(["/".join(program(name)), "--gtest_filter=Many/Tiny.Passes/1"],
                                     {"TRACE_RECORD_DEFAULT": f"{recordings}/%t.rec"} | (rows[name] or {}))
        yield {"name": name, "ours": ns, "peer": "ctest_plain", "peer_ns": times.get("ctest_plain") if rows[name] is not None else None,
               "counted": counted, "more": {"wall_ms": round(walls[name] / tests, 3), "written_kib": round(written[name] / tests / 1024, 1)}}


READERS = {"convert_perfetto": ["export", "--perfetto", "OUT"], "convert_xplane": ["export", "--xplane", "OUT"],
           "convert_folded": ["export", "--folded", "OUT"], "convert_chrome": ["export", "--chrome", "OUT"],
           "convert_json": ["export", "--json", "OUT"], "show_all": ["show"],
           "show_request": ["show", "--filter", "[request{rows=1000}]=trace"],
           "show_period": ["show", "--since", "20ms", "--until", "40ms"]}


def used_bytes(folder, recording):
    return int(run([f"{folder}/tracing_core/benchmarks/used_bytes", recording]))


def make_recording(folder, path, records):
    run([f"{folder}/tracing_core/benchmarks/record_requests", path, str(records)])
    return path


def records_of(folder, mib):
    """How many records of requests a recording of a size has."""
    records = 500_000
    with tempfile.TemporaryDirectory() as temporary:
        return int(mib * 2**20 * records / used_bytes(folder, make_recording(folder, f"{temporary}/few.rec", records)))


def reader_rows(folder, mib, is_wanted, wants_instructions):
    """Processor time for each record of a large recording that a command reads, and the memory that the command takes at most; that
    is no less than this program takes, about 15 MiB."""
    rows = [name for name in READERS if is_wanted(name)]
    if not rows:
        return
    records = records_of(folder, mib)
    with tempfile.TemporaryDirectory() as temporary:
        recording, out = make_recording(folder, f"{temporary}/requests.rec", records), f"{temporary}/out"
        peaks = {}

        def command(name, path):
            return [f"{folder}/bin/testlog", READERS[name][0], path, *(out if word == "OUT" else word for word in READERS[name][1:])]

        def remove_output():
            if os.path.exists(out):
                shutil.rmtree(out) if os.path.isdir(out) else os.unlink(out)

        def count(name, path):
            found = cachegrind(command(name, path))
            remove_output()
            return found

        def read(name):
            with open(f"{temporary}/shown", "wb") as shown:
                usage, notes = finished(command(name, recording), out=shown)
                is_empty = not os.path.exists(out) and os.fstat(shown.fileno()).st_size == 0
            if notes or is_empty:
                raise Failed(f"{name}: {notes or 'no output'}")
            remove_output()
            peaks[name] = max(usage.ru_maxrss / 1024, peaks.get(name, 0))
            return processor_ns(usage) / records

        times = in_turns(*(lambda name=name: read(name) for name in rows), turns=3)
        few, many = (make_recording(folder, f"{temporary}/{count}.rec", count) for count in (20_000, 120_000))
        for name, ns in zip(rows, times):
            counted = wants_instructions and per_repetition(count(name, few), count(name, many), 100_000)
            yield {"name": name, "ours": ns, "counted": counted or None,
                   "more": {"seconds": round(ns * records / 1e9, 2), "peak_mib": round(peaks[name], 1)}}


def bytes_of_record(folder, program, name):
    """The bytes that one iteration of a benchmark of a test program takes in a recording."""
    sizes = []
    with tempfile.TemporaryDirectory() as temporary:
        for iterations in (10_000, 210_000):
            path = f"{temporary}/{iterations}.rec"
            run([program, f"--benchmark_filter=^{name}(/|$)"],
                {"TRACE_RECORD": path, "TRACE_RECORD_LIMIT": "256M", "TRACING_BENCH_ITERATIONS": str(iterations)})
            sizes.append(used_bytes(folder, path))
    return round((sizes[1] - sizes[0]) / 200_000, 1)
