#!/usr/bin/env bash
# Checks on a real GPU what the project promises about GPUs: one line PASS, FAIL, SKIP or INFO for each question.
#
#     tools/gpu_check.sh                  builds into build/gpu_check and runs there
#     tools/gpu_check.sh --build FOLDER   only builds: for a machine without a GPU. Needs nvcc, CUDA 12 or newer
#     FOLDER/gpu_check.sh                 runs what was built: copy FOLDER to a machine with a GPU. Needs its driver only
#
# The lines are also in FOLDER/out/summary.txt, the logs in FOLDER/out/logs.tar.gz: please attach both to a report of a
# problem with GPUs. OUT sets another folder for both. Ends with status 1 if a line says FAIL. Takes about two minutes.
set -uo pipefail

programs=(algorithms async_memory calls cooperative copies errors graphs groups kernels language managed matrices memory numbers
  ordering per_thread_streams small_floats sticky_error streams textures threads wide_tiles)

build() { # <folder>
  set -e
  local root nvcc to
  root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
  nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
  mkdir -p "$1/bin"
  to=$(cd -- "$1" && pwd)
  (cd "$root" && cmake --preset portable >"$to/build.log" && cmake --build --preset portable >>"$to/build.log") ||
    { tail -5 "$to/build.log" >&2; return 1; }
  cp "$root"/build/portable/cuda_tests/{tests/cuda_tests,tests/cuda_tests_scenarios,gpu/gpu_check} "$to/bin/"
  for name in "${programs[@]}"; do
    local options=(--expt-relaxed-constexpr)
    [ "$name" = per_thread_streams ] && options+=(--default-stream per-thread)
    "$nvcc" -w -std=c++20 "${options[@]}" -O1 -cudart static -Xcompiler -static-libstdc++,-static-libgcc \
      -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=sm_90 \
      "$root/cuda_cpu/programs/$name.cu" -o "$to/bin/program_$name" 2>>"$to/build.log" ||
      echo "not built: $name (see $to/build.log)" >&2
  done
  strip "$to"/bin/* 2>/dev/null || true
  git -C "$root" log -1 --format='%h %cs' >"$to/bin/commit" 2>/dev/null || echo unknown >"$to/bin/commit"
  cp "${BASH_SOURCE[0]}" "$to/gpu_check.sh"
}

say() { printf '%s\n' "$*" | tee -a "$summary"; }

# Prints a line for a test program's outcome: the status 0 with or without skipped tests, or the first failure.
verdict() { # <name> <status> <log>
  grep -h '^INFO ' "$3" | cut -c1-300 | while read -r line; do say "$line"; done
  if [ "$2" != 0 ]; then
    say "FAIL $1: status $2: $(grep -m1 -A6 'Failure$\|^FAIL\|: error' "$3" | tr '\n' ' ' | cut -c1-400)"
  elif grep -q '^\[  SKIPPED \]' "$3"; then
    say "SKIP $1: $(grep -m1 -A1 'Skipped$' "$3" | tail -1 | cut -c1-200)"
  else
    say "PASS $1"
  fi
}

# What depends on the device or on the run is replaced; the rest must be equal on the CPU and on the GPU.
without_device() {
  sed -E -e 's/0x[0-9a-f]+/<pointer>/g' -e 's/(after_us|duration_us|duration_ms|gb_per_s|elapsed_ms)=[0-9.e+-]+/\1=<time>/g' \
    -e 's/memory_bytes=[0-9]+/memory_bytes=<bytes>/' -e 's/Using .*, compute capability [0-9.]+/Using <device>/' \
    -e 's/device=[0-9]+/device=<number>/g' -e 's/arch="[a-z0-9_]+"/arch=<arch>/' -e 's/options=\[[^]]*\]/options=[<options>]/' \
    -e 's/ (ptx_bytes|cubin_bytes|registers|spill_bytes|local_bytes)=[0-9]+//g' -e 's/(: compiled .*) shared_bytes=[0-9]+/\1/' \
    -e 's/(module_load\{module="[^"]*") bytes=[0-9]+/\1 bytes=<bytes>/' -e 's/ detail=".*"//' \
    -e 's/(caused by launch [0-9]+ of [a-z_]+) \(.*\)/\1/' -e 's/, the only one outstanding//' \
    -e 's/caused the failure: no other launch was outstanding/caused the failure/' -e 's/\([0-9]+ ms( total)?\)/(<ms>)/g' \
    -e 's/^.*\.cc:[0-9]+/<file>/' -e '/: kernel uses /d' -e 's/(found kernel kernel\.name=[^ ]+) .*/\1/'
}

