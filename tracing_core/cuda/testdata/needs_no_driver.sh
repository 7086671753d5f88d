#!/bin/sh
# Fails if the file $1 needs a CUDA library to start.
set -eu
needed=$(readelf -d "$1" | grep -F '(NEEDED)')
echo "$needed"
if echo "$needed" | grep -E 'libcuda|libcudart|libnvrtc'; then
  echo "needs a library of CUDA"
  exit 1
fi
