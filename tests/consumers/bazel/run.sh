#!/usr/bin/env bash
# Builds the project of docs/bazel.md in a folder of its own with Debian's Bazel, as the page says, and looks at its tests:
# run.sh [option of bazel test...]. Takes ten minutes on two cores.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd)
command -v bazel >/dev/null || { echo 'skipped: no bazel (Debian: bazel-bootstrap)'; exit 0; }
unset "${!TRACE_@}"
work=$(mktemp -d)
bazel() { command bazel --output_user_root="$work/user" --host_jvm_args=-Xmx1g "$@"; }
finish() {
  cd "$work/project" && bazel shutdown >"$work/shutdown.txt" 2>&1 || true
  chmod -R u+w "$work"
  rm -rf "$work"
}
trap finish EXIT
mkdir "$work/project"
cd "$work/project"
printf 'include(%s)\ntestlog_extract_snippets(%s . unused)\n' "$root/cmake/TestlogSnippets.cmake" "$root/docs/bazel.md" >"$work/extract.cmake"
cmake -P "$work/extract.cmake"
# Tracked files alone, as if fetched.
mkdir -p third_party/testlog
git -C "$root" ls-files -z | tar -C "$root" --null -T - -c | tar -x -C third_party/testlog
echo third_party >.bazelignore
cat >>BUILD.bazel <<'END'

cc_test(
    name = "sharded_test",
    srcs = ["pool_test.cc"],
    shard_count = 2,
    deps = ["@testlog//:testlog_main"],
)
END

failed=0
check() {  # <what> <text> <expected words>...
  local word
  for word in "${@:3}"; do
    if [[ $2 != *"$word"* ]]; then
      printf 'FAILED: %s lacks "%s":\n%s\n' "$1" "$word" "$2"
      failed=1
      return
    fi
  done
  echo "$1: as expected"
}

for target in //:all @testlog//:testlog_command; do
  bazel build --jobs=2 "$target" >"$work/build.txt" 2>&1 || { tail -n 60 "$work/build.txt"; exit 1; }
  echo "bazel build $target: $(grep -o 'Elapsed time: [0-9.]* *s' "$work/build.txt")"
done
status=0
bazel test //:all --jobs=2 --nosandbox_debug --test_output=errors "$@" >"$work/test.txt" 2>&1 || status=$?
((status == 3)) || { cat "$work/test.txt"; echo "FAILED: bazel test: exit status $status, not 3"; exit 1; }
check 'bazel test' "$(<"$work/test.txt")" 'DEBUG request{id=9}: pool_test: a detail' 'in request{id=9}'

for test in pool_test sharded_test; do
  mkdir "$work/$test"
  while read -r zip; do
    unzip -qo "$zip" -d "$work/$test"
  done < <(find -L "bazel-testlogs/$test" -name outputs.zip)
  found=$(find "$work/$test" -name '*.rec')
  [[ $found && $found != *$'\n'* ]] || { printf 'FAILED: %s left "%s", not one recording\n' "$test" "$found"; failed=1; continue; }
  check "the recording of $test" "$(bazel-bin/external/testlog/testlog_command show "$work/$test")" 'request{id=9}' 'Pool.Drains failed'
done
check 'bazel test --test_filter' "$(bazel test //:pool_test --nosandbox_debug --test_filter=Other.* 2>&1)" 'PASSED'
exit $failed
