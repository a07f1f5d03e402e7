#!/usr/bin/env python3
"""A chat endpoint that writes kernels with known abilities: the ground truth for what prompts, experiences and skills are worth.

writer.py KERNELS [--seed N] [--log FILE]

KERNELS is a folder with right kernels, one file each, from slow to fast by name (`kerf naive`, `kerf synth`). Prints its port,
then serves OpenAI-compatible chat completions until it is killed. Figures that come from it are a simulation of the learner's
environment, not of a language model.

What it can do depends on the prompt alone. An answer compiles, is right and is faster by independent chances; each is the base
plus what the prompt holds, kept between 0.02 and 0.98:

    in the prompt                                                       compiles   right   faster
    base                                                                    0.55    0.60     0.30
    the compiler's output of the last failure ("The compiler says:")       +0.35
    where an earlier kernel was wrong ("The worst is at")                           +0.25
    an experience of the task's kind (inside <experience>: KIND)           +0.10    +0.20    +0.10
    the helpful skill (inside <skill>: HELPFUL_SKILL)                                        +0.30
    the good sentence anywhere (GOOD)                                                        +0.30
    the harmful sentence anywhere (HARMFUL)                                -0.30    -0.10
    any other text                                                          none    none     none

"Faster" means one rung above the kernel that is shown (the first rung when none is), otherwise a rung at or below it. An answer
that does not compile has a syntax error; one that is not right adds one to an output. Asked for a variant of the prompt's
sections, it adds the good sentence with chance 0.3, the harmful one with 0.2, else one that does nothing. Asked which skills
to show, it names the first; asked to write one down, it describes the helpful one. The draws depend on
--seed and on how many questions came before, so that a run can be repeated."""
import argparse
import json
import pathlib
import random
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GOOD = "Give every core one contiguous stretch of the output."
HARMFUL = "Rewrite everything with macros and pointer tricks."
HELPFUL_SKILL = "blocked row traversal"
INERT = ("Take a deep breath.", "Kernels are a craft.", "Remember that the reader is an expert.")
SUMMARY = (f"NAME: blocked rows\nDESCRIPTION: Rows in blocks\nTAGS: row, softmax\nWHEN: there are many rows\nWHY: fewer misses\n"
           f"HOW: Use {HELPFUL_SKILL}.\nEXAMPLE:\n```\nfor (;;) {{}}\n```\n")
BASE = {"compiles": 0.55, "right": 0.60, "faster": 0.30}
EFFECTS = {  # what is found in the prompt -> what it adds
    "compiler output": {"compiles": 0.35},
    "wrong elements": {"right": 0.25},
    "experience": {"compiles": 0.10, "right": 0.20, "faster": 0.10},
    "skill": {"faster": 0.30},
    "good section": {"faster": 0.30},
    "harmful section": {"compiles": -0.30, "right": -0.10},
}
VARIANTS = {"good": 0.3, "harmful": 0.2}


def found_in(prompt, kind):
    """Which of EFFECTS apply."""
    inside = lambda tag: " ".join(re.findall(rf"<{tag} [^>]*>(.*?)</{tag}>", prompt, re.S))
    last = prompt.rsplit("\0", 1)[-1]  # the latest message: what failed last stands there
    marks = {"compiler output": "The compiler says:" in last, "wrong elements": "The worst is at" in last,
             "experience": bool(kind) and kind in inside("experience"), "skill": HELPFUL_SKILL in inside("skill"),
             "good section": GOOD in prompt, "harmful section": HARMFUL in prompt}
    return [name for name, there in marks.items() if there]


def abilities(prompt, kind="", base=BASE, effects=EFFECTS):
    """Chance that the answer compiles, is right, is faster."""
    chances = dict(base)
    for name in found_in(prompt, kind):
        for ability, more in effects[name].items():
            chances[ability] += more
    return {ability: min(max(chance, 0.02), 0.98) for ability, chance in chances.items()}


def broken(source):
    """Does not compile."""
    return source.rstrip() + "\nthis is no declaration\n"


