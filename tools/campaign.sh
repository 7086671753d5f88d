#!/usr/bin/env bash
# Runs the long form of the tests of which CI runs a sample: all half-precision values, a thousand killed processes, the machine
# code of every example, and an hour of fuzzing. Takes about two hours on two cores: tools/campaign.sh [seconds for each fuzzer]
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

tools/setup.sh browser fuzz
cmake --preset dev
cmake --build --preset dev
TESTLOG_CAMPAIGN=1 ctest --preset dev
tools/fuzz.sh "${1:-1200}"
