#!/usr/bin/env bash
# Installs dependencies, builds everything and runs all tests: tools/test.sh [argument for the cmake configuration...]
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

tools/setup.sh
cmake --preset dev "$@"
cmake --build --preset dev
ctest --preset dev
