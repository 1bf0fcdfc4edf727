"""What becomes of requests while a real model server is slow, is killed, comes back, and dies again on its way back.

`outage.py SWITCHBACK PYTHON [--short]`: the gateway's binary, and a Python that has the model server. Prints a line `ok`
for each thing that was shown, with what was counted, and exits 1 if anything that must hold did not. Ends all that it
started.
"""

import hashlib
import http.client
import re
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

import ending
from serving import HERE, Answer, Endpoint, Gateway, counts, failures, llama, must, until

SHORT = "--short" in sys.argv
# Sessions that are asked in each stage of the ramp, before the emulator; at least so many in all before it is over.
SESSIONS = 2000
# How far a realised share may be from the schedule, in percentage points.
NEAR = 3
POLICY = (HERE / "outage.sbk").read_text()
PROMPT = re.search(r'prompt\s+"(.+?)"', POLICY)[1]
# Shares of the ramp in percent, and how long each lasts; the last one is for good.
STAGES = [(int(p), int(s)) for p, s in re.findall(r"^  (\d+)% for (\d+)s", POLICY, re.M)] + [(100, None)]


def show(holds, what):
    must(holds, what)
    if holds:
        print(f"ok  {what}")


def bucket(session):
    """Where a session stands among 10 000 that come back to `first`, as docs/language.md has it."""
    return int.from_bytes(hashlib.sha256(f"ramp\0first\0{0}\0{session}".encode()).digest()[:8], "big") % 10_000


class Seen:
    """What `/metrics` says of `first` at one instant."""

    def __init__(self, asked, text):
        self.asked, self.at = asked, time.monotonic()
        state = lambda metric, label: next(iter(re.findall(rf'^{metric}{{{label},state="(.+?)"}} 1$', text, re.M)), None)
        self.health = state("switchback_health_state", 'target="first"')
        self.breaker = state("switchback_breaker_state", 'key="target=first"') or "closed"
        self.percent = int(re.search(r'^switchback_ramp_percent{target="first"} (\d+)$', text, re.M)[1])
        self.probes = {r: int(n) for r, n in re.findall(r'^switchback_probes_total{target="first",result="(.+?)"} (\d+)$', text, re.M)}

    def phase(self):
        if self.percent == 0:
            return "down" if self.health == "down" else self.breaker
        return self.health if self.percent == 100 and self.health != "healthy" else f"{self.percent}%"


class Watch:
    """Looks at the metrics all the time."""

    def __init__(self, gateway):
        self.gateway, self.seen, self.over = gateway, [], threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.over.wait(0.04):
            try:
                self.seen.append(Seen(time.monotonic(), self.gateway.metrics()))
            except (OSError, http.client.HTTPException):
                continue

    def stop(self):
        self.over.set()
        self.thread.join()

    def until(self, what, seconds, condition):
        """The first look from now on at which the condition holds."""
        began = len(self.seen)
        found = lambda: next((s for s in self.seen[began:] if condition(s)), None)
        until(f"outage: {what}", seconds, found, 0.01)
        return found()

    def percent_during(self, asked, ended):
        """The share in force when a request was decided, where it was the same from before it to after it."""
        before = next((s for s in reversed(self.seen) if s.at <= asked), None)
        after = next((s for s in self.seen if s.asked >= ended), None)
        same = before and after and before.percent == after.percent
        return before.percent if same else None

    def phases(self, since):
        """What followed what."""
        names = []
        for seen in self.seen:
            if seen.at >= since and seen.phase() not in names[-1:]:
                names.append(seen.phase())
        return names

    def spans(self, breaker):
        """How long each time in this state of the breaker lasted, up to now."""
        lengths, began = [], None
        for seen in self.seen:
            if began is None and seen.breaker == breaker:
                began = seen.at
            elif began is not None and seen.breaker != breaker:
                lengths.append(seen.at - began)
                began = None
        return lengths


