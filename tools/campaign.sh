#!/usr/bin/env bash
# Runs the long form of the tests of which CI runs a sample: all half-precision values, a thousand killed processes, the machine
# code of every example, and 20 minutes of each fuzzer. Takes about three hours on two cores: tools/campaign.sh [seconds for each fuzzer]
#
# tools/campaign.sh bazel and tools/campaign.sh meson build the projects of docs/bazel.md and docs/meson.md: ten minutes and one.
#
# tools/campaign.sh cuda <folder> [option of nvcc...] runs the CUDA programs of a folder on the CPU instead: see campaign_cuda.sh.
set -euo pipefail
if [[ ${1:-} == cuda ]]; then
  shift
  exec "$(dirname -- "${BASH_SOURCE[0]}")/campaign_cuda.sh" "$@"
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
tools/fuzz.sh "${1:-1200}"
