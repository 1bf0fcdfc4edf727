#!/usr/bin/env python3
"""How long an editor waits for diagnostics after a change, on a policy set of 1 MiB.

    cargo build --release && python3 tests/bench/lsp.py [PATH-OF-SWITCHBACK] [--edits N]

Writes a set, opens one of its files in `switchback lsp`, and sends one change after the other: a number, a misspelt
name, its correction. Each is timed from the first byte of the change to the last byte of the diagnostics that carry
its version. One JSON line for each shape of the set; exits with 1 if p95 is not below 50 ms.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

LIMIT_MS = 50
SIZE = 1024 * 1024

SHARED = """switchback 1

provider p { api openai-chat; key env P_KEY }
provider q { api openai-chat; base-url "https://q.example/v1"; key env Q_KEY }

matrix standard {
  connect, overloaded, server-error -> retry once, failover
  timeout-*                         -> failover
  rate-limit                        -> wait up to 2s, failover
  otherwise                         -> stop
}
"""

UNIT = """
## What team {n} has agreed on with its users.
model model-{n} {{
  modalities        [text]
  streaming         yes
  tools             yes
  structured-output json-schema
  context           128k
  max-output        16k
  price             $2.50/M in, $10/M out
}}
target first-{n}  {{ model model-{n}; provider p; region us-east; upstream "model-{n}-2026" }}
target second-{n} {{ model model-{n}; provider q; region eu-west }}
contract team-{n} {{ streaming yes; context >= 64k }}
tier tier-{n} {{
  chain {{ first-{n}; second-{n} }}
  chain in [eu-*] {{ second-{n}; first-{n} when request.tokens <= 100k }}
}}
budget budget-{n} {{
  deadline        20s
  attempts        4
  attempt-timeout 8s
  backoff         200ms to 2s, jitter full
}}
route team-{n} {{
  version  3
  contract team-{n}
  tier     tier-{n}
  matrix   standard
  budget   budget-{n}
}}
test "team {n}: an outage costs one retry" {{
  send       team-{n} {{ stream yes; tokens 2k }}
  first-{n}  answers overloaded after 50ms
  second-{n} answers ok after 450ms
  expect     served by second-{n}
  expect     attempts == 3
}}
"""


def policy_set(files):
    """Texts of a set of about 1 MiB in so many files."""
    texts, n = [], 0
    for at in range(files):
        parts = [SHARED if at == 0 else "switchback 1\n"]
        while sum(map(len, parts)) < SIZE // files:
            parts.append(UNIT.format(n=n))
            n += 1
        texts.append("".join(parts))
    return texts


class Server:
    def __init__(self, binary, folder):
        self.process = subprocess.Popen([binary, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
        self.tell("initialized", {})

    def write(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def read(self):
        length = 0
        while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
            name, value = line.split(b":", 1)
            if name.lower() == b"content-length":
                length = int(value)
        return self.process.stdout.read(length)

    def tell(self, method, params):
        self.write({"method": method, "params": params})

    def ask(self, method, params):
        self.write({"id": 1, "method": method, **({} if params is None else {"params": params})})
        while True:
            message = json.loads(self.read())
            if message.get("id") == 1 and "method" not in message:
                return message.get("result")

    def diagnostics(self, uri, version):
        """When the diagnostics of a version were there, and what they are."""
        while True:
            body = self.read()
            now = time.perf_counter()
            params = json.loads(body).get("params", {})
            if params.get("uri") == uri and params.get("version") == version:
                return now, params["diagnostics"]

    def end(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        # Diagnostics that nobody waited for may fill the pipe, and a server that cannot write does not end.
        self.process.stdout.read()
        self.process.wait()


def measure(binary, files, edits):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        texts = policy_set(files)
        for at, text in enumerate(texts):
            (folder / f"{at:03}.sbk").write_text(text)
        server = Server(binary, folder)
        changed = len(texts) // 2
        uri, lines = (folder / f"{changed:03}.sbk").as_uri(), texts[changed].splitlines()
        document = {"uri": uri, "languageId": "switchback", "version": 1, "text": texts[changed]}
        server.tell("textDocument/didOpen", {"textDocument": document})
        _, found = server.diagnostics(uri, 1)
        assert not [d for d in found if d["severity"] == 1], found[:3]
        deadlines = [n for n, line in enumerate(lines) if line.startswith("  deadline        20s")]
        tiers = [n for n, line in enumerate(lines) if line.startswith("  tier     tier-")]
        version, times = 1, []

        def change(line, start, end, text):
            nonlocal version
            version += 1
            place = lambda character: {"line": line, "character": character}
            edit = {"range": {"start": place(start), "end": place(end)}, "text": text}
            params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [edit]}
            begun = time.perf_counter()
            server.tell("textDocument/didChange", params)
            ended, found = server.diagnostics(uri, version)
            times.append((ended - begun) * 1000)
            return [d for d in found if d["severity"] == 1]

        for n in range(edits // 3):
            assert not change(deadlines[n % len(deadlines)], 18, 20, f"{20 + n % 7}")
            line = tiers[n % len(tiers)]
            assert len(change(line, 11, 15, "teir")) >= 1
            assert not change(line, 11, 15, "tier")
        server.end()
        times.sort()
        return times, sum(map(len, texts))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default="target/release/switchback")
    parser.add_argument("--edits", type=int, default=300)
    args = parser.parse_args()
    late = False
    for files in (16, 1):
        times, size = measure(os.path.abspath(args.binary), files, args.edits)
        p95 = times[int(len(times) * 0.95)]
        late |= p95 >= LIMIT_MS
        line = {
            "bench": f"lsp-diagnostics-p95-{files}-files",
            "unit": "ms",
            "value": round(p95, 2),
            "against": LIMIT_MS,
            "ratio": round(p95 / LIMIT_MS, 3),
            "n": len(times),
            "p50": round(times[len(times) // 2], 2),
            "bytes": size,
        }
        print(json.dumps(line), flush=True)
    sys.exit(1 if late else 0)


if __name__ == "__main__":
    main()
