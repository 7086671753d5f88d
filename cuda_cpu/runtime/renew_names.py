#!/usr/bin/env python3
"""Renews per_thread_streams.cc and refused.inc from the toolkit's header and from the functions that the sources here define.

    cuda_cpu/runtime/renew_names.py [<cuda_runtime_api.h>]

names.txt lists what the toolkit's library exports: nm -D --defined-only libcudart.so.13, without the version node.
"""
import pathlib
import re
import sys

folder = pathlib.Path(__file__).parent
header = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/local/cuda/include/cuda_runtime_api.h").read_text()

GENERATED = ("per_thread_streams.cc",)
REASONS = (
    (r"cuda(GL|Graphics|EGL|VDPAU)|EGL", "there is no graphics device"),
    (r"cudaIpc|Shareable|Export|ImportPointer", "processes do not share memory here"),
    (r"External", "there is no memory of other APIs"),
    (r"NvSci", "there is no NvSci"),
    (r"Sparse|Mipmapped|GetPlane|ArrayGetMemoryRequirements", "arrays are neither sparse, mipmapped nor planar here"),
    (r"Texture|Surface", "textures and surfaces are not supported"),
)


def prototypes():
    """Of functions with a stream: name -> (parameters as written, names of the parameters)."""
    found = {}
    for name, parameters in re.findall(r"^extern __host__[^\n(]*\bCUDARTAPI (\w+)\(([^;]*?)\);", header, re.M | re.S):
        parameters = re.sub(r"__dv\([^)]*\)|\s+", lambda match: " " if match[0].isspace() else "", parameters).strip()
        found[name] = parameters
    return found


def argument(parameter):
    return re.search(r"(\w+)(\[\d*\])?$", parameter.strip())[1]


defined = set()
for source in folder.glob("*.cc"):
    if source.name in GENERATED or source.name.endswith("_test.cc"):
        continue
    defined |= set(re.findall(r"^(?:cudaError_t|char const\*|cudaChannelFormatDesc|char|void\*\*|void|unsigned) ((?:__)?cuda\w+)\(",
                              source.read_text(), re.M))

names = (folder / "names.txt").read_text().split()
known = prototypes()
per_thread, refused = [], []
for name in names:
    base = re.sub(r"_pt[sd][sz]$", "", name)
    if name in defined:
        continue
    if base != name and base in defined and base in known:
        arguments = ", ".join(argument(p) for p in known[base].split(","))
        per_thread.append(f"cudaError_t {name}({known[base]}) {{\n  PerThreadStreams const scope;\n  return {base}({arguments});\n}}\n")
    else:
        reason = next((text for pattern, text in REASONS if re.search(pattern, name)), "")
        refused.append(f'CUDA_CPU_REFUSED({name}, "{reason}")\n')

(folder / "per_thread_streams.cc").write_text(
    "// The functions that programs call which are compiled with --default-stream per-thread: stream 0 is the thread's own.\n"
    "// Written by renew_names.py.\n"
    '#include "cuda_cpu/runtime/runtime.h"\n\nusing cuda_cpu::runtime::PerThreadStreams;\n\nextern "C" {\n\n'
    + "\n".join(per_thread) + '\n}  // extern "C"\n')
(folder / "refused.inc").write_text(
    "// Functions of the toolkit's library that are not supported, and why, where that is not just so. Written by renew_names.py.\n"
    + "".join(refused))
print(f"{len(defined & set(names))} defined, {len(per_thread)} for streams of threads, {len(refused)} refused")
unknown = defined - set(names)
if unknown:
    print("not exported by the toolkit:", " ".join(sorted(unknown)))
