#!/usr/bin/env bash
# The ten modules of tests/perf/modules on the processor beside eager PyTorch and torch.compile: the table of docs/results/modules.md.
#   tests/perf/modules_cpu.sh PYTHON [build/release] [out] [OPTION...]
# PYTHON has PyTorch. Each search has 10 s. Options are those of kerf bench (--problems 3,7). Given again, it goes on where it stopped.
set -eu
python=${1:?usage: tests/perf/modules_cpu.sh PYTHON [build/release] [out] [OPTION...]}
build=${2:-build/release}
out=${3:-runs/modules-cpu}
shift $(($# < 3 ? $# : 3))
modules=$(dirname "$0")/modules
uptime
"$build/kerf" --python "$python" bench kernelbench --path "$modules" --level 1 --target cpu --seed 1 --task-time 10 --memory off --out "$out" "$@"
uptime
