#!/usr/bin/env bash
# Runs the long form of the tests of which CI runs a sample: all half-precision values, a thousand killed processes, the machine
# code of every example, and 20 minutes of each fuzzer. Takes about three hours on two cores: tools/campaign.sh [seconds for each fuzzer]
#
# TESTLOG_OLD_CMAKE=<folder of cmake and ctest> also builds the consumers by these, for the oldest CMake that testlog supports, 3.22.
# tools/campaign.sh bazel and tools/campaign.sh meson build the projects of docs/bazel.md and docs/meson.md: ten minutes and one.
#
# tools/campaign.sh cuda <folder> [option of nvcc...] runs the CUDA programs of a folder on the CPU instead: see campaign_cuda.sh.
# tools/campaign.sh abi [revision] compares the shared libraries with those of the last tagged version: see campaign_abi.sh.
# tools/campaign.sh debian makes and tries the Debian packages: see campaign_debian.sh.
# tools/campaign.sh ways [way...] adopts testlog in empty Debian systems, as the pages say: see campaign_ways.sh.
# tools/campaign.sh platforms cross-compiles for arm64 and runs unit tests by qemu: see campaign_platforms.sh.
set -euo pipefail
if [[ ${1:-} == cuda ]]; then
  shift
  exec "$(dirname -- "${BASH_SOURCE[0]}")/campaign_cuda.sh" "$@"
elif [[ ${1:-} == abi ]]; then
  shift
  exec "$(dirname -- "${BASH_SOURCE[0]}")/campaign_abi.sh" "$@"
elif [[ ${1:-} == debian ]]; then
  exec "$(dirname -- "${BASH_SOURCE[0]}")/campaign_debian.sh"
elif [[ ${1:-} == platforms ]]; then
  exec "$(dirname -- "${BASH_SOURCE[0]}")/campaign_platforms.sh"
elif [[ ${1:-} == ways ]]; then
  shift
  exec "$(dirname -- "${BASH_SOURCE[0]}")/campaign_ways.sh" "$@"
fi
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
case ${1:-} in
  bazel) exec tests/consumers/bazel/run.sh "${@:2}" ;;
  meson) exec tests/consumers/meson/run.sh "$PWD/build/meson" "${@:2}" ;;
esac

tools/setup.sh browser fuzz
cmake --preset dev
cmake --build --preset dev
TESTLOG_CAMPAIGN=1 ctest --preset dev
if [[ -n ${TESTLOG_OLD_CMAKE:-} ]]; then
  "$TESTLOG_OLD_CMAKE/cmake" -S . -B build/old_cmake -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo
  "$TESTLOG_OLD_CMAKE/cmake" --build build/old_cmake
  "$TESTLOG_OLD_CMAKE/ctest" --test-dir build/old_cmake -R '^consumer' --output-on-failure
fi
tools/fuzz.sh "${1:-1200}"
