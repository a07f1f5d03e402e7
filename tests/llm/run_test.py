#!/usr/bin/env python3
"""Whole runs with the llm and command minds against a scripted endpoint that fails now and then. run_test.py KERF"""
import json
import os
import pathlib
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TASK = """
[inputs]
x = "f32[rows, cols]"
[shapes]
default = { rows = 512, cols = 1024, weight = 1 }
tail = { rows = 33, cols = 521 }
[reference]
expr = "y = sum(x, axis=-1)"
"""
KERNEL = """/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long r = 0; r < rows; ++r) {
    float s[WIDE] = {};
    long c = 0;
    for (; c + WIDE <= cols; c += WIDE)
      for (int j = 0; j < WIDE; ++j) s[j] += x[r * cols + c + j];
    float t = 0;
    for (int j = 0; j < WIDE; ++j) t += s[j];
    for (; c < cols; ++c) t += x[r * cols + c];
    y[r] = t;
  }
}
"""
KEY = "sk-never-to-be-seen-anywhere"


def kernel(wide):
    return KERNEL.replace("WIDE", str(wide))


def block(text):
    return f"Here it is.\n```cpp\n{text}```\n"


FAILURES = ("429", "500", "503", "cut", "hang", "silent", "malformed", "nonsense", "html", "empty", "no choices", "huge",
            "length", "filter", "invalid utf8", "escapes", "no usage")