check_trees() {
  local test name backend
  for test in Scenario.{IdentityOfHalves,CompilesLaunchesAndReads,CompilesOnceForTwoServers,FailsToCompile,HasTooManyThreads} \
    Scenario.{AllocatesTooMuchMemory,EndsAfterItsSpan,RunsTwoKernelsConcurrently,UsesTwoStreams} 'Broken.*'; do
    name=$(tr -dc A-Za-z <<<"$test")
    for backend in cpu cuda; do
      CUDA_TESTS_BACKEND=$backend TRACE_TIME=none TRACE_THREADS=off TRACE_FILTER='trace,tracing::cuda::device=off' \
        TRACE_CAPTURE='trace,tracing::cuda::device=off' TRACE_SPAN_EVENTS=new timeout -k 5 30 bin/cuda_tests_scenarios \
        --gtest_filter="$test" >"$logs/$name.$backend.out" 2>"$logs/$name.$backend.err"
      { without_device <"$logs/$name.$backend.err"; } >"$logs/$name.$backend.txt"
    done
    if diff "$logs/$name.cpu.txt" "$logs/$name.cuda.txt" >"$logs/$name.diff"; then
      say "PASS lines of $test are those of the CPU backend"
    else
      say "FAIL lines of $test differ from the CPU backend: $(grep -m1 '^[<>]' "$logs/$name.diff" | cut -c1-200)"
    fi
  done
}

run() {
  cd -- "$(dirname -- "${BASH_SOURCE[0]}")" || exit 1
  local out=${OUT:-$PWD/out} test name status
  mkdir -p "$out"
  logs=$(mktemp -d)
  summary=$out/summary.txt
  : >"$summary"
  # CUPTI and NVRTC, if the loader does not know their folders.
  for folder in "${CUDA_PATH:-/usr/local/cuda}"/{lib64,extras/CUPTI/lib64} /usr/local/nvidia/lib64; do
    [ -d "$folder" ] && LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
  done
  export LD_LIBRARY_PATH CUDA_PATH=${CUDA_PATH:-/usr/local/cuda}
  say "INFO commit $(cat bin/commit), $(uname -rm), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>&1 | head -1)"

  # Each in a process of its own: an error of a kernel breaks the context for good.
  for test in $(bin/gpu_check --gtest_list_tests | awk '/^[^ ]/ {suite = $1} /^ / {print suite $1}'); do
    timeout -k 5 60 bin/gpu_check --gtest_filter="$test" >"$logs/$test.log" 2>&1 </dev/null
    verdict "$test" $? "$logs/$test.log"
    if grep -q '^No CUDA driver' "$logs/$test.log"; then
      say "FAIL no GPU can be used here"
      exit 1
    fi
  done
  timeout -k 5 120 bin/cuda_tests '--gtest_filter=Cuda/*' >"$logs/cuda_tests.log" 2>&1
  status=$?
  verdict "cuda_tests, $(grep -c '^\[       OK' "$logs/cuda_tests.log") tests" $status "$logs/cuda_tests.log"
  check_trees
  for name in bin/program_*; do
    timeout -k 5 60 "$name" >"$logs/${name#bin/}.log" 2>&1 </dev/null
    status=$?
    if [ $status = 0 ]; then say "PASS ${name#bin/}"; else say "FAIL ${name#bin/}: status $status: $(tail -1 "$logs/${name#bin/}.log" | cut -c1-300)"; fi
  done

  # Last: a kernel that never ends, the report about it, and whether the GPU works again afterwards.
  { TRACE_HANG_AFTER=3 CUDA_TESTS_BACKEND=cuda timeout -s KILL 10 bin/cuda_tests_scenarios --gtest_filter=Scenario.NeverEnds \
    >"$logs/hang.out" 2>"$logs/hang.err"; } 2>/dev/null
  if grep -q 'of spin, grid' "$logs/hang.err"; then say "PASS the report of a hang names the launch that did not end"; else
    say "FAIL the report of a hang does not name the launch: $(tail -1 "$logs/hang.err" | cut -c1-200)"
  fi
  timeout -k 5 60 bin/gpu_check --gtest_filter=GpuCheck.RunsAKernelAndObservesItsEnd >"$logs/after_hang.log" 2>&1
  verdict "the GPU after the process was killed" $? "$logs/after_hang.log"
  tar -C "$logs" -czf "$out/logs.tar.gz" .
  say "$(grep -c '^PASS' "$summary") PASS, $(grep -c '^FAIL' "$summary") FAIL, $(grep -c '^SKIP' "$summary") SKIP; logs: $out/logs.tar.gz"
  ! grep -q '^FAIL' "$summary"
}

case ${1:-} in
  '') if [ -e "$(dirname -- "${BASH_SOURCE[0]}")/bin/gpu_check" ]; then run; else
      here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
      build "$here/build/gpu_check" && exec "$here/build/gpu_check/gpu_check.sh"
    fi ;;
  --build) build "${2:?tools/gpu_check.sh --build FOLDER}" ;;
  *)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    [ "$1" = --help ]
    ;;
esac
