#!/usr/bin/env python3
"""A chat endpoint that misbehaves on demand, for tests: bad_server.py LOG_FILE.

Prints its port, then serves until it is killed. The first part of the path chooses the behaviour, the second a counter:
http://127.0.0.1:PORT/BEHAVIOUR/NAME/v1/chat/completions. Every request is a line of JSON in LOG_FILE: behaviour, name,
authorization header, body."""
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOG = open(sys.argv[1], "a", buffering=1)
LOCK = threading.Lock()
COUNTS = {}


def piece(text=None, finish=None, **more):
    delta = {} if text is None else {"content": text}
    return json.dumps({"choices": [{"index": 0, "delta": {**delta, **more}, "finish_reason": finish}]})


def usage(prompt, reply):
    return json.dumps({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": reply}})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def head(self, status, kind, length=None, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if length is None:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def whole(self, status, text, kind="application/json", **headers):
        data = text if isinstance(text, bytes) else text.encode()
        self.head(status, kind, len(data), **headers)
        self.wfile.write(data)

    def stream(self, *events, done=True):
        self.head(200, "text/event-stream")
        for event in events:
            data = event if isinstance(event, bytes) else event.encode()
            self.wfile.write(data if data.startswith(b":") else b"data: " + data + b"\n\n")
            self.wfile.flush()
        if done:
            self.wfile.write(b"data: [DONE]\n\n")

    def error(self, status, message, **headers):
        self.whole(status, json.dumps({"error": {"message": message}}), **headers)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        _, behaviour, name = self.path.split("/")[:3]
        with LOCK:
            number = COUNTS[(behaviour, name)] = COUNTS.get((behaviour, name), 0) + 1
            LOG.write(json.dumps({"behaviour": behaviour, "name": name, "key": self.headers.get("Authorization"),
                                  "body": json.loads(body)}) + "\n")
        try:
            getattr(self, "do_" + behaviour)(number, json.loads(body))
        except (BrokenPipeError, ConnectionResetError):
            pass

    def do_good(self, number, body):
        self.stream(piece("he"), piece("llo"), piece(finish="stop"), usage(20, 2))

    def do_thinking(self, number, body):
        self.stream(piece(reasoning_content="let me see"), b": beat\n\n", piece("hello"), piece(finish="stop"),
                    json.dumps({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 9,
                                                         "completion_tokens_details": {"reasoning_tokens": 7}}}))

    def do_limited(self, number, body):
        if number == 1:
            self.error(429, "slow down", Retry_After="1")
        else:
            self.do_good(number, body)

    def do_failing(self, number, body):
        if number <= 2:
            self.error(500 + number, "overloaded")
        else:
            self.do_good(number, body)

    def do_hang(self, number, body):
        time.sleep(20)

    def do_silent(self, number, body):
        self.head(200, "text/event-stream")
        self.wfile.write(b"data: " + piece("he").encode() + b"\n\n")
        self.wfile.flush()
        time.sleep(20)

    def do_beats(self, number, body):
        """Slow, but alive: longer than the limit on silence."""
        self.head(200, "text/event-stream")
        for _ in range(8):
            self.wfile.write(b": beat\n\n")
            self.wfile.flush()
            time.sleep(0.2)
        self.wfile.write(b"data: " + piece("hello", "stop").encode() + b"\n\ndata: [DONE]\n\n")

    def do_drip(self, number, body):
        """A byte at a time, whole in the end."""
        self.head(200, "text/event-stream")
        for byte in b"data: " + piece("hello", "stop").encode() + b"\n\ndata: [DONE]\n\n":
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.002)

    def do_endless(self, number, body):
        """A byte at a time, for ever."""
        self.head(200, "text/event-stream")
        while True:
            self.wfile.write(b":")
            self.wfile.flush()
            time.sleep(0.05)

    def do_cut(self, number, body):
        if number > 1:
            return self.do_good(number, body)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"40\r\ndata: " + piece("he").encode()[:30])
        self.wfile.flush()
        self.connection.close()
        self.close_connection = True

    def do_wrong_json(self, number, body):
        self.whole(200, '{"choices": [{"message": ')

    def do_nonsense_event(self, number, body):
        self.stream("hello there")

    def do_no_choices(self, number, body):
        self.whole(200, '{"choices": []}')

    def do_html(self, number, body):
        self.whole(200, "<html><body>login</body></html>", "text/html")

    def do_huge(self, number, body):
        self.head(200, "text/event-stream")
        data = b"data: " + piece("x" * 100000).encode() + b"\n\n"
        for _ in range(1000):
            self.wfile.write(data)

    def do_huge_line(self, number, body):
        self.head(200, "text/event-stream")
        for _ in range(1000):
            self.wfile.write(b"y" * 100000)

    def do_invalid_utf8(self, number, body):
        self.stream(b'{"choices":[{"delta":{"content":"a\xff\xfeb"},"finish_reason":"stop"}]}')

    def do_escapes(self, number, body):
        if number == 1:
            self.error(400, "\033[2J\033]0;title\007 bad")
        else:
            self.stream(piece("\033[31mred", "stop"))

    def do_length(self, number, body):
        self.stream(piece("hel"), piece(finish="length"), usage(20, 50))

    def do_filter(self, number, body):
        self.stream(piece(finish="content_filter"))

    def do_no_usage(self, number, body):
        self.stream(piece("hello"), piece(finish="stop"))

    def do_redirect(self, number, body):
        port = self.server.server_address[1]
        self.whole(307, "", Location=f"http://localhost:{port}/good/{self.path.split('/')[2]}/v1/chat/completions")

    def do_echo_key(self, number, body):
        key = self.headers.get("Authorization", "")
        if number == 1:
            self.error(401, f"the key {key} is wrong")
        else:
            self.stream(piece("your key: " + key[:12]), piece(key[12:], "stop"))

    def do_picky(self, number, body):
        if "max_tokens" in body:
            self.error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        else:
            self.do_good(number, body)

    def do_count(self, number, body):
        """Counts a token for every four bytes of the prompt and uses all that the reply may have."""
        prompt = sum(len(message["content"].encode()) for message in body["messages"]) // 4 + 10
        self.stream(piece("hello", "stop"), usage(prompt, body["max_tokens"]))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # askers that come while a huge answer is being written wait here


server = Server(("127.0.0.1", 0), Handler)
print("port", server.server_address[1], flush=True)
server.serve_forever()
