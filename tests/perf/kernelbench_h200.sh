#!/usr/bin/env bash
# KernelBench on a GPU, level by level, each within a budget; given again it goes on where it stopped.
#   tests/perf/kernelbench_h200.sh KERNELBENCH [build/release] [out] [seconds per level] [levels]
# Then the raw results belong into docs/results/ (results.json and results.tsv of the folder).
set -eu
path=${1:?usage: tests/perf/kernelbench_h200.sh KERNELBENCH [build/release] [out] [seconds] [levels]}
build=${2:-build/release}
out=${3:-runs/kernelbench-h200}
seconds=${4:-600}
levels=${5:-1 2 3}
"$build/kerf" doctor --calibrate > /dev/null || echo "not calibrated: no shares of the speed of light" >&2
for level in $levels; do
  "$build/kerf" bench kernelbench --path "$path" --level "$level" --target cuda --seed 1 --time "$seconds" --out "$out"
done
