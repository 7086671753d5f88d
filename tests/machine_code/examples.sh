#!/usr/bin/env bash
# Compiles every example with the macros compiled out and with the macros defined as empty, and checks that the machine code is
# equal, byte for byte: tests/machine_code/examples.sh [example...]
#
# Without arguments, compiles a choice of examples that contains each kind of statement; with TESTLOG_CAMPAIGN=1 all examples.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
launcher=$(command -v ccache || true)
# Some examples need the CUDA Toolkit; CMake sets the folder of its headers, or an empty name without the toolkit.
toolkit=${TESTLOG_CUDA_INCLUDE_DIR-$(ls -d /usr/local/cuda/include 2>/dev/null || true)}

# A macro that is missing in $without would be compared with itself. TRACE_TARGET is an input of the headers.
without=tests/machine_code/without_macros.h
public=$(find tracing_core \( -name '*.h' -o -name '*.inc' \) -exec sed -n 's/^ *# *define \(TRACE_[A-Z0-9_]*\).*/\1/p' {} + | grep -vx TRACE_TARGET | sort -u)
[[ -n $public ]] || { echo 'FAILED: found no public macro'; exit 1; }
missing=$(for macro in $public; do
  { grep -qx "#undef $macro" $without && grep -q "^#define $macro(" $without; } || echo "$macro"
done)
[[ -z $missing ]] || { echo "FAILED: $without does not redefine:" $missing; exit 1; }

# The bytes of every instruction, without addresses and names of called functions.
code() { objdump -dw "$1" | sed -n 's/^ *[0-9a-f]*:\t\([^\t]*\)\t.*/\1/p'; }

compare() {  # <compiler> <example> <definition>
  local object=$work/$1_$(basename "$2")_$3
  local compile=($launcher "$1" -std=c++20 -O2 -w -I . ${toolkit:+-isystem "$toolkit"} "$3" -c "$2")
  "${compile[@]}" -o "$object.with.o"
  "${compile[@]}" -include "$without" -o "$object.without.o"
  code "$object.with.o" >"$object.with"
  code "$object.without.o" >"$object.without"
  if [[ ! -s $object.without ]]; then
    echo "FAILED: $1 $2: no code to compare"
  elif cmp -s "$object.with" "$object.without"; then
    echo "$1 $3 $2: $(wc -l <"$object.with") instructions, the same as without the macros"
  else
    echo "FAILED: $1 $3 $2 differs from the source without the macros:"
    diff "$object.without" "$object.with" | head -20 || true
  fi
}

{
  for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || { echo "skipped: no $compiler" >&2; continue; }
    for example in ${1:+"${@/#/examples/}"} $([[ $# -gt 0 ]] || ls examples/*.cc); do
      if [[ -z $toolkit && $example == */cuda_* ]]; then
        echo "skipped: $example: no CUDA Toolkit" >&2
        continue
      fi
      if [[ ${TESTLOG_CAMPAIGN:-} != 1 && $# -eq 0 && ! $example =~ /(coroutines|fields|handles|perf|spans_and_events)\.cc$ ]]; then
        continue
      fi
      echo "$compiler $example -DTRACING_DISABLED"
      # GCC stores a coroutine's variables in its frame even if they are not read.
      [[ $compiler == g++ && $example == */coroutines.cc ]] && continue
      case $example in
        */span_trace.cc | */handles.cc | */spans_and_events.cc | */coroutines.cc)
          echo "$compiler $example -DTRACING_MAX_LEVEL=off" ;;
      esac
    done
  done
} >"$work/jobs"
export -f compare code
export work launcher toolkit without
xargs -P 2 -L 1 bash -c 'compare "$0" "$1" "$2"' <"$work/jobs" >"$work/results"
cat "$work/results"
(($(wc -l <"$work/jobs") > 0))
! grep -q '^FAILED' "$work/results"
