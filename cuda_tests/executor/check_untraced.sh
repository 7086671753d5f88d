#!/usr/bin/env bash
# check_untraced.sh <archive>: the executor's untraced loop names nothing of tracing in its object code, and the traced one,
# for comparison, does.
set -euo pipefail
count() { nm -C --print-file-name "$1" 2>/dev/null | grep -F ":$2.o:" | grep -c "tracing::" || true; }
untraced=$(count "$1" run_untraced.cc)
traced=$(count "$1" run_traced.cc)
echo "symbols of tracing: $untraced in the untraced loop, $traced in the traced one"
((untraced == 0 && traced > 0))
