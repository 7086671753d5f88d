#!/usr/bin/env bash
# check_untraced.sh <archive>: the executor's untraced loop and the handlers that it calls name nothing of tracing in their
# object code, and the traced loop, for comparison, does. An object that is not there is a failure, too.
set -euo pipefail
symbols=$(nm -C --print-file-name "$1" 2>/dev/null)
failed=0
count() {  # <object>
  if ! grep -qF ":$1.o:" <<<"$symbols"; then
    echo "there is no $1.o in the archive" >&2
    failed=1
  fi
  found=$(grep -F ":$1.o:" <<<"$symbols" | grep -c "tracing::" || true)
}
handlers=$(sed -n 's/.*:\([a-z_]*_steps\.cc\)\.o:.*/\1/p' <<<"$symbols" | sort -u)
(($(wc -w <<<"$handlers") >= 10)) || { echo "fewer handlers than there are: $handlers" >&2; failed=1; }
for object in run_untraced.cc warp.cc block.cc $handlers; do
  count "$object"
  echo "symbols of tracing in $object: $found"
  ((found == 0)) || failed=1
done
count run_traced.cc
echo "symbols of tracing in run_traced.cc: $found"
((found > 0)) || failed=1
exit $failed
