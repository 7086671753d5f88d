#!/usr/bin/env bash
# Renews the fat binaries in cuda_cpu/fatbin/testdata from the kernels there, by nvcc of the toolkit at CUDA_PATH. Needs no
# GPU. nvcc compresses machine code too where it can, which keeps the files small.
set -euo pipefail
cd "$(dirname "$0")/../cuda_cpu/fatbin/testdata"
nvcc=${CUDA_PATH:-/usr/local/cuda}/bin/nvcc

fatbin() {  # <file> <kernels> [option...]
  "$nvcc" -fatbin -frandom-seed="$2" "${@:3}" "$2" -o "$1.fatbin"
}

ptx75=(-gencode "arch=compute_75,code=compute_75")
fatbin default store.cu
fatbin lz4 store.cu "${ptx75[@]}" --compress-mode=speed
fatbin plain store.cu "${ptx75[@]}" --no-compress
fatbin all_major store.cu -arch=all-major --compress-mode=size
fatbin several store.cu "${ptx75[@]}" -gencode arch=compute_80,code=compute_80 -gencode arch=compute_100,code=compute_100
fatbin specific store.cu -gencode arch=compute_90a,code=compute_90a -gencode arch=compute_100f,code=compute_100f
fatbin machine_code store.cu -gencode "arch=compute_75,code=[sm_75,sm_80]" --compress-mode=size
fatbin lto store.cu -gencode arch=compute_75,code=lto_75
fatbin linked_first linked_first.cu "${ptx75[@]}" -rdc=true
fatbin linked_second linked_second.cu "${ptx75[@]}" -rdc=true
