#!/usr/bin/env bash
# Checks that each public header has a single error below C++20, which says what is wrong and where to read on:
# below_cxx20.sh <file with the headers> [<folder of CUDA's headers>]
set -euo pipefail
headers=$(cat "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
toolkit=${2:-}
failed=0
checked=0

check() {  # <what> <output of the compiler>
  checked=$((checked + 1))
  # The compiler stops where the header includes a file that does not exist.
  if [[ $(grep -c 'error:' <<<"$2") != 2 || $(grep -c 'error: \(#error \)\?"testlog needs C++20: .*docs/optional.md' <<<"$2") != 1 ||
        $(grep -cE "fatal error: '?-std=c\\+\\+20" <<<"$2") != 1 ]]; then
    printf 'FAILED: %s\n%s\n' "$1" "$(head -n 20 <<<"$2")"
    failed=1
  fi
}

for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || { echo "skipped: no $compiler"; continue; }
  [[ $compiler == clang++ ]] && headers=$'tracing_core/tracing.h\ntracing_core/emit/coroutine.h'  # the other headers give equal errors
  for header in $headers; do
    # Preprocessing is enough, since the compiler stops there.
    output=$("$compiler" -std=c++17 -E -x c++ -I "$root" ${toolkit:+-isystem "$toolkit"} <(printf '#include "%s"\n' "$header") 2>&1 >/dev/null) && output=compiles
    check "$compiler $header" "$output"
  done
done
if nvcc=$(command -v nvcc); then
  source=$(mktemp --suffix=.cu)
  trap 'rm -f "$source"' EXIT
  printf '#include <tracing_core/tracing.h>\nvoid f() { TRACE_INFO("f"); }\n' >"$source"
  output=$("$nvcc" -std=c++17 -I "$root" -c "$source" -o /dev/null 2>&1) && output=compiles
  check nvcc "$output"
fi
echo "$checked compilations checked"
exit $failed
