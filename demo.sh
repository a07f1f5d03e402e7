#!/usr/bin/env bash
# Sets up, builds, and lets Kerf judge honest and cheating kernels on the CPU and on OpenCL. Nothing else is needed.
. "$(dirname "$0")/tools/setup.sh"
install_packages "${CORE_PACKAGES[@]}"
build_kerf kerf
K=build/release/kerf
title() { printf '\n\033[1m%s\033[0m\n' "$*"; }

title "1. What this machine can do:  kerf doctor"
$K doctor

title "2. Honest and cheating kernels on the CPU"
echo "   $ kerf eval tasks/rowsum.toml KERNEL..."
H=tests/hostile/cpu
$K eval tasks/rowsum.toml tests/honest/cpu/rowsum_omp_reduction.cpp tests/honest/cpu/rowsum_avx.cpp \
  $H/noop.cpp $H/counter_static.cpp $H/read_file_raw.cpp $H/thread_later_raw.cpp $H/subsample_2.cpp $H/endless_loop.cpp

title "3. Precision: fp32 means fp32"
echo "   $ kerf eval tasks/matmul.toml KERNEL..."
$K eval tasks/matmul.toml tests/honest/cpu/matmul_blocked.cpp $H/bf16_matmul.cpp $H/tf32_matmul.cpp

title "4. The same on OpenCL"
echo "   $ kerf eval tasks/softmax.toml KERNEL..."
$K eval tasks/softmax.toml tests/honest/opencl/softmax_local.cl tests/hostile/opencl/softmax_no_max.cl tests/hostile/opencl/fast_exp.cl

title "Where to go from here"
cat <<'TEXT'
  build/release/kerf tasks                        the sample tasks
  build/release/kerf naive tasks/gelu.toml --target cpu > my_gelu.cpp
  build/release/kerf eval tasks/gelu.toml my_gelu.cpp
  README.md, docs/verification.md                 what is checked, and why
TEXT