def wrong(source):
    """Compiles and gives other results: after the work of the entry point or of the last kernel an output is off by one."""
    place = source.rstrip().rfind("}")
    outputs = re.findall(r"float\s*\*\s*(?:__restrict__|restrict|__restrict)?\s*(\w+)", source)
    return source[:place] + f"  {outputs[-1]}[0] += 1.0f;\n" + source[place:]


def another_default(source, rng):
    """The same kernel with other default values of its tunables: other code, about the same speed."""
    def turn(match):
        values = match.group(2).split(",")
        rng.shuffle(values)
        return match.group(1) + ",".join(value.strip() if i == 0 else " " + value.strip() for i, value in enumerate(values)) + "}"
    return re.sub(r"(tune:\s*\w+ = \{)([^}]*)\}", turn, source)


class Writer:
    """The mind behind the endpoint, without HTTP."""

    def __init__(self, kernels, seed=1, kind="", base=BASE, effects=EFFECTS):
        self.kernels, self.kind, self.seed, self.count, self.lock = kernels, kind, seed, 0, threading.Lock()
        self.base, self.effects = base, effects  # others than documented make a test need fewer questions
        self.shapes = [self.shape(source) for source in kernels]

    @staticmethod
    def shape(source):
        """What is left of a kernel without the lines of its tunables."""
        return re.sub(r"\s+", " ", re.sub(r"(?m)^.*tune:.*$", "", source))

    def rung(self, prompt):
        """Of the kernel to make faster; -1 when none is shown."""
        shown = re.search(r"## The kernel\n\n```\w*\n(.*?)```", prompt, re.S)
        if not shown:
            return -1
        shape = self.shape(shown.group(1)).strip()
        return next((i for i, one in enumerate(self.shapes) if one.strip() == shape), 0)

    def answer(self, messages):
        prompt = "\0".join(message["content"] for message in messages)
        with self.lock:
            self.count += 1
            rng = random.Random(f"{self.seed} {self.count}")
        if "part of a prompt that may change" in prompt:
            return self.variant(rng), {"asked": "variant"}
        if "You choose advice for a model" in prompt:
            return "SKILLS: 1", {"asked": "selection"}
        if "Write down what made the difference" in prompt:
            return SUMMARY, {"asked": "summary"}
        chances = abilities(prompt, self.kind, self.base, self.effects)
        drawn = {name: rng.random() < chance for name, chance in chances.items()}
        rung = self.rung(prompt)
        next_rung = min(rung + 1, len(self.kernels) - 1) if drawn["faster"] else rng.randint(0, max(rung, 0))
        source = another_default(self.kernels[next_rung], rng)
        if not drawn["compiles"]:
            source = broken(source)
        elif not drawn["right"]:
            source = wrong(source)
        return f"```\n{source.strip()}\n```\n", {"asked": "kernel", "found": found_in(prompt, self.kind), "rung": next_rung,
                                                 **drawn}

    def variant(self, rng):
        draw = rng.random()
        text = GOOD if draw < VARIANTS["good"] else HARMFUL if draw < sum(VARIANTS.values()) else rng.choice(INERT)
        return f"<<<<<<< SEARCH\n# strategies\n=======\n# strategies\n{text}\n>>>>>>> REPLACE\n"


def make_handler(writer, log):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text, note = writer.answer(body["messages"])
            if log:
                log.write(json.dumps(note) + "\n")
            usage = {"prompt_tokens": sum(len(m["content"]) for m in body["messages"]) // 4, "completion_tokens": len(text) // 4}
            pieces = [{"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
            data = b"".join(b"data: " + json.dumps(piece).encode() + b"\n\n" for piece in pieces) + b"data: [DONE]\n\n"
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
    return Handler


def serve(writer, log=None):
    """Started in a thread; gives the server, whose address is server.server_address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), make_handler(writer, log))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="", help="what an experience of the right kind holds")
    parser.add_argument("--log", type=pathlib.Path)
    options = parser.parse_args()
    kernels = [path.read_text() for path in sorted(options.kernels.iterdir())]
    log = open(options.log, "a", buffering=1) if options.log else None
    server = serve(Writer(kernels, options.seed, options.kind), log)
    print("port", server.server_address[1], flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
