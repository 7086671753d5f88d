#!/usr/bin/env bash
# Checks the switches of optional dependencies by configuring testlog: OFF looks for nothing, ON stops with a sentence where the
# dependency is missing, AUTO goes on without it. switches.sh <source folder> <compiler> [<compiler flag>...]
set -euo pipefail
source=$1
compiler=("${@:2}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# What pkg-config finds, but for the optional dependencies.
mkdir "$work/pc"
for folder in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
  [[ ! -d $folder ]] || find "$folder" -name '*.pc' ! -name libzstd.pc ! -name liblz4.pc ! -name cpp-httplib.pc -exec ln -sft "$work/pc" {} +
done
hidden_packages=()
for package in ZLIB httplib Eigen3; do hidden_packages+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"); done

configure() {  # <folder> <option>...
  cmake -S "$source" -B "$work/$1" -DCMAKE_CXX_COMPILER="${compiler[0]}" -DCMAKE_CXX_FLAGS="${compiler[*]:1}" \
    -DTESTLOG_BUILD_TESTS=OFF -DTESTLOG_BUILD_EXAMPLES=OFF "${@:2}" >"$work/output.txt" 2>&1
}

fail() {
  printf 'FAILED: %s\n' "$1"
  cat "$work/output.txt"
  failed=1
}

expect_stop() {  # <what CMake says> <option>...
  if configure hidden "${@:2}"; then
    fail "${*:2}: configured"
  elif ! tr -s ' \n' '  ' <"$work/output.txt" | grep -qF -- "$1"; then
    fail "${*:2}: does not say: $1"
  else
    echo "${*:2}: $1"
  fi
}

switches=(ZLIB HTTPLIB ZSTD LZ4 CUDA NVTX CUPTI CUBLAS)
off=()
for switch in "${switches[@]}"; do off+=("-DTESTLOG_WITH_$switch=OFF"); done
if ! configure off "${off[@]}"; then
  fail 'all switches OFF'
elif grep -iE '^(zlib_|httplib|eigen3|libzstd|liblz4|cpp_httplib|TESTLOG_(NVCC|CUDA|NVTX|CUPTI|CUBLAS)[A-Z_]*DIR|TESTLOG_NVCC)' "$work/off/CMakeCache.txt"; then
  fail 'all switches OFF: looks for dependencies'
else
  echo 'all switches OFF: looks for nothing'
fi

export PKG_CONFIG_LIBDIR=$work/pc
no_cuda=(-DTESTLOG_CUDA_INCLUDE_DIR= -DTESTLOG_NVTX_INCLUDE_DIR= -DTESTLOG_CUPTI_INCLUDE_DIR= -DTESTLOG_CUBLAS_INCLUDE_DIR=)
if configure hidden "${hidden_packages[@]}" "${no_cuda[@]}"; then
  echo 'AUTO: goes on'
  for what in zlib cpp-httplib libzstd liblz4 'CUDA Toolkit'; do
    grep -q -- "-- No $what.* here" "$work/output.txt" || fail "AUTO: does not say that there is no $what"
  done
else
  fail AUTO
fi
expect_stop 'TESTLOG_WITH_ZLIB=ON, but zlib was not found (Debian: zlib1g-dev)' -DTESTLOG_WITH_ZLIB=ON
expect_stop 'TESTLOG_WITH_HTTPLIB=ON, but cpp-httplib was not found' -DTESTLOG_WITH_ZLIB=OFF -DTESTLOG_WITH_HTTPLIB=ON
expect_stop 'TESTLOG_WITH_ZSTD=ON, but libzstd was not found' -DTESTLOG_WITH_HTTPLIB=OFF -DTESTLOG_WITH_ZSTD=ON
expect_stop 'TESTLOG_WITH_LZ4=ON, but liblz4 was not found' -DTESTLOG_WITH_ZSTD=OFF -DTESTLOG_WITH_LZ4=ON
expect_stop 'TESTLOG_WITH_CUDA=ON, but CUDA Toolkit (12 or newer) was not found' -DTESTLOG_WITH_LZ4=OFF -DTESTLOG_WITH_CUDA=ON
expect_stop 'TESTLOG_WITH_CUPTI=ON needs TESTLOG_WITH_CUDA' -DTESTLOG_WITH_CUDA=AUTO -DTESTLOG_WITH_CUPTI=ON
expect_stop 'TESTLOG_WITH_ZLIB=maybe: unknown value; expected one of AUTO, ON, OFF' -DTESTLOG_WITH_ZLIB=maybe
exit $failed
