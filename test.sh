#!/usr/bin/env bash
# Sets up, builds with warnings as errors, and runs every check and test: the tree's own rules, headers that stand alone,
# then everything by ctest, whose summary is the last output. --sanitize adds the unit suites under AddressSanitizer,
# UndefinedBehaviorSanitizer and ThreadSanitizer, and clang-tidy on changed files. --lean leaves out what needs large
# downloads (PyTorch, NVRTC, clang) and says so.
. "$(dirname "$0")/tools/setup.sh"
lean=0 sanitize=0
for argument in "$@"; do
  case $argument in
    --lean) lean=1 ;;
    --sanitize) sanitize=1 ;;
    -h | --help) echo "usage: ./test.sh [--lean] [--sanitize]"; exit 0 ;;
    *) echo "test.sh: unknown option '$argument'; choose one of: --lean, --sanitize" >&2; exit 2 ;;
  esac
done
step() { printf '\n[%3d s] %s\n' "$SECONDS" "$*"; }

install_packages "${CORE_PACKAGES[@]}"
nvrtc=build/nvrtc
if [ $lean = 1 ]; then
  echo "left out by --lean: operator conformance against PyTorch (python3-torch), CUDA compile tests (NVRTC from PyPI)," \
       "clang-format (clang 19)"
else
  install_packages "${TEST_PACKAGES[@]}"
  install_extras
  tools/nvrtc_wheels.sh "$nvrtc"
  export KERF_NVRTC="$PWD/$nvrtc"
fi

step "building, warnings are errors"
build_kerf
step "rules of the tree"
python3 tools/check_layers.py
python3 tools/check_targets.py
python3 tools/check_sizes.py
python3 tools/check_format.py
python3 tools/check_headers.py
if [ $sanitize = 1 ]; then
  step "unit suites under AddressSanitizer and UndefinedBehaviorSanitizer"
  test_sanitized asan
  step "suites that use threads under ThreadSanitizer"
  test_sanitized tsan
  step "clang-tidy on changed files"
  python3 tools/check_tidy.py --build build/asan
fi
step "every test"
ctest --test-dir build/release --output-on-failure -j "$(nproc)" --no-tests=error
