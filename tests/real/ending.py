"""Ends a script in order, whoever ends it: what it started is stopped in its `finally`."""

import os
import signal
import sys
import threading
import time


def in_order(name):
    """From now on SIGTERM, and the end of the process that started this one, leave through `finally`."""
    parent = os.getppid()

    def told(*_):
        # Once: what is being stopped must not be interrupted.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(f"{name}: told to stop")

    def watch():
        while os.getppid() == parent:
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGTERM, told)
    threading.Thread(target=watch, daemon=True).start()
