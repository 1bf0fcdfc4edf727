"""What happens to requests when a real model server dies, is not ready, or is asked for more than it holds.

`llm.py SWITCHBACK PYTHON [--short]`: the gateway's binary, and a Python that has the model server. Prints what was seen
in each run and exits 1 if anything that must hold did not. Ends all that it started.
"""

import collections
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import ending
from counting import Counting

HERE = Path(__file__).resolve().parent
SHORT = "--short" in sys.argv
# Under the kill: how many requests, how long their answers, and how many must be running or queued by then.
MANY, TOKENS, AT_LEAST = (48, 16, 40) if SHORT else (64, 32, 56)
# First endpoint: slots and what one holds; second: the same.
FIRST, SECOND = (6, 512), (6, 2048)

failures = []


def must(holds, what):
    if not holds:
        failures.append(what)
        print(f"  DOES NOT HOLD: {what}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(what, seconds, condition, pause=0.02):
    """Waits for a condition, and ends the whole where it does not come."""
    late = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > late:
            raise SystemExit(f"llm: {what}: not within {seconds}s")
        time.sleep(pause)


class Endpoint:
    """A model server and the relay in front of it."""

    def __init__(self, python, name, slots, context, log):
        self.command = [python, str(HERE / "llama.py")]
        self.name, self.slots, self.context, self.log = name, slots, context, log
        self.port = free_port()
        self.front = Counting(self.port)
        self.process = None

    def start(self):
        arguments = [str(self.port), str(self.context), str(self.slots), self.name]
        self.process = subprocess.Popen(self.command + arguments, stdout=self.log, stderr=self.log)

    def health(self):
        """The status of the server's own health check; 0 while nobody listens."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
            connection.request("GET", "/health")
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0

    def kill(self):
        self.process.kill()
        self.process.wait()


class Answer:
    """One request, sent at once, and all that its client sees."""

    def __init__(self, port, content, stream, tokens):
        self.stream, self.port = stream, port
        self.output, self.done, self.error, self.finish = False, False, None, None
        self.status, self.target, self.id, self.attempts, self.broken = 0, None, None, 0, None
        self.ended, self.ended_at = threading.Event(), None
        message = {"role": "user", "content": content}
        self.body = {"model": "chat", "stream": stream, "max_tokens": tokens, "messages": [message]}
        # A model may also choose to say nothing, which is a failure of its own and not looked at here.
        self.body |= {"temperature": 0, "ignore_eos": True}
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        try:
            self._ask()
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.broken = type(error).__name__
        finally:
            self.ended_at = time.monotonic()
            self.ended.set()

    def _ask(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=240)
        connection.request("POST", "/v1/chat/completions", json.dumps(self.body))
        answer = connection.getresponse()
        self.status, self.id = answer.status, answer.headers["x-switchback-id"]
        self.target, self.attempts = answer.headers["x-switchback-target"], int(answer.headers["x-switchback-attempts"])
        if not (self.stream and self.status == 200):
            said = json.loads(answer.read())
            self.error = said.get("error")
            self.output = bool("choices" in said and said["choices"][0]["message"]["content"])
            return
        # Not `readline`: it takes a body that breaks off for one that ends.
        rest = b""
        while piece := answer.read1(65536):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                self._line(line.strip())

    def _line(self, line):
        if line == b"data: [DONE]":
            self.done = True
        elif line.startswith(b"data:"):
            event = json.loads(line[5:])
            self.error = self.error or event.get("error")
            for choice in event.get("choices") or []:
                self.output = self.output or bool((choice.get("delta") or {}).get("content"))
                self.finish = self.finish or choice.get("finish_reason")

    def ending(self):
        """How it ended, in words."""
        if self.error:
            how = f"error {self.error['code']}"
            if self.status == 200:
                how += "" if self.broken else " and an orderly end"
                how += " with [DONE]" if self.done else ""
                how += " with a finish reason" if self.finish else ""
            return how
        if self.stream:
            if self.done and self.finish and not self.broken:
                return "[DONE]"
            return f"NO END ({self.broken or 'closed in order'})"
        return "whole" if self.output else f"NOTHING ({self.broken})"

    def good(self):
        return self.status == 200 and self.output and self.ending() in ("[DONE]", "whole")


class Run:
    """One run: what was counted before it, and what it must look like after it."""

    def __init__(self, name, setup):
        setup.fresh_gateway()
        self.name, self.setup, self.answers = name, setup, []
        self.before = {e.name: e.front.seen() for e in setup.endpoints}
        self.began = time.monotonic()
        print(f"== {name}")

    def ask(self, content, stream, tokens=TOKENS):
        answer = Answer(self.setup.port, content, stream, tokens)
        self.answers.append(answer)
        return answer

    def finish(self):
        for answer in self.answers:
            if not answer.ended.wait(max(0.1, self.began + 230 - time.monotonic())):
                raise SystemExit(f"llm: {self.name}: a request did not end in 230s")
        asked = len(self.answers)
        until("records", 5, lambda: len(self.setup.records()) >= asked)
        records = self.setup.records()
        self.show(records)
        must(len(records) == asked, f"{len(records)} records of {asked} requests")
        in_records = collections.Counter(s["target"] for r in records for s in r["steps"] if s["target"])
        for endpoint in self.setup.endpoints:
            calls = endpoint.front.seen()[0] - self.before[endpoint.name][0]
            recorded = in_records[endpoint.name]
            must(calls == recorded, f"calls at {endpoint.name}: {calls} counted in front of it, {recorded} in the records")
        of = {r["id"]: r for r in records}
        for answer in self.answers:
            record = of.get(answer.id)
            must(record is not None, f"a record of {answer.id}")
            if record:
                calls = sum(1 for s in record["steps"] if s["target"])
                must(record["attempts"] == calls, f"{answer.id}: attempts {record['attempts']}, {calls} steps that call")
        return records

    def show(self, records):
        print(f"  requests {len(self.answers)}, streams among them {sum(a.stream for a in self.answers)}, "
              f"seconds {time.monotonic() - self.began:.1f}")
        served = collections.Counter(r["target"] for r in records if r["outcome"] == "served")
        print(f"  outcomes: {counts(collections.Counter(r['outcome'] for r in records))}; served per target: {counts(served)}")
        failed = collections.Counter(
            f"{s['target']} {s['class']}" + (f" ({s['status']})" if s["status"] else "") + f" at {s['stage']}"
            for r in records for s in r["steps"] if s["class"] and s["target"])
        print(f"  failed calls by class: {counts(failed)}")
        skipped = collections.Counter(f"{k['target']} {k['reason']}" for r in records for s in r["steps"] for k in s["skipped"])
        print(f"  passed over: {counts(skipped)}")
        begun = [a for a in self.answers if a.stream and a.status == 200]
        for target in sorted({a.target for a in begun}):
            ends = collections.Counter(a.ending() for a in begun if a.target == target)
            print(f"  streams begun at {target}: {sum(ends.values())}, ended: {counts(ends)}")
        others = collections.Counter(f"{a.status} {a.ending()}" for a in self.answers if a not in begun)
        print(f"  whole answers and refusals: {counts(others)}")
        for endpoint in self.setup.endpoints:
            calls, answers = endpoint.front.seen()
            before, old = self.before[endpoint.name]
            recorded = sum(1 for r in records for s in r["steps"] if s["target"] == endpoint.name)
            print(f"  calls in front of {endpoint.name}: {calls - before} ({counts(answers - old)}); in the records: {recorded}")


def counts(counter):
    return ", ".join(f"{what} {n}" for what, n in sorted(counter.items(), key=lambda i: -i[1])) or "none"


class Setup:
    """Two endpoints and the gateway before them."""

    def __init__(self, switchback, python, folder):
        self.folder, self.started = Path(folder), []
        self.log = open(self.folder / "servers.log", "wb")
        self.first = Endpoint(python, "first", *FIRST, self.log)
        self.second = Endpoint(python, "second", *SECOND, self.log)
        self.endpoints = [self.first, self.second]
        self.switchback, self.gateway, self.port = switchback, None, 0

    def start(self):
        for endpoint in self.endpoints:
            endpoint.start()
        for endpoint in self.endpoints:
            until(f"model server {endpoint.name}", 40, lambda: endpoint.health() == 200)

    def fresh_gateway(self):
        """A gateway that holds nothing against anybody, with an empty file of records."""
        self.stop_gateway()
        (self.folder / "records").unlink(missing_ok=True)
        environment = dict(os.environ)
        environment["SWITCHBACK_REAL_FIRST"] = f"http://127.0.0.1:{self.first.front.port}/v1"
        environment["SWITCHBACK_REAL_SECOND"] = f"http://127.0.0.1:{self.second.front.port}/v1"
        command = [self.switchback, "serve", str(HERE / "llm.sbk"), "--listen", "127.0.0.1:0"]
        with open(self.folder / "gateway.log", "wb") as said:
            self.gateway = subprocess.Popen(
                command + ["--records", str(self.folder / "records")], env=environment, stdout=said, stderr=said)
        until("the gateway", 20, self._listening)

    def _listening(self):
        if self.gateway.poll() is not None:
            raise SystemExit("llm: the gateway ended: " + (self.folder / "gateway.log").read_text())
        found = re.search(r"listening on http://127\.0\.0\.1:(\d+)", (self.folder / "gateway.log").read_text())
        self.port = int(found[1]) if found else 0
        return self.port

    def records(self):
        file = self.folder / "records"
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        # The last line may be half written.
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def stop_gateway(self):
        if self.gateway and self.gateway.poll() is None:
            self.gateway.send_signal(signal.SIGTERM)
            try:
                must(self.gateway.wait(15) == 0, f"the gateway ends with exit 0, not {self.gateway.returncode}")
            except subprocess.TimeoutExpired:
                must(False, "the gateway ends within 15s of SIGTERM")
                self.gateway.kill()
                self.gateway.wait()

    def stop(self):
        self.stop_gateway()
        for endpoint in self.endpoints:
            if endpoint.process and endpoint.process.poll() is None:
                endpoint.kill()
            endpoint.front.close()
        self.log.close()


def kill_under_load(setup):
    run = Run(f"kill -9 of the first server under {MANY} requests", setup)
    for i in range(MANY):
        run.ask(f"Tell me a long story about ship number {i}.", stream=i % 4 != 3)
    open_streams = lambda: [a for a in run.answers if a.stream and a.output and not a.ended.is_set()]
    at_first = lambda: setup.first.front.seen()[0] - run.before["first"][0] - sum(a.ended.is_set() for a in run.answers)
    # Before their ends come: an answer takes many times as long as its first word.
    until("streams at the first server", 40, lambda: len(open_streams()) >= 3 and at_first() >= AT_LEAST, 0.002)
    here, begun = at_first(), len(open_streams())
    setup.first.kill()
    killed_at = time.monotonic()
    print(f"  at the kill: {here} requests running or queued at the first server, {begun} streams begun")
    must(here >= AT_LEAST, f"{here} requests at the first server, at least {AT_LEAST} are meant")
    until("the end of the streams begun", 10, lambda: not open_streams() or all(
        a.target == "second" for a in open_streams()))
    for i in range(4):
        run.ask(f"Are you there, number {i}?", stream=i % 2 == 0, tokens=8)
    run.finish()
    broken = [a for a in run.answers if a.target == "first" and not a.good()]
    must(len(broken) >= 1, "some stream was broken by the kill")
    for answer in run.answers:
        if answer in broken:
            must(answer.ending() == "error partial-stream", f"{answer.id}: a begun stream ended as: {answer.ending()}")
        else:
            must(answer.good() and (answer.target == "second" or answer.ended_at < killed_at),
                 f"{answer.id}: no output at the kill, ended as {answer.status} {answer.ending()} by {answer.target}")
            must(answer.attempts in (1, 2, 3), f"{answer.id}: {answer.attempts} attempts")


def loading(setup):
    run = Run("the first server is loading its model", setup)
    setup.first.start()
    seen = lambda what: (setup.first.front.seen()[1] - run.before["first"][1])[what]
    late = time.monotonic() + 40
    # One before anybody listens, since more of them would be a reason not to ask there at all; all the time while it says
    # that it is loading; some when it is there.
    asked = {0: 0, 503: 0, 200: 0}
    while asked[200] < 3:
        if time.monotonic() > late:
            raise SystemExit("llm: the first server did not come back in 40s")
        health = setup.first.health()
        if asked[health] < {0: 1, 503: 40, 200: 3}[health]:
            asked[health] += 1
            run.ask("Say yes.", len(run.answers) % 2 == 0, tokens=4)
        time.sleep(0.03)
    back = None
    if not SHORT:
        # The breaker that all this opened is closed again by a trial, half a minute later.
        began = time.monotonic()
        while back is None and time.monotonic() < began + 60:
            answer = run.ask("Are you back?", False, tokens=4)
            answer.ended.wait(60)
            if answer.target == "first":
                back = time.monotonic() - began
            time.sleep(1)
        print(f"  the first server answers again: {'never' if back is None else f'after {back:.0f}s'}")
    records = run.finish()
    must(SHORT or back is not None, "the first server gets requests again")
    refusals = [s for r in records for s in r["steps"] if s["target"] == "first" and s["status"] == 503]
    must(refusals, "some request met a server that was loading")
    must(all(s["class"] == "overloaded" for s in refusals), "a server that is loading is `overloaded`")
    for answer in run.answers:
        must(answer.good(), f"{answer.id}: {answer.status} {answer.ending()}")
    for record in records:
        if any(s["status"] == 503 for s in record["steps"]):
            must(record["target"] == "second", f"{record['id']}: served by {record['target']}")


def beyond_context(setup):
    run = Run("prompts beyond the first server's context", setup)
    prompt = lambda tokens: "a b c d e f g h " * (tokens // 8)
    # More than it holds and less than its policy says; more than its policy says; more than anybody's.
    kinds = {"refused by the server": 650, "known to be too long": 1100, "too long for all": 2500}
    asked = {}
    for kind, tokens in kinds.items():
        asked[kind] = []
        for i in range(4 if SHORT else 12):
            # One at a time: the server that answers has read most of the same prompt before.
            asked[kind].append(run.ask(prompt(tokens), i % 2 == 0, tokens=4))
            asked[kind][-1].ended.wait(230)
    records = {r["id"]: r for r in run.finish()}
    for kind, answers in asked.items():
        paths = collections.Counter(
            " ".join(f"{s['target']}:{s['class'] or 'ok'}" for s in records[a.id]["steps"] if s["target"]) or "no call"
            for a in answers)
        print(f"  {kind}: {counts(paths)}; client: {counts(collections.Counter(a.ending() for a in answers))}")
        for answer in answers:
            # A connection that was just being closed is met once and left; the prompt has no part in it.
            calls = [s for s in records[answer.id]["steps"] if s["target"] and s["class"] != "connect"]
            steps = [(s["target"], s["class"]) for s in calls]
            if kind == "too long for all":
                must(answer.status == 503 and answer.error["code"] == "contract" and not steps,
                     f"{answer.id}: {answer.status} {answer.ending()} after {steps}")
                continue
            want = [("first", "context-overflow")] if kind == "refused by the server" else []
            must(answer.good() and steps == want + [("second", None)],
                 f"{answer.id}: {answer.status} {answer.ending()} after {steps}")


def main():
    switchback, python = [a for a in sys.argv[1:] if not a.startswith("--")]
    ending.in_order("llm")
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(switchback, python, folder)
        try:
            setup.start()
            kill_under_load(setup)
            loading(setup)
            beyond_context(setup)
        finally:
            setup.stop()
            if failures and (log := setup.folder / "gateway.log").exists():
                print("-- the last that the gateway said")
                print("\n".join(log.read_text().splitlines()[-10:]))
    print("== all holds" if not failures else f"== {len(failures)} do not hold")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
