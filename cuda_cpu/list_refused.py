#!/usr/bin/env python3
"""Writes docs/cuda-refused.md: what the CPU device refuses, from the tables by which it does.

    cuda_cpu/list_refused.py           writes the page
    cuda_cpu/list_refused.py --check   fails if the page is out of date

Instructions are compared with ptx/form_rows.cc: each instruction of PTX that has no row there needs a reason in REASONS, and a
reason for something that has a row is an error. Functions come from the files refused.inc.
"""
import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "docs/cuda-refused.md"

# The instructions of PTX 9.0.
INSTRUCTIONS = """
abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brkpt brx call clusterlaunchcontrol
clz cnot copysign cos cp createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol
isspacep istypep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24 multimem
nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr
sin slct sqrt st stackrestore stacksave stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap testp tex tld4 trap txq
vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset vset2 vset4 vshl vshr
vsub vsub2 vsub4 wgmma wmma xor
""".split()

# What is refused and why: instructions, or beginnings of forms.
REASONS = [
    ("a block runs alone: clusters have one block", ["clusterlaunchcontrol"]),
    ("matrices that only one kind of GPU has, in formats that depend on it",
     ["wgmma", "tcgen05", "mma.sp", "setmaxnreg"]),
    ("a tensor map is data of the GPU's copy engine, whose format is not public", ["tensormap", "cp.async.bulk.tensor",
                                                                                   "cp.reduce.async.bulk.tensor"]),
    ("there is one device", ["multimem"]),
    ("a debugger or profiler of the GPU would act on it", ["brkpt", "pmevent"]),
    ("compilers do not emit it", ["istypep", "sured"]),
    ("not written yet", ["brx"]),
]

FUNCTIONS = [("the runtime", "runtime"), ("the driver", "libcuda"), ("cuBLAS and cuBLASLt", "cublas")]

# The letters of types in the names of cuBLAS, with what is before and after them. They count if several functions differ in them.
TYPES = [("cublas(?:Xt)?", "(?:[SDCZ]|HSH|HSS|TSS|TST)", "[a-z]"), ("cublas", "(?:Cs|Zd|Sc|Dz)", "[a-z]"),
         ("cublasLt", "[A-Z]{3}", "Matmul"), ("cublasLtLegacyGemm", "[A-Z]{3}", "$"), ("cublasLt_for_cublas_", "[A-Z]{3}", "$")]

ONE_FORM = "not written yet in this form; another form of the function is supported"
NOT_WRITTEN = "not written yet"
FORMS = """
The ending of a name, such as `_v2`, `_64` or `_ptsz`, is given where another form of the function is supported. Headers replace
names: with `cuda.h`, `cuMemAlloc()` is `cuMemAlloc_v2()`. The numbers count each form.
"""

STAR = "`*` stands for the letters of the types that the reason concerns, such as `S` or `D`.\n\n"

HEAD = """# What the CPU device refuses

[CUDA without a GPU](cuda-without-a-gpu.md) runs the PTX of a program, and stands in for CUDA's libraries. Below is what it does not
do. A refusal is never silent: a kernel with such an instruction cannot be launched, and a function returns an error; the message
names the instruction or function. Written by `cuda_cpu/list_refused.py`.

## Kernels

| why | not supported |
|---|---|
| a block runs alone | clusters of several blocks; a launch of one fails |
| kernels run on threads of the host | kernels that launch kernels or call the runtime (`-rdc=true` with `cudadevrt`); conditional nodes of graphs |
"""


def choices(text):
    """Returns the alternatives of the group with which the text begins, and what follows the group."""
    depth, begin, found = 0, 1, []
    for i, c in enumerate(text):
        depth += (c in "{[") - (c in "}]")
        if depth == 1 and c == "|" or depth == 0:
            found.append(text[begin:i])
            begin = i + 1
        if depth == 0:
            return found + ([""] if text[0] == "[" else []), text[i + 1:]
    sys.exit(f"no end of a group in ptx/form_rows.cc: {text}")


def may_begin(row, name):
    """Returns true if a form of the row, such as `{add|sub}[.sat].s32`, is `name` or begins with it and a dot."""
    open_forms = [("", row)]
    while open_forms:
        begin, rest = open_forms.pop()
        plain = re.match(r"[^{\[]*", rest)[0]
        begin, rest = begin + plain, rest[len(plain):]
        if (begin + ".").startswith(name + "."):
            return True
        if rest and name.startswith(begin):
            alternatives, after = choices(rest)
            open_forms += [(begin, alternative + after) for alternative in alternatives]
    return False


def instructions():
    rows = re.findall(r'^\s*\{"([^"]+)",', (HERE / "ptx/form_rows.cc").read_text(), re.MULTILINE)
    has = lambda name: any(may_begin(row, name) for row in rows)
    explained = [name for _, names in REASONS for name in names]
    for name in INSTRUCTIONS:
        if not has(name) and name not in explained:
            sys.exit(f"{name} has no row in ptx/form_rows.cc, and no reason in {pathlib.Path(__file__).name}")
    for name in explained:
        if has(name):
            sys.exit(f"{name} has a row in ptx/form_rows.cc, so it is not refused")
    return "".join(f"| {why} | {', '.join(f'`{name}`' for name in names)} |\n" for why, names in REASONS)


def without_form(name):
    """Returns the name without the ending of its form: `cuMemAlloc` for `cuMemAlloc_v2_ptds`."""
    return re.sub(r"(_v\d+|_64|_ptsz|_ptds)+$", "", name)


def with_any_type(name):
    """Returns the name with * for what may be the letters of a type, in each possible way: `cublas*gemm` for `cublasSgemm`."""
    return [re.sub(f"^({before}){letters}({after})", r"\1*\2", name) for before, letters, after in TYPES
            if re.match(f"({before}){letters}({after})", name)]


def functions(folder):
    names = set(sum([path.read_text().split() for path in (HERE / folder).glob("*names.txt")], []))
    rows = re.findall(r'CUDA_CPU_REFUSED\((\w+), "([^"]*)"\)', (HERE / folder / "refused.inc").read_text())
    supported = {without_form(name) for name in names - {name for name, _ in rows}}
    families = collections.Counter(family for name in {without_form(name) for name in names} for family in with_any_type(name))
    reasons = {}
    for name, why in rows:
        is_one_form = without_form(name) in supported
        shown = name if is_one_form else without_form(name)
        shown = next((family for family in with_any_type(shown) if families[family] > 1), shown)
        reasons.setdefault(why or (ONE_FORM if is_one_form else NOT_WRITTEN), []).append(shown)
    order = sorted(reasons.items(), key=lambda item: (item[0] in (ONE_FORM, NOT_WRITTEN), item[0]))
    cells = [(why, len(shown), ", ".join(f"`{name}`" for name in dict.fromkeys(shown))) for why, shown in order]
    return "".join(f"| {why} | {count} | {shown} |\n" for why, count, shown in cells)


def page():
    text = HEAD + instructions()
    text += "\nOther forms of an instruction that is supported, such as a rare type or modifier, are refused where they occur.\n"
    text += FORMS
    for library, folder in FUNCTIONS:
        text += f"\n## Functions of {library}\n\n"
        text += STAR if folder == "cublas" else ""
        text += "| why | number | functions |\n|---|---|---|\n" + functions(folder)
    return text


def main():
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != page():
            sys.exit(f"{PAGE} is out of date: run cuda_cpu/{pathlib.Path(__file__).name}")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        PAGE.write_text(page())


main()
