#!/usr/bin/env bash
# Tries ways to adopt testlog, each in an empty Debian that has only the packages and lines that its page names:
#
#     tools/campaign.sh ways [installed] [subproject] [meson] [bazel]
#
# Without names, all of them: half an hour on two cores. Prints the processor time of each (Bazel's server is not counted). Needs root
# and debootstrap. SUITE is a release of Debian (bookworm), MIRROR its archive. The Debian packages have a campaign of their own. The port of vcpkg and the
# recipe of Conan, whose registries an empty Debian does not have, are tested by tests/consumers/packaging.py.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
. tools/campaign_systems.sh
need

readonly names=(installed subproject meson bazel)
wanted=("$@")
((${#wanted[@]} > 0)) || wanted=("${names[@]}")
for name in "${wanted[@]}"; do
  [[ " ${names[*]} " == *" $name "* ]] || { echo "tools/campaign.sh ways: no way '$name'; there are ${names[*]}" >&2; exit 2; }
done

# way <name> <packages> <command>: a command in /src, a folder with the tracked files.
way() {
  [[ " ${wanted[*]} " == *" $1 "* ]] || return 0
  new_system "way_$1"
  tracked_files src/ | tar -C "$out/way_$1" -x
  echo "== $1"
  in_system "way_$1" "set -o pipefail
    apt-get -qq update
    apt-get -qq install --no-install-recommends $2 >/dev/null
    cd /src
    TIMEFORMAT='$1: %U s of processor time, %R s'
    time { $3
    }"
  rm -rf "${out:?}/way_$1"
}

readonly libraries='libfmt-dev libspdlog-dev libre2-dev libgtest-dev libgmock-dev zlib1g-dev libcli11-dev'
readonly with_cmake="cmake ninja-build g++ pkg-config $libraries"
# A wrap fetches a repository of Git.
readonly commit='git init -q . && git add -A && git -c user.name=campaign -c user.email=campaign@example.org commit -qm all'

way installed "$with_cmake make" '
  cmake --preset release --install-prefix /opt/testlog -DTESTLOG_WITH_CUDA=OFF -DTESTLOG_WITH_CUDA_CPU=OFF >/dev/null
  cmake --build --preset release >/dev/null && cmake --install build/release >/dev/null
  cmake -S tests/consumers/find_package -B /tmp/found -G Ninja -DCMAKE_PREFIX_PATH=/opt/testlog >/dev/null
  cmake --build /tmp/found >/dev/null
  ctest --test-dir /tmp/found --output-on-failure | tail -n 3
  echo "include(/src/cmake/TestlogSnippets.cmake)
    testlog_extract_snippets(/src/docs/without-cmake.md /tmp/page unused)" >/tmp/page.cmake
  cmake -P /tmp/page.cmake
  tests/consumers/without_cmake/run.sh /opt/testlog /tmp/page g++'
way subproject "$with_cmake" '
  cmake -S tests/consumers/add_subdirectory -B /tmp/added -G Ninja -DTESTLOG_SOURCE=/src >/dev/null
  cmake --build /tmp/added >/dev/null
  ctest --test-dir /tmp/added --output-on-failure | tail -n 3'
way meson "meson cmake g++ pkg-config git $libraries" "
  $commit
  tests/consumers/meson/run.sh /tmp/meson"
way bazel "bazel-bootstrap cmake g++ git zip unzip $libraries" "
  $commit
  tests/consumers/bazel/run.sh"
