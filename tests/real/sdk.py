"""What the OpenAI SDKs make of the gateway's answers.

`sdk.py SWITCHBACK NAME=COMMAND... [--short]`: the gateway's binary, and for each SDK a command that takes the gateway's
address and then cases on stdin. Each SDK, and before them a client that is none, has a gateway of its own, so that what
one of them does is not remembered against the next; the emulator behind all of them counts what reaches it. Prints a table,
and exits 1 if anything that must hold did not. Ends all that it started.
"""

import http.client
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import ending

HERE = Path(__file__).resolve().parent
# What the gateway takes at most.
BODY_LIMIT = "64KiB"
failures = []


def must(holds, what):
    if not holds:
        failures.append(what)


class Case:
    """One request. `says` is the status and code of the gateway's error, or the text of its answer, or, where a stream has
    begun, only the code; `calls` how many reach the emulator; `requests` how many an SDK makes of it."""

    def __init__(self, name, says, calls, *, model=None, stream=False, body=None, headers=None, text="hello", requests=1):
        self.name, self.says, self.calls, self.requests = name, says, calls, requests
        self.stream = stream
        self.body = {"model": model or name, "messages": [{"role": "user", "content": text}]}
        self.body |= ({"stream": True} if stream else {}) | (body or {})
        self.headers = headers or {}

    def title(self):
        return self.name + (", stream" if self.stream else "")

    def begun(self):
        """Whether output comes before the error."""
        return self.stream and self.says[0] == 200


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
FINE = (200, "fine")


def refused(name, status, code, calls=1, **more):
    return Case(name, (status, code), calls, **more)


CASES = [
    Case("fine", FINE, 1),
    Case("fine", FINE, 1, stream=True),
    # Another target answers.
    Case("next", FINE, 2),
    Case("next", FINE, 2, stream=True),
    Case("next-after-cut", FINE, 2, stream=True),
    # Refused before any call.
    refused("unknown model", 404, "model_not_found", 0, model="nobody"),
    refused("contract", 503, "contract", 0, model="fine", body={"tools": [TOOL]}),
    # Nothing was tried, and with the same deadline trying again fares no better.
    refused("deadline passed", 504, "deadline", 0, model="fine", headers={"x-switchback-deadline-ms": "0"}),
    refused("deadline unreadable", 400, "invalid-request", 0, model="fine", headers={"x-switchback-deadline-ms": "soon"}),
    refused("pin outside the chain", 400, "invalid-request", 0, model="fine", headers={"x-switchback-pin": "down"}),
    refused("body too large", 413, "body_too_large", 0, model="fine", text="x" * 100_000),
    refused("no messages", 400, "invalid-request", 0, model="fine", body={"messages": []}),
    # All targets failed.
    refused("none-left", 503, "overloaded", 2),
    refused("none-left", 503, "overloaded", 2, stream=True),
    # Each class.
    refused("overloaded", 503, "overloaded"),
    refused("server", 502, "server-error"),
    refused("limit", 503, "rate-limit"),
    # The limit stands for two seconds, the gateway says so, and an SDK that waits is served.
    Case("limit still held", (503, "no-target"), 0, model="limit", requests=2),
    refused("quota", 503, "quota-exhausted"),
    refused("key", 502, "auth"),
    refused("rights", 502, "permission"),
    refused("gone", 502, "not-found"),
    refused("bad", 400, "invalid-request"),
    refused("long", 400, "context-overflow"),
    refused("large", 413, "payload-too-large"),
    refused("filtered", 400, "policy"),
    refused("strange", 502, "unknown"),
    refused("reset", 502, "connect"),
    refused("silent", 504, "timeout-headers"),
    refused("slow", 504, "timeout-first-token", stream=True),
    refused("stuck", 504, "timeout-idle"),
    refused("cut-late", 503, "truncated"),
    refused("no-json", 502, "malformed-response"),
    refused("no-json", 502, "malformed-response", stream=True),
    refused("nothing", 502, "empty-response"),
    refused("nothing", 502, "empty-response", stream=True),
    refused("short", 502, "truncated", body={"max_tokens": 50}),
    refused("early-error", 502, "stream-early", stream=True),
    # After output.
    refused("cut-late", 200, "partial-stream", stream=True),
    refused("stuck", 200, "partial-stream", stream=True),
    refused("late-error", 200, "partial-stream", stream=True),
    refused("no-end", 200, "partial-stream", stream=True),
]
# What takes a second or more, or says what another case says already.
LONG = {"slow", "stuck", "deadline unreadable", "strange"}


