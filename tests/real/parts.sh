# Sourced by the scripts beside it: where real parts are kept, how they are installed once, and how a script says that
# one could not be. Not run by itself.
#
# Parts live in `SWITCHBACK_REAL_CACHE`, or in `real` of the build's target folder, and are used again while the pins
# that they were installed from are the same. An installation that does not end in time counts as one that failed.

real=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$real/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
cache=${SWITCHBACK_REAL_CACHE:-$target/real}
# Longest time for one part, in seconds.
install_limit=${SWITCHBACK_REAL_INSTALL_LIMIT:-60}

# Exit code of a script that ran in part or not at all, since something could not be installed.
SKIPPED=77

# skipped NAME REASON: says so, also to whoever gave a file for the names.
skipped() {
  echo "SKIPPED $1 $2"
  [[ -z ${SWITCHBACK_REAL_SKIPS:-} ]] || echo "$1" >>"$SWITCHBACK_REAL_SKIPS"
}

# in_time COMMAND...: within the limit. Says what went wrong, and ends what it started.
in_time() {
  local said code
  said=$(timeout --kill-after=5 "$install_limit" "$@" 2>&1)
  code=$?
  if [[ $code -eq 124 || $code -eq 137 ]]; then
    why="not installed within ${install_limit}s"
  else
    why=$({ grep -im 1 error <<<"$said" || tail -n 1 <<<"$said"; } | cut -c 1-200)
  fi
  return $code
}

# fresh NAME PINS: whether the part is there as pinned; otherwise its folder is emptied.
fresh() {
  if [[ -f $cache/$1/.pins && $(<"$cache/$1/.pins") == "$2" ]]; then return 0; fi
  rm -rf "${cache:?}/$1" && mkdir -p "$cache/$1"
  return 1
}

# python_part NAME PIP_OPTION...: an environment of its own from `NAME.txt`. Sets `why` where it fails.
python_part() {
  local name=$1 pins
  shift
  pins="$(<"$real/$name.txt") $(python3 --version 2>&1)" || return 1
  fresh "$name" "$pins" && return 0
  in_time "$BASH" -c 'python3 -m venv "$1" && "$1/bin/pip" install "${@:2}"' _ "$cache/$name" \
    --quiet --disable-pip-version-check --only-binary :all: --retries 1 "$@" -r "$real/$name.txt" || return 1
  echo "$pins" >"$cache/$name/.pins"
}

# node_part NAME PACKAGE@VERSION...: a folder of its own with these packages. Sets `why` where it fails.
node_part() {
  local name=$1 pins
  shift
  why="node and npm are needed"
  command -v node >/dev/null && command -v npm >/dev/null || return 1
  pins="$* $(node --version)"
  fresh "$name" "$pins" && return 0
  echo '{"private":true}' >"$cache/$name/package.json"
  in_time npm install --prefix "$cache/$name" --no-audit --no-fund --ignore-scripts --fetch-retries=1 "$@" || return 1
  echo "$pins" >"$cache/$name/.pins"
}

# held COMMAND...: runs it in a process group of its own, which ends with it, whatever it started and however this
# script ends.
held() {
  set -m
  "$@" &
  group=$!
  set +m
  trap end_group EXIT
  trap 'exit 143' TERM
  trap 'exit 130' INT
  wait "$group"
}

# At most 5 seconds: whoever ends this script may not wait for long.
end_group() {
  kill -TERM -- "-$group" 2>/dev/null || return 0
  local i
  for i in $(seq 50); do
    kill -0 -- "-$group" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL -- "-$group" 2>/dev/null
}

switchback=$target/debug/switchback
if [[ ! -x $switchback ]]; then
  echo "no $switchback: cargo build makes it"
  exit 2
fi
