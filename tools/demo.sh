#!/usr/bin/env bash
# A demonstration of a minute: installs dependencies, builds examples/demo and runs its two tests with tracing on. Succeeds
# if one test passes and the other fails, as intended.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

tools/setup.sh
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
echo 'Building examples/demo ...'
if ! log=$(cmake -S examples/demo -B build/demo -G Ninja -DCMAKE_BUILD_TYPE=Release 2>&1 &&
  cmake --build build/demo --target demo_test 2>&1); then
  printf '%s\n' "$log" >&2
  exit 1
fi

cd build/demo
rm -f Testing/Temporary/LastTestsFailed.log
printf '\n$ TRACE_FILTER=trace ctest --output-on-failure\n'
TRACE_FILTER=trace ctest --output-on-failure && rc=0 || rc=$?

failed=$(cut -d: -f2- Testing/Temporary/LastTestsFailed.log 2>/dev/null || true)
if ((rc != 8)) || [[ $failed != Launcher.ChecksBoundsAfterAnUncheckedLaunch ]]; then
  printf '\ntools/demo.sh: one test should have passed and one failed; ctest ended with %d, failed: %s\n' \
    "$rc" "${failed:-none}" >&2
  exit 1
fi
printf '\n%s\n%s\n' \
  'The failure is intended: the little library in examples/demo has a bug.' \
  'The second launch asks for mode Checked, and the cache answers with the kernel that was compiled for Unchecked.'
