# Sourced by demo.sh and test.sh: installs what is missing and builds. Quiet when nothing is to do.
# Needs Debian 12 or Ubuntu 24.04, root or sudo for packages. PyPI packages go into the build tree only.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CORE_PACKAGES=(g++ cmake ninja-build ccache git python3 ca-certificates
  nlohmann-json3-dev libcli11-dev libtomlplusplus-dev libfmt-dev libexpected-dev libxxhash-dev libssl-dev libseccomp-dev
  libsqlite3-dev libcapstone-dev libcurl4-openssl-dev libgtest-dev opencl-headers ocl-icd-libopencl1 pocl-opencl-icd)
TEST_PACKAGES=(python3-numpy python3-venv python3-pip clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev lld-19)
# Debian has these, Ubuntu 24.04 does not: tests that need them are skipped there, unless they came another way.
declare -A EXTRA_PACKAGES=(
  [python3-torch]="operator conformance against PyTorch runs where python3 can import torch"
  [chromium]="the report is tried in a browser where chromium or google-chrome is installed")

say() { if [ -t 2 ]; then printf '\033[2m%s\033[0m\n' "$*" >&2; else printf '%s\n' "$*" >&2; fi; }

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || printf '%s ' "$package"
  done
}

# install_packages NAME...: installs the missing ones, or prints the exact command and exits 2.
install_packages() {
  local missing
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null; then as_root=(sudo); else
      echo "These packages are missing and there is no root or sudo here. Ask someone who has it to run:" >&2
      echo "  apt-get install -y --no-install-recommends $missing" >&2
      exit 2
    fi
  fi
  say "installing: $missing"
  local log
  log=$(mktemp)
  # shellcheck disable=SC2086  # a list of package names
  if ! { "${as_root[@]}" apt-get update -qq &&
         "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-remove --no-install-recommends \
           -o DPkg::Lock::Timeout=600 $missing; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "Could not install packages. Try by hand: apt-get install -y --no-install-recommends $missing" >&2
    exit 2
  fi
  rm -f "$log"
}

# has_candidate NAME: whether the system's package lists have it.
has_candidate() { apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [^(]'; }

# install_extras: those that the system has; says what is left out with the others.
install_extras() {
  local package ID=unknown
  eval "$(grep '^ID=' /etc/os-release)"
  for package in "${!EXTRA_PACKAGES[@]}"; do
    [ -n "$(missing_packages "$package")" ] || continue
    if [ "$ID" = debian ] || has_candidate "$package"; then  # Debian has them: there it is an error when they cannot be had
      install_packages "$package"
    else
      echo "left out: $package is not among this system's packages; ${EXTRA_PACKAGES[$package]}"
    fi
  done
}

# build_kerf [TARGET...]: the release binary at build/release/kerf, and further targets. KERF_NVRTC, when set, tells the tests
# where NVRTC is; KERF_UNIT_SUITES, when set, which unit suites are among them (cmake/kerf_module.cmake), KERF_SMALL_MODEL
# whether a real model is asked.
build_kerf() {
  configure release ${KERF_NVRTC:+-DKERF_NVRTC_DIR="$KERF_NVRTC"} ${KERF_UNIT_SUITES:+-DKERF_UNIT_SUITES="$KERF_UNIT_SUITES"} \
    ${KERF_SMALL_MODEL:+-DKERF_SMALL_MODEL="$KERF_SMALL_MODEL"}
  if ! ninja -C build/release -n "$@" 2>/dev/null | grep -q 'no work to do'; then
    say "building (a few minutes the first time)"
    NINJA_STATUS='  [%f/%t, %es] ' ninja -C build/release "$@" >&2
  fi
}

# build_sanitized PRESET: the unit suites of a sanitized tree (asan, tsan).
build_sanitized() {
  configure "$1"
  NINJA_STATUS='  [%f/%t, %es] ' ninja -C "build/$1" sanitized_tests >&2
}

# configure PRESET [OPTION...]: the tree build/PRESET.
configure() {
  local log
  log=$(mktemp)
  [ -f "build/$1/build.ninja" ] || say "configuring"
  cmake --preset "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
  rm -f "$log"
}

# list_tests TREE...: after it, ctest in build/ runs the tests of these trees.
list_tests() {
  printf 'subdirs("%s")\n' "$@" >build/CTestTestfile.cmake
}
