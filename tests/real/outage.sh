#!/usr/bin/env bash
# A real model server is slowed down, killed, started again and killed on its way back, with the gateway before it.
# `tests/real/outage.sh [--short]`; docs/real-parts.md says what must hold.
#
# Exits 0 if all holds, 1 if not, 77 with a line `SKIPPED outage REASON` if the server could not be installed. Needs
# Python 3.9 or newer and `cargo build`; writes nothing but the cache of what it installs, which is that of `llm.sh`.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/parts.sh"

# Not its dependencies: one of them would have to be compiled.
if ! python_part llm --no-deps; then
  skipped outage "${why:-python3 is needed}"
  exit $SKIPPED
fi
held python3 "$real/outage.py" "$switchback" "$cache/llm/bin/python" "$@"
