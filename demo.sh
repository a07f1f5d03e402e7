#!/usr/bin/env bash
# Sets up, builds, and lets Kerf judge honest and cheating kernels on the CPU and on OpenCL. Nothing else is needed.
. "$(dirname "$0")/tools/setup.sh"
install_packages "${CORE_PACKAGES[@]}"
build_kerf kerf
K=build/release/kerf
title() { printf '\n\033[1m%s\033[0m\n' "$*"; }

title "1. What this machine can do:  kerf doctor"
$K doctor

title "2. One task, honest and cheating kernels on the CPU"
echo "   $ kerf eval tasks/rmsnorm.toml KERNEL..."
$K eval tasks/rmsnorm.toml tests/honest/cpu/rmsnorm_*.cpp \
  tests/hostile/cpu/noop.cpp tests/hostile/cpu/static_cache.cpp tests/hostile/cpu/syscall_read_file.cpp

title "3. The same on OpenCL"
$K eval tasks/softmax.toml tests/honest/opencl/softmax_*.cl tests/hostile/opencl/softmax_*.cl

title "Where to go from here"
cat <<'TEXT'
  build/release/kerf tasks                        the sample tasks
  build/release/kerf naive tasks/gelu.toml --target cpu > my_gelu.cpp
  build/release/kerf eval tasks/gelu.toml my_gelu.cpp
  README.md, docs/verification.md                 what is checked, and why
TEXT
