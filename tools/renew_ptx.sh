#!/usr/bin/env bash
# Renews the PTX in cuda_cpu/executor/testdata, by the toolkit at CUDA_PATH: from cuda_tests/kernels by NVRTC, for two
# targets, with and without fast math, and from the sources beside it by nvcc. Needs no GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
cuda=${CUDA_PATH:-/usr/local/cuda}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/ptx.cc" <<'SOURCE'
#include <nvrtc.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

// ptx <file> [<option or name expression>...]: prints the PTX.
int main(int argc, char** argv) {
  std::ifstream file(argv[1]);
  std::string const source{std::istreambuf_iterator<char>(file), {}};
  nvrtcProgram program;
  nvrtcCreateProgram(&program, source.c_str(), argv[1], 0, nullptr, nullptr);
  std::vector<char const*> options{"-std=c++17"};
  for (int i = 2; i < argc; ++i) {
    if (argv[i][0] == '-') options.push_back(argv[i]);
    else nvrtcAddNameExpression(program, argv[i]);
  }
  int const result = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  std::size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, '\0');
  nvrtcGetProgramLog(program, log.data());
  std::cerr << log.c_str();
  if (result != NVRTC_SUCCESS) return 1;
  nvrtcGetPTXSize(program, &size);
  std::string ptx(size, '\0');
  nvrtcGetPTX(program, ptx.data());
  std::cout << ptx.c_str();
}
SOURCE
g++ -std=c++20 -I "$cuda/include" "$work/ptx.cc" -o "$work/ptx" -L "$cuda/lib64" -lnvrtc -Wl,-rpath,"$cuda/lib64"
for arch in 75 90; do
  for math in "" .fast; do
    for kernel in cuda_tests/kernels/*.cu; do
      name=$(basename "$kernel" .cu)
      [[ $name != matmul_instances ]] || continue  # for nvcc, which takes no names
      names=()
      [[ $name != matmul ]] || names=("matmul<float,16>" "matmul<double,16>" "matmul<__half,16>")
      # In its own folder: the names of internal variables hold the path.
      (cd cuda_tests/kernels && "$work/ptx" "$name.cu" -arch=compute_$arch ${math:+--use_fast_math} "-I$cuda/include" "${names[@]}") \
        >"cuda_cpu/executor/testdata/$name.$arch$math.ptx"
    done
  done
done
# The planted bugs, with source lines, whose paths would be those of this machine.
(cd cuda_cpu/executor/planted_bugs && "$cuda/bin/nvcc" -ptx -lineinfo -arch=compute_75 bugs.cu -o "$work/bugs.ptx")
sed -E '/^\s*\.file/s|"[^"]*/|"|' "$work/bugs.ptx" >cuda_cpu/executor/planted_bugs/bugs.ptx
for arch in 75 90; do
  for source in language small_floats; do
    (cd cuda_cpu/executor/testdata && "$cuda/bin/nvcc" -std=c++17 -arch=compute_$arch -ptx "$source.cu" -o "$source.$arch.ptx")
  done
done
# Kernels with matrices, asynchronous copies and barriers, and textures, for the first target that has them and those
# that differ.
for arch in 75 80 90; do
  for name in matrix asynchronous textures; do
    [[ $name$arch != matrix90 && ($name != textures || $arch == 75) ]] || continue
    "$cuda/bin/nvcc" -ptx -std=c++17 -diag-suppress 20054 -arch=compute_$arch "cuda_cpu/executor/nvcc_kernels/$name.cu" \
      -o "cuda_cpu/executor/nvcc_kernels/$name.$arch.ptx"
  done
done
