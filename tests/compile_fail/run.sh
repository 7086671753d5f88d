#!/usr/bin/env bash
# Compiles every file in cases/ with each installed compiler and checks that it fails, that the first line of the error
# contains what the file expects, the notes below it as well, and that there are no more errors than it allows:
# tests/compile_fail/run.sh [case...]
set -euo pipefail
cd "$(dirname "$0")"
readonly root=../..
export LC_ALL=C  # plain quotes in errors
failed=0
checked=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
control=$work/control.cc
cat >"$control" <<'CC'
#include "tracing_core/tracing.h"
void f(int n) {
  TRACE_SPAN(info, "s", n);
  TRACE_INFO("{} of {:>4}", n, n, tracing::kv("half", n / 2));
}
CC

for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || { echo "skipped: no $compiler"; continue; }
  # The header that every case includes is compiled once.
  compile=("$compiler" -std=c++20 -I "$root")
  header=$work/$compiler/tracing.h
  mkdir "$work/$compiler"
  echo '#include "tracing_core/tracing.h"' >"$header"
  if [[ $compiler == g++ ]]; then
    "${compile[@]}" -x c++-header "$header" -o "$header.gch"
  else
    "${compile[@]}" -x c++-header "$header" -o "$header.pch"
  fi
  compile+=(-fsyntax-only -include "$header")
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
    while IFS= read -r expected; do
      if ! grep -F ' note: ' <<<"$output" | grep -qF -- "$expected"; then
        printf 'FAILED: %s, %s\n  expected in a note: %s\n%s\n' "$compiler" "$file" "$expected" "$output"
        failed=1
      fi
    done < <(sed -nE "s#^// note( ${compiler//+/\\+})?: ##p" "$file")
  done
done
echo "$checked compilations checked"
exit $failed
