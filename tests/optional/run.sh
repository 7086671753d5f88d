#!/usr/bin/env bash
# Checks tracing_optional.h without testlog: it has every statement; it compiles with each standard from C++11 on without a warning,
# evaluates nothing and leaves no code; headers that cannot be mixed are refused: tests/optional/run.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
  printf 'FAILED: %s\n' "$1"
  failed=1
}

# ---- every statement ----

long=$(find tracing_core -name '*.h' ! -name '*_test_support.h' ! -path '*/benchmarks/*' ! -path '*/support/*' ! -name tracing_optional.h -exec \
  sed -n 's/^ *# *define \(TRACING_[A-Z0-9_]*[A-Z0-9]\)(.*/\1/p' {} + | grep -vE '^TRACING_(INTERNAL|CUDA_([A-Z]*_?DRIVER|NVRTC|CUPTI)_CALLS|CUDA_MEMBER)' | sort -u)
short=$(sed -n 's/^#define \(TRACE_[A-Z_]*\) .*/\1/p' tracing_core/support/short_macros.inc | sort -u)
[[ $(wc -w <<<"$long") -ge 30 ]] || fail "found only these statements: $long"
for name in $long; do
  grep -qx "#define $name ${name/TRACING_/TRACING_OFF_}" tracing_core/tracing_optional.h || fail "tracing_optional.h lacks $name"
  grep -q "^#define ${name/TRACING_/TRACING_OFF_}(" tracing_core/tracing_optional.h || fail "tracing_optional.h lacks ${name/TRACING_/TRACING_OFF_}"
  grep -qx "${name/TRACING_/TRACE_}" <<<"$short" || fail "short_macros.inc lacks ${name/TRACING_/TRACE_}"
done
for name in $short; do
  grep -qx "#define $name ${name/TRACE_/TRACING_}" tracing_core/tracing_optional.h || fail "tracing_optional.h lacks $name"
  grep -qx "${name/TRACE_/TRACING_}" <<<"$long" || fail "$name is no statement"
done

# ---- each standard, without testlog ----

cp tracing_core/tracing_optional.h tests/optional/*.* "$work"  # as in a library: testlog is not beside it
cd "$work"
readonly warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wundef -Wnon-virtual-dtor -Wunused -Werror)
readonly header='-DTRACING_OPTIONAL_HEADER="tracing_optional.h"'
for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || { echo "skipped: no $compiler"; continue; }
  for standard in 11 14 17 20; do
    if "$compiler" -std=c++$standard "${warnings[@]}" -DTRACING_OPTIONAL_CUDA "$header" without_testlog.cc -o without_testlog && ./without_testlog; then
      echo "$compiler, C++$standard: compiles, evaluates nothing"
    else
      fail "$compiler, C++$standard: $?"
    fi
  done
done
if nvcc=$(command -v nvcc); then
  "$nvcc" -std=c++17 -Werror all-warnings -Xcompiler -Wall,-Wextra -c kernels.cu -o kernels.o 2>"$work/nvcc.txt" || fail "nvcc: $(cat "$work/nvcc.txt")"
fi

# ---- no code, also beside testlog ----

readonly root=$OLDPWD
code() { objdump -dw --no-show-raw-insn "$1" | sed -n 's/^ *[0-9a-f]*:\t//p'; }
for standard in 17 20; do
  g++ -std=c++$standard -O2 -c gated.cc -o plain.o -DGATED_PLAIN
  options=()
  if [[ $standard == 20 ]]; then
    g++ -std=c++20 -O2 -I "$root" -c gated.cc -o on.o
    [[ $(code on.o) != "$(code plain.o)" ]] || fail "with testlog there is no code, so that the comparison proves nothing"
    options=(-DTRACING_OPTIONAL=0 '-DTRACING_OPTIONAL=1 -DTRACING_DISABLED')
  fi
  for option in "${options[@]-}"; do
    # shellcheck disable=SC2086
    g++ -std=c++$standard -O2 -I "$root" $option -c gated.cc -o off.o
    [[ $(code off.o) == "$(code plain.o)" ]] || fail "C++$standard $option leaves code"
    if nm -C off.o | grep tracing; then fail "C++$standard $option leaves symbols"; fi
  done
done

# ---- one or the other ----

refuses() {  # <what> <first include> <second>
  local output
  output=$(printf '#define TRACING_OPTIONAL 0\n#include "%s"\n#include "%s"\n' "$2" "$3" |
    g++ -std=c++20 -I "$root" -I . -fsyntax-only -x c++ - 2>&1) && fail "$1 compiles"
  grep -q '#error "TRACING_OPTIONAL is 0' <<<"$output" || fail "$1: $(head -n 5 <<<"$output")"
}
refuses "tracing.h after tracing_optional.h that is off" tracing_optional.h tracing_core/tracing.h
refuses "tracing_optional.h that is off after tracing.h" tracing_core/tracing.h tracing_optional.h

# The tests of a library that is switched off.
cat >off_test.cc <<'END'
#define TRACING_OPTIONAL 0
#include "tracing_optional.h"
#include <testlog/records.h>
#include <testlog/testlog.h>
TEST_LOG(Off, HasSettings, .fail_on = warn) {
  TRACE_WARN("off");
  EXPECT_EQ(testlog::records().size(), 0u);
}
END
g++ -std=c++20 -I "$root" -I . -fsyntax-only off_test.cc || fail "testlog.h after tracing_optional.h that is off"

# A library that is switched off beside testlog: its functions take the values of other libraries, and its types can be recorded.
cat >beside.cc <<'END'
#define TRACING_OPTIONAL 1
#include "tracing_optional.h"
namespace trace = tracing::without_testlog;
struct Size { int rows; };
TRACING_OFF_FIELDS(Size, rows)
enum class Mode { fast };
TRACING_OFF_ENUM(Mode, fast)
int main() {
  TRACE_INFO("types", tracing::kv("size", Size{1}), tracing::kv("mode", Mode::fast));
  trace::log_event(tracing::Level::warn, "a", "b");
  trace::annotate(tracing::AnnotationLevel::info, "a", [] {});
  trace::finish_perf(TRACING_OFF_MAKE_PERF("a"), 1);
  tracing::Span span = TRACING_OFF_MAKE_SPAN(info, "x", tracing::kv("late", tracing::empty));
  return trace::instrument(span, 0);
}
END
g++ -std=c++20 -I "$root" -I . -fsyntax-only beside.cc || fail "a library that is switched off beside testlog"

if ! g++ -std=c++11 -fno-exceptions -DTRACING_OPTIONAL_CUDA -fsyntax-only -x c++ - <<<'#include "tracing_optional.h"
int f(int code) { return TRACE_CUDA_CALL_THROW(code); }'; then fail "TRACE_CUDA_CALL_THROW without exceptions"; fi

exit $failed
