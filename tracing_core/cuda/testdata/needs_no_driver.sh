#!/bin/sh
# Fails where the loader would look for a CUDA library to start the file $1.
set -eu
needed=$(readelf -d "$1" | grep -F '(NEEDED)')
echo "$needed"
if echo "$needed" | grep -E 'libcuda|libcudart|libnvrtc'; then
  echo "needs a library of CUDA"
  exit 1
fi
