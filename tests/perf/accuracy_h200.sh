#!/usr/bin/env bash
# The accuracy rule on a GPU: hostile and honest kernels of the suite, honest ones with many seeds, what preparing costs.
#   tests/perf/accuracy_h200.sh [build/release] [seeds]
set -u
build=${1:-build/release}
seeds=${2:-10}
cd "$(dirname "$0")/../.."
"$build/tests/cases/kerf_cases_tests" --gtest_filter='*_cuda_*' | grep -E 'expected|FAILED|verdict|accepted|refused|SKIPPED'
python3 tests/perf/false_refusals.py "$build/kerf" --target cuda --seeds "$seeds"
python3 tests/perf/false_refusals.py "$build/kerf" --target cuda --seeds "$seeds" --first-seed 100 --only-samples
for task in matmul layernorm softmax conv2d_relu; do
  "$build/kerf" naive "tasks/$task.toml" --target cuda > "/tmp/naive_$task.cu" &&
    "$build/kerf" eval "tasks/$task.toml" "/tmp/naive_$task.cu" --target cuda --no-cache --seed 1
done
