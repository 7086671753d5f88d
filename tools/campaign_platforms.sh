#!/usr/bin/env bash
# Cross-compiles tracing_core for arm64 in an empty Debian, and runs unit tests of it by qemu:
#
#     tools/campaign.sh platforms
#
# Needs root and debootstrap. SUITE is a release of Debian (bookworm), MIRROR its archive. Left out are tests that cannot pass in
# qemu, each with its reason below. At the end it prints the newest symbols of the C and C++ libraries that the libraries need.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
. tools/campaign_systems.sh
need

readonly tests=(support model dispatch filter collect)
# They measure the memory of the process, of which qemu has some for each thread.
readonly left_out=Registry.SlotsReturnFromTheClosingToTheOpeningThread:Registry.MemoryOfEndedThreadsIsReused

new_system arm64
tracked_files src/ | tar -C "$out/arm64" -x
in_system arm64 'dpkg --add-architecture arm64
  apt-get -qq update
  apt-get -qq install --no-install-recommends g++-aarch64-linux-gnu dpkg-dev cmake ninja-build pkg-config qemu-user-static \
    {libfmt-dev,libspdlog-dev,libre2-dev,libgtest-dev,libgmock-dev,zlib1g-dev}:arm64 nlohmann-json3-dev >/dev/null
  export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig
  cmake -G Ninja -S /src -B /build -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/qemu-aarch64-static -DTESTLOG_UNITY_BUILD=ON -DTESTLOG_WITH_GTEST=OFF \
    -DTESTLOG_BUILD_COMMAND=OFF -DTESTLOG_WITH_CUDA=OFF -DTESTLOG_WITH_CUDA_CPU=OFF -DTESTLOG_BUILD_EXAMPLES=OFF \
    -DTESTLOG_TEST_PACKAGE=OFF
  ninja -C /build '"$(printf ' tracing_%s_test' "${tests[@]}")"

failed=0
for test in "${tests[@]}"; do
  echo "== $test"
  in_system arm64 "qemu-aarch64-static /build/tracing_core/$test/tracing_${test}_test --gtest_brief=1 --gtest_filter=-$left_out" || failed=1
done
readelf --version-info "$out"/arm64/build/lib/*.so.*.*.* | grep -oE '\b(GLIBC|GLIBCXX)_[0-9.]+' | sort -Vu |
  awk -F_ '{ newest[$1] = $0 } END { for (library in newest) print newest[library] }'
exit $failed
