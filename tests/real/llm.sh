#!/usr/bin/env bash
# The gateway before two endpoints of a real model server: one is killed under load, restarted, and asked for more than
# it holds. `tests/real/llm.sh [--short] [--messages]`; docs/real-parts.md says what must hold.
#
# Exits 0 if all holds, 1 if not, 77 with a line `SKIPPED llm REASON` if the server could not be installed. Needs
# Python 3.9 or newer and `cargo build`; writes nothing but the cache of what it installs.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/parts.sh"

# Not its dependencies: one of them would have to be compiled.
if ! python_part llm --no-deps; then
  skipped llm "${why:-python3 is needed}"
  exit $SKIPPED
fi
held python3 "$real/llm.py" "$switchback" "$cache/llm/bin/python" "$@"