class Load:
    """Clients that ask one after the other, each request a session of its own, until stopped."""

    def __init__(self, run, clients):
        self.run, self.over = run, threading.Event()
        self.threads = [threading.Thread(target=self._client, daemon=True) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def _client(self):
        while not self.over.is_set():
            self.run.ask("Say yes.").ended.wait(60)
            # Who has met an outage is not back before it is known.
            time.sleep(0.15)

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join(60)


class Run:
    """One gateway in front of `first` and `second`, from its start to its end."""

    def __init__(self, setup, name):
        self.setup, self.gateway, self.front = setup, setup.gateway, setup.first.front
        self.answers, self.lock, self.kills = [], threading.Lock(), []
        print(f"== {name}")
        self.gateway.start()
        self.watch = Watch(self.gateway)
        # Before it the target counts as well without anybody having looked, and the first probe decides alone.
        self.watch.until("the first probe", 20, lambda s: s.probes.get("ok"))
        self.before = self.front.seen()[0]

    def ask(self, content, stream=False, tokens=4):
        with self.lock:
            answer = Answer(self.gateway.port, content, stream, tokens, f"s{len(self.answers)}")
            self.answers.append(answer)
        return answer

    def kill(self):
        self.setup.first.kill()
        self.kills.append(time.monotonic())
        return self.kills[-1]

    def restart(self):
        """Starts the server again; returns when it was there."""
        self.setup.first.start()
        until("outage: the model server", 40, lambda: self.setup.first.health() == 200)
        return time.monotonic()

    def met(self, since):
        """Requests that met the outage: calls from then on that failed, and calls under way then that did."""
        return sum(1 for record in self.gateway.records() for step in record["steps"]
                   if step["target"] == "first" and step["class"] and record["id"] in self.ids_since(since))

    def ids_since(self, since):
        return {a.id for a in self.answers if a.ended_at is None or a.ended_at >= since}

    def finish(self):
        """Each request had a good answer, but streams whose output a kill cut off; and nothing is uncounted."""
        for answer in self.answers:
            if not answer.ended.wait(60):
                raise SystemExit("outage: a request did not end in 60s")
        self.watch.stop()
        until("outage: records", 10, lambda: len(self.gateway.records()) >= len(self.answers))
        records = {r["id"]: r for r in self.gateway.records()}
        calls = sum(1 for r in records.values() for s in r["steps"] if s["target"] == "first")
        counted = self.front.seen()[0] - self.before
        good = [a for a in self.answers if a.good()]
        cut = [a for a in self.answers if not a.good()]
        for answer in cut:
            killed = any(answer.asked_at < at < answer.ended_at + 1 for at in self.kills)
            must(killed and answer.stream and answer.target == "first" and answer.ending() == "error partial-stream",
                 f"{answer.id}: {answer.status} {answer.ending()} by {answer.target}")
        show(calls == counted, f"calls at the first server: {counted} counted in front of it, {calls} in the records")
        bad = "none failed" if not cut else f"{len(cut)} streams whose output had begun ended with an error event"
        show(all(a.good() or a.stream for a in self.answers), f"requests {len(self.answers)}: {len(good)} good answers, {bad}")
        self.gateway.stop()
        return records


class Setup:
    """The server under test, the one that stands by, and the gateway before them."""

    def __init__(self, switchback, folder, name, first, health):
        self.log, self.path = open(Path(folder) / f"{name}.log", "wb"), health
        emulator = lambda port: [switchback, "emulate", "--listen", f"127.0.0.1:{port}"]
        self.first = Endpoint("first", first or emulator, self.log, PROMPT.encode())
        self.second = Endpoint("second", emulator, self.log)
        # The relay costs time that is only worth it where it is looked at.
        of = lambda endpoint: f"http://127.0.0.1:{endpoint.front.port if first else endpoint.port}/v1"
        environment = {"SWITCHBACK_REAL_FIRST": of(self.first), "SWITCHBACK_REAL_SECOND": of(self.second)}
        self.gateway = Gateway(switchback, HERE / "outage.sbk", folder, environment)

    def start(self):
        self.second.start()
        self.first.start()
        until("outage: the first server", 40, lambda: self.first.health(self.path) == 200)
        until("outage: the second server", 20, lambda: self.second.health("/v1/models") == 200)

    def stop(self):
        self.gateway.stop()
        self.first.stop()
        self.second.stop()
        self.log.close()


def timed(run):
    """A run that says how long it took."""
    def told(setup):
        began = time.monotonic()
        run(setup)
        print(f"  after {time.monotonic() - began:.0f}s")
    return told


@timed
def without_traffic(setup):
    run = Run(setup, "an outage without traffic")
    killed = run.kill()
    down = run.watch.until("the probes find the outage", 20, lambda s: s.health == "down")
    answer = run.ask("Is anybody there?")
    answer.ended.wait(60)
    touched = run.front.since(killed)
    show(answer.good() and answer.target == "second" and touched == 0,
         f"the probes found the outage after {down.at - killed:.1f}s, and the next request was answered by {answer.target} "
         f"with {touched} calls at the first server")
    run.restart()
    records = run.finish()
    skipped = records[answer.id]["steps"][0]["skipped"]
    show([(s["target"], s["reason"]) for s in skipped] == [("first", "down")], "its record says that the first one was down")


@timed
def slowed(setup):
    run = Run(setup, "a slow server, under traffic")
    load = Load(run, 1)
    time.sleep(1.5)
    run.front.delay = 1.5
    run.watch.until("a slow probe", 20, lambda s: s.probes.get("slow"))
    began = len(run.watch.seen)
    # Some are being answered when it is known, whenever that is.
    degraded = lambda: any(s.health == "degraded" for s in run.watch.seen[began:])
    while not degraded():
        run.ask("Tell me a story.", stream=True, tokens=40)
        late = time.monotonic() + 1
        while time.monotonic() < late and not degraded():
            time.sleep(0.01)
    left = time.monotonic()
    under_way = [a for a in run.answers if not a.ended.is_set()]
    # What was sent before it was known has arrived by then.
    time.sleep(0.3)
    since = time.monotonic()
    asked_since = lambda: [a for a in run.answers if a.asked_at > since]
    until("outage: requests while it is degraded", 15, lambda: len(asked_since()) >= 10)
    touched, asked = run.front.since(since), asked_since()
    show(touched == 0, f"while it was degraded {len(asked)} requests went elsewhere, {touched} to it")
    for one in under_way:
        one.ended.wait(60)
    there = [a for a in under_way if a.target == "first"]
    last = max((a.ended_at - left for a in there), default=0)
    show(there and all(a.good() for a in there),
         f"{len(there)} requests that were under way there ended well, the last of them {last:.1f}s later")
    run.front.delay = 0
    run.watch.until("the target is well", 30, lambda s: s.health == "healthy")
    back = time.monotonic()
    until("outage: requests at the first server", 10, lambda: run.front.since(back) > 3)
    load.stop()
    records = run.finish()
    reasons = [s["reason"] for a in asked for s in records[a.id]["steps"][0]["skipped"]]
    show(set(reasons) == {"degraded"}, "their records say that it was degraded")
    show("down" not in run.watch.phases(0) and not run.watch.spans("open"),
         "when it was fast again it had all traffic at once: slowness is no outage")


@timed
def killed_twice(setup):
    run = Run(setup, "an outage under traffic, the way back, and another outage on it")
    load = Load(run, 1)
    time.sleep(1)
    story = run.ask("Tell me a long story.", stream=True, tokens=150)
    until("outage: output", 20, lambda: story.output or story.ended.is_set(), 0.002)
    killed = run.kill()
    run.watch.until("the breaker opens", 20, lambda s: s.breaker == "open")
    shut = time.monotonic()
    run.watch.until("the probes find the outage", 20, lambda s: s.health == "down")
    # Longer than the breaker stays open: while the probes say `down` not even a trial is let in.
    run.watch.until("the open time is over", 20, lambda s: s.breaker == "half-open")
    time.sleep(2)
    first_outage = (run.met(killed), run.front.since(shut), len([a for a in run.answers if a.asked_at > shut]))

    load_two = Load(run, 1)
    started = run.restart()
    stages = STAGES[:-1]
    run.watch.until("the ramp begins", 60, lambda s: s.percent == stages[0][0])
    run.watch.until("its next stage", 60, lambda s: s.percent == stages[1][0])
    time.sleep(2)
    again = run.kill()
    run.watch.until("its traffic is taken away", 20, lambda s: s.percent == 0)
    shut_again = time.monotonic()
    time.sleep(3)
    second_outage = (run.met(again), run.front.since(shut_again), len([a for a in run.answers if a.asked_at > shut_again]))

    started_again = run.restart()
    for percent, _ in STAGES:
        run.watch.until(f"{percent}%", 60, lambda s: s.percent == percent and s.health == "healthy")
    time.sleep(3 if SHORT else 10)
    for one in (load, load_two):
        one.stop()
    records = run.finish()

    met, after, asked = first_outage
    show(1 <= met <= 3 and after == 0, f"{met} requests met the outage, and then none: {asked} went elsewhere")
    met, after, asked = second_outage
    show(1 <= met <= 3 and after == 0,
         f"within the ramp {met} requests met the second outage; its traffic was taken away {shut_again - again:.2f}s after "
         f"it, and {asked} went elsewhere")
    opens = run.watch.spans("open")
    show(len(opens) == 2 and opens[1] > 1.5 * opens[0],
         f"the second time it was left alone for longer: {' and '.join(f'{s:.1f}s' for s in opens)}")
    for since, what in ((started, "first"), (started_again, "second")):
        # From being down: what a probe before it said is not part of the way back.
        phases = [p for p in run.watch.phases(since) if p not in ("down", "closed")]
        order = [f"{p}%" for p, _ in STAGES]
        wanted = ["half-open"] + (order[:-1] if what == "first" else order)
        shown = phases[phases.index("half-open"):][:len(wanted)] if "half-open" in phases else phases
        show(shown == wanted, f"on the {what} way back: probes pass, then {', '.join(shown)}")
    trials = [s for r in records.values() for s in r["steps"] if s["target"] == "first" and s["breaker"] == "half-open"]
    show(len(trials) >= 4 and not any(s["class"] for s in trials), f"{len(trials)} trials, each with a good answer")
    table = {}
    for answer in run.answers:
        percent = run.watch.percent_during(answer.asked_at, answer.ended_at)
        if percent in dict(STAGES) and answer.asked_at > started:
            table.setdefault(percent, []).append((answer.session, records[answer.id]["steps"][0]["target"] == "first"))
    # A request that meets a state that is not of the ramp, such as `degraded`, was not decided by it.
    stages_table("as seen before the real server", table, None)


def stages_table(title, table, near):
    """`table`: by stage, each session that was asked in it, and whether it came to the first server."""
    print(f"  {title}:")
    print("  scheduled  sessions  to the first  realised  off by hash")
    for percent, _ in STAGES:
        asked = table.get(percent, [])
        let_in = sum(first for _, first in asked)
        share = 100 * let_in / max(1, len(asked))
        off = sum(first != (bucket(session) < percent * 100) for session, first in asked)
        print(f"  {percent:8}%  {len(asked):8}  {let_in:12}  {share:7.1f}%  {off:11}")
        must(asked, f"requests in the stage of {percent}%")
        must(off == 0, f"{percent}%: each session is let in, or not, as its hash says")
        if near is not None:
            must(abs(share - percent) <= near, f"{percent}%: a share of {share:.1f}%")
    if not failures:
        print(f"ok  each session was let in as its hash says, in all {len(STAGES)} stages"
              + (f", and no share is more than {near} points from the schedule" if near is not None else ""))


def ask_quickly(port, sessions, out):
    """Asks once for each session, over one connection, and notes whether the first server answered."""
    body = b'{"model":"chat","messages":[{"role":"user","content":"hello"}]}'
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader = connection.makefile("rb")
        for session in sessions:
            asked = time.monotonic()
            connection.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\n"
                b"x-switchback-session: %b\r\ncontent-length: %d\r\n\r\n%b" % (session.encode(), len(body), body))
            status, head = reader.readline().split()[1], {}
            while (line := reader.readline().strip()):
                name, _, value = line.partition(b":")
                head[name.lower()] = value.strip()
            reader.read(int(head[b"content-length"]))
            out.append((asked, time.monotonic(), session, status == b"200", head.get(b"x-switchback-target") == b"first"))


