#!/usr/bin/env bash
# check_untraced.sh <archive>: checks that the object code of the untraced loop and of its handlers does not refer to tracing,
# and, for comparison, that the traced loop does.
set -euo pipefail
symbols=$(nm -C --print-file-name "$1" 2>/dev/null)
failed=0
count() {  # <object>
  if ! grep -qF ":$1.o:" <<<"$symbols"; then
    echo "$1.o is missing in the archive" >&2
    failed=1
  fi
  found=$(grep -F ":$1.o:" <<<"$symbols" | grep -c "tracing::" || true)
}
handlers=$(sed -n 's/.*:\([a-z_]*_steps\.cc\)\.o:.*/\1/p' <<<"$symbols" | sort -u)
(($(wc -w <<<"$handlers") >= 10)) || { echo "expected at least 10 files with handlers, found: $handlers" >&2; failed=1; }
for object in run_untraced.cc warp.cc block.cc $handlers; do
  count "$object"
  echo "symbols of tracing in $object: $found"
  ((found == 0)) || failed=1
done
count run_traced.cc
echo "symbols of tracing in run_traced.cc: $found"
((found > 0)) || failed=1
exit $failed
