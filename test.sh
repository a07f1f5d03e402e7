#!/usr/bin/env bash
# Sets up, builds with warnings as errors, and runs every check and test: the tree's own rules, changed headers stand
# alone, the unit suites, then whole kernels and commands. One ctest runs them all; its summary is the last output.
# --sanitize runs the unit suites under AddressSanitizer and UndefinedBehaviorSanitizer instead, those of rooms that use
# threads under ThreadSanitizer too, and clang-tidy on changed files. --model asks a real small language model as well
# (from PyPI). --lean leaves out what needs large downloads (PyTorch, NVRTC, clang) and says so.
. "$(dirname "$0")/tools/setup.sh"
lean=0 sanitize=0 model=OFF
for argument in "$@"; do
  case $argument in
    --lean) lean=1 ;;
    --sanitize) sanitize=1 ;;
    --model) model=ON ;;
    -h | --help) echo "usage: ./test.sh [--lean] [--sanitize] [--model]"; exit 0 ;;
    *) echo "test.sh: unknown option '$argument'; choose one of: --lean, --sanitize, --model" >&2; exit 2 ;;
  esac
done
if [ $lean$sanitize = 11 ]; then echo "test.sh: --sanitize needs clang, which --lean leaves out; give one of them" >&2; exit 2; fi
step() { printf '\n[%4d s] %s\n' "$SECONDS" "$*"; }

install_packages "${CORE_PACKAGES[@]}"
nvrtc=build/nvrtc
trees=(release)
unit_suites=all
[ $sanitize = 0 ] || unit_suites=unsanitized
if [ $lean = 1 ]; then
  echo "left out by --lean: operator conformance against PyTorch (python3-torch), CUDA compile tests (NVRTC from PyPI)," \
       "clang-format (clang 19)"
else
  install_packages "${TEST_PACKAGES[@]}"
  install_extras
  tools/nvrtc_wheels.sh "$nvrtc"
  export KERF_NVRTC="$PWD/$nvrtc"
fi

step "rules of the tree"
python3 tools/check_layers.py
python3 tools/check_targets.py
python3 tools/check_sizes.py
python3 tools/check_format.py
step "building, warnings are errors"
KERF_UNIT_SUITES=$unit_suites KERF_SMALL_MODEL=$model build_kerf
if [ $sanitize = 1 ]; then
  step "building the unit suites with AddressSanitizer and UndefinedBehaviorSanitizer"
  build_sanitized asan
  step "building the suites of rooms that use threads with ThreadSanitizer"
  build_sanitized tsan
  trees+=(asan tsan)
fi
step "headers stand alone"
python3 tools/check_headers.py --changed
if [ $sanitize = 1 ]; then
  step "clang-tidy on changed files"
  python3 tools/check_tidy.py
fi
step "every test"
list_tests "${trees[@]}"
ctest --test-dir build --output-on-failure -j "$(nproc)" --no-tests=error
