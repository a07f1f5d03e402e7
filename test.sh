#!/usr/bin/env bash
# Sets up, builds and runs every test. --lean leaves out what needs large downloads (PyTorch, NVRTC) and says so.
. "$(dirname "$0")/tools/setup.sh"
lean=0
for argument in "$@"; do
  case $argument in
    --lean) lean=1 ;;
    -h | --help) echo "usage: ./test.sh [--lean]"; exit 0 ;;
    *) echo "test.sh: unknown option '$argument' (known: --lean)" >&2; exit 2 ;;
  esac
done
install_packages "${CORE_PACKAGES[@]}"
nvrtc=build/nvrtc
if [ $lean = 1 ]; then
  echo "left out by --lean: operator conformance against PyTorch (python3-torch), CUDA compile tests (NVRTC from PyPI)"
else
  install_packages "${TEST_PACKAGES[@]}"
  install_extras
  tools/nvrtc_wheels.sh "$nvrtc"
  export KERF_NVRTC="$PWD/$nvrtc"
fi
build_kerf
python3 tools/check_layers.py
python3 tools/check_sizes.py
python3 tools/check_format.py
ctest --test-dir build/release --output-on-failure -j "$(nproc)" --no-tests=error
