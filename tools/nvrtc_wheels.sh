#!/bin/sh
# Installs NVIDIA's run-time compiler (NVRTC 13.0) and the CUDA headers from PyPI wheels into FOLDER, about 110 MB to
# download. Nothing outside FOLDER is touched. Does nothing when they are already there.
#   tools/nvrtc_wheels.sh FOLDER
set -eu
if [ $# -ne 1 ]; then
  echo "usage: $0 FOLDER" >&2
  exit 2
fi
folder=$1
packages="nvidia-cuda-nvrtc==13.0.* nvidia-cuda-runtime==13.0.* nvidia-cuda-crt==13.0.* nvidia-cuda-cccl==13.0.*"

complete() {
  [ -e "$folder/nvidia/cu13/lib/libnvrtc.so.13" ] && [ -e "$folder/nvidia/cu13/include/cuda_fp16.h" ] &&
    [ -e "$folder/nvidia/cu13/include/crt/mma.h" ] && [ -e "$folder/nvidia/cu13/include/nv/target" ]
}
if complete; then
  exit 0
fi

# The user's pip where there is one, else a virtual environment inside the folder.
python=${PYTHON:-python3}
if ! "$python" -m pip --version >/dev/null 2>&1; then
  if ! "$python" -m venv "$folder/venv" >/dev/null 2>&1; then
    echo "$0: no pip and no venv for $python. Try: apt-get install -y python3-venv   (then run this again)" >&2
    exit 2
  fi
  python="$folder/venv/bin/python"
fi
echo "NVRTC: installing $packages into $folder"
mkdir -p "$folder"
# All in one call: with --target, a second call does not merge into folders that exist.
# shellcheck disable=SC2086
"$python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps --upgrade --root-user-action=ignore \
  --target "$folder" $packages
rm -f "$folder"/nvidia/cu13/lib/*.a "$folder"/nvidia/cu13/lib/lib*.alt.so.*
if ! complete; then
  echo "$0: the wheels do not hold what was expected; remove $folder and try again" >&2
  exit 1
fi
