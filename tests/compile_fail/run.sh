#!/usr/bin/env bash
# Compiles every file in cases/ with each installed compiler and checks that it fails, that the first line of the error
# contains what the file expects, and that there are no more errors than it allows: tests/compile_fail/run.sh [case...]
set -euo pipefail
cd "$(dirname "$0")"
readonly root=../..
export LC_ALL=C  # plain quotes in errors
failed=0
checked=0

control=$(mktemp --suffix=.cc)
trap 'rm -f "$control"' EXIT
cat >"$control" <<'CC'
#include "tracing_core/tracing.h"
void f(int n) {
  TRACE_SPAN(info, "s", n);
  TRACE_INFO("{} of {:>4}", n, n, tracing::kv("half", n / 2));
}
CC

for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || { echo "skipped: no $compiler"; continue; }
  compile=("$compiler" -std=c++20 -fsyntax-only -I "$root")
  if ! "${compile[@]}" "$control"; then
    echo "FAILED: $compiler does not compile correct statements"
    exit 1
  fi
  for file in ${1:+"${@/%/.cc}"} $([[ $# -gt 0 ]] || ls cases/*.cc); do
    checked=$((checked + 1))
    if output=$("${compile[@]}" "$file" 2>&1); then
      echo "FAILED: $compiler compiles $file"
      failed=1
      continue
    fi
    errors=$(grep -c ' error: ' <<<"$output")
    allowed=$(sed -nE 's#^// errors: ##p' "$file")
    if [[ -n $allowed ]] && ((errors > allowed)); then
      echo "FAILED: $compiler, $file: $errors errors, of which at most $allowed help"
      failed=1
    fi
    first=$(grep -m1 'error' <<<"$output" | sed 's/\\"/"/g')
    while IFS= read -r expected; do
      if [[ $first != *"$expected"* ]]; then
        printf 'FAILED: %s, %s\n  expected: %s\n  first line: %s\n' "$compiler" "$file" "$expected" "$first"
        failed=1
      fi
    done < <(sed -nE "s#^// expect( ${compiler//+/\\+})?: ##p" "$file")
  done
done
echo "$checked compilations checked"
exit $failed
