#!/usr/bin/env bash
# The language server under clients that are not ours: pytest-lsp (with the capabilities of VS Code and Neovim), the
# grammar under VS Code's own TextMate engine, and the extension under `npm pack`.
#
#   tests/real/lsp.sh [PATH-OF-SWITCHBACK]
#
# Needs python3 with venv, node and npm, and the network on the first run; exit 77 where a part could not be installed. Everything is installed in `lsp` below
# `target/real` or $SWITCHBACK_REAL_CACHE.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/real/parts.sh
binary=$(realpath "${1:-target/debug/switchback}")
cache=$(realpath -m "${SWITCHBACK_REAL_CACHE:-target/real}")/lsp
mkdir -p "$cache"

echo "== pytest-lsp"
if [ ! -x "$cache/venv/bin/pytest" ]; then
  in_time python3 -m venv "$cache/venv" &&
    in_time "$cache/venv/bin/pip" install -q pytest-lsp==1.0.1 pytest==9.2.0 pytest-asyncio==1.5.0 ||
    { rm -rf "$cache/venv"; skipped pytest-lsp "$why"; exit "$SKIPPED"; }
fi
SWITCHBACK="$binary" "$cache/venv/bin/pytest" -q -p no:cacheprovider -c tests/real/lsp/pytest.ini tests/real/lsp

echo "== vscode-textmate"
if [ ! -d "$cache/node/node_modules/vscode-textmate" ]; then
  mkdir -p "$cache/node"
  in_time npm install --silent --no-audit --no-fund --prefix "$cache/node" vscode-textmate@9.2.0 vscode-oniguruma@2.0.1 ||
    { rm -rf "$cache/node"; skipped vscode-textmate "$why"; exit "$SKIPPED"; }
fi
NODE_PATH="$cache/node/node_modules" node tests/real/lsp/colours.js policies/*.sbk

echo "== npm pack"
packed=$(cd grammar/vscode && npm pack --silent --pack-destination "$cache")
files=$(tar -tzf "$cache/$packed" | sort | tr '\n' ' ')
expected="package/README.md package/client.js package/language-configuration.json package/package.json package/policy.tmLanguage.json "
if [ "$files" != "$expected" ]; then
  echo "packed: $files" >&2
  exit 1
fi
tar -xzOf "$cache/$packed" package/policy.tmLanguage.json | cmp - grammar/policy.tmLanguage.json
echo "$packed: $files"
