#!/usr/bin/env bash
# A demonstration: installs dependencies, builds examples/demo, which takes some minutes, and runs its four tests, three of which fail, hang
# and die as intended; then asks their recordings, and makes a page of the run.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

tools/setup.sh
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
echo 'Building examples/demo, which takes some minutes ...'
if ! log=$(cmake -S examples/demo -B build/demo -G Ninja -DCMAKE_BUILD_TYPE=Release -DTESTLOG_BUILD_COMMAND=ON 2>&1 &&
  cmake --build build/demo --target demo_test testlog_command 2>&1); then
  printf '%s\n' "$log" >&2
  exit 1
fi

cd build/demo
rm -rf Testing/Temporary

printf '\n$ ctest --output-on-failure\n'
ctest --output-on-failure && rc=0 || rc=$?
failed=$(cut -d: -f2- Testing/Temporary/LastTestsFailed.log 2>/dev/null | sort | paste -sd' ' || true)
if ((rc != 8)) || [[ $failed != 'Launcher.ChecksBoundsAfterAnUncheckedLaunch Worker.GetsItsMemory Worker.TellsThatItsJobsAreDone' ]]; then
  printf '\ntools/demo.sh: one test should have passed and three failed; ctest ended with %d, failed: %s\n' \
    "$rc" "${failed:-none}" >&2
  exit 1
fi
cat <<'EOF'

The failures are intended: the little library in examples/demo has three bugs.

1. ChecksBoundsAfterAnUncheckedLaunch: the second launch asks for mode Checked, and the cache answers with the kernel that was
   compiled for Unchecked.
2. TellsThatItsJobsAreDone hung: the last record of the thread `worker` says that it told the waiting thread; main entered
   `wait` only afterwards.
3. GetsItsMemory was killed and could print nothing more. But its recording has everything, up to the last line:
EOF
testlog=$(find . -name testlog -type f -perm -u+x -not -path '*/CMakeFiles/*' | head -1)
printf '\n$ testlog show Testing/Temporary/testlog --test Worker.GetsItsMemory --filter trace\n'
"$testlog" show Testing/Temporary/testlog --test Worker.GetsItsMemory --filter trace
printf '\n$ testlog report -o report.html\n'
"$testlog" report -o report.html
printf '\nThe whole run as a page for a browser: %s\n' "$PWD/report.html"
