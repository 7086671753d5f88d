#!/usr/bin/env python3
"""Renews the lists of functions of the stand-ins for NVIDIA's libraries, from the toolkit's headers and from the functions that
the sources here define: runtime/per_thread_streams.cc, runtime/refused.inc, libcuda/symbols.inc and libcuda/refused.inc.

    cuda_cpu/renew_names.py [<include folder of the toolkit>]

The names.txt list what NVIDIA's libraries export: nm -D --defined-only, without version nodes.
"""
import pathlib
import re
import sys

folder = pathlib.Path(__file__).parent
include = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/local/cuda/include")

REASONS = (
    (r"(cuda|cu)(GL|Graphics|EGL|VDPAU)|EGL", "there is no graphics device"),
    (r"Ipc|Shareable|Export|ImportPointer", "processes do not share memory here"),
    (r"External", "there is no memory of other APIs"),
    (r"Conditional", "graphs have no conditional nodes here"),
    (r"NvSci", "there is no NvSci"),
    (r"Sparse|Mipmapped|GetPlane|ArrayGetMemoryRequirements", "arrays are neither sparse, mipmapped nor planar here"),
    (r"Tex|Surf", "textures and surfaces are not supported"),
)
TYPES = r"(?:cudaError_t|CUresult|char const\*|cudaChannelFormatDesc|char|void\*\*|void|unsigned)"


def defined_in(part, besides=()):
    defined = set()
    for source in (folder / part).glob("*.cc"):
        if source.name not in besides and not source.name.endswith("_test.cc"):
            defined |= set(re.findall(rf"^{TYPES} ((?:__)?cu\w+)\(", source.read_text(), re.M))
    return defined


def refused(names):
    rows = []
    for name in names:
        reason = next((text for pattern, text in REASONS if re.search(pattern, name)), "")
        rows.append(f'CUDA_CPU_REFUSED({name}, "{reason}")\n')
    return ("// Functions of NVIDIA's library that are not supported, and why, where there is a particular reason. Written by renew_names.py.\n"
            + "".join(rows))


def argument(parameter):
    return re.search(r"(\w+)(\[\d*\])?$", parameter.strip())[1]


def prototypes(header):
    """The parameters of each function, as written."""
    found = {}
    for name, parameters in re.findall(r"^ *extern __host__[^\n(]*\bCUDARTAPI (\w+)\(([^;]*?)\);", header, re.M | re.S):
        found[name] = re.sub(r"__dv\([^)]*\)|\s+", lambda match: " " if match[0].isspace() else "", parameters).strip()
    return found


def renew_runtime():
    part = folder / "runtime"
    known = prototypes((include / "cuda_runtime_api.h").read_text())
    defined = defined_in("runtime", ("per_thread_streams.cc",))
    per_thread, others = [], []
    for name in (part / "names.txt").read_text().split():
        base = re.sub(r"_pt[sd][sz]$", "", name)
        if name in defined:
            continue
        if base != name and base in defined and base in known:
            arguments = ", ".join(argument(p) for p in known[base].split(","))
            per_thread.append(
                f"cudaError_t {name}({known[base]}) {{\n  PerThreadStreams const scope;\n  return {base}({arguments});\n}}\n")
        else:
            others.append(name)
    (part / "per_thread_streams.cc").write_text(
        "// The functions that programs call which are compiled with --default-stream per-thread: stream 0 is the thread's own.\n"
        "// Written by renew_names.py.\n"
        '#include "cuda_cpu/runtime/runtime.h"\n\nusing cuda_cpu::runtime::PerThreadStreams;\n\n'
        '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // some of those that are called here\n\nextern "C" {\n\n'
        + "\n".join(per_thread) + '\n}  // extern "C"\n')
    (part / "refused.inc").write_text(refused(others))
    print(f"runtime: {len(defined)} defined, {len(per_thread)} for streams of threads, {len(others)} refused")


def renew_driver():
    part = folder / "libcuda"
    renamed = dict(re.findall(r"^ *# *define (cu\w+) +(?:__CUDA_API_PT\w+\()?(cu\w+)\)? *$", (include / "cuda.h").read_text(), re.M))
    defined = defined_in("libcuda")
    symbols = {renamed.get(name, name) for name in defined}
    others = [name for name in (part / "names.txt").read_text().split() if name not in symbols]
    (part / "symbols.inc").write_text("// Written by renew_names.py.\n" + "".join(
        f"CUDA_CPU_SYMBOL({name})\n" for name in sorted(defined | symbols) if not re.search(r"_v\d+$", name)))
    (part / "refused.inc").write_text(refused(others))
    print(f"driver: {len(defined)} defined, {len(others)} refused")


renew_runtime()
renew_driver()
