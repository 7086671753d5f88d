#!/usr/bin/env python3
"""Writes runtime/per_thread_streams.cc, libcuda/symbols.inc and the refused.inc from the toolkit's headers, the lists of names
and the functions that runtime/, libcuda/ and cublas/ define. Needs the toolkit's headers.

    cuda_cpu/renew_names.py [<include folder of the toolkit>]

The names.txt, cublas_names.txt and cublasLt_names.txt list what NVIDIA's libraries export: nm -D --defined-only, without version nodes.
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
    (r"(Tex|Surf)Ref", "texture and surface references are not supported; use objects"),
)
BLAS_REASONS = (
    (r"^cublas([CZ](?!opyEx)|I[cz]|Scasum|Scnrm2|Dz)", "complex numbers are not supported"),
    (r"^cublasXt", "several devices are not supported"),
    (r"Logger", "not supported; TRACE_FILTER=trace shows the calls"),
)
BLAS_VERSION_1 = "the interface of cublas.h is not supported; use that of cublas_v2.h"
TYPES = r"(?:cudaError_t|CUresult|char const\*|cudaChannelFormatDesc|char|void\*\*|void|unsigned)"


def defined_in(part, besides=()):
    defined = set()
    for source in (folder / part).glob("*.cc"):
        if source.name not in besides and not source.name.endswith("_test.cc"):
            defined |= set(re.findall(rf"^{TYPES} ((?:__)?cu\w+)\(", source.read_text(), re.M))
    return defined


def refused(names, reasons=REASONS):
    rows = []
    for name in names:
        reason = next((text for pattern, text in reasons if re.search(pattern, name)), "")
        rows.append(f'CUDA_CPU_REFUSED({name}, "{reason}")\n')
    return ("// Functions of NVIDIA's library that are not supported, some with a particular reason. Written by renew_names.py.\n"
            + "".join(rows))


def argument(parameter):
    return re.search(r"(\w+)(\[\d*\])?$", parameter.strip())[1]


def prototypes(header):
    """Returns the parameters of each function, as written."""
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
        "// Entry points of programs compiled with --default-stream per-thread: stream 0 is the thread's own.\n"
        "// Written by renew_names.py.\n"
        '#include "cuda_cpu/runtime/runtime.h"\n\nusing cuda_cpu::runtime::PerThreadStreams;\n\n'
        '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // some of those that are called here\n\nextern "C" {\n\n'
        + "\n".join(per_thread) + '\n}  // extern "C"\n')
    (part / "refused.inc").write_text(refused(others))
    print(f"runtime: {len(defined)} defined, {len(per_thread)} for streams of threads, {len(others)} refused")


# The version of functions whose name cuda.h replaces by another.
SINCE = {"cuGraphInstantiate": 12000}


def types(parameters, aliases):
    """Returns the types of a list of parameters, as text: equal for equal types."""
    def type_of(parameter):
        words = re.sub(r"\w+$", "", parameter.strip()) if re.search(r"[\s*]\w+$", parameter.strip()) else parameter
        words = re.sub(r"\w+", lambda match: aliases.get(match[0], match[0]), words)
        return re.sub(r"\s+", "", words)
    return [type_of(parameter) for parameter in parameters.split(",")]


def first_versions():
    """Returns the version of CUDA in which each function of the driver got its signature in cuda.h."""
    header = (include / "cuda.h").read_text() + (include / "cudaProfiler.h").read_text()
    aliases = {new: old for old, new in re.findall(r"^ *typedef (\w+_v\d+) (\w+);", header, re.M)}
    declared = {}
    for name, parameters in re.findall(r"\bCUresult CUDAAPI (cu\w+)\(([^;]*?)\);", header, re.S):
        declared.setdefault(name, types(parameters, aliases))  # later ones are of old versions
    for name, other in renames().items():
        declared.setdefault(other, declared.get(name))
    versions = {}
    for file in ("cudaTypedefs.h", "cudaProfilerTypedefs.h"):
        for name, version, parameters in re.findall(r"\*PFN_(cu\w+?)_v(\d+)\)\(([^;]*?)\);", (include / file).read_text(), re.S):
            versions.setdefault(name, {})[int(version)] = types(parameters, aliases)
    since = dict(SINCE)
    for name, signatures in versions.items():
        for version in sorted(signatures, reverse=True):
            if signatures[version] == declared.get(name):
                since.setdefault(name, version)
                since[name] = min(since[name], version)
            elif name in since:
                break
    return since


def renames():
    """Returns the names of functions that cuda.h replaces, with the names that it replaces them by."""
    return dict(re.findall(r"^ *# *define (cu\w+) +(?:__CUDA_API_PT\w+\()?(cu\w+)\)? *$", (include / "cuda.h").read_text(), re.M))


def renew_driver():
    part = folder / "libcuda"
    renamed = renames()
    defined = defined_in("libcuda")
    symbols = {renamed.get(name, name) for name in defined}
    names = (part / "names.txt").read_text().split()
    others = [name for name in names if name not in symbols]
    since = first_versions()
    rows = []
    for name in sorted(defined | symbols):
        if re.search(r"_v\d+$", name):
            continue
        has_stream = renamed.get(name, name) + "_ptsz" in names
        rows.append(f"CUDA_CPU{'_STREAM' if has_stream else ''}_SYMBOL({name}, {since[name]})\n")
    (part / "symbols.inc").write_text("// The functions that are defined here, and the version of CUDA that brought their signature. "
                                      "Written by renew_names.py.\n" + "".join(rows))
    (part / "refused.inc").write_text(refused(others))
    print(f"driver: {len(defined)} defined, {len(others)} refused")


def renew_blas():
    """The calls of cuBLAS have a form for each type of elements, and one with 64 bits for sizes: see cublas/calls.cc."""
    part = folder / "cublas"
    source = {path.name: path.read_text() for path in [*part.glob("*.cc"), *part.glob("*.inc")] if not path.name.endswith("_test.cc")}
    defined = set()
    for text in source.values():
        defined |= set(re.findall(r"^(?:cublasStatus_t|char const\*|std::size_t|unsigned) (cublas\w+)\(", text, re.M))
    letters = {"gemm_calls.inc": "SDH", "typed_calls.inc": "SD", "untyped_calls.inc": [""]}
    for file, its in letters.items():
        for i, call in re.findall(r"^CUBLAS_CALL(_I)?\((\w+)\)", source[file], re.M):
            for letter in its:
                name = call.replace("CUBLAS_GEMM", "gemm" if letter == "H" else "gemm_v2")
                base = f"cublasI{letter.lower()}{name}" if i else f"cublas{letter}{name}"
                defined |= {base, base + "_64"}
    names = (part / "cublas_names.txt").read_text().split() + (part / "cublasLt_names.txt").read_text().split()
    others = [name for name in names if name not in defined]
    version_1 = re.findall(r"\bCUBLASWINAPI\s+(cublas\w+)\(", (include / "cublas.h").read_text())
    reasons = *BLAS_REASONS, (rf"^({'|'.join(version_1)})$", BLAS_VERSION_1)
    (part / "refused.inc").write_text(refused(others, reasons))
    print(f"cuBLAS: {len(defined)} defined, {len(others)} refused")


renew_runtime()
renew_driver()
renew_blas()