def until(what, seconds, condition):
    late = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > late:
            raise SystemExit(f"sdk: {what}: not within {seconds}s")
        time.sleep(0.01)
    return found


class Server:
    """A server of the binary, on a free port."""

    def __init__(self, folder, name, command, environment=None):
        self.log = folder / f"{name}.log"
        with open(self.log, "wb") as said:
            self.process = subprocess.Popen(
                command + ["--listen", "127.0.0.1:0"], env={**os.environ, **(environment or {})}, stdout=said, stderr=said)
        self.name = name
        self.address = until(name, 20, self._address)

    def _address(self):
        if self.process.poll() is not None:
            raise SystemExit(f"sdk: {self.name} ended: {self.log.read_text()}")
        found = re.search(r"listening on http://(127\.0\.0\.1:\d+)", self.log.read_text())
        return found and found[1]

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.address, timeout=30)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        try:
            return answer, answer.read(), True
        except http.client.IncompleteRead as cut:
            return answer, cut.partial, False
        finally:
            connection.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            must(self.process.wait(15) == 0, f"{self.name} ends with exit 0, not {self.process.returncode}")
        except subprocess.TimeoutExpired:
            must(False, f"{self.name} ends within 15s of SIGTERM")
            self.process.kill()
            self.process.wait()


class Bare:
    """A client without any opinion: what the gateway really says."""

    name = "bare"

    def __init__(self, gateway):
        self.gateway = gateway

    def ask(self, case):
        answer, body, whole = self.gateway.ask(
            "POST", "/v1/chat/completions", json.dumps(case.body), {"content-type": "application/json", **case.headers})
        seen = {"status": answer.status, "retry": answer.headers["x-should-retry"], "after": answer.headers["retry-after"]}
        seen |= {"text": "", "code": None, "whole": whole, "finish": None, "done": b"data: [DONE]" in body}
        streamed = (answer.headers["content-type"] or "").startswith("text/event-stream")
        events = [e[5:] for e in body.split(b"\n\n") if e.startswith(b"data:") and b"[DONE]" not in e] if streamed else [body]
        for event in map(json.loads, events):
            seen["code"] = (event.get("error") or {}).get("code") or seen["code"]
            for choice in event.get("choices", []):
                seen["text"] += (choice.get("message") or choice["delta"]).get("content") or ""
                seen["finish"] = choice.get("finish_reason") or seen["finish"]
        return seen

    def stop(self):
        pass


