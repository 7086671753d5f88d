#!/usr/bin/env bash
# Builds the benchmarks, runs each in a process of its own beside its peers, and prints the table of ratios.
#
#   tools/bench.sh [--json FILE] [--only PATTERN] [--instructions]
#
# The peers are spdlog and, where Debian's Rust packages and cargo are installed, Rust's tracing. --instructions counts
# instructions by callgrind, for machines too noisy to measure times.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/setup.sh bench
# build <folder> <shared: ON or OFF> <target...>
build() {
  cmake -S . -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O2 -DBUILD_SHARED_LIBS="$2" \
    -DTESTLOG_BUILD_BENCHMARKS=ON -DTESTLOG_BUILD_TESTS=OFF -DTESTLOG_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build "$1" --target "${@:3}"
}
build build/bench ON tracing_benchmarks spdlog_benchmarks startup_testlog startup_plain
build build/bench_static OFF tracing_benchmarks spdlog_benchmarks

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
    echo 'tools/bench.sh: the Rust peer does not build; its column stays empty' >&2
  fi
else
  echo 'tools/bench.sh: no cargo or no Debian package librust-tracing-subscriber-dev; the Rust column stays empty' >&2
fi

exec python3 tools/bench_table.py --programs build/bench/tracing_core/benchmarks \
  --static-programs build/bench_static/tracing_core/benchmarks --rust "$rust" \
  --startup build/bench/testlog/benchmarks --include . --include build/bench/tracing_core "$@"
