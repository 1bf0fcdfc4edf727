"""A TCP relay in front of one server that counts the calls it was asked to carry.

A call counts when its whole head and body were received, whether or not the server behind is there. What comes back is
passed on byte for byte: a server that closes, breaks off or is gone is met by the caller as it is (a refused connection
as a reset, since the relay itself had to accept). Nothing is retried or added, and nothing held back but what `delay` says.
"""

import collections
import socket
import struct
import threading
import time


class Counting:
    """Listens on a free loopback port; `port` says which. Calls with the bytes `apart` in them, such as probes, are
    counted apart; `delay` seconds go before each answer."""

    def __init__(self, server_port, apart=None):
        self.server_port, self.apart, self.delay = server_port, apart, 0
        # When each call came.
        self.calls, self.calls_apart = [], []
        # Statuses that went back, and how calls without one ended.
        self.answers = collections.Counter()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def seen(self):
        """Calls so far, and their answers."""
        with self.lock:
            return len(self.calls), collections.Counter(self.answers)

    def since(self, then):
        """Calls that came after that time."""
        with self.lock:
            return sum(at > then for at in self.calls)

    def _accept(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._relay, args=(caller,), daemon=True).start()

    def _note(self, answer, waiting):
        kind, waiting[0] = waiting[0], None
        if kind is self.calls:
            with self.lock:
                self.answers[answer] += 1

    def _relay(self, caller):
        # What is waited for: a call, one that counts apart, or nothing.
        server, waiting = None, [None]
        try:
            buffer = b""
            while True:
                call, buffer = _call(caller, buffer)
                if call is None:
                    return
                if call.startswith(b"POST "):
                    kind = self.calls_apart if self.apart and self.apart in call else self.calls
                    with self.lock:
                        kind.append(time.monotonic())
                    waiting[0] = kind
                if server is None:
                    try:
                        server = socket.create_connection(("127.0.0.1", self.server_port), timeout=5)
                        server.settimeout(None)
                        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    except OSError:
                        self._note("refused", waiting)
                        _reset(caller)
                        return
                    threading.Thread(target=self._back, args=(server, caller, waiting), daemon=True).start()
                server.sendall(call)
        except OSError:
            pass
        finally:
            # Wakes the other direction, which reads from the server.
            _end(server)
            caller.close()

    def _back(self, server, caller, waiting):
        try:
            while True:
                data = server.recv(65536)
                if waiting[0] is not None and data:
                    time.sleep(self.delay)
                    self._note(data[9:12].decode("ascii", "replace"), waiting)
                if not data:
                    break
                caller.sendall(data)
            _end(caller)
        except OSError:
            _reset(caller)
        finally:
            self._note("closed without an answer", waiting)
            server.close()


def _call(caller, buffer):
    """The next whole request and what came after it, or nothing where the caller is done."""
    while b"\r\n\r\n" not in buffer:
        data = caller.recv(65536)
        if not data:
            return None, b""
        buffer += data
    head, rest = buffer.split(b"\r\n\r\n", 1)
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    while len(rest) < length:
        data = caller.recv(65536)
        if not data:
            return None, b""
        rest += data
    return head + b"\r\n\r\n" + rest[:length], rest[length:]


def _reset(sock):
    """The end is a reset, once nobody reads the socket any more: a read that is under way keeps it open."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.shutdown(socket.SHUT_RD)
    except OSError:
        pass


def _end(sock):
    try:
        if sock is not None:
            sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
