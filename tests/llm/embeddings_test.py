#!/usr/bin/env python3
"""Retrieval with an embeddings endpoint. embeddings_test.py KERF: with one that misbehaves on demand; embeddings_test.py KERF
--real: with the small model of tools/embedding_model.sh (exit code 77: not to be had)."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASK = """name = "{name}"
[inputs]
x = "f32[rows, cols]"
[shapes]
default = {{ rows = 64, cols = 128, weight = 1 }}
[reference]
expr = "{expr}"
"""
ASKED = []  # texts by behaviour


def check(condition, *words):
    if not condition:
        print("FAILED:", *words)
        sys.exit(1)


class Handler(BaseHTTPRequestHandler):
    """The first part of the path chooses the behaviour."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        behaviour, texts = self.path.split("/")[1], body["input"]
        ASKED.append((behaviour, texts, self.headers.get("Authorization")))
        vectors = [{"index": i, "embedding": [len(text) % 7 + 1.0, text.count("reduce"), 1.0]} for i, text in enumerate(texts)]
        status, answer = 200, json.dumps({"data": vectors})
        if behaviour == "failing":
            status, answer = 500, json.dumps({"error": {"message": "\x1b[31moverloaded"}})
        if behaviour == "fewer":
            answer = json.dumps({"data": vectors[1:]})
        if behaviour == "garbage":
            answer = "<html>hello</html>"
        if behaviour == "cut":
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer[:20].encode())
            self.close_connection = True
            return
        data = answer.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Runs:
    def __init__(self, kerf, folder):
        self.kerf, self.folder, self.count = kerf, folder, 0
        for name, expr in (("first", "y = softmax(x, axis=-1)"), ("second", "y = x - mean(x, axis=-1, keepdims=true)")):
            (folder / f"{name}.toml").write_text(TASK.format(name=name, expr=expr))
        self.search("first")

    def search(self, task, *more, code=0):
        """What the search said on stderr."""
        self.count += 1
        env = {**os.environ, "KERF_MEMORY": str(self.folder / "memory.db"), "KERF_CACHE": str(self.folder / "cache"),
               "OPENAI_API_KEY": "sk-test"}
        quick = ["--evals", "2", "--set", "measure.max_rounds=3", "--set", "search.tunings=0", "--set", "search.finalists=1"]
        done = subprocess.run([self.kerf, "optimize", f"{task}.toml", "--seed", "1", "--out", f"run{self.count}", *quick, *more],
                              cwd=self.folder, env=env, text=True, capture_output=True)
        check(done.returncode == code, more, done.stdout[-1000:], done.stderr[-2000:])
        return done.stderr


def misbehaving(kerf, folder):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = lambda behaviour: ["--embedding-model", "m", "--embedding-url", f"http://127.0.0.1:{server.server_address[1]}/{behaviour}/v1"]
    runs, words = Runs(kerf, folder), "found without embeddings"
    check(not ASKED, "an endpoint was asked that nobody named")
    check(words not in runs.search("second", *url("good")), "a good endpoint is no reason for a warning")
    texts = [text for behaviour, list_, _ in ASKED for text in list_]
    check(any("softmax" in text or "reduce" in text for text in texts), texts)
    check(all(key == "Bearer sk-test" for _, _, key in ASKED), "the key goes with the question")
    before = len(ASKED)
    check(words not in runs.search("second", *url("good")), "again")
    again = [text for _, list_, _ in ASKED[before:] for text in list_]
    check(not set(again) & set(texts), "vectors are kept: ", again)
    for behaviour in ("failing", "fewer", "garbage", "cut"):
        said = runs.search("second", *url(behaviour))
        check(said.count(words) == 1, behaviour, said)
        check("\x1b[31m" not in said, "escapes reach the terminal")
    check(runs.search("second", "--embedding-model", "m", "--embedding-url", "http://127.0.0.1:9/v1").count(words) == 1)
    check("add --embedding-model" in runs.search("second", "--embedding-url", "http://127.0.0.1:9/v1", code=2))
    server.shutdown()


def with_the_real_model(kerf, folder):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = subprocess.run([ROOT / "tools/embedding_model.sh", "start", str(port)], text=True, capture_output=True)
    if started.returncode == 77:
        print("skipped:", started.stderr.strip().splitlines()[-1])
        sys.exit(77)
    check(started.returncode == 0, started.stdout, started.stderr)
    address = started.stdout.split("http://127.0.0.1:")[1].split("/")[0]
    try:
        texts = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
        request = urllib.request.Request(f"http://127.0.0.1:{address}/v1/embeddings", headers={"Content-Type": "application/json"},
                                         data=json.dumps({"model": "minilm", "input": texts}).encode())
        began = time.time()
        vectors = [one["embedding"] for one in json.loads(urllib.request.urlopen(request, timeout=60).read())["data"]]
        cosines = [sum(a * b for a, b in zip(vectors[0], vector)) for vector in vectors]
        for found, published in zip(cosines, (1.0, 0.695, 0.943, 0.257)):  # the model's own page
            check(abs(found - published) < 0.005, cosines)
        said = Runs(kerf, folder).search("second", "--embedding-model", "minilm", "--embedding-url", f"http://127.0.0.1:{address}/v1")
        check("found without embeddings" not in said, said)
        print(f"four texts in {time.time() - began:.2f} s with the search after them; cosines {[round(c, 3) for c in cosines]}")
    finally:
        subprocess.run([ROOT / "tools/embedding_model.sh", "stop"], stdout=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        (with_the_real_model if "--real" in sys.argv else misbehaving)(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(name))
