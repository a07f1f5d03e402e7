#!/usr/bin/env bash
# Sets up, builds, and lets Kerf find a fast kernel, explain it, prove it, and refuse cheating ones. No GPU and no key needed.
case ${1:-} in
  "") ;;
  -h | --help) echo "usage: ./demo.sh   (no options; what it makes is in build/demo)"; exit 0 ;;
  *) echo "demo.sh: unknown option '$1'; it has none" >&2; exit 2 ;;
esac
. "$(dirname "$0")/tools/setup.sh"
install_packages "${CORE_PACKAGES[@]}"
build_kerf kerf
K=build/release/kerf
R=build/demo
rm -rf "$R" && mkdir -p "$R"
title() { if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi; }
show() { printf '   $ %s\n' "$*"; "$@"; }

title "1. What this machine can do"
show $K doctor

title "2. From a task to a faster kernel, with no language model"
show $K optimize tasks/rmsnorm.toml --evals 40 --time 60 --seed 1 --out $R/rmsnorm

title "3. How it got there"
show $K explain $R/rmsnorm best

title "4. How fast this machine is at best, and what that says about a matrix product"
show $K doctor --calibrate || echo "(exit code $?: peaks are not measured while other programs use the cores)"
show $K optimize tasks/matmul.toml --evals 25 --time 40 --seed 1 --out $R/matmul

title "5. A softmax on OpenCL"
show $K optimize tasks/softmax.toml --target opencl --evals 12 --time 40 --seed 1 --out $R/softmax

title "6. Reports, stand-alone code, proof"
show $K report $R/rmsnorm
show $K export $R/rmsnorm --format cmake --out $R/rmsnorm-export
show $K prove $R/rmsnorm
show $K prove --check $R/rmsnorm/proof || echo "(exit code $?: a busy machine may not find the same speed; docs/runs.md has the codes)"

title "7. The judge behind it: honest and cheating kernels"
H=tests/hostile/cpu
show $K eval tasks/rowsum.toml tests/honest/cpu/rowsum_avx.cpp $H/noop.cpp $H/counter_static.cpp $H/read_file_raw.cpp \
  $H/thread_later_raw.cpp $H/subsample_2.cpp $H/endless_loop.cpp

title "Where to go from here"
cat <<TEXT
  $R/rmsnorm/report.html              the search as a page: open it in a browser
  $R/rmsnorm/best.cpp                 the kernel
  $K tasks                  the other sample tasks
  $K optimize tasks/conv2d_relu.toml
  README.md, docs/search.md, docs/verification.md
TEXT