class Sdk:
    """An SDK in a process of its own."""

    def __init__(self, name, command, gateway):
        self.name = name
        command = [part.replace("ADDRESS", f"http://{gateway.address}/v1") for part in shlex.split(command)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = self._answer("its start")["version"]

    def _answer(self, what):
        # A library may wait for as long as it likes, and some do.
        killer = threading.Timer(45, self.process.kill)
        killer.start()
        line = self.process.stdout.readline()
        killer.cancel()
        if not line:
            raise SystemExit(f"sdk: {self.name} gave no answer in 45s to {what}")
        return json.loads(line)

    def ask(self, case):
        self.process.stdin.write(json.dumps({"body": case.body, "headers": case.headers}) + "\n")
        self.process.stdin.flush()
        return self._answer(case.title())

    def stop(self):
        self.process.kill()
        self.process.wait()


def records(file):
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def run(client, emulator, file, cases):
    """What the client saw in each case, with the requests and calls that it took."""
    emulator.ask("DELETE", "/emulator/calls")
    total = lambda: json.loads(emulator.ask("GET", "/emulator/calls")[1])["total"]
    seen, calls, lines = [], 0, 0
    for case in cases:
        one = client.ask(case)
        # A record is written when its request is over, a little after its answer.
        until("a record", 5, lambda: len(records(file)) > lines)
        time.sleep(0.03)
        new, now = records(file)[lines:], total()
        one |= {"requests": len(new), "calls": now - calls, "attempts": sum(r["attempts"] for r in new)}
        lines, calls = lines + len(new), now
        seen.append(one)
    return seen


def judge_bare(case, seen):
    status, said = case.says
    must(seen["status"] == status, f"{case.title()}: status {seen['status']}, meant is {status}")
    if case.says == FINE:
        must(seen["text"] == "fine" and seen["whole"] and seen["finish"], f"{case.title()}: answered {seen}")
        must(seen["retry"] is None, f"{case.title()}: x-should-retry on an answer")
    else:
        must(seen["code"] == said, f"{case.title()}: code {seen['code']}, meant is {said}")
        if case.begun():
            must(seen["text"] and not seen["whole"] and not seen["done"] and not seen["finish"],
                 f"{case.title()}: a broken stream must have no end, but {seen}")
    must(seen["calls"] == case.calls, f"{case.title()}: {seen['calls']} upstream calls, meant are {case.calls}")


def judge(case, bare, name, seen):
    where = f"{case.title()}, {name}"
    must(seen["calls"] == seen["attempts"], f"{where}: {seen['calls']} calls counted, {seen['attempts']} in the records")
    if bare["retry"] == "false":
        must(seen["requests"] == 1, f"{where}: repeated {seen['requests'] - 1} times although told not to")
        must(seen["calls"] == bare["calls"], f"{where}: {seen['calls']} upstream calls, {bare['calls']} without an SDK")
    if case.says == FINE or case.name == "limit still held":
        must("exception" not in seen and seen["finish"] and seen["text"], f"{where}: ended as {seen}")
    else:
        must("exception" in seen, f"{where}: ended as a success")
        must(seen.get("code") == case.says[1], f"{where}: code {seen.get('code')}, sent was {case.says[1]}")
        must(case.begun() or seen.get("status") == case.says[0], f"{where}: status {seen.get('status')}")
        must(not case.begun() or (seen["text"] and not seen["finish"]), f"{where}: ended as {seen}")
    must(seen["requests"] == case.requests, f"{where}: {seen['requests']} requests, meant are {case.requests}")


def show(cases, seen):
    names = list(seen)
    head = ["case", "gateway", "should-retry", "calls"]
    for name in names[1:]:
        head += [name, "req", "calls"]
    rows = [head]
    for i, case in enumerate(cases):
        bare = seen["bare"][i]
        said = f"{bare['status']} " + (bare["code"] or "ok")
        said += f", after {bare['after']}s" if bare["after"] else ""
        row = [case.title(), said, bare["retry"] or "-", str(bare["calls"])]
        for name in names[1:]:
            one = seen[name][i]
            row += [one.get("exception", "ok"), str(one["requests"]), str(one["calls"])]
        rows.append(row)
    widths = [max(len(row[c]) for row in rows) for c in range(len(head))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    cases = [c for c in CASES if "--short" not in sys.argv or c.name not in LONG]
    switchback, sdks = arguments[0], dict(a.split("=", 1) for a in arguments[1:])
    ending.in_order("sdk")
    seen, running = {}, []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        try:
            emulator = Server(folder, "emulator", [switchback, "emulate"])
            running.append(emulator)
            outside = {"SWITCHBACK_REAL_EMULATOR": f"http://{emulator.address}/v1"}
            for name in ["bare", *sdks]:
                file = folder / f"{name}.records"
                command = [switchback, "serve", str(HERE / "sdk.sbk"), "--records", str(file), "--max-body", BODY_LIMIT]
                gateway = Server(folder, f"gateway-{name}", command, outside)
                running.append(gateway)
                client = Bare(gateway) if name == "bare" else Sdk(name, sdks[name], gateway)
                running.append(client)
                if name != "bare":
                    print(f"{name}: openai {client.version}")
                seen[name] = run(client, emulator, file, cases)
        finally:
            for one in reversed(running):
                one.stop()
    show(cases, seen)
    for i, case in enumerate(cases):
        judge_bare(case, seen["bare"][i])
        for name in sdks:
            judge(case, seen["bare"][i], name, seen[name][i])
    for what in failures:
        print(f"DOES NOT HOLD: {what}")
    print(f"== {len(cases)} cases, {len(sdks)} SDKs: " + ("all holds" if not failures else f"{len(failures)} do not hold"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