class Writer(BaseHTTPRequestHandler):
    """Answers in turn with `script`: texts, numbers for an HTTP status, or ("fail", KIND, TEXT) with one of FAILURES.
    `billed`: the tokens it has told the client."""
    protocol_version = "HTTP/1.1"
    script, asked, billed, lock = [], [], 0, threading.Lock()

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with Writer.lock:
            Writer.asked.append(body)
            step = Writer.script[min(len(Writer.asked), len(Writer.script)) - 1]
        if isinstance(step, tuple):
            try:
                return self.misbehave(step[1], step[2], body)
            except (BrokenPipeError, ConnectionResetError):
                return
        if isinstance(step, int):
            data = json.dumps({"error": {"message": f"no, {self.headers.get('Authorization')}"}}).encode()
            self.send_response(step)
            self.send_header("Content-Type", "application/json")
        else:
            data = self.events(step, "stop", self.bill(body))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def bill(self, body):
        prompt, reply = sum(len(m["content"]) for m in body["messages"]) // 4, min(300, body["max_tokens"])
        with Writer.lock:
            Writer.billed += prompt + reply
        return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": reply}}

    def events(self, text, finish, usage=None):
        pieces = [{"choices": [{"delta": {"content": text}, "finish_reason": finish}]}] + ([usage] if usage else [])
        return b"".join(b"data: " + json.dumps(piece).encode() + b"\n\n" for piece in pieces) + b"data: [DONE]\n\n"

    def send(self, data, kind="text/event-stream", status=200, length=None, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(length or len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def misbehave(self, kind, text, body):
        self.close_connection = True
        if kind.isdigit():
            return self.send(b'{"error": {"message": "not now"}}', "application/json", int(kind), Retry_After="0")
        if kind in ("hang", "hang long"):
            return threading.Event().wait(3 if kind == "hang" else 40)
        if kind in ("cut", "silent"):
            self.send(self.events(text, None)[:len(text) // 2], length=100000)
            return threading.Event().wait(3) if kind == "silent" else None
        plain = {"malformed": b'{"choices": [{"message": ', "no choices": b'{"choices": []}'}
        if kind in plain:
            return self.send(plain[kind], "application/json")
        if kind == "html":
            return self.send(b"<html>log in</html>", "text/html")
        streams = {"nonsense": lambda: b"data: hello there\n\n", "empty": lambda: self.events("", "stop", self.bill(body)),
                   "huge": lambda: self.events("x" * (20 << 20), "stop"), "length": lambda: self.events(text, "length", self.bill(body)),
                   "filter": lambda: self.events("", "content_filter", self.bill(body)), "no usage": lambda: self.events(text, "stop"),
                   "invalid utf8": lambda: self.events("a\xffb", "stop", self.bill(body)).replace(b"\\u00ff", b"\xff\xfe"),
                   "escapes": lambda: self.events("\033[2J\033]0;title\007", "stop", self.bill(body))}
        self.send(streams[kind]())


def check(condition, *words):
    if not condition:
        print("FAILED:", *words)
        sys.exit(1)


class Tests:
    def __init__(self, kerf, folder, url):
        self.kerf, self.folder, self.url = kerf, folder, url
        (folder / "task.toml").write_text(TASK)

    def run(self, *args, code=0, **more):
        env = {**os.environ, "OPENAI_API_KEY": KEY, "KERF_MEMORY": "off", "KERF_CACHE": str(self.folder / "cache")}
        done = subprocess.run([self.kerf, *map(str, args)], cwd=self.folder, env=env, text=True, capture_output=True, **more)
        check(done.returncode == code, args, done.returncode, done.stdout[-2000:], done.stderr[-4000:])
        check(KEY not in done.stdout and KEY not in done.stderr, "the key was printed")
        check("\033" not in done.stderr, "an escape sequence was printed")
        return done

    def optimize(self, name, *args, script=None, task="task.toml", setup=lambda: None, **more):
        Writer.script, Writer.asked = script or [], []
        setup()
        quick = ["--set", "measure.max_rounds=4", "--set", "search.tunings=0", "--set", "search.finalists=1", "--seed", "1"]
        done = self.run("optimize", task, "--out", name, "--json", *quick, *args, **more)
        return json.loads(done.stdout)

    def steps(self, name):
        return [json.loads(line) for line in (self.folder / name / "events.jsonl").read_text().splitlines()
                if '"event":"step"' in line.replace(" ", "")]

    def traces(self, name):
        return [json.loads(line) for line in self.run("traces", "export", name).stdout.splitlines()]

    def llm(self, *args):
        return ("--mind", "llm", "--model", "writer", "--base-url", self.url, *args)

    def test_writes_repairs_and_improves(self):
        broken = kernel(4).replace("float t = 0;", "float t = 0")
        mended = "<<<<<<< SEARCH\n    float t = 0\n=======\n    float t = 0;\n>>>>>>> REPLACE\n"
        wrong = kernel(8).replace("float t = 0;", "float t = 1;")
        models = self.folder / "models.toml"
        models.write_text(f'[[model]]\nname = "writer"\nbase_url = "{self.url}"\nat_once = 1\nprompt_price = 1\nreply_price = 2\n')
        result = self.optimize("repairs", "--mind", "llm", "--models", models, "--evals", 6, "--record-chats", "chats.jsonl",
                               script=[503, block(broken), mended, "I would rather \033[2J not.", block(wrong), block(kernel(16))])
        steps = [s for s in self.steps("repairs") if s["stage"] != "final"]
        outcomes = [s["outcome"] for s in steps]
        check(outcomes[:5] == ["build_failed", "measured", "rejected", "wrong_result", "measured"], outcomes)
        check(result["best_step"] > 0, result)
        second = Writer.asked[2]["messages"]
        check(len(second) == 4 and second[2]["content"] == block(broken), "the conversation goes on")
        check("error" in second[3]["content"], "the compiler output is shown")
        traces = self.traces("repairs")
        check(len(traces) >= 5 and traces[0]["reward"] == -0.8 and traces[1]["reward"] == 1, [t["reward"] for t in traces])
        check(traces[1]["turn"] == 2 and traces[1]["messages"][-1]["role"] == "user", traces[1]["turn"])
        check(all(t["cost_usd"] > 0 and t["model"] == "writer" and t["prompt_tokens"] > 0 for t in traces), "accounts")
        shown = self.run("show", "repairs").stdout
        check("Conversations" in shown and "rejected (parse)" in shown, shown)
        turns = json.loads(self.run("show", "repairs", "--json").stdout)["conversations"]
        check([one["step"] for one in turns][:4] == [1, 2, 3, 4] and turns[1]["turns"][0]["turn"] == 2, turns)
        check("I would rather" in self.page("repairs"), "the page has what was said")
        shown = self.run("explain", "repairs", "2").stdout
        check("writer asked as policy, turn 2" in shown and "--chat" in shown, shown)
        shown = self.run("explain", "repairs", "3", "--chat").stdout
        check("I would rather ?[2J not." in shown and "Write a fast kernel" in shown, shown[-500:])
        self.keyless("repairs")
        check(stat.S_IMODE((self.folder / "chats.jsonl").stat().st_mode) == 0o600, "the record is private")
        check(KEY not in (self.folder / "chats.jsonl").read_text(), "the key was recorded")
        # Offline: the same answers from the record, the endpoint is not asked.
        self.optimize("offline", "--mind", "llm", "--models", models, "--replay-chats", "chats.jsonl", "--evals", 4, script=[500])
        check(not Writer.asked, "a replayed run asked the endpoint")
        check([s["outcome"] for s in self.steps("offline")][:4] == outcomes[:4], "the answers differ")

    def page(self, name):
        self.run("report", name)
        return (self.folder / name / "report.html").read_text()

    def keyless(self, name):
        for path in (self.folder / name).rglob("*"):
            if path.is_file():
                check(KEY.encode() not in path.read_bytes(), f"the key is in {path}")

    def test_budget_stops_cleanly(self):
        script = [block(kernel(wide)) for wide in range(2, 60)]
        result = self.optimize("budget", *self.llm("--max-tokens", 12000, "--evals", 50, "--record-chats", "budget.jsonl"), script=script)
        spent = sum(t["prompt_tokens"] + t["reply_tokens"] for t in self.traces("budget"))
        check("budget of 12000 tokens" in result["stopped"], result["stopped"])
        check(6000 < spent <= 12000, spent)
        # Resumed, what was spent counts.
        Writer.asked = []
        self.run("optimize", "--resume", "budget", "--json")
        check(not Writer.asked, "a resumed run spends its budget again")
        recorded = len((self.folder / "budget.jsonl").read_text().splitlines())
        self.run("optimize", "--resume", "budget", "--json", "--max-tokens", 16000)
        check(Writer.asked, "a larger budget is used")
        check(len((self.folder / "budget.jsonl").read_text().splitlines()) > recorded, "the record of chats stops at the resume")
        check("is the seed" in self.run("prompts", "diff", "budget", "seed", code=2).stderr, "the seed was edited from no other")

    def test_an_endpoint_that_cannot_be_asked(self):
        Writer.script, Writer.asked = [401], []
        denied = self.run("optimize", "task.toml", "--out", "denied", *self.llm("--evals", 5), code=1)
        check("keeps failing" in denied.stderr and denied.stderr.count("401") == 1, denied.stderr)
        self.keyless("denied")
        result = self.optimize("both", "--mind", "builtin,llm", "--model", "writer", "--base-url", self.url, "--evals", 5,
                               script=[401])
        check(result["evaluations"] == 5, result)

    def test_every_failure_on_three_tasks(self):
        """Nothing that was delivered is lost, and what is spent stays within the budget to the token."""
        limit = 160000
        models = self.folder / "failing.toml"
        models.write_text(f'[[model]]\nname = "writer"\nbase_url = "{self.url}"\nat_once = 1\nfirst_byte_seconds = 1\n'
                          'silence_seconds = 1\n')
        for name, expr in (("sum", "y = sum(x, axis=-1)"), ("softmax", "y = softmax(x, axis=-1)"), ("gelu", "y = gelu(x)")):
            task = f"{name}.toml"
            (self.folder / task).write_text(TASK.replace("y = sum(x, axis=-1)", expr))
            starts = self.run("synth", task, "--target", "cpu", "--list").stdout.splitlines()
            kernels = [self.run("synth", task, "--target", "cpu", "--start", n).stdout for n in range(min(len(starts), 10))]
            kernels.append(self.run("naive", task, "--target", "cpu").stdout)
            script, kinds = [], list(FAILURES)
            while kinds or kernels:
                script += [("fail", kinds.pop(0), block("int x;\n"))] if kinds else []
                script += [block(kernels.pop())] if kernels else [block("int broken")]
            result = self.optimize("failing-" + name, "--mind", "llm", "--models", models, "--evals", 60, "--max-tokens", limit,
                                   task=task, script=script + [block("int last;\n")], setup=lambda: setattr(Writer, "billed", 0))
            traces = self.traces("failing-" + name)
            shown = self.facts("failing-" + name)["model_spending"]
            spent = json.loads(shown)["prompt_tokens"] + json.loads(shown)["reply_tokens"]
            check(Writer.billed <= spent <= limit, name, Writer.billed, spent)
            answers = {t["reply"] for t in traces}
            given = [s for s in script[:len(Writer.asked) - 1] if isinstance(s, str)]
            check(all(text in answers for text in given), name, "an answer was lost")
            check(len(Writer.asked) > len(FAILURES), name, len(Writer.asked), result["stopped"])
            outcomes = {t["outcome"] for t in traces}
            check({"reply", "malformed", "empty", "truncated", "refused", "too_large"} <= outcomes, name, outcomes)
            check(result["best_step"] > 0, name, result)
            print(f"{name}: {len(Writer.asked)} requests, {len(FAILURES)} of them failures of {len(FAILURES)} kinds; {len(given)} whole answers, all in the "
                  f"traces; {Writer.billed} tokens told by the endpoint, {spent} counted with those it did not tell, of {limit}", flush=True)

    def test_a_model_writes_for_another_language(self):
        plain = self.run("naive", "task.toml", "--target", "opencl").stdout
        starts = [self.run("synth", "task.toml", "--target", "opencl", "--start", n).stdout for n in range(2)]
        broken = plain.replace(";", "", 1)
        models = self.folder / "opencl.toml"
        models.write_text(f'[[model]]\nname = "writer"\nbase_url = "{self.url}"\nat_once = 1\n')
        result = self.optimize("opencl", "--mind", "llm", "--models", models, "--target", "opencl", "--evals", 4, script=[block(broken), block(plain)] + [block(one) for one in starts])
        outcomes = [s["outcome"] for s in self.steps("opencl") if s["stage"] != "final"]
        check(outcomes[0] == "build_failed" and outcomes.count("measured") >= 2 and result["best_step"] > 0, outcomes)
        first = Writer.asked[0]["messages"]
        check("OpenCL" in first[0]["content"] + first[1]["content"], first)
        mending = [asked["messages"] for asked in Writer.asked if len(asked["messages"]) == 4]
        check(mending and mending[0][2]["content"] == block(broken) and "error" in mending[0][3]["content"], "the compiler output is shown")

    def facts(self, name):
        database = sqlite3.connect(self.folder / name / "kerf.db")
        return dict(database.execute("SELECT key, value FROM facts"))

    def test_an_interrupt_ends_a_run_that_waits(self):
        Writer.script, Writer.asked = [block(kernel(4)), ("fail", "hang long", "")], []
        env = {**os.environ, "OPENAI_API_KEY": KEY, "KERF_MEMORY": "off", "KERF_CACHE": str(self.folder / "cache")}
        run = subprocess.Popen([self.kerf, "optimize", "task.toml", "--out", "waits", "--json", "--set", "measure.max_rounds=4",
                                *self.llm("--evals", "9", "--max-tokens", "50000")],
                               cwd=self.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for _ in range(600):
            if len(Writer.asked) >= 3 and (self.folder / "waits" / "best.cpp").exists():
                break
            time.sleep(0.1)
        began = time.monotonic()
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=30)
        check(time.monotonic() - began < 15, "it did not end soon")
        Writer.script = [block(kernel(wide)) for wide in (8, 16, 32)]
        self.run("optimize", "--resume", "waits", "--evals", 3, "--json")

    def test_a_model_that_repeats_itself(self):
        result = self.optimize("repeats", *self.llm("--evals", 50), script=[block(kernel(4))])
        check("repeat themselves" in result["stopped"], result["stopped"])

    def test_builtin_and_llm_together(self):
        script = [block(kernel(wide)) for wide in range(2, 40)]
        self.optimize("together", "--mind", "builtin,llm", "--model", "writer", "--base-url", self.url, "--evals", 10,
                      script=script)
        minds = {s["proposer"] for s in self.steps("together")}
        check({"builtin", "llm"} <= minds, minds)

    def test_a_campaign_shares_one_budget(self):
        (self.folder / "mean.toml").write_text(TASK.replace("y = sum(x, axis=-1)", "y = mean(x, axis=-1)"))
        Writer.script, Writer.asked, Writer.billed = [block(kernel(wide)) for wide in range(2, 80)], [], 0
        campaign = ["campaign", "task.toml", "mean.toml", "--out", "campaign", "--json", "--evals", 40, "--set", "measure.max_rounds=4",
                    "--set", "search.tunings=0", "--set", "search.finalists=1", "--memory", "campaign.db"]
        done = json.loads(self.run(*campaign, *self.llm("--max-tokens", 40000)).stdout)
        spent = [one["tokens"] for one in done["tasks"]]
        check(Writer.billed <= sum(spent) <= 40000, Writer.billed, spent)
        check(all(3000 < one for one in spent), "both tasks are asked about", spent)
        check(all("budget" in one["stopped"] for one in done["tasks"]), done["tasks"])
        prompts = "".join(m["content"] for asked in Writer.asked for m in asked["messages"])
        check("y = mean(x" in prompts and "y = sum(x" in prompts, "each with its task")
        asked = len(Writer.asked)
        self.run(*campaign, *self.llm("--max-tokens", 40000))
        check(len(Writer.asked) == asked, "what is spent is spent")
        more = json.loads(self.run(*campaign, *self.llm("--max-tokens", 60000)).stdout)
        check(len(Writer.asked) > asked and sum(one["tokens"] for one in more["tasks"]) <= 60000, more["tasks"])
        # Killed in the middle of a task: what its run had paid by then counts in the campaign that goes on.
        killed = [*campaign]
        killed[killed.index("campaign", 1)] = "killed"
        Writer.asked, Writer.billed = [], 0
        env = {**os.environ, "OPENAI_API_KEY": KEY, "KERF_MEMORY": "off", "KERF_CACHE": str(self.folder / "cache")}
        run = subprocess.Popen([self.kerf, *map(str, killed), *self.llm("--max-tokens", "40000")], cwd=self.folder, env=env,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            if len(Writer.asked) >= 3:
                break
            time.sleep(0.1)
        run.kill()
        run.wait()
        under_way = max(sum(len(m["content"]) for m in asked["messages"]) // 4 + 300 for asked in Writer.asked)
        self.run(*killed, *self.llm("--max-tokens", 40000))
        check(Writer.billed <= 40000 + 2 * under_way, Writer.billed, under_way)
        refused = self.run(*campaign, *self.llm("--recheck", 100), code=2).stderr
        check("kerf skills verify" in refused, refused)
        for name in ("task-cpu", "mean-cpu"):
            self.keyless(f"campaign/{name}")

    def test_a_campaign_ends_in_its_time(self):
        began = time.monotonic()
        done = json.loads(self.run("campaign", "task.toml", "--time", 4, "--out", "timed", "--json", "--set", "search.finalists=1", "--set",
                                   "judge.soak_seconds=0.1").stdout)
        check(0 < done["tasks"][0]["seconds"] < 30 and time.monotonic() - began < 120, done["tasks"])

    def test_a_program_as_a_mind(self):
        program = self.folder / "agent.py"
        program.write_text("import os, pathlib\n"
                           "n = sum(1 for _ in open('instructions.md'))\n"
                           "count = pathlib.Path(os.environ['COUNT'])\n"
                           "turn = int(count.read_text() or 0) + 1 if count.exists() else 1\n"
                           "count.write_text(str(turn))\n"
                           "kernels = " + repr([kernel(4).replace("s[j] +=", "s[j] =+"), kernel(8), kernel(16)]) + "\n"
                           "open('kernel.cpp', 'w').write(kernels[(turn - 1) % 3])\n"
                           "print('turn', turn)\n")
        os.environ["COUNT"] = str(self.folder / "count")
        self.optimize("agent", "--mind", "command", "--agent-command", f"python3 {program}", "--evals", 3)
        outcomes = [s["outcome"] for s in self.steps("agent") if s["stage"] != "final"]
        check(outcomes[:3] == ["wrong_result", "measured", "measured"], outcomes)
        traces = self.traces("agent")
        check(traces[0]["reply"] == "turn 1\n" and "kernel.cpp" in traces[0]["messages"][0]["content"], traces[0]["reply"])
        absent = self.run("optimize", "task.toml", "--out", "absent", "--mind", "command", "--agent-command", "no-such-program",
                          "--evals", 3, code=1)
        check("no-such-program" in absent.stderr, absent.stderr)
        script = self.folder / "agent.sh"
        script.write_text(f"#!/bin/sh\nexec python3 {program}\n")
        self.run("optimize", "task.toml", "--out", "here", "--mind", "command", "--agent-command", "./agent.sh", code=2)
        script.chmod(0o755)
        result = self.optimize("here", "--mind", "command", "--agent-command", "./agent.sh", "--evals", 2)
        check(result["evaluations"] == 2, result)

    def test_nobody_at_the_endpoint(self):
        began = time.monotonic()
        nobody = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")
        done = self.run("optimize", "task.toml", "--out", "nobody", "--mind", "llm", *nobody, code=1)
        check(done.stderr.count("cannot be reached") == 1 and "nothing was evaluated" in done.stderr, done.stderr)
        check(time.monotonic() - began < 30, time.monotonic() - began)
        done = self.run("doctor", *nobody, code=1)
        check("cannot be reached" in done.stderr, done.stderr)

    def test_doctor_and_mistakes(self):
        Writer.script, Writer.asked = ["ready"], []
        done = self.run("doctor", "--json", "--model", "writer", "--base-url", self.url)
        check(json.loads(done.stdout)["models"][0]["answers"], done.stdout)
        for args, words in ((("--mind", "llm"), "--model"), (("--mind", "lm"), "did you mean 'llm'"),
                            (self.llm("--max-cost", "1"), "price"), (("--model", "x"), "--mind llm"),
                            (("--mind", "command"), "--agent-command"), (("--max-tokens", "1000"), "--mind llm"),
                            (("--record-chats", "chats"), "--mind llm")):
            done = self.run("optimize", "task.toml", *args, code=2)
            check(words in done.stderr, args, done.stderr)


def main():
    kerf = str(pathlib.Path(sys.argv[1]).resolve())
    only = sys.argv[2:]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Writer)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        tests = Tests(kerf, pathlib.Path(name), f"http://127.0.0.1:{server.server_address[1]}/v1")
        for method in [m for m in dir(tests) if m.startswith("test_") and (not only or m in only)]:
            getattr(tests, method)()
            print("ok", method[5:], flush=True)


main()
