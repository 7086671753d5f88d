#!/usr/bin/env bash
# Checks the output of tools/campaign.sh cuda for programs of each kind. STAND_IN names the folder of the stand-in.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/programs/two units"
cd "$work/programs"

cat >passes.cu <<'END'
#include <cstdio>
__global__ void first(int* to) { *to = 1; }
__global__ void second(int* to) { *to += 1; }
int main() {
  int* to = nullptr;
  int value = 0;
  cudaMalloc(&to, sizeof(int));
  first<<<1, 1>>>(to);
  second<<<1, 1>>>(to);
  cudaMemcpy(&value, to, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", value);
  return value == 2 ? 0 : 1;
}
END
echo 'int main() { return 3; }' >fails.cu
echo 'int main() { __builtin_trap(); }' >crashes.cu
echo 'int main() { for (volatile bool on = true; on;) {} }' >endless.cu
echo 'int main() { return undeclared; }' >wrong.cu
cat >refused.cu <<'END'
#include <cuda_runtime.h>
int main() {
  for (int i = 0; i < 3; ++i)
    if (cudaGraphicsUnregisterResource(nullptr) == cudaSuccess) return 0;
  return 1;
}
END
echo 'int two(); int main() { return two() == 2 ? 0 : 1; }' >'two units/program.cu'
echo 'int two() { return 2; }' >'two units/unit.cu'

status=0
OUT=$work/out TIMEOUT=2 "$root/tools/campaign.sh" cuda . >"$work/table" || status=$?
fail() { printf '%s\n' "$1" >&2; cat "$work/table" >&2; exit 1; }

((status == 1)) || fail "ended with $status, not 1"
expect() { grep -Eq "^$1\$" "$work/table" || fail "no line is: $1"; }
expect 'passes +2 +0 +passed +[0-9]+\.[0-9]'
expect 'fails +0 +0 +failed +[0-9]+\.[0-9]'
expect 'crashes +0 +0 +crashed +[0-9]+\.[0-9]'
expect 'endless +0 +0 +timed out +[2-9]\.[0-9]'
expect 'refused +0 +1 +refused +[0-9]+\.[0-9]'
expect 'wrong +not built *'
expect 'two units/program +0 +0 +passed +[0-9]+\.[0-9]'
expect '7 programs, 2 passed, 1 failed, 1 refused, 1 crashed, 1 timed out, 1 not built'
expect ' +1 cudaGraphicsUnregisterResource\(\)'
grep -q undeclared "$work/out/wrong.build" || fail "the message of nvcc is not in wrong.build"
grep -qx 2 "$work/out/passes.output" || fail "what the program printed is not in passes.output"

rm ./{fails,crashes,endless,wrong,refused}.cu
OUT=$work/out "$root/tools/campaign.sh" cuda . >"$work/table" || fail "ended with $?, though all programs pass"
