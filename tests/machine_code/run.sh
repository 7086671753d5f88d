#!/usr/bin/env bash
# Checks promises about generated code: with TRACING_DISABLED the .text equals, byte for byte, the .text without the macros; an
# event that is off costs a load, a test and a jump, and a span that is off eight instructions.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
[[ $(uname -m) == x86_64 ]] || { echo "skipped: instructions are counted on x86-64 only"; exit 0; }

text_of() { objcopy -O binary --only-section=.text "$1" "$1.text" && cat "$1.text"; }

# The instructions of a function while tracing is off: from its start to the first return, without the jumps to cold code.
hot_path() {
  objdump -d --no-show-raw-insn "$1" | awk -v name="<$2>:" '
    index($0, name) { inside = 1; next }
    /^$/ { inside = 0 }
    inside { sub(/^ *[0-9a-f]+:[ \t]*/, ""); if ($0 !~ /^(nop|endbr64|data16|cs nop|xchg +%ax)/) print; if ($0 ~ /^ret/) inside = 0 }'
}

# Without the return, and without the stack frame that a function sets up for its cold code.
own_instructions() { grep -vE '^(ret|push|pop|(add|sub) .*,%rsp)'; }

expect_at_most() {  # <what> <maximum> <lines> [<lines of the function without tracing>]
  local count calls
  count=$(($(grep -c . <<<"$3") - $(grep -c . <<<"${4:-}" || true)))
  calls=$(($(grep -c '^call' <<<"$3" || true) - $(grep -c '^call' <<<"${4:-}" || true)))
  if ((count <= 0 || count > $2 || calls > 0)); then
    printf 'FAILED: %s takes %d instructions, at most %d and no call are promised\n%s\n' "$1" "$count" "$2" "$3"
    failed=1
  else
    echo "$1: $count instructions"
  fi
}

for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || { echo "skipped: no $compiler"; continue; }
  compile=("$compiler" -std=c++20 -O2 -I ../.. -c sample.cc)
  "${compile[@]}" -o "$work/without.o"
  "${compile[@]}" -o "$work/disabled.o" -DWITH_TRACING -DTRACING_DISABLED
  "$compiler" -std=c++20 -O2 -I ../.. -c sample.cc -o "$work/enabled.o" -DWITH_TRACING
  # Functions that exist only with tracing come after sum(): the common first part must be equal.
  text_of "$work/without.o" >"$work/without.bin"
  text_of "$work/disabled.o" >"$work/disabled.all"
  head -c "$(stat -c %s "$work/without.bin")" "$work/disabled.all" >"$work/disabled.bin"
  if cmp -s "$work/without.bin" "$work/disabled.bin"; then
    echo "$compiler: TRACING_DISABLED does not change the $(stat -c %s "$work/without.bin") bytes of .text"
  else
    echo "FAILED: $compiler: TRACING_DISABLED changes the machine code"
    failed=1
  fi
  if cmp -s "$work/without.o.text" "$work/enabled.o.text"; then
    echo "FAILED: $compiler: enabled macros do not change the code, so the comparison proves nothing"
    failed=1
  fi
  for position in -fno-pic -fPIC; do
    "${compile[@]}" -o "$work/sample.o" -DWITH_TRACING "$position"
    limit=3
    [[ $position == -fPIC ]] && limit=4
    "${compile[@]}" -o "$work/plain.o" "$position"
    while read -r what function; do
      expect_at_most "$compiler $position: ${what//_/ } that is off" $limit \
        "$(hot_path "$work/sample.o" "$function" | own_instructions)"
    done <<<$'an_event _Z14disabled_eventii\na_perf_event _Z19disabled_perf_eventii'
    while read -r what function; do
      expect_at_most "$compiler $position: ${what//_/ } that is off" 8 \
        "$(hot_path "$work/sample.o" "$function" | own_instructions)" \
        "$(hot_path "$work/plain.o" "$function" | own_instructions)"
    done <<<$'a_span _Z7spannedii\na_perf_span _Z5timedii\nan_annotation _Z9annotatedii\na_named_annotation _Z5namedii'
  done
done
exit $failed
