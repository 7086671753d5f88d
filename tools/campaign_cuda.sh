#!/usr/bin/env bash
# Builds CUDA programs with nvcc, runs them on the CPU, and says how they fared:
#
#     tools/campaign.sh cuda <folder> [option of nvcc...]
#
# A .cu file with a main() is a program; the folder's other .cu files are linked to each of its programs. Folders are searched
# to any depth. A program runs in the folder of its source, without arguments, for at most TIMEOUT seconds (60). Programs that
# need sources in another language, libraries other than cuBLAS (-lcublas -lcublasLt), or options that other programs cannot be
# built with are not built, or fail. The status is 0 if all were built and passed. STAND_IN names a folder with a
# libcudart.so.13 of ours; without it, that of the preset dev is built. OUT names the folder for programs and outputs, which is emptied; without it, build/campaign.
set -euo pipefail

[[ $# -ge 1 && -d $1 ]] || { echo "usage: tools/campaign.sh cuda <folder with .cu files> [option of nvcc...]" >&2; exit 2; }
folder=$(realpath -- "$1")
readonly folder options=("${@:2}")
readonly seconds=${TIMEOUT:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "tools/campaign.sh: TIMEOUT=$seconds is not a number of seconds" >&2; exit 2; }
[[ -z ${OUT:-} ]] || out=$(realpath --canonicalize-missing -- "$OUT")
[[ -z ${STAND_IN:-} ]] || STAND_IN=$(realpath -- "$STAND_IN")
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
: "${out:=$PWD/build/campaign}"
nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
[[ -x $nvcc ]] || { echo "tools/campaign.sh: there is no nvcc on the PATH, in CUDA_PATH or in /usr/local/cuda" >&2; exit 2; }

stand_in=${STAND_IN:-$PWD/build/dev/lib/cuda}
if [[ -z ${STAND_IN:-} ]]; then
  cmake --preset dev >/dev/null
  cmake --build --preset dev --target testlog_stand_ins >/dev/null
fi
[[ -e $stand_in/libcudart.so.13 ]] || { echo "tools/campaign.sh: there is no libcudart.so.13 in $stand_in" >&2; exit 2; }
readonly stand_in out
[[ ! -e $out || -e $out/.campaign ]] || { echo "tools/campaign.sh: OUT=$out exists, and no campaign made it" >&2; exit 2; }
rm -rf "$out"
mkdir -p "$out"
touch "$out/.campaign"

has_main() { grep -Eq '\bmain *\(' "$1"; }

programs=()
while IFS= read -r -d '' source; do
  if has_main "$source"; then programs+=("${source#"$folder"/}"); fi
done < <(find "$folder" -name '*.cu' -print0 | sort -z)
((${#programs[@]} > 0)) || { echo "tools/campaign.sh: no .cu file in $folder has a main()" >&2; exit 2; }

base_of() { echo "$out/$(sed 's,/,__,g; s/ /_/g' <<<"${1%.cu}")"; }

build_program() {  # <source>
  local base units=() unit
  base=$(base_of "$1")
  while IFS= read -r -d '' unit; do
    has_main "$unit" || units+=("$unit")
  done < <(find "$(dirname "$folder/$1")" -maxdepth 1 -name '*.cu' -print0)
  "$nvcc" "${options[@]}" -cudart shared "$folder/$1" "${units[@]}" -o "$base" >"$base.build" 2>&1 </dev/null || rm -f "$base"
}

run_program() {  # <source>
  local base
  base=$(base_of "$1")
  cd "$(dirname "$folder/$1")"
  LD_LIBRARY_PATH=$stand_in${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} TRACE_FILTER=tracing::cuda=debug TRACE_OUTPUT=$base.trace \
    timeout --kill-after=5 "$seconds" "$base" >"$base.output" 2>&1 </dev/null
}

# Each kernel and each function that was refused, once, with the reason: the instruction, the function, or the message.
refused_in() {  # <trace>
  local -r instruction='not supported: (\.[^ ]+ [^ ]+|[^ "]+)'
  sed -nE -e "s/.* ERROR .*[^ ]*: cuModuleGetFunction\(([^)]*)\) failed: .*detail=\"line [0-9]+: $instruction.*/\1 \2/p" \
    -e 's/.* ERROR .*[^ ]*: ([A-Za-z0-9_]+\(\)) is not supported.*/- \1/p' \
    -e 's/.* ERROR .*: (cublas[A-Za-z0-9_]+\(\)) failed: .*error=CUBLAS_STATUS_NOT_SUPPORTED.*/- \1/p' \
    -e 's/.* ERROR .*: ([^;:]*).*; the (kernel|variable) .* cannot be used .*/- \1/p' "$1" | sort -u | cut -d' ' -f2-
}

result_of() {  # <status> <number of refusals>
  if (($1 == 0)); then
    echo passed
  elif (($1 == 124 || $1 == 137)); then
    echo 'timed out'
  elif (($1 > 128)); then
    echo crashed
  elif (($2 > 0)); then
    echo refused
  else
    echo failed
  fi
}

running=0
for program in "${programs[@]}"; do
  build_program "$program" &
  if ((++running >= $(nproc))); then
    wait -n
    running=$((running - 1))
  fi
done
wait

declare -A count=()
: >"$out/reasons"
printf '%-40s %7s %7s  %-9s %7s\n' program kernels refused result seconds
for program in "${programs[@]}"; do
  base=$(base_of "$program")
  found='' refused='' took='' result='not built'
  if [[ -x $base ]]; then
    status=0
    begin=$(date +%s%N)
    { (run_program "$program") } 2>/dev/null || status=$?  # bash prints a line of its own when a program crashes
    took=$((($(date +%s%N) - begin) / 100000000))
    took=$((took / 10)).$((took % 10))
    touch "$base.trace"
    found=$(sed -n 's/.*found kernel kernel.name=\(.*\) registers=.*/\1/p' "$base.trace" | sort -u | wc -l)
    refused_in "$base.trace" >"$base.refused"
    refused=$(wc -l <"$base.refused")
    cat "$base.refused" >>"$out/reasons"
    result=$(result_of $status "$refused")
  fi
  count[$result]=$((${count[$result]:-0} + 1))
  printf '%-40s %7s %7s  %-9s %7s\n' "${program%.cu}" "$found" "$refused" "$result" "$took"
done

echo
printf '%d programs' "${#programs[@]}"
for result in passed failed refused crashed 'timed out' 'not built'; do printf ', %d %s' "${count[$result]:-0}" "$result"; done
printf '\n'
if [[ -s $out/reasons ]]; then
  echo 'Refused, by how many kernels or programs:'
  sort "$out/reasons" | uniq -c | sort -k1,1nr -k2
fi
echo "What nvcc, each program and its trace said: $out/<program>.build, .output, .trace"
((${count[passed]:-0} == ${#programs[@]}))
