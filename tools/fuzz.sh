#!/usr/bin/env bash
# Builds the fuzzers in the preset asan and runs each for some time: tools/fuzz.sh [seconds for each, 60 unless given]
#
# A finding ends it, with the bytes that led there in a file whose name is printed.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

readonly seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "tools/fuzz.sh: '$seconds' is not a number of seconds" >&2; exit 2; }

tools/setup.sh fuzz
readonly build=build/asan
cmake --preset asan >/dev/null
cmake --build --preset asan --target directive_fuzzer fatbin_fuzzer folded_fuzzer link_fuzzer packed_run_fuzzer ptx_fuzzer recording_fuzzer recording_seeds

fuzz() {  # <program> [folder of inputs to begin with]
  local name=${1##*/}
  local corpus=$build/corpus/$name log=$build/$name.log
  mkdir -p "$corpus"
  if ! "$build/$1" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix=$build/ "$corpus" "${@:2}" >"$log" 2>&1; then
    tail -60 "$log"
    return 1
  fi
  echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") texts"
}

fuzz tracing_core/fuzz/directive_fuzzer
fuzz tracing_core/fuzz/folded_fuzzer
fuzz tracing_core/fuzz/packed_run_fuzzer
$build/tracing_core/fuzz/recording_seeds $build/recording_seeds
fuzz tracing_core/fuzz/recording_fuzzer $build/recording_seeds
fuzz cuda_cpu/ptx/fuzz/ptx_fuzzer cuda_cpu/executor/testdata
fuzz cuda_cpu/ptx/fuzz/link_fuzzer cuda_cpu/executor/testdata
fuzz cuda_cpu/fatbin/fuzz/fatbin_fuzzer cuda_cpu/fatbin/testdata