@timed
def many_sessions(setup):
    print(f"== the ramp of {SESSIONS} sessions, before the emulator")
    setup.gateway.start()
    watch = Watch(setup.gateway)
    watch.until("the first probe", 20, lambda s: s.probes.get("ok"))
    setup.first.kill()
    watch.until("the outage", 20, lambda s: s.health == "down")
    setup.first.start()
    asked, sessions = [], [f"session-{n}" for n in range(SESSIONS)]
    for percent, _ in STAGES:
        watch.until(f"{percent}%", 60, lambda s: s.percent == percent)
        threads = [threading.Thread(target=ask_quickly, args=(setup.gateway.port, sessions[n::8], asked)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    time.sleep(0.5)
    watch.stop()
    setup.gateway.stop()
    table = {}
    for began, ended, session, _, first in asked:
        percent = watch.percent_during(began, ended)
        if percent is not None:
            table.setdefault(percent, []).append((session, first))
    show(all(good for _, _, _, good, _ in asked), f"requests {len(asked)}: all had a good answer")
    ramped = sum(len(table.get(percent, [])) for percent, _ in STAGES[:-1])
    must(ramped >= SESSIONS, f"{ramped} sessions were asked within the stages of the ramp, {SESSIONS} are meant")
    stages_table("before the emulator", table, NEAR)
    in_by = [{s for s, first in table.get(percent, []) if first} for percent, _ in STAGES]
    sure = [{s for s, _ in table.get(percent, [])} for percent, _ in STAGES]
    kept = all((low & known) <= high for low, high, known in zip(in_by, in_by[1:], sure[1:]))
    show(kept, "who is in at one stage is in at the next")


def main():
    switchback, python = [a for a in sys.argv[1:] if not a.startswith("--")]
    ending.in_order("outage")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as real, tempfile.TemporaryDirectory() as emulated:
        setup = Setup(switchback, real, "servers", llama(python, 4, 512, "first"), "/health")
        ramps = Setup(switchback, emulated, "emulators", None, "/v1/models")
        try:
            setup.start()
            without_traffic(setup)
            slowed(setup)
            for _ in range(1 if SHORT else 3):
                killed_twice(setup)
            setup.first.stop()
            ramps.start()
            many_sessions(ramps)
        finally:
            for one in (setup, ramps):
                one.stop()
                if failures and one.gateway.log():
                    print("-- the last that the gateway said")
                    print("\n".join(one.gateway.log().splitlines()[-10:]))
    print(f"== {'all holds' if not failures else f'{len(failures)} do not hold'}, after {time.monotonic() - began:.0f}s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
