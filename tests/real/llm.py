"""What happens to requests when a real model server dies, is not ready, or is asked for more than it holds.

`llm.py SWITCHBACK PYTHON [--short] [--messages]`: the gateway's binary, and a Python that has the model server. Prints
what was seen in each run and exits 1 if anything that must hold did not. Ends all that it started. With `--messages` the
first server is called in Anthropic's dialect, which it speaks too.
"""

import collections
import sys
import tempfile
import time
from pathlib import Path

import ending
from serving import HERE, Answer, Endpoint, Gateway, counts, failures, llama, must, until

SHORT = "--short" in sys.argv
MESSAGES = "--messages" in sys.argv
# Under the kill: how many requests, how long their answers, and how many must be running or queued by then.
MANY, TOKENS, AT_LEAST = (48, 16, 40) if SHORT else (64, 32, 56)
# First endpoint: slots and what one holds; second: the same.
FIRST, SECOND = (6, 512), (6, 2048)


class Run:
    """One run: what was counted before it, and what it must look like after it."""

    def __init__(self, name, setup):
        setup.fresh_gateway()
        self.name, self.setup, self.answers = name, setup, []
        self.before = {e.name: e.front.seen() for e in setup.endpoints}
        self.began = time.monotonic()
        print(f"== {name}")

    def ask(self, content, stream, tokens=TOKENS):
        answer = Answer(self.setup.gateway.port, content, stream, tokens)
        self.answers.append(answer)
        return answer

    def finish(self):
        for answer in self.answers:
            if not answer.ended.wait(max(0.1, self.began + 230 - time.monotonic())):
                raise SystemExit(f"llm: {self.name}: a request did not end in 230s")
        asked = len(self.answers)
        until("records", 5, lambda: len(self.setup.gateway.records()) >= asked)
        records = self.setup.gateway.records()
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


class Setup:
    """Two endpoints and the gateway before them."""

    def __init__(self, switchback, python, folder):
        self.log = open(Path(folder) / "servers.log", "wb")
        self.first = Endpoint("first", llama(python, *FIRST, "first"), self.log)
        self.second = Endpoint("second", llama(python, *SECOND, "second"), self.log)
        self.endpoints = [self.first, self.second]
        environment = {
            "SWITCHBACK_REAL_FIRST": f"http://127.0.0.1:{self.first.front.port}/v1",
            "SWITCHBACK_REAL_SECOND": f"http://127.0.0.1:{self.second.front.port}/v1",
        }
        policy = HERE / "llm.sbk"
        if MESSAGES:
            # The member is the server's own: whoever is asked in another dialect would not be told of it.
            Answer.extra = {}
            written = policy.read_text().replace("first-server  { api openai-chat;", "first-server  { api anthropic-messages;")
            must("anthropic-messages" in written, "the policy has a first server that speaks chat")
            policy = Path(folder) / "llm.sbk"
            policy.write_text(written)
        self.gateway = Gateway(switchback, policy, folder, environment)

    def start(self):
        for endpoint in self.endpoints:
            endpoint.start()
        for endpoint in self.endpoints:
            until(f"model server {endpoint.name}", 40, lambda: endpoint.health() == 200)

    def fresh_gateway(self):
        """A gateway that holds nothing against anybody, with an empty file of records."""
        self.gateway.stop()
        self.gateway.start()

    def stop(self):
        self.gateway.stop()
        for endpoint in self.endpoints:
            endpoint.stop()
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
            if failures:
                print("-- the last that the gateway said")
                print("\n".join(setup.gateway.log().splitlines()[-10:]))
    print("== all holds" if not failures else f"== {len(failures)} do not hold")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
