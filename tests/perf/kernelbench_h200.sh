#!/usr/bin/env bash
# KernelBench on a GPU, level by level, each within a budget; given again it goes on where it stopped.
#   tests/perf/kernelbench_h200.sh KERNELBENCH [build/release] [out] [seconds per level] [levels] [OPTION...]
# Searches get what is left of the time in equal shares. A soak of 0.3 s and one finalist leave most of it to kernels; further options
# are those of kerf bench (--problems 1,5-9).
# Then the raw results belong into docs/results/ (results.tsv of the folder).
set -eu
path=${1:?usage: tests/perf/kernelbench_h200.sh KERNELBENCH [build/release] [out] [seconds] [levels] [OPTION...]}
build=${2:-build/release}
out=${3:-runs/kernelbench-h200}
seconds=${4:-600}
levels=${5:-1 2 3}
shift $(($# < 5 ? $# : 5))
"$build/kerf" doctor --calibrate > /dev/null || echo "not calibrated: no shares of the speed of light" >&2
for level in $levels; do
  "$build/kerf" bench kernelbench --path "$path" --level "$level" --target cuda --seed 1 --time "$seconds" --timing 1.2 --out "$out" \
    --set judge.soak_seconds=0.3 --set search.finalists=1 --set search.floor_fraction=1.2 "$@"
done
