#!/usr/bin/env bash
# Fails if a C++ file is not formatted as .clang-format says, and names the lines. --fix formats the files. Needs
# clang-format 14: other versions break some lines differently.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
program=$(command -v clang-format-14 || true)
if [[ -z $program ]]; then
  echo 'clang-format-14 is missing: apt-get install clang-format-14' >&2
  exit 2
fi
mode=(--dry-run --Werror)
[[ ${1-} != --fix ]] || mode=(-i)
# Not .cu: lines of kernels are named by committed PTX and by approved reports. tests/hygiene/places.cc has several
# statements in a line on purpose.
git ls-files '*.h' '*.cc' '*.cpp' ':!tests/compile_fail' ':!tests/hygiene/places.cc' |
  xargs -P "$(nproc)" -n 64 "$program" "${mode[@]}"
