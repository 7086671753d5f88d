#!/usr/bin/env bash
# Builds the fuzzers with Clang and runs each for some time: tools/fuzz.sh [seconds for each, 60 unless given]
#
# A finding ends it, with the bytes that led there in a file whose name is printed.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

readonly seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "tools/fuzz.sh: '$seconds' is no number of seconds" >&2; exit 2; }

tools/setup.sh fuzz
cmake --preset fuzz
cmake --build --preset fuzz

fuzz() {  # <program> [folder of texts to begin with]
  local name=${1##*/}
  local corpus=build/fuzz/corpus/$name log=build/fuzz/$name.log
  mkdir -p "$corpus"
  if ! "build/fuzz/$1" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix=build/fuzz/ "$corpus" "${@:2}" >"$log" 2>&1; then
    tail -60 "$log"
    return 1
  fi
  echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") texts"
}

fuzz tracing_core/fuzz/directive_fuzzer
fuzz tracing_core/fuzz/folded_fuzzer
fuzz cuda_tests/ptx/fuzz/ptx_fuzzer cuda_tests/executor/testdata

# Broken PTX is held against ptxas, where the toolkit is, in the build that tests use: in a minute more of it than by the tests.
oracle=build/dev/cuda_tests/ptx/cuda_tests_ptx_test
if [[ -x $oracle ]] && ((seconds >= 60)); then
  TESTLOG_PTX_MUTATIONS=$((seconds / 4 + 1)) "$oracle" --gtest_filter='*OracleOf*' --gtest_brief=1
fi
