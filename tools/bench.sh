#!/usr/bin/env bash
# Builds the benchmarks, runs each in a process of its own next to its peers, and prints the table of ratios.
#
#   tools/bench.sh [--json FILE] [--only PATTERN] [--recording MIB] [--tests N] [--quill FOLDER] [--instructions]
#
# The peers are spdlog and, if cargo and Debian's Rust packages are installed, Rust's tracing. --json also writes the rows to a
# file; --only selects rows by a regular expression; --recording says how large the recording is that commands read, 256 MiB
# unless given, which takes with their output five times as much in the folder for temporary files; --tests says how many tests
# ctest runs, 1 to 1000 (the default); --quill adds the peer quill, whose sources are in the folder (a clone of
# github.com/odygrd/quill, which is not built itself), otherwise its column is empty; --instructions counts instructions and cache
# misses with cachegrind, for machines too noisy to measure times.
set -euo pipefail

usage() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }
wrong() {
  echo "tools/bench.sh: $1; valid: [--json FILE] [--only PATTERN] [--recording MIB] [--tests N] [--quill FOLDER] [--instructions] [--help]" >&2
  exit 2
}

is_given() { [[ -n ${1-} && $1 != --* ]]; }
can_be_written() { [[ -d ${1%/*}/ && -w ${1%/*}/ && ! -d $1 && (! -e $1 || -w $1) ]]; }

# Check all arguments before building, which takes minutes.
table_options=()
quill_folder=''
while (($# > 0)); do
  case $1 in
    --help | -h) usage; exit ;;
    --instructions) table_options+=("$1") ;;
    --json)
      is_given "${2-}" || wrong '--json needs a FILE'
      file=$(realpath --canonicalize-missing -- "$2")
      can_be_written "$file" || wrong "--json $2: cannot write there"
      table_options+=(--json "$file")
      shift ;;
    --only)
      is_given "${2-}" || wrong '--only needs a PATTERN'
      python3 -c 'import re, sys; re.compile(sys.argv[1])' "$2" 2>/dev/null || wrong "--only $2 is not a regular expression"
      table_options+=(--only "$2")
      shift ;;
    --recording)
      [[ ${2-} =~ ^[1-9][0-9]{1,4}$ ]] && (($2 >= 64)) || wrong '--recording needs a number of MiB from 64 to 99999'
      table_options+=(--recording "$2")
      shift ;;
    --tests)
      [[ ${2-} =~ ^([1-9][0-9]{0,2}|1000)$ ]] || wrong '--tests needs a number from 1 to 1000'
      table_options+=(--tests "$2")
      shift ;;
    --quill)
      is_given "${2-}" || wrong '--quill needs a FOLDER'
      [[ -r $2/include/quill/Backend.h ]] || wrong "--quill $2: there is no include/quill/Backend.h in this folder"
      quill_folder=$(realpath -- "$2")
      shift ;;
    *) wrong "unknown argument '$1'" ;;
  esac
  shift
done
cd "$(dirname "$0")/.."

tools/setup.sh bench
# build <folder> <shared: ON or OFF> <target...>
build() {
  cmake -S . -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O2 -DBUILD_SHARED_LIBS="$2" \
    -DTESTLOG_BUILD_BENCHMARKS=ON -DTESTLOG_BUILD_TESTS=OFF -DTESTLOG_BUILD_EXAMPLES=OFF \
    -DTESTLOG_QUILL_DIR="$quill_folder" >/dev/null
  cmake --build "$1" --target "${@:3}"
}
build build/bench ON tracing_benchmarks testlog_benchmarks testlog_shown_benchmarks startup_testlog startup_plain startup_gtest \
  record_requests used_bytes many_tests_testlog many_tests_plain testlog_command
quill=''
if [[ -n $quill_folder ]]; then
  build build/bench ON quill_benchmarks
  quill=build/bench/tracing_core/benchmarks/quill_benchmarks
fi
cuda=''
if grep -q '^TESTLOG_CUDA_INCLUDE_DIR:.*=/' build/bench/CMakeCache.txt; then
  build build/bench ON cuda_benchmarks cuda_compiled_out_benchmarks cuda_cpu_executor_benchmarks cuda_cpu_runtime_benchmarks
  cuda=build/bench
fi
build build/bench_static OFF tracing_benchmarks testlog_benchmarks testlog_shown_benchmarks startup_testlog

rust=''
if command -v cargo >/dev/null && [[ -d /usr/share/cargo/registry/tracing-subscriber-0.3.16 ]]; then
  mkdir -p build/bench/rust/.cargo
  cp -r tracing_core/benchmarks/peer_rust/. build/bench/rust/
  cat >build/bench/rust/.cargo/config.toml <<'TOML'
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "/usr/share/cargo/registry"
TOML
  if (cd build/bench/rust && cargo build --release --offline --quiet); then
    rust=build/bench/rust/target/release/peer_rust
  else
    echo 'tools/bench.sh: the Rust peer does not build; its column is empty' >&2
  fi
else
  echo 'tools/bench.sh: no cargo or no Debian package librust-tracing-subscriber-dev; the Rust column is empty' >&2
fi

exec python3 tools/bench_table.py --programs build/bench --static-programs build/bench_static --rust "$rust" --quill "$quill" --cuda "$cuda" \
  --include . --include build/bench/tracing_core ${table_options[@]+"${table_options[@]}"}
