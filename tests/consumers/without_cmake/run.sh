#!/usr/bin/env bash
# Builds the test of docs/without-cmake.md against an installed package as the page says, by hand, with make, and with Meson if it is installed:
# run.sh <prefix> <folder of the page> <compiler> [<compiler flag>...]
set -euo pipefail
prefix=$1
page=$2
compiler=("${@:3}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$page"/* "$work"
cp -r "$prefix" "$work/moved"  # the files for pkg-config find it there
cd "$work"
command -v pkg-config >/dev/null || { echo "skipped: no pkg-config"; exit 0; }
PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name testlog.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir testlog)
failed=0

check() {  # <what> <command>...
  local output
  output=$(TRACE_FILTER=trace "${@:2}" 2>&1) || true
  if [[ $output != *'DEBUG request{id=9}: test: a detail'* || $output != *'in request{id=9}'* ]]; then
    printf 'FAILED: %s\n%s\n' "$1" "$output"
    failed=1
  else
    echo "$1: shows its records"
  fi
}

for module in $(cd "$PKG_CONFIG_PATH" && ls -- *.pc); do
  pkg-config --exists --print-errors "${module%.pc}" || failed=1
  [[ $(pkg-config --cflags --libs "${module%.pc}") != *"$prefix"* ]] || { echo "FAILED: $module names the prefix"; failed=1; }
done

read -ra flags <<<"$(pkg-config --cflags testlog_main)"
read -ra libs <<<"$(pkg-config --libs testlog_main)"
rpath=-Wl,-rpath,$libdir
"${compiler[@]}" -std=c++20 -O0 "${flags[@]}" -c test.cc
"${compiler[@]}" test.o -Wl,--as-needed "${libs[@]}" "$rpath" -o by_pkg_config
check 'by pkg-config' ./by_pkg_config
# Without the options that keep the library: the header names it.
plain=()
for lib in "${libs[@]}"; do
  if [[ $lib != -Wl,* ]]; then plain+=("$lib"); elif [[ $lib == *.so,* ]]; then plain+=(-ltestlog); fi
done
"${compiler[@]}" test.o -Wl,--as-needed "${plain[@]}" "$rpath" -o by_hand
check 'with --as-needed' ./by_hand
# A test that includes no header of testlog.
printf '#include <gtest/gtest.h>\n#include <tracing_core/tracing.h>\n%s\n' "$(sed -n '/^TEST_LOG/,$p' test.cc | sed 's/TEST_LOG/TEST/')" >plain.cc
mkdir -p plain && mv plain.cc plain/test.cc
"${compiler[@]}" -std=c++20 -O0 "${flags[@]}" plain/test.cc -Wl,--as-needed "${libs[@]}" "$rpath" -o plain_test
check 'TEST by pkg-config' ./plain_test

# With the main() of GoogleTest, and with an own one.
read -ra own_main <<<"$(pkg-config --cflags --libs testlog)"
read -ra gtest_main <<<"$(pkg-config --cflags --libs testlog gtest_main)"
"${compiler[@]}" test.o -Wl,--as-needed "${gtest_main[@]}" "$rpath" -o with_gtest_main
check 'with gtest_main' ./with_gtest_main
cat >main.cc <<'END'
#include <gtest/gtest.h>
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
END
"${compiler[@]}" -std=c++20 -O0 main.cc test.o -Wl,--as-needed "${own_main[@]}" "$rpath" -o with_own_main
check 'with an own main' ./with_own_main

# Libraries that a program links without naming them: the linker must not leave them out, alone or together.
unnamed=()
for module in testlog_nvtx testlog_cuda; do
  if [[ -e $PKG_CONFIG_PATH/$module.pc ]]; then unnamed+=("$module"); fi
done
for modules in "${unnamed[@]}" "${unnamed[*]}"; do
  [[ -n $modules ]] || continue
  read -ra with_modules <<<"$(pkg-config --libs $modules testlog_main)"
  "${compiler[@]}" test.o -Wl,--as-needed "${with_modules[@]}" "$rpath" -o with_modules
  check "with $modules" ./with_modules
  for module in $modules; do
    { readelf -d with_modules; nm with_modules; } >symbols.txt
    grep -qE "\\[lib$module\\.so| ${module}_keep_linked" symbols.txt || { echo "FAILED: $module was left out"; failed=1; }
  done
done

# CUDA on the CPU, whose library stands in for CUDA's runtime library.
if [[ -e $PKG_CONFIG_PATH/testlog_cuda_cpu.pc ]] && command -v nvcc >/dev/null; then
  cat >twice.cu <<'END'
__global__ void twice(int* value) { *value *= 2; }
int twice_of(int value) {
  int* copy = nullptr;
  cudaMalloc(&copy, sizeof value);
  cudaMemcpy(copy, &value, sizeof value, cudaMemcpyHostToDevice);
  twice<<<1, 1>>>(copy);
  cudaMemcpy(&value, copy, sizeof value, cudaMemcpyDeviceToHost);
  cudaFree(copy);
  return value;
}
END
  mkdir twice
  sed 's/^TEST_LOG/int twice_of(int value);\n&/; s/EXPECT_EQ(1, 2)/EXPECT_EQ(twice_of(4), 9)/' test.cc >twice/test.cc
  nvcc -arch=compute_75 -c twice.cu
  read -ra cuda_libs <<<"$(pkg-config --libs testlog_main testlog_cuda_cpu)"
  "${compiler[@]}" -std=c++20 -O0 "${flags[@]}" twice/test.cc twice.o -Wl,--as-needed "${cuda_libs[@]}" "$rpath" -o twice_test
  check 'CUDA on the CPU' ./twice_test
  [[ $(./twice_test 2>/dev/null || true) == *'Which is: 8'* ]] || { echo 'FAILED: the kernel did not run'; failed=1; }
fi

rm -f plain_test
make -s CXX="${compiler[*]}" LDFLAGS=-Wl,--as-needed
check make ./plain_test

by_meson() {  # <build folder> [<option>...]
  # Meson splits a compiler with flags into two words for CMake, which then finds nothing.
  { CXX="${compiler[0]}" CXXFLAGS="${compiler[*]:1}" meson setup "$@" && meson compile -C "$1"; } >meson.txt 2>&1 || cat meson.txt
}
if command -v meson >/dev/null; then
  by_meson build
  check Meson ./build/plain_test
  if [[ -e $libdir/libtestlog.so ]]; then  # Meson does not see all libraries that the targets of a static package link
    sed -i "s/dependency('testlog_main')/dependency('testlog', method: 'cmake', modules: ['testlog::main'])/" meson.build
    by_meson by_cmake --cmake-prefix-path="$work/moved"
    check "Meson by CMake's package" env LD_LIBRARY_PATH="$libdir" ./by_cmake/plain_test
  fi
else
  echo 'not tried: Meson, which is not installed'
fi
exit $failed
