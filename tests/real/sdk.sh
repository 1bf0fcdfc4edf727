#!/usr/bin/env bash
# The OpenAI SDKs for Python and Node against the gateway before the emulator. `tests/real/sdk.sh [--short]`;
# docs/real-parts.md says what must hold.
#
# Exits 0 if all holds, 1 if not, 77 with a line `SKIPPED sdk-NAME REASON` for each SDK that could not be installed (the
# other one is asked all the same). Needs Python 3.9 or newer, Node 20 or newer with npm, and `cargo build`; writes
# nothing but the cache of what it installs.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/parts.sh"

sdks=() left_out=0
if python_part sdk; then
  sdks+=("python=$(printf '%q ' "$cache/sdk/bin/python" "$real/sdk_client.py") ADDRESS")
else
  skipped sdk-python "${why:-python3 is needed}"
  left_out=$SKIPPED
fi
if node_part sdk-node openai@6.49.0; then
  sdks+=("node=$(printf '%q ' node "$real/sdk_client.mjs") ADDRESS $(printf '%q' "$cache/sdk-node")")
else
  skipped sdk-node "$why"
  left_out=$SKIPPED
fi
[[ ${#sdks[@]} -gt 0 ]] || exit "$left_out"
held python3 "$real/sdk.py" "$switchback" "${sdks[@]}" "$@" || exit 1
exit "$left_out"
