#!/usr/bin/env bash
# Builds the project of docs/meson.md, as the page says, with this commit in place of a release: run.sh <folder> [option of meson setup...]
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd)
command -v meson >/dev/null || { echo 'skipped: no meson'; exit 0; }
git -C "$root" rev-parse --git-dir >/dev/null 2>&1 || { echo 'skipped: no repository of Git'; exit 0; }
unset "${!TRACE_@}"
rm -rf "$1"
mkdir -p "$1"
cd "$1"
printf 'include(%s)\ntestlog_extract_snippets(%s . unused)\n' "$root/cmake/TestlogSnippets.cmake" "$root/docs/meson.md" >extract.cmake
cmake -P extract.cmake
sed -i "s#^url = .*#url = file://$root#; s#^revision = .*#revision = $(git -C "$root" rev-parse HEAD)#" subprojects/testlog.wrap
{ meson setup build "${@:2}" && ninja -C build queue_test subprojects/testlog/testlog_command; } >build.txt 2>&1 ||
  { tail -n 60 build.txt; exit 1; }
meson test -C build --print-errorlogs >test.txt 2>&1 && { cat test.txt; echo 'FAILED: the test passes'; exit 1; }
build/subprojects/testlog/testlog_command show build/testlog >shown.txt
for file in test.txt shown.txt; do
  grep -qF 'request{id=9}' $file || { cat $file; echo "FAILED: $file lacks the span of the test"; exit 1; }
done
echo 'the failure and its recording have the span of the test'
