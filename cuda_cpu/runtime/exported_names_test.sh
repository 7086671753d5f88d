#!/usr/bin/env bash
# Checks that the stand-ins export every function of NVIDIA's library: exported_names_test.sh <names.txt> <library> [version node]
# With a version node, each name must have it.
set -euo pipefail

readonly names=$1 library=$2 node=${3:-}
if [[ $library == *.a ]]; then
  exported=$(nm -g --defined-only "$library" 2>/dev/null)
else
  exported=$(nm -D --defined-only "$library")
fi
missing=$(comm -23 <(sed "s/\$/${node:+@@$node}/" "$names" | sort) <(awk '$2 == "T" {print $3}' <<<"$exported" | sort -u))
[[ -z $missing ]] || { printf '%s lacks:\n%s\n' "$library" "$missing" >&2; exit 1; }
echo "$(wc -l <"$names") functions in $(basename "$library")"
