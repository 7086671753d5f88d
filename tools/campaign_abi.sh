#!/usr/bin/env bash
# Compares the shared libraries with those of the last tagged version, or of another revision: tools/campaign_abi.sh [revision]
#
# Fails if programs that were compiled with the older libraries would not run with the newer: a public symbol is gone, or a type has
# another layout. What is in an inline namespace `internal` counts, too, since inlined code uses it.
# Needs abidiff, of the package abigail-tools.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
command -v abidiff >/dev/null || { echo "tools/campaign_abi.sh: abidiff is missing: apt-get install abigail-tools" >&2; exit 2; }
base=${1:-$(git describe --tags --abbrev=0 2>/dev/null)} ||
  { echo "tools/campaign_abi.sh: there is no tagged version; name a revision to compare with" >&2; exit 2; }
git rev-parse --quiet --verify "$base^{commit}" >/dev/null ||
  { echo "tools/campaign_abi.sh: there is no revision '$base'" >&2; exit 2; }

# install <source> <name>: the libraries with what abidiff reads of types.
install() {
  cmake -S "$1" -B "build/abi/$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O1 -g' -DTESTLOG_BUILD_TESTS=OFF \
    -DTESTLOG_BUILD_EXAMPLES=OFF -DTESTLOG_BUILD_COMMAND=OFF -DTESTLOG_UNITY_BUILD=ON -DCMAKE_INSTALL_PREFIX="$PWD/build/abi/$2-prefix" >/dev/null
  cmake --build "build/abi/$2" --target install >/dev/null
}

rm -rf build/abi/source
mkdir -p build/abi/source
git archive "$base" | tar -x -C build/abi/source
install build/abi/source older
install . newer

failed=0
while IFS= read -r older; do
  name=$(basename "$older")
  newer=$(find build/abi/newer-prefix -name "$name")
  if [[ -z $newer ]]; then
    echo "$name: gone, or its name has another version"
    failed=1
    continue
  fi
  status=0
  abidiff --no-added-syms "$older" "$newer" >build/abi/report.txt || status=$?
  if ((status == 0)); then
    echo "$name: as in $base"
  elif ((status & 3)); then  # errors, says its manual
    echo "$name: abidiff ended with $status" >&2
    exit 2
  elif ((status & 8)); then  # incompatible
    echo "$name: programs that were compiled with $base do not run:"
    cat build/abi/report.txt
    failed=1
  else
    echo "$name: changed since $base; whether compatibly, a person must say:"
    cat build/abi/report.txt
  fi
done < <(find build/abi/older-prefix -name 'lib*.so.*.*' -type f | sort)
exit $failed
