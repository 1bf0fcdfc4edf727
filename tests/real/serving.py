"""What the scripts with a model server share: its endpoints, the gateway, and requests with all that their clients see.

Nothing here judges but `must`; everything that is started is ended by whoever started it.
"""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from counting import Counting

HERE = Path(__file__).resolve().parent
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
            raise SystemExit(f"{what}: not within {seconds}s")
        time.sleep(pause)


def counts(counter):
    return ", ".join(f"{what} {n}" for what, n in sorted(counter.items(), key=lambda i: -i[1])) or "none"


def llama(python, slots, context, name):
    """The command of a model server, for a port."""
    return lambda port: [python, str(HERE / "llama.py"), str(port), str(context), str(slots), name]


class Endpoint:
    """A server and the relay in front of it. `apart`: see `Counting`."""

    def __init__(self, name, command, log, apart=None):
        self.name, self.command, self.log = name, command, log
        self.port = free_port()
        self.front = Counting(self.port, apart)
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command(self.port), stdout=self.log, stderr=self.log)

    def health(self, path="/health"):
        """The status of the server's own health check; 0 while nobody listens."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.kill()
        self.front.close()


class Gateway:
    """A gateway on a free port, with its records and its log in a folder."""

    def __init__(self, switchback, policy, folder, environment):
        self.folder, self.process, self.port = Path(folder), None, 0
        self.command = [switchback, "serve", str(policy), "--listen", "127.0.0.1:0", "--records", str(self.folder / "records")]
        self.environment = dict(os.environ) | environment

    def start(self):
        (self.folder / "records").unlink(missing_ok=True)
        with open(self.folder / "gateway.log", "wb") as said:
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=said, stderr=said)
        until("the gateway", 20, self._listening)

    def _listening(self):
        if self.process.poll() is not None:
            raise SystemExit("the gateway ended: " + self.log())
        found = re.search(r"listening on http://127\.0\.0\.1:(\d+)", self.log())
        self.port = int(found[1]) if found else 0
        return self.port

    def log(self):
        file = self.folder / "gateway.log"
        return file.read_text() if file.exists() else ""

    def records(self):
        file = self.folder / "records"
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        # The last line may be half written.
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def metrics(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                must(self.process.wait(15) == 0, f"the gateway ends with exit 0, not {self.process.returncode}")
            except subprocess.TimeoutExpired:
                must(False, "the gateway ends within 15s of SIGTERM")
                self.process.kill()
                self.process.wait()


class Answer:
    """One request, sent at once, and all that its client sees."""

    # A model may also choose to say nothing, which is a failure of its own and not looked at here.
    extra = {"ignore_eos": True}

    def __init__(self, port, content, stream, tokens, session=None):
        self.stream, self.port, self.session = stream, port, session
        self.output, self.done, self.error, self.finish = False, False, None, None
        self.status, self.target, self.id, self.attempts, self.broken = 0, None, None, 0, None
        self.asked_at, self.ended, self.ended_at = time.monotonic(), threading.Event(), None
        message = {"role": "user", "content": content}
        self.body = {"model": "chat", "stream": stream, "max_tokens": tokens, "messages": [message]}
        self.body |= {"temperature": 0} | self.extra
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
        headers = {"x-switchback-session": self.session} if self.session else {}
        connection.request("POST", "/v1/chat/completions", json.dumps(self.body), headers)
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
